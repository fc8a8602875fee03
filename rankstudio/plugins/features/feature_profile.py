"""Profile of one feature: its density by relevance, its ranking alone, and similar features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.engine.analysis.features.features_alone import ALONE
from rankstudio.engine.arithmetic.query_data import centre
from rankstudio.engine.arithmetic.sparse_correlations import SparseCorrelations
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Bools, Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.conventions import DEFAULT
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.clusters import Clusters, clusters
from rankstudio.engine.statistics.density import gaussian_density
from rankstudio.engine.support.file_pages import release, taken_columns
from rankstudio.engine.support.frozen_mapping import FrozenMapping
from rankstudio.engine.support.shard import shards_of
from rankstudio.engine.support.sparse_rows import SparseRows

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.fsmrank_bounds import FSMRankBounds
    from rankstudio.engine.methods.capabilities import FeaturePenalties

GRID_POINTS = 128  # a smooth line 400 px wide
# share of the documents from which zeros are shown apart from the other values
_MIN_SHARE_OF_ZEROS = 0.15
_MAX_CLASSES = 5  # distinguishable lines in one plot
_CLASS_NAMES = {
    2: ("not relevant", "relevant"),
    3: ("not relevant", "relevant", "highly relevant"),
}
_BLOCK_ROWS = 1 << 14  # documents that are centred at a time: 18 MB of 136 features


@dataclass(frozen=True, eq=False)
class ClassDensity:
    """The density of a feature among the documents of one relevance class.

    Attributes
    ----------
    label : str
        "not relevant", "relevance 3", "relevance 0.1 to 0.4".
    density : ndarray of shape (128,)
        Density at the points of the profile's grid. If zeros are
        separate, it is that of the other values.
    n_documents : int
        Number of documents of the class.
    zeros : float
        Share of documents with value 0, if zeros are separate; otherwise NaN.
    """

    label: str
    density: Floats
    n_documents: int
    zeros: float = float("nan")


@dataclass(frozen=True)
class SelectedCorrelation:
    """Correlation of a feature with one feature of a model.

    Attributes
    ----------
    feature_id : int
        1-based id of the model's feature.
    name : str
    correlation : float
        Pearson's correlation within queries; 0 with a feature that is constant there.
    similarity : float
        Similarity A by which the method penalises the two features; NaN
        if the method uses none.
    """

    feature_id: int
    name: str
    correlation: float
    similarity: float = float("nan")


@dataclass(frozen=True, eq=False)
class FeatureProfile:
    """Contents of the inspector for one feature.

    Attributes
    ----------
    feature_id : int
        1-based.
    name : str
    grid : ndarray of shape (128,)
        Grid from the smallest to the largest value, without zeros if
        they are separate; of size 0 if all values are equal.
    classes : tuple of ClassDensity
        Density of the feature in each relevance class, by ascending
        relevance; empty if all values are equal.
    constant : bool
        Whether the feature is constant within every query, so that it
        cannot change any ranking.
    alone : Mapping of str to float
        Two measures of ranking by this feature alone, in the direction
        with the better first one.
    ascending : bool
        Whether that direction puts small values first.
    convention : str
        Key of the measures' convention.
    closest_id : int or None
        Feature with the largest absolute correlation; None if none is defined.
    closest_name : str
        Name of this feature; "" without one.
    correlation : float
        Pearson's correlation of the two features within queries; NaN if
        undefined.
    parts : Mapping of str to Mapping of str to float
        Measures of the feature alone by part: "train", and "validation"
        and "test" if they exist; all in the direction that is better on
        the training part.
    with_selected : tuple of SelectedCorrelation
        Correlations with the features of a model in order of selection,
        without the feature itself.
    explained : float
        R²: share of the feature's variance within queries that a linear
        function of the model's features explains; NaN without such
        features.
    importance : tuple of float
        Importance s of the feature and of its negative, by which the
        method penalises its weight; () if the method uses none.
    bounds : FSMRankBounds or None
        Bounds of FSMRank's theorems for the model; None for other
        methods, or where they do not hold.
    """

    feature_id: int
    name: str
    grid: Floats
    classes: tuple[ClassDensity, ...]
    constant: bool
    alone: Mapping[str, float]
    ascending: bool
    convention: str
    closest_id: int | None
    closest_name: str
    correlation: float
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=FrozenMapping)
    with_selected: tuple[SelectedCorrelation, ...] = ()
    explained: float = float("nan")
    importance: tuple[float, ...] = ()
    bounds: FSMRankBounds | None = None

    def penalised(
        self, penalties: FeaturePenalties, bounds: FSMRankBounds | None = None
    ) -> FeatureProfile:
        """Return the profile completed by importance, bounds, and similarity to the features of a model.

        The profile's `with_selected` has the correlations with the
        other features of the model. ``penalties`` have the profile's
        feature in row 0, and the other features in their columns.
        """
        # The importance has two numbers: that of the feature, and that
        # of its negative (small values first).
        rows = zip(self.with_selected, penalties.similarity[0].tolist(), strict=True)
        return replace(
            self,
            importance=(
                float(penalties.importance[0]),
                float(penalties.of_negative[0]),
            ),
            bounds=bounds,
            with_selected=tuple(
                replace(correlation, similarity=value) for correlation, value in rows
            ),
        )


class Inspector:
    """Profiles of the features of one dataset, with shared computations done once.

    Parameters
    ----------
    dataset : RankingDataset
        Usually the training part.
    convention : str
        Convention of the measures.
    other_parts : mapping of str to RankingDataset
        Other parts of the fold, by name, on which features alone are also measured.
    measure : str
        Measure that decides the direction of a feature. A feature alone
        is measured by this and another usual measure.
    """

    def __init__(
        self,
        dataset: RankingDataset,
        convention: str = DEFAULT,
        other_parts: Mapping[str, RankingDataset] = FrozenMapping(),
        measure: str = ALONE[0],
    ) -> None:
        self.dataset = dataset
        self.measure = measure
        self.convention = convention
        self.others = other_parts

    def profile(self, column: int, selected: Sequence[int] = ()) -> FeatureProfile:
        """Return the profile of the feature in a 0-based column, with correlations to ``selected`` columns.

        Notes
        -----
        O(m log m) for m documents, plus O(mn²) once for the correlations of the n features.
        """
        # The feature's value of each document.
        data = self.dataset
        values = taken_columns(data.X, slice(column, column + 1))[0]
        grid, classes = self._densities(values)
        measures, ascending = self._measures_alone(values)
        rest = [other for other in selected if other != column]
        closest, correlation = self._most_correlated(column)
        return FeatureProfile(
            feature_id=int(data.feature_ids[column]),
            name=data.feature_names[column],
            grid=grid,
            classes=classes,
            # Only a constant feature is not correlated with itself.
            constant=bool(self.correlations[column, column] == 0),
            alone=measures,
            ascending=ascending,
            convention=self.convention,
            closest_id=None if closest is None else int(data.feature_ids[closest]),
            closest_name="" if closest is None else data.feature_names[closest],
            correlation=correlation,
            parts={
                "train": measures,
                **self._measures_of_other_parts(column, ascending),
            },
            with_selected=tuple(
                SelectedCorrelation(
                    int(data.feature_ids[other]),
                    data.feature_names[other],
                    float(self.correlations[column, other]),
                )
                for other in rest
            ),
            explained=self._explained_share(column, rest),
        )

    @cached_property
    def correlations(self) -> Any:
        """Pearson's correlations of the query-centred columns, shape (n, n); 0 for a constant feature.

        The result for sparse features is no array: its values are
        computed when it is indexed.
        """
        data = self.dataset
        if isinstance(data.X, SparseRows):
            return SparseCorrelations(SparseQueryData(data.X, data.y, data.query_ptr))

        # The products of all pairs of centred columns are summed over
        # shards of whole queries, as the centred copy of all rows might
        # not fit into memory.
        gram = np.zeros((data.n_features, data.n_features))
        for part in shards_of(data.query_ptr, _BLOCK_ROWS):
            rows = data.X[part.rows]
            ptr = data.query_ptr[part.first_query : part.end_query + 1]
            block = centre(rows, ptr - part.first_row)
            gram += block.T @ block
            release(rows)  # frees their memory, if they are mapped from a file

        # A constant column has the norm 0, and gets the factor 0 instead of 1 / 0.
        scale = np.sqrt(np.diagonal(gram))
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        correlations: Floats = np.clip(
            gram * inverse[:, None] * inverse[None, :], -1.0, 1.0
        )
        return correlations

    @cached_property
    def clusters(self) -> Clusters:
        """Clusters of the features by their correlations.

        Only dense features have clusters: their correlations must be an array.
        """
        correlations = self.correlations
        assert not isinstance(correlations, SparseCorrelations)
        return clusters(correlations)

    def measured_by(self, convention: str, measure: str) -> Inspector:
        """Return an inspector of the same data with another convention and measure."""
        other = Inspector(self.dataset, convention, self.others, measure)

        # Correlations and clusters that were computed do not depend on the measure.
        cached = {
            name: value
            for name, value in vars(self).items()
            if name in ("correlations", "clusters")
        }
        vars(other).update(cached)
        return other

    @cached_property
    def _classes(self) -> list[tuple[str, Bools]]:
        """The classes of documents by relevance, at most five.

        A class is the text of its label, and a mask of its documents,
        of shape (m,).
        """
        y = self.dataset.y
        labels = np.unique(y)
        if labels.size <= _MAX_CLASSES:
            return [
                (text, y == label)
                for text, label in zip(class_names(labels), labels, strict=True)
            ]

        # Real-valued labels: ranges with about as many distinct labels each.
        groups = np.array_split(labels, _MAX_CLASSES)
        return [
            (_range_text(group), (y >= group[0]) & (y <= group[-1])) for group in groups
        ]

    @cached_property
    def _evaluator(self) -> Evaluator:
        return self._new_evaluator(self.dataset)

    @cached_property
    def _other_evaluators(self) -> dict[str, Evaluator]:
        return {name: self._new_evaluator(part) for name, part in self.others.items()}

    def _new_evaluator(self, part: RankingDataset) -> Evaluator:
        """Return an evaluator of a part by two measures: the shown one and another usual one."""
        # The shown measure comes first; usual ones (ALONE) follow up to
        # their number.
        names = (self.measure, *(name for name in ALONE if name != self.measure))[
            : len(ALONE)
        ]
        return Evaluator(
            part.y, part.query_ptr, self.convention, names, grading=part.grading
        )

    def _measures_of_other_parts(
        self, column: int, ascending: bool
    ) -> dict[str, dict[str, float]]:
        """Return the measures of ranking each other part by one feature, by part and by measure.

        With ``ascending``, small values come first, for which the scores are negated.
        """
        sign = -1.0 if ascending else 1.0
        measured: dict[str, dict[str, float]] = {}
        for name, evaluator in self._other_evaluators.items():
            # (1, m): one ranking of m documents
            scores = sign * taken_columns(
                self.others[name].X, slice(column, column + 1)
            )
            measures = evaluator.evaluate_many(scores)
            measured[name] = {key: float(values[0]) for key, values in measures.items()}
        return measured

    def _explained_share(self, column: int, other_columns: Sequence[int]) -> float:
        """Return R², the share of a column's variance that other columns explain.

        All columns are centred within queries. R² is NaN without other
        columns, or for a constant column.
        """
        if not other_columns or self.correlations[column, column] == 0:
            return float("nan")

        # In units of the columns' norms, the normal equations have the
        # correlations as their matrix, and R² is the product of
        # right-hand side and solution.
        products = self.correlations[list(other_columns), column]

        # If a feature is a sum of others, an eigenvalue is 0 up to
        # rounding, n eps of the largest one, and dividing by it would
        # determine R². 1e-10 is above n eps, and below the eigenvalues
        # of different features.
        weights = np.linalg.lstsq(
            self.correlations[np.ix_(other_columns, other_columns)],
            products,
            rcond=1e-10,
        )[0]
        return float(np.clip(products @ weights, 0.0, 1.0))

    def _densities(self, values: Floats) -> tuple[Floats, tuple[ClassDensity, ...]]:
        """Return a grid of values, shape (128,), and the density of each relevance class on it.

        ``values`` has the value of each document. If many are 0, these
        are left out of the grid, and each class has their share. For
        equal values, grid and classes are empty.
        """
        low = float(values.min())
        high = float(values.max())
        grid = np.linspace(low, high, GRID_POINTS)

        # The values are equal, or too close to have different numbers between them.
        if not np.all(np.diff(grid) > 0):
            return np.zeros(0), ()
        has_separate_zeros = has_many_zeros(values)
        is_separate = (
            values == 0.0
            if has_separate_zeros
            else np.zeros(values.size, dtype=np.bool_)
        )
        if is_separate.any():
            rest = values[~is_separate]
            grid = np.linspace(rest.min(), rest.max(), GRID_POINTS)
        classes = []
        for label, mask in self._classes:
            n = int(np.count_nonzero(mask))
            density = gaussian_density(values[mask & ~is_separate], grid)
            zeros = (
                float(is_separate[mask].mean())
                if is_separate.any() and n
                else float("nan")
            )
            classes.append(ClassDensity(label, density, n, zeros))
        return grid, tuple(classes)

    def _measures_alone(self, values: Floats) -> tuple[dict[str, float], bool]:
        """Return the measures of ranking by one feature in its better direction, from its ``values`` (m,).

        The second result says whether that direction puts small values
        first. It is False for a feature that is equally good in both
        directions.
        """
        # Two rankings: by the values, and by their negatives, which
        # puts small ones first.
        by_direction = self._evaluator.evaluate_many(np.stack((values, -values)))
        sign = 1.0 if measure(self.measure).higher_is_better else -1.0
        large_first, small_first = sign * by_direction[self.measure]
        direction = int(small_first > large_first)
        return {
            name: float(numbers[direction]) for name, numbers in by_direction.items()
        }, bool(direction)

    def _most_correlated(self, column: int) -> tuple[int | None, float]:
        """Return the column with the largest absolute correlation to a column, and this correlation.

        Columns are 0-based. Without any correlation other than 0,
        return None and NaN.
        """
        # The correlation with itself does not count.
        row = self.correlations[column].copy()
        row[column] = 0.0
        closest = int(np.argmax(np.abs(row)))
        return (
            (closest, float(row[closest]))
            if row[closest] != 0
            else (None, float("nan"))
        )


def class_names(labels: Floats) -> tuple[str, ...]:
    """Return the names of the classes of distinct, ascending labels: "not relevant", or "relevance 3".

    Only the labels 0, 1 and 0, 1, 2 have names in words.
    """
    names = (
        _CLASS_NAMES.get(labels.size)
        if np.array_equal(labels, np.arange(labels.size))
        else None
    )
    return names or tuple(
        tr("relevance {label:g}").format(label=label) for label in labels
    )


def has_many_zeros(values: Floats) -> bool:
    """Return whether zeros would hide the distribution of the other values."""
    rest = values[values != 0.0]
    has_enough_zeros = rest.size <= (1.0 - _MIN_SHARE_OF_ZEROS) * values.size
    return bool(rest.size) and has_enough_zeros and bool(np.ptp(rest) > 0)


def _range_text(labels: Floats) -> str:
    """Return the name of the class of one or more ascending labels: "relevance 0.1 to 0.4"."""
    text = (
        tr("relevance {label:g}")
        if labels.size == 1
        else tr("relevance {label:g} to {last:g}")
    )
    return text.format(label=labels[0], last=labels[-1])
