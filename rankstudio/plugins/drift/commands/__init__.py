"""The command `transfer`."""
