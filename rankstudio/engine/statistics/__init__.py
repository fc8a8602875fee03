"""Comparing runs: paired tests over queries, stability of selections over folds, size against measure."""
