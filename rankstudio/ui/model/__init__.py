"""What the window knows: session, runs, the selected model. No widget in here."""
