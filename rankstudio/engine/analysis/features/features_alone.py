"""Measures of ranking each part of a fold by each feature alone."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.data.summary import shown_features
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.support.file_pages import in_file, taken_columns

ALONE = ("MAP", "NDCG@10")
"""Measures of a feature alone."""

# decides in which direction a feature ranks, as in the profile of a feature
_DIRECTION_MEASURE = "MAP"
_VALUES_AT_ONCE = 1_000_000  # 8 MB, so that other threads wait only for milliseconds
# 128 MB, because each block of columns reads all rows from the disk again
_VALUES_FROM_DISK = 1 << 24

BOTH_WAYS = np.ones(1), -np.ones(1)
"""Signs by which all columns rank.

First the greatest values rank first, then the least values.
"""


@dataclass(frozen=True, eq=False)
class FeaturesAlone:
    """Measures of the rankings by each of n features alone.

    Of very many features, only those that are shown are measured.

    Attributes
    ----------
    measure, convention : str
        Name of the measure, and key of its convention.
    parts : Mapping of str to ndarray of shape (n,)
        The measure on each part: "train", and "validation" and "test"
        if the fold has them.
    columns : ndarray of shape (n,)
        The columns of the features in the data, ascending.
    ascending : ndarray of shape (n,), bool
        Whether each feature ranks small values first: in all parts, it
        ranks in the direction with the better MAP on the training part.
    """

    measure: str
    convention: str
    parts: Mapping[str, Floats]
    ascending: Bools
    columns: Ints

    @property
    def order(self) -> Ints:
        """Positions of the features from the best to the worst on the training part.

        Features with equal measures are in the order of their columns.
        """
        sign = 1.0 if find_measure(self.measure).higher_is_better else -1.0
        return np.argsort(-sign * self.parts["train"], kind="stable").astype(np.int64)


def measuring_alone(
    fold: Fold, measure: str, convention: str, *, sealed: bool = False
) -> Generator[float, None, FeaturesAlone]:
    """Measure the rankings of a fold's documents by each feature alone.

    The generator yields the share of the work that is done, from 0 to
    1; its result is the measures. The training part decides whether a
    feature ranks large or small values first.

    Parameters
    ----------
    fold : Fold
        Documents to rank.
    measure, convention : str
        Name of the measure, and key of its convention.
    sealed : bool
        Whether to leave the test part out.

    Notes
    -----
    O(nm log m) for n features of m documents.
    """

    def evaluator(part: RankingDataset, measures: tuple[str, ...]) -> Evaluator:
        """Return the evaluator of measures on a part, by `convention`."""
        return Evaluator(
            part.y, part.query_ptr, convention, measures, grading=part.grading
        )

    # Of wide data, only the features with the most values are measured.
    columns = shown_features(fold.train)
    if columns is not None:
        shown_parts = {
            name: part.with_features(columns) for name, part in fold.parts.items()
        }
        fold = Fold(fold.number, **shown_parts)
    # The direction of a feature depends on one measure, not on the one shown.
    measure = find_measure(measure).name
    measure_names = tuple(dict.fromkeys((measure, _DIRECTION_MEASURE)))

    # Further parts than the training part; a sealed test part is not measured.
    other_parts = {
        name: part
        for name, part in fold.parts.items()
        if name != "train" and not (sealed and name == "test")
    }

    # The time for a part is proportional to its documents; the training
    # part is ranked in both directions.
    n_done = 2 * fold.train.n_documents
    total = n_done + sum(part.n_documents for part in other_parts.values())
    # Rankings from large to small values, and from small to large ones.
    down, up = yield from measuring_columns(
        evaluator(fold.train, measure_names),
        fold.train.X,
        BOTH_WAYS,
        (0.0, n_done / total),  # from 0 up to the share of the training part
    )

    # The training part decides the direction in which each feature ranks.
    ascending = up[_DIRECTION_MEASURE] > down[_DIRECTION_MEASURE]
    parts = {"train": np.where(ascending, up[measure], down[measure])}
    signs = (np.where(ascending, -1.0, 1.0),)
    for name, part in other_parts.items():
        # The share done before this part, and the share of this part.
        span = n_done / total, part.n_documents / total
        (measures,) = yield from measuring_columns(
            evaluator(part, (measure,)), part.X, signs, span
        )
        parts["validation" if name == "vali" else name] = measures[measure]
        n_done += part.n_documents
    return FeaturesAlone(
        measure=measure,
        convention=convention,
        parts=parts,
        ascending=ascending,
        columns=np.arange(fold.train.n_features) if columns is None else columns,
    )


def measuring_columns(
    evaluator: Evaluator,
    X: Floats,
    signs: Sequence[Floats],
    span: tuple[float, float] = (0.0, 1.0),
) -> Generator[float, None, list[dict[str, Floats]]]:
    """Measure the rankings by each of the n columns of X, multiplied by its sign.

    A sign of -1 ranks small values first. Each item of `signs` has n
    signs, or one for all columns. The result has a dict of measures,
    shape (n,) each, for each item of `signs`.

    The share of the work that is done is yielded in between: it starts
    at ``span[0]`` and grows by ``span[1]``.
    """
    n = X.shape[1]
    measures = [
        {measure.name: np.empty(n) for measure in evaluator.measures} for _ in signs
    ]
    # Number of columns whose values are in memory at a time.
    block_size = max(
        1, (_VALUES_FROM_DISK if in_file(X) else _VALUES_AT_ONCE) // len(X)
    )
    start, length = span
    for first in range(0, n, block_size):
        columns = slice(first, first + block_size)
        rows = taken_columns(X, columns)
        for column_signs, values in zip(signs, measures, strict=True):
            # One row per column of X. Signs are an array of shape (n,),
            # or one for all columns.
            scores = rows * np.broadcast_to(column_signs, n)[columns, None]
            for name, block_values in evaluator.evaluate_many(scores).items():
                values[name][columns] = block_values
        yield start + length * min(1.0, (first + block_size) / n)
    return measures
