"""The formats of data files: their catalog, their readers and their writers."""
