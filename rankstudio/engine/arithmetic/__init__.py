"""The arithmetic that the methods share: query data, sums over pairs, linear scores."""
