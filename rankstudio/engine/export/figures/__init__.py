"""Figures as values, and as files: PDF, SVG, PNG and CSV of the same drawing. Knows neither runs nor Qt."""
