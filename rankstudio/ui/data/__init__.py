"""The Data place: what is open and what it looks like."""
