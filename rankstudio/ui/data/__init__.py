"""The Data page: what is open and what it looks like."""
