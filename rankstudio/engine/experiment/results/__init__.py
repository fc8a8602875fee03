"""What a run tells and leaves: events, results, the choice of a model."""
