"""The Queries page: two models held against each other query by query."""
