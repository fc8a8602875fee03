"""The ranks of methods on the page *Compare*."""
