"""The models that runs tried: their measures and costs, as curves and fronts."""
