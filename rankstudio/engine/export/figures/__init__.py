"""Figures as values, and as files: PDF, SVG, PNG and CSV of the same drawing.

The modules know neither runs nor Qt.
"""
