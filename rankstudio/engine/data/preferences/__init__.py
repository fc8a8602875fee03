"""Preferences between documents: given as such, read from files, or derived from labels."""
