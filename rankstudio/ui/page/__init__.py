"""What all pages are: panels between splitters, and the controllers that feed them."""
