"""What is made of single queries and of what runs ranked there: measured anew, compared, looked at."""
