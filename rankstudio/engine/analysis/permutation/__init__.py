"""Whether a criterion is better than with labels or preferences permuted within their queries."""
