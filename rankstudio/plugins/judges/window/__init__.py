"""The panel *Judges* of the page *Data*."""
