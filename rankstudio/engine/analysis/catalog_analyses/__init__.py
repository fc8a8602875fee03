"""Analyses that are entries of the catalog: carried out, and written as a command."""
