"""Comparisons of runs with each other, and with the numbers that papers print."""
