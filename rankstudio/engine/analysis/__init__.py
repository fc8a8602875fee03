"""Analyses of finished runs, such as tests, stability and Pareto fronts."""
