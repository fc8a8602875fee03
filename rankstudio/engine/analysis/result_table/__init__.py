"""Finished runs as the table of a paper."""
