"""The table of a paper, made of the runs that are compared."""
