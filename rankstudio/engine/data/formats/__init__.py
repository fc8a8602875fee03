"""The formats of data files: one table of them, and what reads and writes any."""
