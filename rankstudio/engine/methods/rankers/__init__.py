"""Rankers: (X, y, qid) to weights."""
