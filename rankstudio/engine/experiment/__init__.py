"""Experiments: a plan goes in, a stream of events comes out, results remain."""
