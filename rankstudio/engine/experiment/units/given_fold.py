"""A fold on which nothing is learned.

Its only model is given, as scores of the documents or as a file.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.given_scores import GivenFiles, find_scores
from rankstudio.engine.data.splitting.leave_query_out import LeftOut
from rankstudio.engine.errors import DatasetError, PlanError, shown_path
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.given_files import GivenRanking
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import GIVEN, parse_protocol
from rankstudio.engine.experiment.units.fold_context import FoldContext
from rankstudio.engine.export.foreign.model_readers import FOREIGN
from rankstudio.engine.export.model_files import find_models, other_names
from rankstudio.engine.export.models import Model, StoredStep
from rankstudio.engine.language import tr, trn
from rankstudio.engine.methods.catalog import GIVEN_MODEL, GIVEN_ORDER
from rankstudio.engine.methods.given_scores import given_scores
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support.frozen_mapping import FrozenMapping
from rankstudio.engine.support.work import Note, WorkProgress

ALL = "all"
"""Fold number in the origin of a model that was trained on all queries."""

_Queries = dict[str, list[Floats]]
"""Documents of the queries with each id.

Different parts may use the same id for different queries.
"""

# with a larger sum of the weights, scores may exceed the range of numbers
_MAX_WEIGHT_SUM = 1e200


class GivenFold(FoldContext):
    """A fold whose model the user gave, so that nothing is trained.

    Parameters
    ----------
    plan, fold, train
        Plan, fold and training part, as in `FoldContext`.
    step : Step
        The model, as the only step of a path.
    note : str
        Note for the user on the model; "" for none.
    """

    def __init__(
        self, plan: Plan, fold: Fold, train: TrainingData, step: Step, note: str
    ) -> None:
        """Prepare a fold with its model and a note."""
        super().__init__(plan, fold, train)
        self._step = step
        self._note = note

    def _learn_steps(self, unit: Unit) -> Generator[Step | WorkProgress, None, None]:
        """Yield the given model, and the note on it, if any."""
        yield self._step
        if self._note:
            yield Note(self._note)


def given_folds(
    plan: Plan, dataset: FoldedDataset
) -> Callable[[Fold, TrainingData], FoldContext]:
    """Read a user's models or scores; return a function that makes the context of a fold.

    The arguments of the function are a fold, and its training part in
    the form that methods take. The context measures the user's model on
    the fold.

    Raises
    ------
    DataError
        If the files cannot be read, do not fit the data, or differ from
        those of the plan.
    PlanError
        If the plan names a fold without a file.
    """
    steps, note = _given_steps(plan, dataset)
    return lambda fold, train: GivenFold(plan, fold, train, steps[fold.number], note)


def plan_of_given(
    method: str, plan: Plan, name: str, location: Path, dataset: FoldedDataset
) -> tuple[Plan, tuple[int, ...]]:
    """Return a plan that measures a user's scores or models, and the folds without a file.

    Parameters
    ----------
    method : str
        Key of the method: "given-scores" or "given-model".
    plan : Plan
        Plan whose data, protocol, measures and convention are used.
    name : str
        Name of the run.
    location : Path
        File with scores or a model, or folder with a file for each fold.
    dataset : FoldedDataset
        Data of the plan.

    Raises
    ------
    DataError
        If the files cannot be read or do not fit the data, or there are
        no documents to measure models on.
    """
    location = location.absolute()
    files = _find_given_files(method, location, dataset)
    if method == GIVEN_MODEL.key:
        _check_preprocessing(files.of_folds.values(), plan, dataset)
    # The plan names its folds only if it named them before, or if some
    # folds have no file.
    folds = tuple(n for n in files.of_folds if not plan.folds or n in plan.folds)
    given_plan = plan.changed(
        method=method,
        parameters={},
        ranker="",
        ranker_parameters={},
        scores={
            "name": name,
            "path": str(location),
            "files": FrozenMapping(dict(files.checksums)),
        },
        folds=folds if files.left_out else plan.folds,
    )
    return given_plan, files.left_out


def _find_given_files(
    method: str, location: Path, dataset: FoldedDataset
) -> GivenFiles[Any]:
    """Read the user's files with scores or models for the folds of a dataset.

    `location` is a file, or a folder with a file for each fold. The
    result has scores or models by fold number, the checksums of the
    files, and the folds without a file. DatasetError is raised if
    models have nothing to be measured on. DataError is raised if a file
    cannot be read.
    """
    if method != GIVEN_MODEL.key:
        return find_scores(location, dataset)
    if not any(fold.test or fold.vali for fold in dataset.folds):
        text = tr(
            "{data} has neither a test nor a validation part to measure a model on. Choose folds that create "
            "them, such as 5-fold (in the terminal --protocol 5-fold)."
        )
        raise DatasetError(text.format(data=dataset.name))
    return find_models(location, dataset)


def _given_steps(plan: Plan, dataset: FoldedDataset) -> tuple[dict[int, Step], str]:
    """Return the user's model of each fold, by fold number, and a note on the models.

    The note has the sentences for the user, or is "". Scores from
    files, and the order of the documents, count as models, too.
    """
    # The document order needs no files.
    if plan.method == GIVEN_ORDER.key:
        steps = {
            fold.number: _step_of_scores(plan, fold, dict(_scores_by_order(fold)))
            for fold in dataset.folds
        }
        return steps, ""

    # Find the files, and compare them with those that the plan was made with.
    has_models = plan.method == GIVEN_MODEL.key
    files = plan.extension(GivenRanking)
    if files is None:
        if has_models:
            raise PlanError(
                tr("scores: expected a name and a path of models to rank by, got none.")
            )
        raise PlanError(
            tr("scores: expected a name and a path of scores to rank by, got none.")
        )
    given_files = _find_given_files(plan.method, Path(files.path), dataset)
    numbers = plan.folds or [fold.number for fold in dataset.folds]
    _check_given_files(files, given_files.checksums, numbers, given_files.of_folds)

    # The scores or the model of each fold. Scores become a step without weights.
    by_fold = {number: given_files.of_folds[number] for number in numbers}
    if not has_models:
        folds = {fold.number: fold for fold in dataset.folds}
        return {
            n: _step_of_scores(plan, folds[n], scores) for n, scores in by_fold.items()
        }, ""

    # Models are checked against the data. Other names of features, and
    # queries on which a model was trained, do not prevent its use: they
    # become a note.
    _check_preprocessing(by_fold.values(), plan, dataset)
    train = dataset.folds[0].train
    notes = dict.fromkeys(
        note for model in by_fold.values() for note in other_names(model, train)
    )
    sentences = [overlap(by_fold, plan, dataset), *notes]
    steps = {n: _step_of_model(model, dataset) for n, model in by_fold.items()}
    return steps, " ".join(filter(None, sentences))


def _check_given_files(
    recorded: GivenRanking,
    checksums: Mapping[str, str],
    numbers: Sequence[int],
    available: Collection[int],
) -> None:
    """Raise an error for a user's file that has changed, or a fold without a file.

    `recorded` has the checksums when the files were added to the plan,
    and `checksums` the present ones, by file name. `numbers` are the
    folds to run, and `available` those with a file.
    """
    # Empty for a plan that a user wrote without checksums.
    files = recorded.files
    for file, checksum in checksums.items():
        if files and files.get(file) != checksum:
            text = tr(
                "{file}: the file has changed since it was added to the plan as {name}. Add it again."
            )
            raise DatasetError(text.format(file=file, name=recorded.name))
    for number in numbers:
        if number not in available:
            text = tr(
                "folds: {name} has no file for fold {fold}. Add one, or choose other folds."
            )
            raise PlanError(text.format(name=recorded.name, fold=number))


def _scores_by_order(fold: Fold) -> Iterator[tuple[str, Floats]]:
    """Yield the name of each part, with scores by the order of the file."""
    for name, part in fold.parts.items():
        yield name, -np.arange(part.n_documents, dtype=np.float64)


def _step_of_scores(plan: Plan, fold: Fold, scores: Mapping[str, Floats]) -> Step:
    """Return the scores that a user gave for documents as the only step of a path.

    `scores` has the scores of the documents of each part of the fold,
    shape (m,), by the name of the part, such as "test".
    """
    parts = [(fold.parts[name].X, values) for name, values in scores.items()]
    files = plan.extension(GivenRanking)
    return given_scores(
        files.name if files is not None else plan.entry.label,
        parts,
        fold.train.n_features,
    )


def _check_preprocessing(
    models: Iterable[Model], plan: Plan, dataset: FoldedDataset
) -> None:
    """Raise a DatasetError for a model that was trained on values with other preprocessing.

    Preprocessing is how values are scaled, and missing values filled.
    It must be that of the plan, by which the data were opened.
    """
    text = tr(
        "{file}: preprocessing differs: the model was trained with {field} = {found}, {data} "
        "was opened with {expected}. Reopen the data with the same setting."
    )
    for model in models:
        if model.method == FOREIGN:
            # The file of another program does not record the preprocessing.
            continue
        for field in ("normalize", "missing"):
            model_setting = getattr(model, field)
            expected = getattr(plan, field)
            if model_setting != expected:
                arguments = {
                    "field": field,
                    "found": model_setting,
                    "expected": expected,
                    "data": dataset.name,
                }
                raise DatasetError(
                    text.format(file=shown_path(model.source), **arguments)
                )


def _step_of_model(model: Model, dataset: FoldedDataset) -> Step:
    """Return a model as the only step of a path.

    Weights of features that the dataset does not have are left out.
    """
    # Weights by column; features that the data do not have are left out.
    ids = tuple(dataset.feature_ids.tolist())
    column_of = {feature: column for column, feature in enumerate(ids)}
    present_features = [
        feature for feature in model.features if feature.id in column_of
    ]
    coef = np.zeros(len(ids))
    coef[[column_of[feature.id] for feature in present_features]] = [
        feature.weight for feature in present_features
    ]

    # Larger weights could give scores that are not finite.
    with np.errstate(over="ignore"):
        total = float(np.abs(coef).sum())
    if total > _MAX_WEIGHT_SUM:
        text = tr(
            "{file}: features: the weights sum to {total:g}, expected at most {most:g}."
        )
        raise DatasetError(
            text.format(
                file=shown_path(model.source), total=total, most=_MAX_WEIGHT_SUM
            )
        )

    # A model with weights only is a plain step.
    selected = tuple(column_of[feature.id] for feature in present_features)
    # What is beyond the weights defines a nonlinear model.
    if not model.beyond:
        return Step(
            number=1,
            selected=selected,
            coef=coef,
            criterion=float("nan"),
            candidates=np.empty(0),
        )
    return StoredStep(
        number=1,
        selected=selected,
        coef=coef,
        criterion=float("nan"),
        candidates=np.empty(0),
        beyond=model.beyond,
        ids=ids,
        stored=model.source,
    )


def overlap(models: Mapping[int, Model], plan: Plan, dataset: FoldedDataset) -> str:
    """Return a note if models were trained on queries that measure them; "" if not.

    Parameters
    ----------
    models : Mapping of int to Model
        Models by fold number.
    plan : Plan
        Plan of the measures.
    dataset : FoldedDataset
        Data of the plan. Models trained on other data are assumed not
        to have seen the queries.

    Notes
    -----
    Queries are identified by their id and their documents.
    """
    # For each fold: the number of queries of its measured part that the
    # model was trained on, and the number of all its queries.
    trained_queries: dict[tuple[int, object], _Queries] = {}
    counts: dict[int, tuple[int, int]] = {}
    is_unclear = False
    for fold in dataset.folds:
        part = fold.test or fold.vali
        model = models.get(fold.number)
        if model is None or part is None:
            continue
        counts[fold.number] = 0, part.n_queries
        number = model.origin.get("fold")
        if not _has_same_data(model, plan, dataset):
            continue
        # A model of all queries has seen every query; a model of a fold
        # has seen its training part.
        if number == ALL:
            n = part.n_queries
        elif not _has_same_folds(model, dataset):
            # Other folds were drawn: which queries were trained on is unknown.
            is_unclear = True
            continue
        elif number == fold.number:
            # The model's own fold: it has not seen the measured queries.
            continue
        else:
            key = id(model), number
            if key not in trained_queries:
                trained_queries[key] = _trained_queries(number, dataset)
            n = n_shared(part, trained_queries[key])
        counts[fold.number] = n, part.n_queries

    # Without a count, at least say that the model's folds were others.
    files = plan.extension(GivenRanking)
    name = files.name if files is not None else ""
    sentence = seen_sentence(name, counts)
    if sentence or not is_unclear:
        return sentence
    return tr(
        "{name} was trained on different folds of {data}. It may have seen some of the "
        "queries it is measured on, so its result may be optimistic."
    ).format(name=name, data=dataset.name)


def seen_sentence(name: str, counts: Mapping[int, tuple[int, int]]) -> str:
    """Return a warning that a model was trained on queries that measure it; "" if not.

    Parameters
    ----------
    name : str
        Name of the model.
    counts : Mapping of int to tuple of int
        By fold number: how many measured queries the model was trained
        on, and how many are measured.
    """
    n_seen = sum(n for n, _ in counts.values())
    n_measured = sum(n for _, n in counts.values())
    if not n_seen:
        return ""
    folds = [number for number, (n, _) in counts.items() if n]
    numbers = (
        ", ".join(map(str, folds)) if len(folds) < 10 else f"{folds[0]} … {folds[-1]}"
    )
    return trn(
        "{name} was trained or selected on the query it is measured on, so its result is optimistic.",
        "{name} was trained or selected on {seen} of the {n} queries it is measured on "
        "(fold {folds}), so its result is optimistic.",
        n_measured,
    ).format(name=name, seen=n_seen, n=n_measured, folds=numbers)


def _has_same_data(model: Model, plan: Plan, dataset: FoldedDataset) -> bool:
    """Return whether a model was trained on the data of a plan.

    The location or the name of the data must be the same.
    """
    return plan.data == model.plan.get("data") or dataset.name == model.origin.get(
        "data"
    )


def _has_same_folds(model: Model, dataset: FoldedDataset) -> bool:
    """Return whether a model was trained on one of the folds that a dataset has.

    Then the dataset was divided by the same protocol and seed as the
    data of the model, and has a fold with the number of the model's
    fold.
    """
    try:
        # The file of the model has the plan of its run, which says how folds were made.
        protocol = parse_protocol(str(model.plan.get("protocol", GIVEN)))
    except PlanError:
        return False
    has_fold = any(fold.number == model.origin.get("fold") for fold in dataset.folds)
    return (
        has_fold
        and protocol.divided_by(model.plan.get("seed", 0)) == dataset.divided_by
    )


def _trained_queries(number: object, dataset: FoldedDataset) -> _Queries:
    """Return the documents of a fold's training and validation queries, by query id.

    A model of the fold was trained or chosen on these queries. The
    result has a list of arrays of shape (documents, features) for each
    id, because several queries may have the same id. `number` is that
    of the fold.
    """
    fold = next(fold for fold in dataset.folds if fold.number == number)
    queries: _Queries = {}
    for part in (fold.train, fold.vali):
        if part is None:
            continue
        # A part from which one query is left out has the documents of
        # the whole, and the number of this query. Otherwise -1: no
        # query has this number.
        full_part, left_out = (
            (part.whole, part.query) if isinstance(part, LeftOut) else (part, -1)
        )
        for query, name in enumerate(full_part.query_ids):
            if query != left_out:
                queries.setdefault(name, []).append(_query_documents(full_part, query))
    return queries


def queries_of(data: RankingDataset) -> _Queries:
    """Return the documents of each query, by its id."""
    return {
        name: [_query_documents(data, query)]
        for query, name in enumerate(data.query_ids)
    }


def n_shared(part: RankingDataset, queries: _Queries) -> int:
    """Return how many queries of a part are also in `queries`.

    Equal queries have the same id and the same documents.

    `queries` has the documents of each query, shape (documents,
    features), in a list by query id.
    """
    return sum(
        any(
            np.array_equal(_query_documents(part, query), other)
            for other in queries.get(name, ())
        )
        for query, name in enumerate(part.query_ids)
    )


def _query_documents(part: RankingDataset, query: int) -> Floats:
    """Return the documents of a query, a row each."""
    return part.X[part.query_ptr[query] : part.query_ptr[query + 1]]
