"""The commands `reproduce` and `thresholds`."""
