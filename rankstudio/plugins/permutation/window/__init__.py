"""The permutation test of the shown path: its row on pages, and the band below the criterion."""
