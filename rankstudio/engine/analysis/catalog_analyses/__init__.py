"""Analyses that are entries of the catalog: their execution and their commands."""
