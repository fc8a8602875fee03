"""The view of cascades on the page *Compare*."""
