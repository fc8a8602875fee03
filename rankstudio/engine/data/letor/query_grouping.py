"""Put the documents of a query together, and take the comments out of the text."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Bools, Bytes, Ints
from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.letor import _line_kernel as kernels
from rankstudio.engine.data.letor.format_errors import line_of
from rankstudio.engine.data.letor.parsed_table import Scattered


def group(text: Bytes, spans: Ints, new_query: Bools) -> tuple[Ints, tuple[str, ...], Ints, Scattered | None]:
    """Find the queries.

    Parameters
    ----------
    text : uint8 array
        The text of the file.
    spans : ndarray of shape (m, 4)
        Where in it the ids are.
    new_query : ndarray of shape (m,)
        False where a row has the query id of the row before it.

    Returns
    -------
    query_ptr : ndarray of shape (Q + 1,)
        First row of each query once the rows are in order, and m.
    query_ids : tuple of str
        In the order of first appearance.
    order : ndarray of shape (m,), or (0,) where no query is scattered
        The rows of the file, query by query.
    scattered : Scattered or None
        What to tell the user where documents of a query do not stand together.

    Notes
    -----
    O(m + r) for r runs of rows with one query id; O(m log m) where some query has several runs.
    """
    starts = np.flatnonzero(new_query)
    lengths = np.diff(starts, append=len(new_query))
    runs, ids, back = _number_runs(text, spans, starts)
    sizes = np.zeros(len(ids), dtype=np.int64)
    np.add.at(sizes, runs, lengths)
    query_ptr = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    if not back:
        return query_ptr, ids, np.zeros(0, dtype=np.int64), None
    order = np.argsort(np.repeat(runs, lengths), kind="stable")
    query, row = min(back.items(), key=lambda item: item[1])
    line = line_of(text, int(spans[row, kernels.QID_BEGIN]))
    return query_ptr, ids, order, Scattered(len(back), ids[query], line)


def _number_runs(text: Bytes, spans: Ints, starts: Ints) -> tuple[Ints, tuple[str, ...], dict[int, int]]:
    """Return the query of each run, the ids, and for each query that comes back the row where it does."""
    numbers: dict[str, int] = {}
    runs = np.empty(len(starts), dtype=np.int64)
    back: dict[int, int] = {}
    previous = -1
    places = spans[starts][:, [kernels.QID_BEGIN, kernels.QID_END]]
    for run, (begin, end) in enumerate(places.tolist()):
        query_id = text[begin:end].tobytes().decode("utf-8", errors="backslashreplace")
        known = query_id in numbers
        query = numbers.setdefault(query_id, len(numbers))
        if known and query != previous:
            back.setdefault(query, int(starts[run]))
        runs[run] = previous = query
    return runs, tuple(numbers), back


def copy_comments(text: Bytes, spans: Ints) -> TextComments:
    """Copy the comments out of the text, so that the text can go. O(their bytes)."""
    begin = np.ascontiguousarray(spans[:, kernels.COMMENT_BEGIN])
    end = np.ascontiguousarray(spans[:, kernels.COMMENT_END])
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(end - begin)])
    content = np.empty(int(offsets[-1]), dtype=np.uint8)
    kernels.gather(text, begin, end, offsets, content)
    return TextComments(content, offsets)
