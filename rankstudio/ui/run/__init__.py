"""The Run place: live curves, candidates and the map of λ and k."""
