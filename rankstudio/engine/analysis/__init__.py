"""What finished runs tell: significance, stability of the selection, Pareto fronts, published results."""
