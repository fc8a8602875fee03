"""Greedy RankRLS: the estimator, its constraints, and one module for each search."""
