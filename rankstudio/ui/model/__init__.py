"""State behind the window: session, runs, the selected model. No widget in here."""
