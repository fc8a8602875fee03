"""The commands of the terminal, one a module: each has ``register`` and ``run``."""
