"""Drift: differences of the features between two parts or datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.conventions import DEFAULT
from rankstudio.engine.support.work import Waiting, WorkProgress

# features of which the values in both datasets are in memory as columns
_FEATURES_PER_BLOCK = 8


@dataclass(frozen=True)
class FeatureDrift:
    """Differences of a feature between two datasets.

    Attributes
    ----------
    feature : int
        1-based id in the first dataset.
    name : str
    distance : float
        Kolmogorov-Smirnov distance of the values: the largest
        difference of their distribution functions.
    shift : float
        Difference of the means, in standard deviations of the first
        dataset; NaN if the feature is constant there.
    scale : float
        Ratio of the standard deviations, second to first; NaN if the
        feature is constant in the first dataset.
    constant : (float, float)
        Share of queries in which the feature is constant, in each dataset.
    correlation : (float, float)
        Kendall's τ_b of values and labels in each dataset, as the mean
        over the queries where τ_b is defined.
    """

    feature: int
    name: str
    distance: float
    shift: float
    scale: float
    constant: tuple[float, float]
    correlation: tuple[float, float]


def feature_drift(
    first: RankingDataset, second: RankingDataset, convention: str = DEFAULT
) -> Waiting[tuple[FeatureDrift, ...]]:
    """Compare the features that two datasets share.

    Parameters
    ----------
    first, second : RankingDataset
        Features are matched by id. If no ids match, or if features with
        the same id have different names, they are matched by name.
    convention : str
        Convention of Kendall's τ.

    Returns
    -------
    generator of tuple of FeatureDrift
        Yields its progress, and returns the features with the largest
        distance first; of equal distances, the lowest id first.

    Raises
    ------
    DatasetError
        If the datasets share no feature.

    Notes
    -----
    O(n m log m) for n features and m documents.
    """
    pairs = _shared_columns(first, second)

    # One object for each dataset, which computes the correlations of
    # features with the labels.
    correlations = [_Correlation(part, convention) for part in (first, second)]
    drifts: list[FeatureDrift] = []

    # A block of features at a time, so that the values of all features
    # need not be in memory.
    for start in range(0, len(pairs), _FEATURES_PER_BLOCK):
        yield WorkProgress(tr("comparing features"), start / len(pairs))
        block = pairs[start : start + _FEATURES_PER_BLOCK]

        # The features of the block as rows of contiguous memory, for
        # each of the two datasets.
        first_columns, second_columns = zip(*block, strict=True)
        values = [_as_rows(first, first_columns), _as_rows(second, second_columns)]
        first_taus, second_taus = (
            correlation.of(part_values)
            for correlation, part_values in zip(correlations, values, strict=True)
        )
        for index, (column, _) in enumerate(block):
            first_values, second_values = (part_values[index] for part_values in values)

            # Shift and scale are in standard deviations of the first
            # dataset; a constant feature has none.
            deviation = float(first_values.std())
            varies = deviation > 0
            shift = (
                float(second_values.mean() - first_values.mean()) / deviation
                if varies
                else float("nan")
            )
            scale = float(second_values.std()) / deviation if varies else float("nan")
            drifts.append(
                FeatureDrift(
                    feature=int(first.feature_ids[column]),
                    name=first.feature_names[column],
                    distance=distribution_distance(first_values, second_values),
                    shift=shift,
                    scale=scale,
                    constant=(
                        _share_of_constant_queries(first_values, first.query_ptr),
                        _share_of_constant_queries(second_values, second.query_ptr),
                    ),
                    correlation=(float(first_taus[index]), float(second_taus[index])),
                )
            )

    # The features that differ most come first.
    return tuple(sorted(drifts, key=lambda drift: (-drift.distance, drift.feature)))


def distribution_distance(first: Floats, second: Floats) -> float:
    """Return the Kolmogorov-Smirnov distance of two samples, from 0 to 1.

    ``first`` and ``second`` are the values of the samples. The distance
    is the greatest difference, over all numbers x, between the shares
    of the values of the two samples that are at most x.
    """
    first_sorted = np.sort(first)
    second_sorted = np.sort(second)
    all_values = np.concatenate((first_sorted, second_sorted))

    # The share of each sample's values up to a number only changes at
    # values of the samples.
    first_shares = (
        np.searchsorted(first_sorted, all_values, side="right") / first_sorted.size
    )
    second_shares = (
        np.searchsorted(second_sorted, all_values, side="right") / second_sorted.size
    )
    return float(np.abs(first_shares - second_shares).max())


class _Correlation:
    """Computes Kendall's τ_b of features and labels of a dataset."""

    def __init__(self, data: RankingDataset, convention: str) -> None:
        """Prepare the evaluator; τ follows a convention, given by its key."""
        from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba

        self._evaluator = Evaluator(
            data.y, data.query_ptr, convention, ("Tau",), grading=data.grading
        )

    def of(self, columns: Floats) -> Floats:
        """Return the mean τ_b over queries of features (c, m), shape (c,).

        τ_b is Kendall's rank correlation of a feature with the labels.
        ``columns`` has the values of c features for m documents. The
        mean of a feature is NaN if no query has a τ_b.
        """
        return self._evaluator.evaluate_many(columns)["Tau"]


def _as_rows(data: RankingDataset, columns: Sequence[int]) -> Floats:
    """Return some features of a dataset as the rows of a contiguous array."""
    return np.ascontiguousarray(data.X[:, list(columns)].T)


def _share_of_constant_queries(values: Floats, query_ptr: Ints) -> float:
    """Return the share of queries within which all documents have the same value; ``values`` has one per document."""
    starts = query_ptr[:-1]
    is_constant = np.maximum.reduceat(values, starts) == np.minimum.reduceat(
        values, starts
    )
    return float(is_constant.mean())


def _shared_columns(
    first: RankingDataset, second: RankingDataset
) -> Sequence[tuple[int, int]]:
    """Return the 0-based columns, in the first and second dataset, of each feature that both datasets have.

    Features are matched by id. If no ids match, or if features with the
    same id have different names, they are matched by name, provided
    that any names match.
    """
    # First by id.
    by_id = {int(i): column for column, i in enumerate(second.feature_ids)}
    pairs = [
        (column, by_id[int(i)])
        for column, i in enumerate(first.feature_ids)
        if int(i) in by_id
    ]
    names_differ = any(
        first.feature_names[column] != second.feature_names[other_column]
        for column, other_column in pairs
    )

    # Otherwise by name.
    if not pairs or names_differ:
        by_name = {name: column for column, name in enumerate(second.feature_names)}
        pairs_by_name = [
            (column, by_name[name])
            for column, name in enumerate(first.feature_names)
            if name in by_name
        ]
        pairs = pairs_by_name or pairs
    if not pairs:
        raise DatasetError(tr("The two datasets share no feature, by id or by name."))
    return pairs
