"""Runs measured anew, by other measures or conventions, and their cross-fitted measures."""
