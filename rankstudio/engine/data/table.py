"""What parsing a file gives, before any policy is applied to it; the cache keeps just this."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.source import Comments

MOST_FEATURES = 1_000_000
"""That a file may have: each becomes a column in memory."""


@dataclass(frozen=True)
class Scattered:
    """Queries whose documents do not stand together in the file.

    Attributes
    ----------
    n_queries : int
        How many there are.
    query_id : str
        The first that comes back.
    line : int
        The line on which it comes back.
    unit : str
        "line" of a text, "row" of a table.
    """

    n_queries: int
    query_id: str
    line: int
    unit: str = "line"

    def sentence(self, name: str) -> str:
        """Return the warning for a file of this name."""
        what = "1 query" if self.n_queries == 1 else f"{self.n_queries} queries"
        return (
            f"{name}: the documents of {what} are not contiguous (query {self.query_id} appears again on "
            f"{self.unit} {self.line}). They were grouped, in document order."
        )


@dataclass(frozen=True, eq=False)
class Table:
    """The contents of a data file, grouped by query.

    Attributes
    ----------
    X : ndarray of shape (m, n)
        Features; NaN where a value is missing, 0 where the file leaves a feature out.
    y : ndarray of shape (m,)
        Labels.
    query_ptr : ndarray of shape (Q + 1,)
        First row of each query, and m.
    query_ids : tuple of str
        Ids of the queries, in the order in which they first appear.
    comments : Comments
        What stands behind "#", without the blanks at its end.
    missing : ndarray of shape (n,)
        Number of missing values of each feature.
    dense : bool
        Whether the file gives a value to every feature of every document.
    scattered : Scattered or None
        Which queries had to be put together.
    file_rows : ndarray of shape (m,), or (0,) where no query was scattered
        Position of each row among the documents of the file, from 0.
    feature_names : tuple of str
        As the file has them; () where it has none.
    left_out : tuple of str
        Columns of the file that nobody named, and that are no features.
    told_by : tuple of str
        The columns that told the query, the label and the part, "" for none; () where a line does so itself.
    said : tuple of str
        What else is to be known, as sentences.
    parts : ndarray of shape (m,), or (0,)
        In which part each document is, from 0 (train, vali, test), where a column of the file says so.
    """

    X: Floats
    y: Floats
    query_ptr: Ints
    query_ids: tuple[str, ...]
    comments: Comments
    missing: Ints
    dense: bool
    scattered: Scattered | None = None
    file_rows: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    feature_names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    told_by: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    parts: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def notes(self, name: str) -> tuple[str, ...]:
        """Return what is to be known of a file of this name, as sentences."""
        notes = [
            f'{name}: the column "{column}" is not numeric and was left out.' for column in self.left_out
        ]
        if self.parts.size:
            notes.append(f'{name}: the parts are taken from the column "{self.told_by[2]}".')
        notes += [f"{name}: {sentence}" for sentence in self.said]
        return (*notes, *(() if self.scattered is None else (self.scattered.sentence(name),)))
