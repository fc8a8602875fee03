"""Methods that are not RankStudio's own: of plug-ins, of Python files, and of other libraries."""
