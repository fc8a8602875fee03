"""Analyses of single features, such as their quality and their candidates."""
