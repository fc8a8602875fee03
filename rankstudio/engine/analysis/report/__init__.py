"""The report of a study: its sections, figures as SVG, and one HTML file that holds all of it."""
