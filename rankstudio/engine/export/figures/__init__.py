"""Figures as values, and as files: SVG, PDF, TikZ and CSV of the same drawing. Knows neither runs nor Qt."""
