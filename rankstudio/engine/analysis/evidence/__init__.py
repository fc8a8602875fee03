"""Evidence for a selection: the proved best set, and the sets that are as good within chance."""
