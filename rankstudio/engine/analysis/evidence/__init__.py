"""Evidence for a selection: the best set, sets as good, how sure it is, what decides it and when to stop."""
