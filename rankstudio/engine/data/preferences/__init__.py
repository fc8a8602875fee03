"""Which document is preferred to which: given as such, read from files, or drawn from labels."""
