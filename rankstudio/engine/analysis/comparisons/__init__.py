"""Runs beside each other: which may be compared, tests of their differences, and what papers print."""
