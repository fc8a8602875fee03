"""Models of other programs, read from files as weighted sums or trees."""
