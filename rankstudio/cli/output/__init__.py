"""What commands print: tables, summaries and reports as text."""
