"""Evidence for a selection: how sure it is, what decides it and when to stop."""
