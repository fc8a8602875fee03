"""Models in the files of other programs: a module each, and the registry that lists them."""
