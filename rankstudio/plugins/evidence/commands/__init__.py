"""The commands `evidence` and `importance`."""
