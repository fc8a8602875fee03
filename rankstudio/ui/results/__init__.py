"""The Results place: what has been run."""
