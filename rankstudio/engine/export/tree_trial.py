"""LightGBM's text of a model tried by a process of its own, which it may end: a script alone.

    python -I -S tree_trial.py LIBRARY COLUMNS KIND SECONDS BYTES < TEXT

asks LightGBM's library for one prediction of a document of zeros, and ends with status 0 where there is one.
"""

from __future__ import annotations

import ctypes
import sys


def try_trees(library: str, text: bytes, n_columns: int, kind: int) -> bool:
    """Tell whether LightGBM reads a text and predicts with it.

    Parameters
    ----------
    library : str
        Path of LightGBM's library.
    text : bytes
    n_columns : int
        Of a document.
    kind : int
        What is predicted, as LightGBM counts it: 1 for scores, 3 for what each feature adds to them.
    """
    lightgbm = ctypes.CDLL(library)
    booster, number, length = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int64()
    if lightgbm.LGBM_BoosterLoadModelFromString(text, ctypes.byref(number), ctypes.byref(booster)):
        return False
    document, found = (ctypes.c_double * n_columns)(), (ctypes.c_double * (n_columns + 1))()
    doubles, rows, by_row, first, all_of_them = 1, 1, 1, 0, -1
    shape = doubles, ctypes.c_int32(rows), ctypes.c_int32(n_columns), by_row
    failed = lightgbm.LGBM_BoosterPredictForMat(
        booster, document, *shape, kind, first, all_of_them, b"num_threads=1", ctypes.byref(length), found
    )
    return not failed


def limit(seconds: int, n_bytes: int) -> None:
    """Limit this process's time of processor and its memory, where the system can."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return
    for what, most in (("CPU", seconds), ("AS", n_bytes), ("CORE", 0)):
        kind = getattr(resource, f"RLIMIT_{what}")
        hard = resource.getrlimit(kind)[1]
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    path, *numbers = sys.argv[1:]
    columns, wanted, seconds, n_bytes = map(int, numbers)
    limit(seconds, n_bytes)
    sys.exit(not try_trees(path, sys.stdin.buffer.read(), columns, wanted))
