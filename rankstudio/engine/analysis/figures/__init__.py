"""Figures of finished runs: the models that they tried and chose, and comparisons."""
