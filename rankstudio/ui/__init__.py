"""The window. It knows Qt and computes nothing; what it shows comes from the engine."""
