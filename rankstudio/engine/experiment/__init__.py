"""Experiments: plans, the runs of plans with their events, and their results."""
