"""The Report page: what is written, which sections there are in which order, and how it will look."""
