"""Models and tables as files."""
