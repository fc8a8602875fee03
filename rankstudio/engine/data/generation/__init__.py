"""Made-up data larger than memory, written as text query by query."""
