"""The figures of papers in the dialog *Export*."""
