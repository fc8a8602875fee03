"""The plan of a run, and its forms as TOML, command and code."""
