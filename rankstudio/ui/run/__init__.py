"""The Run page: live curves, candidates and the map of λ and k."""
