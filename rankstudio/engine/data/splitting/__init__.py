"""How queries are dealt to folds."""
