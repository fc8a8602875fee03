"""One unit of work: a fold with one combination of parameters."""
