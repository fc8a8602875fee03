"""The permutation test of the path that is looked at: its row on pages, and the band below the criterion."""
