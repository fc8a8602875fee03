"""RankStudio: feature selection in learning to rank, as a window and as a library."""

__version__ = "0.1.0"
