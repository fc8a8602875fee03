"""The Evidence page: how sure a selection is, by which features it could be replaced, and when to stop."""
