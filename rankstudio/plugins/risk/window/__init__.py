"""The view *risk* of the page *Compare*."""
