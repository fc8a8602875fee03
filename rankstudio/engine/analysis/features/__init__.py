"""Analyses of single features: why they were chosen, what could replace them, what they contribute."""
