"""Pairwise squared losses as least squares on rows: costs, weights of queries, given preferences."""
