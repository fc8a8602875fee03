"""Formats of models for other programs."""
