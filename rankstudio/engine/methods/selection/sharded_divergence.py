"""Expected divergence by sums over shards: Gauss transforms of the training documents, seen by all others.

A feature's density in a grade is known by the moments of its documents in boxes one bandwidth wide, which
add up over shards. What is compared are sums over the documents at which the densities are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.selection import _divergence_kernel as kernels
from rankstudio.engine.methods.shards.sums import summed
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.methods.shards.work import Greatest
from rankstudio.engine.support.memory import budget
from rankstudio.engine.support.work import Waiting

_LEAST_AT_ONCE = 1_000_000  # numbers of moments that are sent to all shards at once
_SHARE = 1 / 64  # of the memory budget, for them
_WHAT = "estimating densities"


@dataclass(frozen=True, eq=False)
class GradeStatistics:
    """Statistics for the bandwidths of the R grades of n features.

    Attributes
    ----------
    grades : ndarray of shape (R,)
        Labels, ascending.
    counts : ndarray of shape (R,)
        Number of documents of each grade.
    least, greatest, deviations : ndarray of shape (R, n)
        Minimum, maximum and standard deviation of the values of its documents.
    """

    grades: Floats
    counts: Floats
    least: Floats
    greatest: Floats
    deviations: Floats


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes one bandwidth wide, for some features: from a grade's smallest value to its largest.

    Attributes
    ----------
    grades : ndarray of shape (R,)
    columns : ndarray of shape (b,)
        The features.
    origins, bandwidths : ndarray of shape (R, b)
    numbers : ndarray of shape (R, b)
        Number of boxes; 0 for a grade without a density.
    """

    grades: Floats
    columns: Ints
    origins: Floats
    bandwidths: Floats
    numbers: Ints

    def split(self, moments: Floats) -> list[list[Floats]]:
        """Return the moments (boxes, TERMS) of each grade and feature, concatenated."""
        ends = np.cumsum(self.numbers.ravel())[:-1]
        parts = np.split(moments.reshape(-1, kernels.TERMS), ends)
        width = self.columns.size
        return [parts[r * width : (r + 1) * width] for r in range(self.grades.size)]


def grade_statistics(data: TrainingData, grades: Floats) -> Waiting[GradeStatistics]:
    """Return the statistics of each grade, in two passes over shards."""
    counts, totals, greatest, falling = yield from summed(data, _WHAT, _totals, grades, by_blocks=True)
    means = totals / counts[:, None]
    (squares,) = yield from summed(data, _WHAT, _squares, grades, means, by_blocks=True)
    deviations = np.sqrt(squares / np.maximum(counts - 1.0, 1.0)[:, None])
    return GradeStatistics(grades, counts, -falling, greatest, deviations)


def compared_by_moments(
    data: TrainingData, of: GradeStatistics, bandwidths: Floats, normalised: bool, thin: float
) -> Waiting[Floats]:
    """Return the expected divergence of each feature (n,), NaN if moments cannot determine it.

    Parameters
    ----------
    data : TrainingData
    of : GradeStatistics
    bandwidths : ndarray of shape (R, n)
        0 for grades with a single value.
    normalised : bool
        Whether densities are normalised to a sum of one. Moments cannot determine pairs with a density that
        is 0 or small everywhere, or that of a single value.
    thin : float
        Threshold of small densities, as a share of the maximum possible value, on average.
    """
    at = _documents_to_compare(data)
    n_at = at.X.shape[0]
    known = (bandwidths > 0.0) & (bandwidths < np.inf)
    out = np.full(data.X.shape[1], np.nan)
    wanted = known.all(axis=0) | (not normalised)
    for boxes in _blocks(of, bandwidths, known, np.asarray(wanted)):
        own = known[:, boxes.columns]
        scales = of.counts[:, None] * boxes.bandwidths * np.sqrt(2.0 * np.pi)
        (moments,) = yield from summed(data, _WHAT, _moments, boxes)
        if normalised:
            (scales,) = yield from summed(at, _WHAT, _density_totals, boxes, moments)
            told = (scales >= thin * of.counts[:, None] * n_at).all(axis=0)
        else:
            told = np.ones(boxes.columns.size, dtype=bool)
        (pairs,) = yield from summed(
            at, _WHAT, _divergences, boxes, moments, np.where(own & told, scales, 1.0)
        )
        out[boxes.columns] = np.where(told, _weighed(pairs, own), np.nan)
    return out


def _weighed(pairs: Floats, known: Bools) -> Floats:
    """Return the sums over a < b of (b - a) JS, of pairs (R, R, b) that are both known."""
    total = np.zeros(known.shape[1])
    for a in range(known.shape[0]):
        for b in range(a + 1, known.shape[0]):
            both = known[a] & known[b]
            # Never negative but for rounding.
            total += np.where(both, (b - a) * np.maximum(0.5 * pairs[a, b], 0.0), 0.0)
    return total


def _documents_to_compare(data: TrainingData) -> TrainingData:
    """Return the documents at whose values densities are compared; each is a query of its own."""
    if data.validation is None:
        return data
    size = data.validation.shape[0]
    return replace(data, X=data.validation, y=np.zeros(size), ptr=np.arange(size + 1), validation=None)


def _blocks(of: GradeStatistics, bandwidths: Floats, known: Bools, wanted: Bools) -> Iterator[Boxes]:
    """Yield the boxes of all wanted features, as many at a time as there is room for their moments."""
    widths = np.where(known, bandwidths, 1.0)
    spans = np.where(known, of.greatest - of.least, 0.0)
    numbers = np.where(known, (spans / widths).astype(np.int64) + 1, 0)
    most = max(_LEAST_AT_ONCE, budget() * _SHARE / 8)
    sizes = numbers.sum(axis=0) * kernels.TERMS
    columns: list[int] = []
    for j in np.flatnonzero(wanted).tolist():
        if columns and sizes[[*columns, j]].sum() > most:
            yield _boxes(of, columns, widths, numbers)
            columns = []
        columns.append(j)
    if columns:
        yield _boxes(of, columns, widths, numbers)


def _boxes(of: GradeStatistics, columns: list[int], widths: Floats, numbers: Ints) -> Boxes:
    return Boxes(of.grades, np.array(columns), of.least[:, columns], widths[:, columns], numbers[:, columns])


def _totals(data: QueryData, grades: Floats) -> tuple[Floats, Floats, Greatest, Greatest]:
    shape = grades.size, data.X.shape[1]
    counts, totals = np.zeros(grades.size), np.zeros(shape)
    greatest, falling = np.full(shape, -np.inf), np.full(shape, -np.inf)
    for r, grade in enumerate(grades):
        rows = data.X[data.y == grade]
        if rows.size:
            counts[r], totals[r] = rows.shape[0], rows.sum(axis=0)
            greatest[r], falling[r] = rows.max(axis=0), -rows.min(axis=0)
    return counts, totals, Greatest(greatest), Greatest(falling)


def _squares(data: QueryData, grades: Floats, means: Floats) -> tuple[Floats]:
    out = np.zeros(means.shape)
    for r, grade in enumerate(grades):
        rows = data.X[data.y == grade] - means[r]
        out[r] = np.einsum("ij,ij->j", rows, rows)
    return (out,)


def _moments(data: QueryData, boxes: Boxes) -> tuple[Floats]:
    moments = np.zeros(int(boxes.numbers.sum()) * kernels.TERMS)
    for r, parts in enumerate(boxes.split(moments)):
        rows = np.flatnonzero(data.y == boxes.grades[r])
        ones = np.ones(rows.size)
        for place, (column, part) in enumerate(zip(boxes.columns, parts, strict=True)):
            if part.size and rows.size:
                origin, h = float(boxes.origins[r, place]), float(boxes.bandwidths[r, place])
                kernels.add_moments(np.ascontiguousarray(data.X[rows, column]), ones, origin, h, part)
    return (moments,)


def _densities(data: QueryData, boxes: Boxes, moments: Floats) -> Iterator[tuple[int, Floats, Floats]]:
    """Yield the place of each feature, the sums of kernels (R, P) at its P values, and their numbers."""
    parts = boxes.split(moments)
    for place, column in enumerate(boxes.columns):
        values, counts = np.unique(data.X[:, column], return_counts=True)
        sums = np.zeros((boxes.grades.size, values.size))
        for r in range(boxes.grades.size):
            if parts[r][place].size:
                origin, h = float(boxes.origins[r, place]), float(boxes.bandwidths[r, place])
                kernels.sums_of_moments(parts[r][place], origin, h, values, sums[r])
        yield place, sums, counts.astype(np.float64)


def _density_totals(data: QueryData, boxes: Boxes, moments: Floats) -> tuple[Floats]:
    out = np.zeros(boxes.numbers.shape)
    for place, sums, counts in _densities(data, boxes, moments):
        out[:, place] = (sums * counts).sum(axis=1)
    return (out,)


def _divergences(data: QueryData, boxes: Boxes, moments: Floats, scales: Floats) -> tuple[Floats]:
    n_grades = boxes.grades.size
    out, pairs = np.zeros((n_grades, n_grades, boxes.columns.size)), np.zeros((n_grades, n_grades))
    for place, sums, counts in _densities(data, boxes, moments):
        kernels.divergence_sums(sums / scales[:, place, None], counts, pairs)
        out[:, :, place] = pairs
    return (out,)
