"""Events and results of a run, and the choice of a model."""
