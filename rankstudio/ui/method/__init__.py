"""The Method page: which method, with which parameters."""
