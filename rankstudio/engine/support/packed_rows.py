"""Rows of numbers of which many are 0 or NaN, stored in less memory and restored with the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from sys import getsizeof
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints

_VALUES_AT_ONCE = 1 << 16  # values that are compared at a time: half a megabyte
_HEADER_BYTES = 112  # bytes that numpy takes for an array besides its values


class Rows(Protocol):
    """Rows of one kind, created or looked up on demand."""

    def row(self, k: int) -> Any:
        """Return row k."""

    @property
    def n_bytes(self) -> int:
        """Memory in bytes."""


@dataclass(frozen=True, eq=False)
class PlainRows:
    """Unpacked rows: arrays that would not become smaller, or that are shared.

    Attributes
    ----------
    rows : tuple of ndarray, or of tuple
        The rows, one array or tuple of numbers each.
    """

    rows: tuple[Any, ...]

    def row(self, k: int) -> Any:
        """Return row k, the object itself."""
        return self.rows[k]

    @property
    def n_bytes(self) -> int:
        """Memory in bytes; an object used for several rows counts once."""
        return sum(
            map(_row_bytes, {id(row): row for row in self.rows}.values())
        ) + 8 * len(self.rows)


@dataclass(frozen=True, eq=False)
class PackedRows:
    """K rows of n numbers, in which numbers with the bits of ``fill`` are not stored.

    Attributes
    ----------
    n : int
        Number of numbers in each row.
    fill : float
        The number that is not stored: 0.0 or NaN.
    values : ndarray of shape (N,)
        The stored numbers, row by row.
    starts : ndarray of shape (K + 1,)
        Start of each row's numbers in ``values``, and the end of the last.
    marks : ndarray of shape (K, ceil(n / 8))
        A bit for each number of a row: whether it is stored in ``values``.

    Notes
    -----
    Memory: 8N + 8K + Kn/8 bytes.
    """

    n: int
    fill: float
    values: Floats
    starts: Ints
    marks: NDArray[np.uint8]

    @classmethod
    def of(cls, rows: Sequence[Floats], fill: float) -> PackedRows:
        """Pack K rows of n numbers; numbers with the bits of ``fill`` are not stored.

        Some rows are packed at a time, to save memory. O(Kn).
        """
        n = rows[0].size
        # Bits are compared instead of numbers, as NaN differs from itself.
        bits = np.array(fill).view(np.int64)
        step = max(1, _VALUES_AT_ONCE // max(1, n))
        values: list[Floats] = []
        marks: list[NDArray[np.uint8]] = []
        counts: list[Ints] = []
        for first in range(0, len(rows), step):
            block = np.stack(rows[first : first + step])
            is_stored = block.view(np.int64) != bits
            values.append(block[is_stored])
            marks.append(np.packbits(is_stored, axis=1))  # a bit per number
            counts.append(is_stored.sum(axis=1))
        starts = np.concatenate([[0], *counts]).cumsum()
        return cls(n, fill, np.concatenate(values), starts, np.concatenate(marks))

    def row(self, k: int) -> Floats:
        """Return row k as a new array, shape (n,)."""
        out = np.full(self.n, self.fill)
        is_stored = np.unpackbits(self.marks[k], count=self.n).view(np.bool_)
        out[is_stored] = self.values[self.starts[k] : self.starts[k + 1]]
        return out

    @property
    def n_bytes(self) -> int:
        """Memory in bytes."""
        return sum(
            a.nbytes + _HEADER_BYTES for a in (self.values, self.starts, self.marks)
        )


def packed_rows(rows: Sequence[Floats], fill: float) -> Rows:
    """Return rows without the numbers that they often repeat, if that saves memory.

    If that saves no memory, or the rows are not equally long, return
    the rows unpacked, as PlainRows.

    Parameters
    ----------
    rows : sequence of ndarray
        One-dimensional arrays.
    fill : float
        0.0 or NaN: the number that is not stored.
    """
    # Rows without numbers share one array.
    if rows and all(row.size == 0 for row in rows):
        return PlainRows((np.empty(0),) * len(rows))
    plain = PlainRows(tuple(rows))
    have_equal_shapes = rows and all(
        row.dtype == np.float64 and row.shape == (rows[0].size,) for row in rows
    )
    # Several references to the same array need no memory of their own.
    is_one_object = len({id(row) for row in rows}) == 1 < len(rows)
    if not have_equal_shapes or is_one_object:
        return plain
    packed = PackedRows.of(rows, fill)
    return packed if packed.n_bytes < plain.n_bytes else plain


@dataclass(frozen=True, eq=False)
class IndexTuples:
    """K tuples of indices; if all are prefixes of the longest one, only that one is stored.

    Attributes
    ----------
    flat : ndarray
        Concatenated indices, in the smallest sufficient unsigned integers.
    begins, ends : ndarray of shape (K,)
        Start and end of each tuple in ``flat``.
    """

    flat: NDArray[Any]
    begins: Ints
    ends: Ints

    @classmethod
    def of(cls, rows: Sequence[tuple[int, ...]]) -> IndexTuples:
        """Store some tuples of indices, equal ones once. O(total length)."""
        # ``flat`` has all indices that are stored, ``begins`` where
        # each tuple starts in it.
        longest = max(rows, key=len)
        if all(row == longest[: len(row)] for row in rows):
            begins = dict.fromkeys(rows, 0)
            flat = list(longest)
        else:
            begins = {}
            flat = []
            for row in rows:
                if row not in begins:
                    begins[row] = len(flat)
                    flat += row
        row_begins = np.array([begins[row] for row in rows], dtype=np.int64)
        # The smallest type that holds the greatest index.
        indices = np.array(flat, dtype=np.min_scalar_type(max(flat, default=0)))
        return cls(
            indices, row_begins, row_begins + np.array([len(row) for row in rows])
        )

    def row(self, k: int) -> tuple[int, ...]:
        """Return tuple k."""
        return tuple(self.flat[self.begins[k] : self.ends[k]].tolist())

    def added(self, k: int) -> tuple[int, ...]:
        """Return the indices that tuple k has in addition to tuple k - 1, if tuple k - 1 is its prefix.

        If tuple k - 1 is not stored as a prefix of tuple k, return all
        indices of tuple k. O(1) for one more index.
        """
        begin = self.begins[k]
        end = self.ends[k]
        if k and self.begins[k - 1] == begin and self.ends[k - 1] <= end:
            begin = self.ends[k - 1]
        return tuple(self.flat[begin:end].tolist())

    @property
    def lengths(self) -> Ints:
        """Length of each tuple, shape (K,), without creating them."""
        return self.ends - self.begins

    @property
    def n_bytes(self) -> int:
        """Memory in bytes."""
        return sum(
            a.nbytes + _HEADER_BYTES for a in (self.flat, self.begins, self.ends)
        )


def _row_bytes(row: Any) -> int:
    """Return the bytes of a row in memory."""
    return row.nbytes + _HEADER_BYTES if isinstance(row, np.ndarray) else getsizeof(row)
