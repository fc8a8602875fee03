"""The Compare page: what has been run, side by side."""
