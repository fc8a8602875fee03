"""Documents that come in piece by piece, written to the arrays of a table."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.large import table_folder
from rankstudio.engine.data.large.array_file import ArrayFile, array_of, widened
from rankstudio.engine.data.large.query_runs import QueryRuns
from rankstudio.engine.data.large.table_folder import TableText, make_room, save_array
from rankstudio.engine.data.letor.missing_values import fill_missing, normalize_queries
from rankstudio.engine.data.letor.parsed_table import Scattered, Table
from rankstudio.engine.errors import DatasetError, FileAccessError, shown_path
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory
from rankstudio.engine.support.blocks import group_blocks
from rankstudio.engine.support.file_pages import release

_GROWTH = 1.5  # of the width, where ids become larger and larger: rows are copied so often at most
_PER_DOCUMENT = 40  # bytes of memory that it takes to bring the documents of queries together


@dataclass(frozen=True)
class Treatment:
    """What becomes of the values once they are read.

    Attributes
    ----------
    missing : {"query_min", "zero", "refuse"}
    normalize : bool
    """

    missing: str = "query_min"
    normalize: bool = False


class TableWriter:
    """Writes a table of which no more than a piece is in memory.

    Parameters
    ----------
    path : Path
        The file that is read, for sentences.
    treatment : Treatment
    unit : str
        What a place of a document is counted in: "line" or "row".
    """

    def __init__(self, path: Path, treatment: Treatment, unit: str) -> None:
        self._path = path
        self._treatment = treatment
        self._new = table_folder.new_folder()
        self._files = ExitStack()
        self._runs = QueryRuns(unit)
        self._X: ArrayFile | None = None
        self._copies = 0
        self._missing: Ints = np.zeros(0, dtype=np.int64)
        self._comments_end = 0
        self._y = self._file("y", np.float64)
        self._comments = self._file("comments", np.uint8)
        self._offsets = self._file("comment_offsets", np.int64)
        self._offsets.append(np.zeros(1, dtype=np.int64))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()
        shutil.rmtree(self._new, ignore_errors=True)  # what became a table has another name by now

    @property
    def width(self) -> int:
        """Number of columns so far; of those that are written, some at the end may be of no feature."""
        return 0 if self._X is None or self._X.width is None else self._X.width

    @property
    def n_documents(self) -> int:
        """Number of documents so far."""
        return self._y.rows

    def add(
        self,
        X: Floats,
        y: Floats,
        comments: TextComments,
        missing: Ints,
        runs: Iterable[tuple[str, int]],
        place_of: Callable[[int], int],
        share: float = 1.0,
    ) -> None:
        """Write documents behind those that were written.

        Parameters
        ----------
        X, y, comments, missing
            As of `Table`, in the order of the file.
        runs, place_of
            Their queries, for `QueryRuns.add`.
        share : float
            Which share of all documents have come in with these, about.

        Raises
        ------
        DatasetError
            Where the disk has no room for all of them.
        OSError
            Where they cannot be written.
        """
        if not len(y):
            return
        if self._X is None or X.shape[1] > self.width:
            self._grow(X.shape[1], (self.n_documents + len(y)) / max(share, 1e-9))
        assert self._X is not None
        if X.shape[1] < self.width:
            X = np.pad(X, ((0, 0), (0, self.width - X.shape[1])))
        self._X.append(X)
        self._y.append(y)
        self._comments.append(comments.content)
        self._offsets.append(comments.offsets[1:] + (self._comments_end - comments.offsets[0]))
        self._comments_end += int(comments.offsets[-1] - comments.offsets[0])
        if len(missing) > len(self._missing):
            self._missing = np.pad(self._missing, (0, len(missing) - len(self._missing)))
        self._missing[: len(missing)] += missing
        self._runs.add(runs, place_of)

    def finish(
        self,
        n_features: int,
        key: Callable[[], str],
        text: Callable[[tuple[str, ...], Scattered | None], TableText],
        queries: tuple[Ints, tuple[str, ...]] | None = None,
    ) -> Table:
        """Bring the documents into order, fill in what is missing, and return the table.

        Parameters
        ----------
        n_features : int
            Number of columns.
        key : callable
            Returns by what the table is found.
        text : callable
            Makes what is no array, of the ids of the queries and of which of them were scattered.
        queries : (Ints, tuple of str), optional
            First row of each query and their ids, where the documents do not say their query.

        Raises
        ------
        DatasetError
            Where there is too little memory, or room on the disk, to do so.
        OSError
            Where it cannot be written.
        """
        assert self._X is not None
        query_ptr, ids = queries or (self._runs.query_ptr(), self._runs.query_ids)
        scattered = None if queries else self._runs.scattered()
        order = np.zeros(0, dtype=np.int64) if scattered is None else self._order(scattered)
        missing = np.zeros(n_features, dtype=np.int64)
        missing[: len(self._missing)] = self._missing[:n_features]
        digests = {"X": self._X.finish(), "y": self._y.finish(), "comments": self._comments.finish()}
        digests["comment_offsets"] = self._offsets.finish()
        filled = self._treatment.missing != "refuse" and bool(missing.any())
        if order.size or filled or self._treatment.normalize or self.width != n_features:
            digests["X"] = self._rewrite(n_features, query_ptr, order, missing if filled else None)
        else:
            self._X.path.rename(self._new / "X.npy")
        if order.size:
            y = np.array(array_of(self._y.path))[order]
            self._y.path.unlink()
            digests["y"] = save_array(self._new, "y", y)
        for name, array in (("query_ptr", query_ptr), ("missing", missing), ("file_rows", order)):
            digests[name] = save_array(self._new, name, array)
        return table_folder.finish(self._new, key(), text(ids, scattered), digests)

    def _file(self, name: str, dtype: type[np.generic], width: int | None = None) -> ArrayFile:
        return self._files.enter_context(ArrayFile(self._new / f"{name}.npy", dtype, width))

    def _grow(self, width: int, rows: float) -> None:
        """Give X so many columns, if the disk has room for about so many rows of them."""
        if self._X is not None:
            width = max(width, int(self.width * _GROWTH))
        self._need(8.0 * width * rows, f"{rows:,.0f} documents with {width} features")
        self._copies += 1
        new = self._new / f"X-{self._copies}.npy"
        if self._X is None:
            self._X = ArrayFile(new, np.float64, width)
        else:
            self._X.finish()
            before = self._X.path
            self._X = widened(before, new, width)
            before.unlink()
        self._files.enter_context(self._X)

    def _need(self, n_bytes: float, what: str) -> None:
        make_room(self._new, self._path, n_bytes, what)

    def _order(self, scattered: Scattered) -> Ints:
        """Return the rows query by query, if that fits the budget."""
        needed = _PER_DOCUMENT * self.n_documents
        if needed > memory.budget():
            raise DatasetError(
                tr(
                    "{path}: query {query} comes back on {unit} {line}, and to bring the documents of "
                    "each query together takes {needed}, where {budget} may be used; please sort the file by "
                    "query, or allow more memory."
                ).format(
                    path=shown_path(self._path),
                    query=scattered.query_id,
                    unit=scattered.unit,
                    line=scattered.line,
                    needed=memory.size(needed),
                    budget=memory.size(memory.budget()),
                )
            )
        return self._runs.order()

    def _rewrite(self, width: int, query_ptr: Ints, order: Ints, missing: Ints | None) -> str:
        """Write X anew, some whole queries at a time."""
        assert self._X is not None
        largest = int(np.diff(query_ptr).max())
        if 24.0 * largest * width > memory.budget():
            raise DatasetError(
                tr(
                    "{path}: a query has {n} documents, whose features take {needed} to be filled in or "
                    "scaled, where {budget} may be used; please allow more memory, or divide that query."
                ).format(
                    path=shown_path(self._path),
                    n=largest,
                    needed=memory.size(24.0 * largest * width),
                    budget=memory.size(memory.budget()),
                )
            )
        self._need(8.0 * width * self.n_documents, f"{self.n_documents:,} documents with {width} features")
        raw = array_of(self._X.path)
        with ArrayFile(self._new / "X.npy", np.float64, width) as out:
            for first, last in group_blocks(query_ptr, width):
                begin, end = int(query_ptr[first]), int(query_ptr[last])
                rows = raw[order[begin:end]] if order.size else raw[begin:end]
                block = np.zeros((end - begin, width))
                block[:, : raw.shape[1]] = rows[:, :width]
                own = query_ptr[first : last + 1] - begin
                if missing is not None:
                    fill_missing(block, own, missing, self._treatment.missing)
                if self._treatment.normalize:
                    normalize_queries(block, own)
                out.append(block)
                release(raw)
            digest = out.finish()
        del raw
        self._X.path.unlink()
        return digest


def unreadable(path: Path, error: OSError) -> FileAccessError:
    """Return the error of a table that could not be written."""
    return FileAccessError(
        path,
        tr(
            "it is larger than the memory budget, and what is read of it could not be written: {reason}."
        ).format(reason=error.strerror or error),
    )
