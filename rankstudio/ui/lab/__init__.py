"""The Lab page: how far held-out estimates are from the truth, by simulation."""
