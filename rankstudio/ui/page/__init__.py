"""Base of all pages: panels between splitters, and the controllers that feed them."""
