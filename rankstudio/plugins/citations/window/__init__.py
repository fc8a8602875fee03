"""The dialog with what the runs of the window use, as BibTeX."""
