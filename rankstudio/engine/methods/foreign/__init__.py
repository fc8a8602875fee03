"""Methods that are not RankStudio's own: methods of plug-ins, of Python files, and of other libraries."""
