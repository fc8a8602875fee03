"""Tables of results as papers print them: one value, and a writer for each format."""
