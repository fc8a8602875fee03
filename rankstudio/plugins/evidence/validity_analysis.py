"""Validity and completeness of the features of a run's models, as tables of an analysis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.language import tr, trn
from rankstudio.engine.methods.catalog.analysis import (
    AnalysisResult,
    AnalysisTable,
    Cell,
    formatted,
)
from rankstudio.engine.statistics.mean_intervals import MeanIntervals, mean_intervals
from rankstudio.engine.support.work import Waiting, WorkProgress
from rankstudio.plugins.evidence.model_validity import Base, MaskedModel, kept_sizes
from rankstudio.plugins.evidence.ranking_validity import RankingValidity


@dataclass(frozen=True, eq=False)
class _FoldModel:
    """The model of a fold, with its features in order; ``order`` has positions in ``masked.columns``."""

    fold: int
    masked: MaskedModel
    part: str
    order: tuple[int, ...]

    @property
    def documents(self) -> RankingDataset:
        return self.masked.documents

    @property
    def columns(self) -> Ints:
        return self.masked.columns


def validity_result(
    run: RunResult,
    data: FoldedDataset,
    /,
    *,
    features: tuple[int, ...] = (),
    keep: int | None = None,
    fold: int | None = None,
    base: Base = "mean",
    n_queries: int = 5,
) -> Waiting[AnalysisResult]:
    """Measure validity and completeness of features of a run's models, with their means over the queries.

    Parameters
    ----------
    run : RunResult
    data : FoldedDataset
        Without a test part, the validation part has the documents, and
        without that the training part.
    features : tuple of int
        1-based ids of the features to keep; empty for the first
        features of each model.
    keep : int or None
        Number of first features to keep; None for each number.
    fold : int or None
        Number of the fold; None for all.
    base : {"mean", "zero"}
        Value of masked features: their mean over the training documents, or 0.
    n_queries : int
        Number of queries to list for a single set, the least validity first.

    Raises
    ------
    PlanError
        If a model was not learned from features, or uses none.
    ParameterError
        If the run has no such fold, or the data no such feature.

    Notes
    -----
    The definitions are those of
    :func:`rankstudio.plugins.evidence.ranking_validity.ranking_validity`. Features are
    in the order of selection. For a method that selects none, those
    come first whose masking alone changes the rankings most, by the
    mean of τ over the queries.
    """
    if features and keep is not None:
        raise ParameterError("keep", keep, tr("nothing if features are named"))

    # Each fold has two halves of its share of the progress: its model
    # is prepared here and measured below.
    fold_results = _fold_results(run, fold)
    models = []
    for number, result in enumerate(fold_results):
        work = _fold_model(run, result, _fold_of(data, result.fold), base)
        models.append((yield from _shared(work, number / 2, len(fold_results))))

    # The sets of features to keep of each model.
    sizes = _sizes(models, keep)
    validities = []
    for number, model in enumerate(models):
        if features:
            feature_sets = [_positions(model.masked, features)]
        else:
            feature_sets = [model.order[:size] for size in sizes]
        share = (len(models) + number) / 2
        validity = yield from _shared(
            model.masked.steps(feature_sets), share, len(models)
        )
        validities.append(validity)

    # The means of all sets, and the queries of a single one.
    tables = [_means_table(run, models, validities, sizes, features, base)]
    if len(validities[0].sets) == 1 and n_queries:
        tables.append(_queries_table(models, validities, n_queries))
    warnings = tuple(_unused_features(models, features))
    return AnalysisResult(tuple(tables), _as_dict(models, validities, base), warnings)


def _shared(work: Waiting[Any], first: float, n_folds: int) -> Waiting[Any]:
    """Yield the progress of work on one of several folds, and return its result.

    Each of ``n_folds`` folds has two works, so that ``work`` counts as
    half a fold. ``first`` is the number of folds, in halves, whose work
    is done before.
    """
    while True:
        try:
            progress = next(work)
        except StopIteration as end:
            return end.value
        share = (first + progress.share / 2) / n_folds
        yield WorkProgress(progress.what, min(1.0, share))


def _fold_results(run: RunResult, number: int | None) -> list[FoldResult]:
    """Return the results of all folds, or of the one with a number."""
    by_number = {result.fold: result for result in run.folds}
    if number is None:
        return list(by_number.values())
    if number not in by_number:
        expected = tr("one of {names}").format(names=", ".join(map(str, by_number)))
        raise ParameterError("fold", number, expected)
    return [by_number[number]]


def _fold_of(data: FoldedDataset, number: int) -> Fold:
    """Return the fold with a number."""
    return next(fold for fold in data.folds if fold.number == number)


def _fold_model(
    run: RunResult, result: FoldResult, fold: Fold, base: Base
) -> Waiting[_FoldModel]:
    """Return the model of a run's fold with its features in order; yield progress of the ordering.

    ``base`` is the value of masked features: "mean", that over the
    training documents, or "zero". Raise PlanError for a model that was
    not learned from features.
    """
    step = result.chosen.step
    if not step.learned or not step.selected:
        text = tr("Fold {fold}: the model was not learned from features.")
        raise PlanError(text.format(fold=fold.number))

    # The documents that the model had not seen, if there are any.
    parts = (
        (fold.test, tr("test")),
        (fold.vali, tr("validation")),
        (fold.train, tr("training")),
    )
    documents, part = next((d, name) for d, name in parts if d is not None)

    # Their order: that of selection, or by the effect of masking each alone.
    masked = MaskedModel.of(step, documents, fold.train, base)
    if run.plan.entry.selects:
        order = _positions(masked, result.selected)
    else:
        order = yield from masked.effect_order()
    return _FoldModel(fold.number, masked, part, order)


def _positions(model: MaskedModel, ids: Sequence[int]) -> tuple[int, ...]:
    """Return the positions of features among the features of the model.

    ``ids`` are those of the features. Features that the model does not
    use are left out. Raise ParameterError for an id that the data do
    not have.
    """
    known_ids = model.documents.feature_ids.tolist()
    for feature in ids:
        if feature not in known_ids:
            raise ParameterError("features", feature, tr("ids of features of the data"))
    position_of = {column: index for index, column in enumerate(model.columns.tolist())}
    columns = [known_ids.index(feature) for feature in ids]
    return tuple(position_of[column] for column in columns if column in position_of)


def _unused_features(
    models: Sequence[_FoldModel], features: Sequence[int]
) -> Iterator[str]:
    """Yield for each fold a sentence on the features to keep that its model does not use."""
    for model in models:
        used_ids = set(model.documents.feature_ids[model.columns].tolist())
        unused_ids = [feature for feature in features if feature not in used_ids]
        if unused_ids:
            text = tr("the model of fold {fold} does not use the features {ids}.")
            ids = ", ".join(map(str, unused_ids))
            yield text.format(fold=model.fold, ids=ids)


def _sizes(models: Sequence[_FoldModel], keep: int | None) -> list[int]:
    """Return the numbers of features to keep, up to that of the smallest model.

    The only number is ``keep``, unless ``keep`` is None. Then the
    result has each number, or a selection of numbers if there are many.
    """
    n_features = min(len(model.order) for model in models)
    if keep is not None:
        return [min(keep, n_features)]
    return kept_sizes(n_features)


def _means_table(
    run: RunResult,
    models: Sequence[_FoldModel],
    validities: Sequence[RankingValidity],
    sizes: Sequence[int],
    features: Sequence[int],
    base: Base,
) -> AnalysisTable:
    """Return the mean validity and completeness of each set over the queries of all folds, with intervals.

    A row is a set: ``features``, the ids to keep, or if that is empty,
    the first features of each model for each of ``sizes``.
    """
    # mean over the queries of all folds, and the ends of its interval, per set
    validity = mean_intervals([fold_validity.validity for fold_validity in validities])
    completeness = mean_intervals(
        [fold_validity.completeness for fold_validity in validities]
    )
    names = (
        [", ".join(map(str, features))]
        if features
        else [_size_text(models, size) for size in sizes]
    )
    rows = tuple(
        (name, *_interval_cells(validity, index), *_interval_cells(completeness, index))
        for index, name in enumerate(names)
    )
    header = (
        tr("kept"),
        tr("validity"),
        tr("from"),
        tr("to"),
        tr("completeness"),
        tr("from"),
        tr("to"),
    )
    title = tr("{run} on {data}, {part}: validity and completeness of features")
    title = title.format(run=run.plan.title, data=run.data_name, part=models[0].part)
    return AnalysisTable(title, header, rows, _note(models, validities, base))


def _size_text(models: Sequence[_FoldModel], size: int) -> str:
    """Return the number of features kept, as a text.

    For a single fold, the text also has the name of the last feature
    that is kept.
    """
    if len(models) > 1:
        return str(size)
    (model,) = models
    column = int(model.columns[model.order[size - 1]])
    text = tr("{n}, with {feature}")
    return text.format(n=size, feature=model.documents.feature_names[column])


def _interval_cells(means: MeanIntervals, index: int) -> tuple[Cell, ...]:
    """Return a mean and the ends of its interval."""
    numbers = (means.mean[index], means.low[index], means.high[index])
    return tuple(formatted(float(number), "+.3f") for number in numbers)


def _note(
    models: Sequence[_FoldModel], validities: Sequence[RankingValidity], base: Base
) -> str:
    """Return the definition of the numbers, and the number of queries left out, as sentences."""
    n_queries = sum(fold_validity.validity.shape[1] for fold_validity in validities)
    base_text = tr("their training mean") if base == "mean" else "0"
    text = tr(
        "Validity: Kendall's τ between the ranking by the model and by the kept features alone; completeness: "
        "−τ with the kept features masked. Masked features have {base} in all documents. Means over {n} "
        "queries, with 95 % intervals."
    )
    sentences = [text.format(base=base_text, n=n_queries)]
    n_undefined = sum(fold_validity.n_undefined for fold_validity in validities)
    if n_undefined:
        undefined = trn(
            "Left out: {n} query whose documents the model does not tell apart.",
            "Left out: {n} queries whose documents the model does not tell apart.",
            n_undefined,
        )
        sentences.append(undefined.format(n=n_undefined))
    return " ".join(sentences)


def _queries_table(
    models: Sequence[_FoldModel],
    validities: Sequence[RankingValidity],
    n_queries: int,
) -> AnalysisTable:
    """Return the ``n_queries`` queries with the least validity of the only set.

    ``validities`` has the numbers of each fold, and index 0 in them is
    the only set. Queries without a validity, in which the model scores
    all documents alike, are left out.
    """
    rows = [
        (model.fold, query, float(validity), float(completeness))
        for model, fold_validity in zip(models, validities, strict=True)
        for query, validity, completeness in zip(
            model.documents.query_ids,
            fold_validity.validity[0],
            fold_validity.completeness[0],
            strict=True,
        )
        if not np.isnan(validity)
    ]
    rows.sort(key=lambda row: row[2])  # by validity
    cells = tuple(
        (fold, query, formatted(validity, "+.3f"), formatted(completeness, "+.3f"))
        for fold, query, validity, completeness in rows[:n_queries]
    )
    header = (tr("fold"), tr("query"), tr("validity"), tr("completeness"))
    return AnalysisTable(tr("Queries with the least validity"), header, cells)


def _as_dict(
    models: Sequence[_FoldModel], validities: Sequence[RankingValidity], base: Base
) -> dict[str, Any]:
    """Return the validity and completeness of each fold, set and query as plain values."""
    folds = []
    for model, fold_validity in zip(models, validities, strict=True):
        ids = model.documents.feature_ids[model.columns]
        sets = [
            {
                "kept": [int(ids[position]) for position in fold_validity.sets[index]],
                "validity": fold_validity.validity[index].tolist(),
                "completeness": fold_validity.completeness[index].tolist(),
                "mean_validity": float(fold_validity.validity_means.mean[index]),
                "mean_completeness": float(
                    fold_validity.completeness_means.mean[index]
                ),
            }
            for index in range(len(fold_validity.sets))
        ]
        fold = {
            "fold": model.fold,
            "part": model.part,
            "queries": list(model.documents.query_ids),
            "sets": sets,
        }
        folds.append(fold)
    return {"base": base, "folds": folds}
