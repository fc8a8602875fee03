"""The run store: studies in SQLite files."""
