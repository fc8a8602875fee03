"""Permutation importance of the models of runs and of model files."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import DataError, ParameterError
from rankstudio.engine.export.models import Model
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.names import Measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.sparse_rows import Features, SparseRows
from rankstudio.engine.support.work import WorkProgress, told_as
from rankstudio.plugins.evidence.partial_result import PartialResult
from rankstudio.plugins.evidence.permutation_importance import (
    MeasuredDocuments,
    PermutationImportance,
    Score,
    importance_steps,
)

N_REPEATS = 10
"""Default number of permutations of each feature."""

Importance = Generator[WorkProgress, None, PermutationImportance]


@dataclass(frozen=True, eq=False)
class MeasuredImportance:
    """Permutation importance of a run's model, as a study keeps it.

    Attributes
    ----------
    found : PermutationImportance
    part : str
        Part of the fold with the documents: "validation", or "training"
        without one.
    convention : str
        Convention of the measure.
    n_features : int
        Number of features of the model.
    """

    found: PermutationImportance
    part: str
    convention: str
    n_features: int

    @property
    def columns(self) -> tuple[int, ...]:
        """0-based columns of the features, greatest loss first."""
        mean = self.found.mean
        order = sorted(range(mean.size), key=lambda index: (-mean[index], index))
        return tuple(self.found.groups[index][0] for index in order)

    def place(self, model: str) -> str:
        """Return the key under which a study stores this importance of a model's features.

        ``model`` is the name of the model, see :func:`model_place`.
        """
        return importance_place(
            self.part, self.found.measure.name, self.convention, model
        )


def importance_place(part: str, measure: str, convention: str, model: str) -> str:
    """Return the key under which a study stores the importance of a model's features.

    ``part`` names the part with the documents. ``measure`` and
    ``convention`` are those of the losses. ``model`` is the name of the
    model in the study, see
    :func:`model_place`.
    """
    return f"importance:{part}:{measure}:{convention}:{model}"


def model_place(position: int | str, selected: Sequence[int]) -> str:
    """Return the name of a model in a study: the position of its combination, and its columns."""
    return f"{position}:{','.join(map(str, selected))}"


def step_importance(
    step: Step,
    part: RankingDataset,
    measure: Measure,
    convention: str,
    n_repeats: int | None = N_REPEATS,
    seed: int = 0,
) -> Importance:
    """Permute each feature that a model of a run uses, or leave it out, and measure the loss.

    Parameters
    ----------
    step : Step
        A model that was learned from features.
    part : RankingDataset
        Documents on which the loss is measured, preferably not those
        that the model was learned from.
    measure, convention, n_repeats, seed
        As in
        :func:`rankstudio.plugins.evidence.permutation_importance.importance_steps`.

    Yields
    ------
    WorkProgress
    """
    return _measure_importance(
        *_scoring_of_step(step, part), measure, convention, n_repeats, seed
    )


def _scoring_of_step(
    step: Step, part: RankingDataset
) -> tuple[Score, RankingDataset, tuple[int, ...]]:
    """Return a model's score function, the documents ``part``, and the columns that the model uses.

    The model is that of ``step``. The function takes features (m, n) of
    m documents, in the columns of the data, and returns m scores. Raise
    ParameterError for a step that was not learned.
    """
    if not step.learned:
        raise ParameterError(
            "model", type(step).__name__, "a model that was learned from features"
        )

    def score(X: Features) -> Floats:
        """Score m documents by their features, (m, n)."""
        # The step takes features by column; dense columns are copied to
        # be contiguous.
        columns: Features = (
            X.T if isinstance(X, SparseRows) else np.ascontiguousarray(X.T)
        )
        return step.scores(columns)

    return score, part, tuple(sorted(step.selected))


def model_importance(
    model: Model,
    data: RankingDataset,
    measure: Measure,
    convention: str,
    n_repeats: int | None = N_REPEATS,
    seed: int = 0,
) -> Importance:
    """Permute each feature that a model of a file uses, or leave it out, and measure the loss.

    Parameters
    ----------
    model : Model
    data : RankingDataset
        Data that
        :func:`rankstudio.engine.export.model_files.model_and_data`
        reads for the model.
    measure, convention, n_repeats, seed
        As in :func:`step_importance`.

    Yields
    ------
    WorkProgress
    """
    return _measure_importance(
        *_scoring_of_model(model, data), measure, convention, n_repeats, seed
    )


def _scoring_of_model(
    model: Model, data: RankingDataset
) -> tuple[Score, RankingDataset, tuple[int, ...]]:
    """Return a model's score function, the data, and the columns that the model uses.

    The function takes features (m, n) of m documents, in the columns of
    the data, and returns m scores. ``model.needed`` are the ids of the
    features that the model uses.
    """
    ids = data.feature_ids

    # A sparse file omits features that are 0 in all documents; the
    # score function adds them.
    absent_ids = np.array(
        sorted(model.needed - set(ids.tolist())) if data.sparse else [], dtype=ids.dtype
    )
    all_ids = np.concatenate([ids, absent_ids])

    def score(X: Features) -> Floats:
        """Score m documents by their n features, (m, n); features that the data lack are 0.

        The scores have the shape (m,). The model gets columns with the
        ids ``all_ids`` of the enclosing function, the last of which are
        ``absent_ids``.
        """
        if isinstance(X, SparseRows):
            wide: Features = X.widened(all_ids.size)
            return model.predict(wide, all_ids)
        return model.predict(
            np.column_stack([X, np.zeros((X.shape[0], absent_ids.size))]), all_ids
        )

    return (
        score,
        data,
        tuple(np.flatnonzero(np.isin(ids, sorted(model.needed))).tolist()),
    )


def _measure_importance(
    score: Score,
    part: RankingDataset,
    used: tuple[int, ...],
    measure: Measure,
    convention: str,
    n_repeats: int | None,
    seed: int,
) -> Importance:
    """Measure the permutation importance of the features that a model uses.

    ``score`` returns the model's scores, and ``used`` has the columns
    of its features in the documents ``part``. Without ``n_repeats``,
    each feature is left out instead of permuted. The importance is the
    result of a generator of progress. Raise DataError if the model uses
    no features.
    """
    if not used:
        raise DataError(
            tr(
                "The model uses no features, so that no loss without one can be measured."
            )
        )

    # For sparse documents, `columns` are positions among the used columns only.
    score, part, columns = _with_used_columns(score, part, used)
    groups = [(column,) for column in columns]
    groups_in_data = tuple((column,) for column in used)

    def with_groups_in_data(progress: WorkProgress) -> WorkProgress:
        """Return progress on an importance, with the columns of the data in its partial result.

        The partial results of the work itself have columns of the
        scored documents. These differ if only some columns are in
        memory.
        """
        if isinstance(progress, PartialResult):
            return replace(
                progress, found=replace(progress.found, groups=groups_in_data)
            )
        return progress

    work = importance_steps(
        score, _measured_documents(part), measure, n_repeats, seed, groups, convention
    )

    # `told_as` passes all progress through the function, but not the result.
    return replace(
        (yield from told_as(work, with_groups_in_data)), groups=groups_in_data
    )


def _with_used_columns(
    score: Score, part: RankingDataset, used: tuple[int, ...]
) -> tuple[Score, RankingDataset, tuple[int, ...]]:
    """Return score function, documents and columns, with sparse documents made dense.

    ``score`` takes all columns, and ``used`` are those that the model
    uses. Dense arrays of all columns could be too large, so that only
    the used columns are in the array. The returned function puts them
    back into their columns.
    """
    X = part.X
    if not isinstance(X, SparseRows):
        return score, part, used
    columns = np.array(used, dtype=np.int64)
    n = X.shape[1]

    def score_used_columns(rows: Floats) -> Floats:
        """Score m documents by the values of the used columns alone."""
        wide: Features = SparseRows.spread(rows, columns, n)
        return score(wide)

    return score_used_columns, part.changed(X=X[:, columns]), tuple(range(len(used)))


def _measured_documents(part: RankingDataset) -> MeasuredDocuments:
    """Return all documents of a part to be measured."""
    return MeasuredDocuments(
        part.X, part.y, slice(0, part.n_documents), part.query_ptr, part.grading
    )
