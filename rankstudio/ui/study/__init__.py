"""Opening data and studies, what comes back of the last time, and runs that wait."""
