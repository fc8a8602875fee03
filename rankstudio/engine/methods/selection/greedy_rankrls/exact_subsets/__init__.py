"""Exact search among sets of features: branch and bound by leave-query-out error, and best swaps."""
