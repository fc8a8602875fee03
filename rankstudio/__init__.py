"""RankStudio: feature selection in learning to rank, as a window and as a library.

The command ``rankstudio`` opens the window or works in the terminal.
The library is :mod:`rankstudio.engine`: methods as in scikit-learn,
measures, data, plans and their results.
"""

import os

__version__ = "0.1.0"

if "OMP_WAIT_POLICY" not in os.environ:
    # Threads of OpenMP and OpenBLAS that wait for work occupy their
    # processors: on a busy computer that takes several times as long as
    # the work itself. They sleep sooner with these settings, which the
    # libraries read when they are loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
