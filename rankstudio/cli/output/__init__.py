"""Output of commands: tables, summaries and reports as text."""
