"""Data larger than the memory budget: read piece by piece into files, which are mapped into memory."""
