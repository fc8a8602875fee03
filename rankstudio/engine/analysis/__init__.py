"""Analyses of finished runs: significance, stability of the selection, Pareto fronts, published results."""
