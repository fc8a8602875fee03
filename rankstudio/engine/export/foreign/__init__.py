"""Models that other programs learned, read from their files: each becomes a weighted sum or trees."""
