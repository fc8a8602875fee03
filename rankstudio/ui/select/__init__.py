"""The Select page: a method with its parameters, live curves, candidates, the map of λ and k."""
