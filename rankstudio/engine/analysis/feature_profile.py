"""One feature looked at closely: its density by relevance, how it ranks alone, what it resembles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankstudio.engine.arrays import Bools, Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.querywise.query_data import centre
from rankstudio.engine.statistics.clusters import Clusters, clusters
from rankstudio.engine.statistics.density import gaussian_density

GRID_POINTS = 128
ALONE = ("MAP", "NDCG@10")
_MOST_CLASSES = 5
_NAMES = {2: ("not relevant", "relevant"), 3: ("not relevant", "relevant", "highly relevant")}
_BLOCK_ROWS = 1 << 14


@dataclass(frozen=True, eq=False)
class ClassDensity:
    """The density of a feature among the documents of one relevance class.

    Attributes
    ----------
    label : str
        "not relevant", "relevance 3", "relevance 0.1 to 0.4".
    density : ndarray of shape (128,)
        At the points of the profile's grid.
    n_documents : int
        Documents of the class.
    """

    label: str
    density: Floats
    n_documents: int


@dataclass(frozen=True, eq=False)
class FeatureProfile:
    """What the inspector shows of one feature.

    Attributes
    ----------
    feature_id : int
        1-based.
    name : str
    grid : ndarray of shape (128,)
        From the least to the greatest value; of size 0 where all values are equal.
    classes : tuple of ClassDensity
        By relevance, ascending; empty where all values are equal.
    constant : bool
        Whether the feature has one value inside every query, so that it cannot change any ranking.
    alone : Mapping of str to float
        MAP and NDCG@10 of ranking the documents by this feature alone, in the direction in which MAP is
        better.
    ascending : bool
        Whether that direction puts small values first.
    convention : str
        Key of the measures' convention.
    closest_id : int or None
        The other feature with the greatest absolute correlation; None where none is defined.
    closest_name : str
        Its name, or "".
    correlation : float
        Pearson's, over columns centred query by query; NaN where none is defined.
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


class Inspector:
    """Profiles of the features of one dataset; what they share is computed once.

    Parameters
    ----------
    dataset : RankingDataset
        Usually the training part.
    convention : str
        Of the measures.
    """

    def __init__(self, dataset: RankingDataset, convention: str = "letor4") -> None:
        self.dataset = dataset
        self.convention = convention

    def profile(self, column: int) -> FeatureProfile:
        """Return the profile of the feature in a column, counted from 0.

        Notes
        -----
        O(m log m) for m documents, and O(mn²) once for the correlations of the n features.
        """
        data = self.dataset
        values = np.ascontiguousarray(data.X[:, column])
        grid, classes = self._densities(values)
        alone, ascending = self._alone(values)
        closest, correlation = self._closest(column)
        return FeatureProfile(
            feature_id=int(data.feature_ids[column]),
            name=data.feature_names[column],
            grid=grid,
            classes=classes,
            constant=bool(self.correlations[column, column] == 0),
            alone=alone,
            ascending=ascending,
            convention=self.convention,
            closest_id=None if closest is None else int(data.feature_ids[closest]),
            closest_name="" if closest is None else data.feature_names[closest],
            correlation=correlation,
        )

    @cached_property
    def correlations(self) -> Floats:
        """Pearson's correlations of the query-centred columns, shape (n, n); 0 with a constant one."""
        data = self.dataset
        gram = np.zeros((data.n_features, data.n_features))
        for begin, end in self._query_blocks():
            first = data.query_ptr[begin]
            block = centre(data.X[first : data.query_ptr[end]], data.query_ptr[begin : end + 1] - first)
            gram += block.T @ block
        scale = np.sqrt(np.diagonal(gram))
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        correlations: Floats = np.clip(gram * inverse[:, None] * inverse[None, :], -1.0, 1.0)
        return correlations

    @cached_property
    def clusters(self) -> Clusters:
        """Clusters of the features by these correlations."""
        return clusters(self.correlations)

    def measured_by(self, convention: str) -> Inspector:
        """Return the same inspector with the measures of another convention."""
        other = Inspector(self.dataset, convention)
        kept = {name: value for name, value in vars(self).items() if name in ("correlations", "clusters")}
        vars(other).update(kept)
        return other

    def _query_blocks(self) -> list[tuple[int, int]]:
        """Return ranges of queries of some ten thousand documents each, so that X is not copied whole."""
        ptr = self.dataset.query_ptr
        blocks, begin = [], 0
        while begin < ptr.size - 1:
            end = int(np.searchsorted(ptr, ptr[begin] + _BLOCK_ROWS, side="right")) - 1
            end = max(end, begin + 1)
            blocks.append((begin, end))
            begin = end
        return blocks

    @cached_property
    def _classes(self) -> list[tuple[str, Bools]]:
        """The relevance classes: label and mask of its documents."""
        y = self.dataset.y
        labels = np.unique(y)
        if labels.size <= _MOST_CLASSES:
            names = _NAMES.get(labels.size) if np.array_equal(labels, np.arange(labels.size)) else None
            texts = names or [f"relevance {label:g}" for label in labels]
            return [(text, y == label) for text, label in zip(texts, labels, strict=True)]
        # Real-valued labels: as many classes, with about as many distinct labels each.
        groups = np.array_split(labels, _MOST_CLASSES)
        return [(_range_text(group), (y >= group[0]) & (y <= group[-1])) for group in groups]

    @cached_property
    def _evaluator(self) -> Evaluator:
        return Evaluator(self.dataset.y, self.dataset.query_ptr, self.convention, ALONE)

    def _densities(self, values: Floats) -> tuple[Floats, tuple[ClassDensity, ...]]:
        low, high = float(values.min()), float(values.max())
        grid = np.linspace(low, high, GRID_POINTS)
        if not np.all(np.diff(grid) > 0):
            return np.zeros(0), ()
        classes = tuple(
            ClassDensity(label, gaussian_density(values[mask], grid), int(np.count_nonzero(mask)))
            for label, mask in self._classes
        )
        return grid, classes

    def _alone(self, values: Floats) -> tuple[dict[str, float], bool]:
        """Return the measures of ranking by one feature in its better direction, and which that is."""
        both = self._evaluator.evaluate_many(np.stack((values, -values)))
        direction = int(both["MAP"][1] > both["MAP"][0])
        return {name: float(numbers[direction]) for name, numbers in both.items()}, bool(direction)

    def _closest(self, column: int) -> tuple[int | None, float]:
        row = self.correlations[column].copy()
        row[column] = 0.0
        closest = int(np.argmax(np.abs(row)))
        return (closest, float(row[closest])) if row[closest] != 0 else (None, float("nan"))


def _range_text(labels: Floats) -> str:
    first = f"relevance {labels[0]:g}"
    return first if labels.size == 1 else f"{first} to {labels[-1]:g}"
