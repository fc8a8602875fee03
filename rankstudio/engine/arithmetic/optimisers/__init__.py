"""Optimisers: truncated Newton, bundle method, Nesterov's gradient, L-BFGS, coordinate ascent."""
