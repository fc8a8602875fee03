"""The Method place: which method, with which parameters."""
