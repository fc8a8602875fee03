"""The preferences of the plan on the page *Data*."""
