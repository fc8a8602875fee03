"""The page *Estimates*: a form, a simulation, and the deviations it brings."""
