"""Trial of files in a separate process, which they may end.

The script has no imports of RankStudio.

    python -I -S trial_script.py trees SECONDS BYTES LIBRARY COLUMNS KIND < TEXT

asks LightGBM's library for one prediction of a document of zeros by
LightGBM's text of a model, and ends with status 0 if there is one.

    python -I -S trial_script.py module SECONDS BYTES MODULE IDS ENDS SCALED DOCUMENTS SCORES

scores the documents of a file, which contains them as doubles one after
the other, with a module of Python, and writes their scores.
"""

# ruff: noqa: PLC0415 - each of the two tasks imports only what it needs, because every trial waits for imports
from __future__ import annotations

import sys
from collections.abc import Sequence


def try_trees(library: str, text: bytes, n_columns: int, kind: int) -> bool:
    """Return whether LightGBM reads the text of a model and predicts with it.

    Parameters
    ----------
    library : str
        Path of LightGBM's library.
    text : bytes
        Text of a LightGBM model.
    n_columns : int
        Number of columns of a document.
    kind : int
        Kind of prediction, as a LightGBM constant: 1 for scores, 3 for
        contributions.
    """
    import ctypes

    # Read the text.
    lightgbm = ctypes.CDLL(library)
    booster = ctypes.c_void_p()
    number = ctypes.c_int()
    length = ctypes.c_int64()
    if lightgbm.LGBM_BoosterLoadModelFromString(
        text, ctypes.byref(number), ctypes.byref(booster)
    ):
        return False

    # Predict for one document whose values are all 0.
    document = (ctypes.c_double * n_columns)()
    predictions = (ctypes.c_double * (n_columns + 1))()

    # Arguments for LightGBM's C interface: the type of the values,
    # their number of rows, their order, and the first and the last tree
    # to use (all).
    doubles = 1
    rows = 1
    by_row = 1
    first = 0
    all_of_them = -1
    has_failed = lightgbm.LGBM_BoosterPredictForMat(
        booster,
        document,
        doubles,
        ctypes.c_int32(rows),
        ctypes.c_int32(n_columns),
        by_row,
        kind,
        first,
        all_of_them,
        b"num_threads=1",
        ctypes.byref(length),
        predictions,
    )
    return not has_failed


def module_scores(
    module: str,
    ids: Sequence[int],
    ends: Sequence[int],
    scaled: bool,
    values: Sequence[float],
) -> list[float]:
    """Return the scores of documents by an exported model, a Python module.

    Parameters
    ----------
    module : str
        Path of the module's file.
    ids : sequence of int
        Ids of the features, in the order of the values.
    ends : sequence of int
        First document of each query, from 0, followed by the number of
        documents.
    scaled : bool
        Whether whole queries are scored, because values are scaled within them.
    values : sequence of float
        Values of all documents, concatenated.
    """
    import runpy
    from itertools import pairwise

    # The functions of the module: `score` takes a document, as a dict
    # of values by feature id, and `scores` takes a query, a list of
    # documents.
    functions = runpy.run_path(module)
    k = len(ids)
    rows = [dict(zip(ids, values[row * k : (row + 1) * k])) for row in range(ends[-1])]  # noqa: B905
    if not scaled:
        return [functions["score"](row) for row in rows]
    return [
        score for a, b in pairwise(ends) for score in functions["scores"](rows[a:b])
    ]


def limit(seconds: int, n_bytes: int) -> None:
    """Limit this process to `seconds` of processor time and `n_bytes` of memory.

    Nothing is limited where the system does not support this.
    """
    try:
        import resource
    except ImportError:  # on Windows
        return
    # Processor time, address space, and no file of the memory after a crash.
    for resource_name, maximum in (("CPU", seconds), ("AS", n_bytes), ("CORE", 0)):
        kind = getattr(resource, f"RLIMIT_{resource_name}")
        _, hard_limit = resource.getrlimit(kind)
        # A process may not raise its own limit.
        if hard_limit == resource.RLIM_INFINITY or maximum < hard_limit:
            resource.setrlimit(kind, (maximum, maximum))


def _score_file(
    module: str, ids: str, ends: str, scaled: str, documents: str, scores: str
) -> None:
    """Score the documents of a file with an exported model, a Python module.

    The scores are written to the file `scores`. All arguments are names
    of files, except that `scaled` is "1" if whole queries are scored.
    """
    from array import array
    from pathlib import Path

    feature_ids = [int(word) for word in Path(ids).read_text("ascii").split()]
    query_ends = [int(word) for word in Path(ends).read_text("ascii").split()]
    values = array("d", Path(documents).read_bytes())
    score_list = module_scores(module, feature_ids, query_ends, scaled == "1", values)
    Path(scores).write_bytes(array("d", score_list).tobytes())


if __name__ == "__main__":
    task, most_seconds, most_bytes, *arguments = sys.argv[1:]
    limit(int(most_seconds), int(most_bytes))
    if task == "trees":
        library_path, n_columns_text, kind_text = arguments
        sys.exit(
            not try_trees(
                library_path,
                sys.stdin.buffer.read(),
                int(n_columns_text),
                int(kind_text),
            )
        )
    _score_file(*arguments)
