"""Write LETOR text that reads back as the same numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rankstudio.engine.data.compression import packed_pieces
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import OutputError
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.files import write_pieces

_PIECE = 4096  # documents
_ENDS_TOKEN = frozenset(" \t\r\n#\0")


def save_letor(dataset: RankingDataset, path: str | os.PathLike[str], *, comments: bool = True) -> None:
    """Write a dataset as LETOR text, whole or not at all.

    Parameters
    ----------
    dataset : RankingDataset
        What to write. Numbers are written with as many digits as it takes to read back the same double;
        the features that are 0 are left out if the file it was read from did that. Missing values have been
        filled and are written so.
    path : str or path-like
        The file; packed if its name ends with ``.gz``, ``.bz2``, ``.xz`` or ``.zst``.
    comments : bool
        Whether to write the comments. A line end within one becomes a blank.

    Raises
    ------
    OutputError
        If the file cannot be written, or the id of a query cannot be in LETOR text.

    Notes
    -----
    O(mn), some thousands of documents in memory at a time.
    """
    path = Path(path)
    for query_id in dataset.query_ids:
        if not query_id or not _ENDS_TOKEN.isdisjoint(query_id):
            raise OutputError(
                f'{path}: it could not be written: found the query id "{query_id}", expected one without '
                "blanks and without #."
            )
    write_pieces(path, packed_pieces(path, letor_pieces(dataset, comments=comments)))


def letor_pieces(dataset: RankingDataset, *, comments: bool = True, queries: bool = True) -> Iterator[bytes]:
    """Yield the lines of a dataset; without ``queries`` as SVM-light has them, that is without their ids."""
    for begin in range(0, dataset.n_documents, _PIECE):
        end = min(begin + _PIECE, dataset.n_documents)
        yield _lines(dataset, begin, end, comments, queries)
        release(dataset.X[begin:end])


def _lines(dataset: RankingDataset, begin: int, end: int, comments: bool, queries: bool) -> bytes:
    """Return the lines of the documents from ``begin`` to ``end``."""
    ids = [f"{i}:" for i in dataset.feature_ids.tolist()]
    lines = []
    for row in range(begin, end):
        query_id = dataset.query_ids[dataset.query_index[row]]
        values = dataset.X[row]
        if dataset.sparse:
            kept = _kept(values, first=row == 0)
            features = [f"{ids[j]}{shortest(values[j].item())}" for j in kept]
        else:
            features = [i + shortest(v) for i, v in zip(ids, values.tolist(), strict=True)]
        line = " ".join(
            [shortest(dataset.y[row].item()), *([f"qid:{query_id}"] if queries else []), *features]
        )
        comment = " ".join(dataset.comments[row].splitlines()) if comments and len(dataset.comments) else ""
        lines.append(f"{line} #{comment}\n" if comment else f"{line}\n")
    return "".join(lines).encode("utf-8", errors="backslashreplace")


def _kept(values: np.ndarray[tuple[int], np.dtype[np.float64]], first: bool) -> list[int]:
    """Return the columns to write; the first line always has the last, which tells how many there are."""
    kept = (values != 0.0) | np.signbit(values)
    kept[-1] |= first
    return np.flatnonzero(kept).tolist()


def shortest(value: float) -> str:
    """Return the shortest text that reads back as this double.

    Examples
    --------
    >>> shortest(2.0), shortest(0.1), shortest(-0.0)
    ('2', '0.1', '-0')
    """
    return repr(value).removesuffix(".0")
