"""Selectors: (X, y, qid) to a path of features."""
