"""Validity and completeness of the features of a run's model, by the number of features kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.language import tr
from rankstudio.engine.steps import Step
from rankstudio.engine.support.shard import shards_of
from rankstudio.engine.support.sparse_rows import Features, SparseRows
from rankstudio.engine.support.work import Waiting, part_of
from rankstudio.plugins.evidence.ranking_validity import (
    VALUES_PER_BLOCK,
    RankingValidity,
    Rows,
    validity_steps,
)

Base = Literal["mean", "zero"]

_MAX_SIZES = 30  # sizes of sets up to which each one is measured


@dataclass(frozen=True, eq=False)
class MaskedModel:
    """A learned model, with the documents that it ranks while some of its features are masked.

    ``columns`` are the 0-based columns of its features, ascending,
    shape (n,), and ``base`` the value of each of them where it is
    masked, shape (n,).
    """

    step: Step
    documents: RankingDataset
    columns: Ints
    base: Floats

    @classmethod
    def of(
        cls, step: Step, documents: RankingDataset, train: RankingDataset, base: Base
    ) -> MaskedModel:
        """Return the model ``step`` on ``documents``, with the values of masked features.

        With ``base`` "mean", these are means over the documents of
        ``train``, otherwise 0.
        """
        columns = np.array(sorted(step.selected), dtype=np.int64)
        base_values = (
            column_means(train, columns) if base == "mean" else np.zeros(columns.size)
        )
        return cls(step, documents, columns, base_values)

    def scores(self, used: Floats) -> Floats:
        """Return the scores (m,) of m documents by the model's n features, (m, n)."""
        width = self.documents.X.shape[1]
        if isinstance(self.documents.X, SparseRows):
            return self.step.scores(SparseRows.spread(used, self.columns, width).T)

        # The model's features in the columns of the data, and 0 in the
        # others. The step takes an array with a row per feature.
        wide = np.zeros((width, len(used)))
        wide[self.columns] = used.T
        return self.step.scores(wide)

    def steps(self, feature_sets: Sequence[Sequence[int]]) -> Waiting[RankingValidity]:
        """Yield progress, and return validity and completeness of sets of features of the model.

        Each set has positions of features in ``columns``.
        """
        read = partial(_column_values, self.documents.X, self.columns)
        ptr = self.documents.query_ptr
        return validity_steps(self.scores, read, ptr, feature_sets, self.base)

    def effect_order(self) -> Waiting[tuple[int, ...]]:
        """Order the features by their effect on the rankings, the greatest first; yield progress.

        The result has positions in ``columns``. The effect of a feature
        is the mean over the queries of its completeness as a set of
        one: minus Kendall's τ with this feature masked.
        """
        positions = range(self.columns.size)
        single_features = yield from self.steps([(position,) for position in positions])
        effects = np.nan_to_num(single_features.completeness_means.mean, nan=0.0)
        return tuple(np.argsort(-effects, kind="stable").tolist())


def column_means(train: RankingDataset, columns: Ints) -> Floats:
    """Return the mean of some columns over the training documents, read in blocks."""
    sums = np.zeros(columns.size)
    n_documents = max(1, VALUES_PER_BLOCK // columns.size)
    for block in shards_of(train.query_ptr, n_documents):
        sums += _column_values(train.X, columns, block.rows).sum(axis=0)
    return sums / train.n_documents


def _column_values(X: Features, columns: Ints, rows: Rows) -> Floats:
    """Return the values of some columns for the documents ``rows``, (documents, columns)."""
    values = X[rows, columns] if isinstance(X, SparseRows) else X[rows][:, columns]
    return np.array(values, dtype=np.float64)


def kept_sizes(n_features: int) -> list[int]:
    """Return the numbers of features to keep of a model with ``n_features``.

    Of many features they are not each number, but numbers that grow by
    a factor.

    Examples
    --------
    >>> kept_sizes(4), len(kept_sizes(1000)), kept_sizes(1000)[-1]
    ([1, 2, 3, 4], 27, 1000)
    """
    if n_features <= _MAX_SIZES:
        return list(range(1, n_features + 1))
    growing = np.geomspace(1, n_features, _MAX_SIZES).round().astype(int)
    return sorted(set(growing.tolist()))


@dataclass(frozen=True, eq=False)
class MeasuredValidity:
    """Validity and completeness of the first features of a run's model, as a study keeps them.

    Attributes
    ----------
    found : RankingValidity
        Of nested sets of 0-based columns, smallest first; the last one
        has all features of the model.
    part : str
        Part of the fold with the documents: "validation", or "training"
        without one.
    selects : bool
        Whether the order of the features is that of the selection;
        otherwise it is that of their effects on the rankings.
    """

    found: RankingValidity
    part: str
    selects: bool

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of features of each set."""
        return tuple(map(len, self.found.sets))

    @property
    def n_queries(self) -> int:
        """Number of queries whose documents the model tells apart."""
        return int(self.found.validity.shape[1]) - self.found.n_undefined

    @property
    def columns(self) -> tuple[int, ...]:
        """0-based columns of the model's features, in order."""
        return self.found.sets[-1]

    def place(self, model: str) -> str:
        """Return the key under which a study stores this validity of a model's features.

        ``model`` is the name of the model in the study.
        """
        return validity_place(self.part, model)


def validity_place(part: str, model: str) -> str:
    """Return the key under which a study stores the validity of a model's features.

    ``part`` names the part of the documents, and ``model`` the model.
    """
    return f"validity:{part}:{model}"


def step_validity(
    step: Step,
    documents: RankingDataset,
    train: RankingDataset,
    part: str,
    *,
    selects: bool,
) -> Waiting[MeasuredValidity]:
    """Yield progress, and return validity and completeness of the first features of a model.

    Parameters
    ----------
    step : Step
        A model that was learned from features.
    documents : RankingDataset
        Documents that it ranks; their labels are not used.
    train : RankingDataset
        Training documents, whose means are the values of masked features.
    part : str
        Name of the part with the documents.
    selects : bool
        Whether features are kept in the order of the selection.
        Otherwise those come first whose masking alone changes the
        rankings most.

    Raises
    ------
    PlanError
        If the model was not learned from features, or uses none.
    """
    if not step.learned or not step.selected:
        raise PlanError(tr("The model was not learned from features."))
    model = MaskedModel.of(step, documents, train, "mean")
    if selects:
        position_of = {
            column: position for position, column in enumerate(model.columns.tolist())
        }
        order = tuple(position_of[column] for column in step.selected)
        first_share = 0.0
    else:
        # Its progress is the first half of the whole.
        order = yield from part_of(model.effect_order(), 0.0, 0.5)
        first_share = 0.5

    # the first 1, 2, ... features; not each number if there are many
    feature_sets = [order[:size] for size in kept_sizes(len(order))]
    validity = yield from part_of(model.steps(feature_sets), first_share, 1.0)

    # Columns of the data in place of positions among those of the model.
    columns = model.columns.tolist()
    sets = tuple(
        tuple(columns[position] for position in positions) for positions in feature_sets
    )
    return MeasuredValidity(replace(validity, sets=sets), part, selects)
