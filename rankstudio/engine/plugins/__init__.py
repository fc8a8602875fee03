"""Plug-ins: what a package adds to the program, as static values, and the loader of all of them."""
