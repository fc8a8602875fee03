"""RankStudio: feature selection in learning to rank, as a window and as a library.

The command ``rankstudio`` opens the window or works in the terminal. The library is :mod:`rankstudio.engine`:
methods as in scikit-learn, measures, data, plans and their results.
"""

__version__ = "0.1.0"
