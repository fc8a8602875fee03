"""Whether a criterion is better than with labels that say nothing: labels permuted within their queries."""
