"""What is made of single features: why they were chosen, what could stand for them, what they give."""
