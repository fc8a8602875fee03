"""The Results page: what has been run."""
