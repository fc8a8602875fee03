"""Pairwise preferences between documents as one value: the edges of a graph (Pahikkala et al. 2009, 2.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import DatasetError, ParameterError, between

LEAST = 1e-30
GREATEST = 1e30
"""Limits of magnitudes and weights, within which their squares and inverses are finite and not 0."""


@dataclass(frozen=True, eq=False)
class Preferences:
    """Preferences of one document over another, a directed multigraph.

    Two documents may be compared any number of times, also both ways.

    Attributes
    ----------
    winner, loser : ndarray of shape (l,), int64, read-only
        Rows, from 0, of the preferred document and of the other one.
    magnitude : ndarray of shape (l,), read-only
        Magnitude of each preference, greater than 0: the difference of
        two labels, if there are labels. A single number applies to all.
    weight : ndarray of shape (l,), read-only
        Weight of the loss of each preference, greater than 0: 2 counts
        as much as the same preference twice. A single number applies to
        all.

    Raises
    ------
    ParameterError
        For invalid rows, a document preferred to itself, or numbers out
        of range.

    Examples
    --------
    >>> Preferences([0, 2], [1, 1], magnitude=[1, 3])
    <Preferences: 2>
    """

    winner: Ints
    loser: Ints
    magnitude: Floats = 1.0  # type: ignore[assignment]
    weight: Floats = 1.0  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Check the arrays, and store them as read-only arrays of shape (l,).

        l is the number of preferences. A single magnitude or weight
        holds for all. Raise ParameterError if an array is invalid.
        """
        winner = _checked_rows("winner", self.winner)
        loser = _checked_rows("loser", self.loser)
        if winner.shape != loser.shape:
            raise ParameterError(
                "loser", f"{loser.size} rows", f"{winner.size}, one per winner"
            )
        if (repeated := np.flatnonzero(winner == loser)).size:
            index = int(repeated[0])
            expected = f"a document other than the winner in preference {index}"
            raise ParameterError("loser", int(loser[index]), expected)
        # The class is frozen, hence __setattr__.
        object.__setattr__(self, "winner", winner)
        object.__setattr__(self, "loser", loser)
        for name in ("magnitude", "weight"):
            values = _checked_positive(name, getattr(self, name), winner.size)
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return int(self.winner.size)

    def __repr__(self) -> str:
        return f"<Preferences: {len(self):,}>"

    def in_order(self, order: Ints | None) -> Preferences:
        """Return the same preferences after the rows of X were reordered, ``X[order]``.

        ``order`` has shape (m,), the old row of each new row; None if
        nothing changed.
        """
        if order is None:
            return self
        # Invert the order: the new row of each old row.
        new_row = np.empty_like(order)
        new_row[order] = np.arange(order.size)
        return Preferences(
            new_row[self.winner], new_row[self.loser], self.magnitude, self.weight
        )

    def among(self, first: int, last: int) -> Preferences:
        """Return the preferences among the rows first … last - 1, as of a query.

        Rows of the result are counted from ``first``. Only the winner's
        row is tested, as both documents of a preference belong to the
        same query.
        """
        chosen = (self.winner >= first) & (self.winner < last)
        return Preferences(
            winner=self.winner[chosen] - first,
            loser=self.loser[chosen] - first,
            magnitude=self.magnitude[chosen],
            weight=self.weight[chosen],
        )

    def check_queries(self, query: Ints) -> None:
        """Raise DatasetError unless both documents of each preference belong to one query.

        Parameters
        ----------
        query : ndarray of shape (m,)
            Query number of each row.
        """
        if not len(self):
            raise DatasetError("preferences: expected at least one, found none.")
        greatest = int(max(self.winner.max(), self.loser.max()))
        if greatest >= query.size:
            raise DatasetError(
                f"preferences: expected rows of X, 0 to {query.size - 1}, found row {greatest}."
            )
        mismatched = np.flatnonzero(query[self.winner] != query[self.loser])
        if mismatched.size:
            index = int(mismatched[0])
            raise DatasetError(
                f"preferences: expected two documents of the same query, found rows {self.winner[index]} and "
                f"{self.loser[index]} of different queries in preference {index}."
            )


def _checked_rows(name: str, values: ArrayLike) -> Ints:
    """Return the row numbers of l preferences as a read-only int64 array of shape (l,).

    ``name`` is the name of the parameter, for the message. Raise
    ParameterError for other values.
    """
    array = np.asarray(values)
    # An empty list becomes an array of floats.
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ParameterError(
            name, values, "a list of row numbers, whole numbers from 0 up"
        )
    if array.size and int(array.min()) < 0:
        raise ParameterError(name, int(array.min()), "row numbers from 0 up")
    if array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise ParameterError(name, int(array.max()), "rows of the data")
    rows = array.astype(np.int64)
    rows.setflags(write=False)
    return rows


def _checked_positive(name: str, values: ArrayLike, size: int) -> Floats:
    """Return a positive number for each of ``size`` preferences, as a read-only array.

    ``values`` are as many numbers, or a single one for all. ``name`` is
    the name of the parameter, for the message. Raise ParameterError for
    other values.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(name, values, "numbers greater than 0") from None
    if array.ndim and array.shape != (size,):
        raise ParameterError(
            name,
            f"shape {array.shape}",
            f"a number, or {size} numbers, one per preference",
        )
    # A single number holds for all preferences.
    filled = np.full(size, float(array)) if not array.ndim else array.copy()
    bad = np.flatnonzero(~((filled >= LEAST) & (filled <= GREATEST)))
    if bad.size:
        expected = f"numbers greater than 0, from {LEAST:g} to {GREATEST:g}"
        raise ParameterError(name, float(filled[bad[0]]), expected)
    filled.setflags(write=False)
    return filled


_MAX_PAIRS = 2**53  # that numpy draws from


def sample_preferences(
    data: RankingDataset, share: float = 1.0, noise: float = 0.0, seed: int = 0
) -> Preferences:
    """Draw preferences between documents of one query with different labels.

    Parameters
    ----------
    data : RankingDataset
        The documents.
    share : float, default 1.0
        Share of all such pairs, greater than 0 and up to 1; at least
        one pair is drawn, without repetition.
    noise : float, default 0.0
        Probability from 0 to 1 of reversing a preference.
    seed : int, default 0
        Equal seeds give equal preferences.

    Returns
    -------
    Preferences
        Preferences in row order, with label differences as magnitudes.

    Raises
    ------
    ParameterError
        For a number out of range.
    DatasetError
        If all documents of each query have the same label.

    Notes
    -----
    O(m log m + l log l) for m documents and l preferences; the other pairs are never enumerated.
    """
    # Both numbers are at most 1; noise may be 0, but the share may not.
    for name, value, may_be_zero in (("share", share, False), ("noise", noise, True)):
        is_large_enough = value >= 0 if may_be_zero else value > 0
        if not (is_large_enough and value <= 1):
            expected = (
                f"a number {'from 0' if may_be_zero else 'greater than 0'} up to 1"
            )
            raise ParameterError(name, value, expected)
    between("seed", seed, 0)  # called for its errors only
    # Sort the documents of each query by their labels.
    order = np.lexsort((data.y, data.query_index))
    # For each sorted document, the position of the first one of its query.
    labels = data.y[order]
    first = data.query_ptr[data.query_index]
    positions = np.arange(order.size)
    # The number of documents of the query with a lower label is the
    # position in the sorted query at which the run of equal labels
    # begins. np.nan makes the first label differ from the one "before"
    # it.
    begins = (np.diff(labels, prepend=np.nan) != 0) | (positions == first)
    n_lower = np.maximum.accumulate(np.where(begins, positions, 0)) - first
    # Pairs are numbered by the position of the winner, then of the
    # loser: no list of them is needed to find the pair of a number.
    n_pairs_up_to = np.cumsum(n_lower)
    n_pairs = int(n_pairs_up_to[-1])
    if n_pairs == 0:
        raise DatasetError(
            "Preferences cannot be drawn: no query has documents with different labels."
        )
    if n_pairs > _MAX_PAIRS:
        raise DatasetError(
            f"Preferences are drawn from at most {_MAX_PAIRS:,} pairs, found {n_pairs:,}."
        )
    # Draw numbers of pairs, and find their winners and losers.
    # ``above`` and ``below`` are positions in the sorted order; the
    # pairs of a winner count its losers from the first document of the
    # query.
    rng = np.random.default_rng(seed)
    drawn = rng.choice(
        n_pairs, max(1, round(share * n_pairs)), replace=False, shuffle=False
    )
    drawn.sort()
    above = np.searchsorted(n_pairs_up_to, drawn, side="right")
    below = first[above] + drawn - (n_pairs_up_to[above] - n_lower[above])
    winner = order[above]
    loser = order[below]
    # Reverse some preferences at random.
    is_reversed = rng.random(drawn.size) < noise
    magnitude = data.y[winner] - data.y[loser]
    final_winner = np.where(is_reversed, loser, winner)
    final_loser = np.where(is_reversed, winner, loser)
    return Preferences(final_winner, final_loser, magnitude)
