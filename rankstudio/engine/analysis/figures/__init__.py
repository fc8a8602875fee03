"""Figures of finished runs: what they tried and chose, and how they compare."""
