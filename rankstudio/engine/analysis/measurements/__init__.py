"""New measures of finished runs, and their cross-fitted measures."""
