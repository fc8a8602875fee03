"""A written module of Python run by a process of its own, which it may end: a script alone.

    python -I -S module_trial.py MODULE IDS ENDS SCALED SECONDS BYTES DOCUMENTS SCORES

has the module score documents, which a file holds as doubles, one after the other, and writes their scores.
"""

from __future__ import annotations

import runpy
import sys
from array import array
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path


def module_scores(
    module: str, ids: Sequence[int], ends: Sequence[int], scaled: bool, values: Sequence[float]
) -> list[float]:
    """Return the scores of documents.

    Parameters
    ----------
    module : str
        Its file.
    ids : sequence of int
        Of the features, in the order of the values.
    ends : sequence of int
        Where queries begin, and the number of documents.
    scaled : bool
        Whether whole queries are scored, as values are scaled within them.
    values : sequence of float
        Of all documents, one after the other.
    """
    names = runpy.run_path(module)
    k = len(ids)
    rows = [dict(zip(ids, values[at * k : (at + 1) * k])) for at in range(ends[-1])]  # noqa: B905
    if not scaled:
        return [names["score"](row) for row in rows]
    return [score for a, b in pairwise(ends) for score in names["scores"](rows[a:b])]


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


def _numbers(text: str) -> list[int]:
    return [int(number) for number in Path(text).read_text(encoding="ascii").split()]


if __name__ == "__main__":
    file, ids_file, ends_file, whole, most_seconds, most_bytes, given, found = sys.argv[1:]
    limit(int(most_seconds), int(most_bytes))
    documents = array("d", Path(given).read_bytes())
    scores = module_scores(file, _numbers(ids_file), _numbers(ends_file), whole == "1", documents)
    Path(found).write_bytes(array("d", scores).tobytes())
