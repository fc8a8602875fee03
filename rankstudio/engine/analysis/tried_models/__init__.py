"""The models that runs tried: what they are worth, what they cost, and the curves and fronts of both."""
