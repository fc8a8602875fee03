"""The Evidence page: how sure a selection is, by what it could be replaced, and when to stop."""
