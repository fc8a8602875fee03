"""The final model of a run, trained on all queries.

The whole protocol chooses its parameters and its size.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.fingerprint import data_digest
from rankstudio.engine.data.splitting.splits import every_query
from rankstudio.engine.errors import DatasetError, PlanError
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan, n_steps
from rankstudio.engine.experiment.plan.protocol import BEST, parse_protocol, parse_rule
from rankstudio.engine.experiment.plan.toml import as_lists
from rankstudio.engine.experiment.reports import portable_model
from rankstudio.engine.experiment.results.protocol_choice import (
    ProtocolChoice,
    choice_text,
    choose_by_protocol,
)
from rankstudio.engine.experiment.results.results import Chosen, RunResult
from rankstudio.engine.experiment.units.fold_context import FoldContext, group_training
from rankstudio.engine.experiment.units.given_fold import ALL
from rankstudio.engine.export.models import Model
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Note, Waiting, WorkProgress, finish

_QUALITY_NOTE = (
    "estimated by the run: the mean over its folds on the test part, or cross-fitted on the validation part; "
    "not measured on the queries that the model was trained on"
)


def refit(result: RunResult, dataset: FoldedDataset) -> Model:
    """Train the final model of a run: on all queries of its data, each once.

    Parameters
    ----------
    result : RunResult
        Finished run, whose plan and selected parameters are used.
    dataset : FoldedDataset
        Data of the run.

    Returns
    -------
    Model
        Its origin says what it was trained on and how its parameters and its size were chosen, see
        :func:`rankstudio.engine.experiment.results.protocol_choice.choose_by_protocol`. It has no measures,
        because no unseen queries remain.

    Raises
    ------
    PlanError
        If the run is not finished, its ranking was given, or the model
        has more features than its rule allows.
    DatasetError
        If the data are not those of the run, or the queries of their
        parts cannot be matched.

    Notes
    -----
    All queries are those of all parts of all folds, see
    :func:`rankstudio.engine.data.splitting.splits.every_query`. The cost is at most that of one unit of the
    run.
    """
    return finish(refit_steps(result, dataset))


def refit_steps(result: RunResult, dataset: FoldedDataset) -> Waiting[Model]:
    """Yield progress, and return the final model of a run when the generator ends.

    The model is trained on all queries of the run's data.

    `dataset` has the data of the run. DatasetError is raised for other
    data. PlanError is raised for an unfinished run, or if the model has
    more features than the rule of the plan allows.
    """
    # The run must be finished, and the data must be those of the run.
    plan = result.plan
    check_refit(plan, finished=result.complete and bool(result.folds))
    yield WorkProgress(tr("comparing the data with those of the run"), 0.0)
    dataset = parse_protocol(plan.protocol).divide(dataset, plan.seed)
    _check_same_data(result, dataset)

    # Parameters and size by the means over all folds.
    yield WorkProgress(tr("choosing by all folds"), 0.0)
    choice = choose_by_protocol(plan, result.folds)

    # Learn once more, from the queries of all parts.
    yield WorkProgress(tr("collecting all queries"), 0.0)
    data = every_query(dataset)
    # All queries are one fold, number 1, with one combination, number 0.
    unit = Unit(1, 0, plan.combination(choice.values))
    # The search may end at the chosen length only if the paths of the
    # folds never return to smaller sets.
    step = yield from _learn_model(
        plan, data, unit, choice, ascending=_all_paths_ascend(result, choice)
    )
    max_features = parse_rule(plan.rule).most
    if max_features is not None and step.n_selected > max_features:
        text = tr(
            "rule: trained on all queries, the chosen model has {size} features, but the rule allows {most}. "
            "Run the plan with a rule that allows more features, or with other parameters."
        )
        raise PlanError(text.format(size=step.n_selected, most=max_features))

    # The model keeps a record of how it was chosen. It has no measures,
    # the empty dict, because no unseen queries remain.
    features = result.feature_ids.tolist(), result.feature_names
    model = portable_model(
        plan, features, result.data_name, Chosen(unit, step), {}, fold=ALL
    )
    return replace(model, origin={**model.origin, **_model_origin(plan, choice, data)})


def check_refit(plan: Plan, *, finished: bool) -> None:
    """Raise a PlanError for a run that has no final model, before its data are needed.

    Parameters
    ----------
    plan : Plan
        Plan of the run.
    finished : bool
        Whether all folds of the run are finished.

    Raises
    ------
    PlanError
        If the run is not finished, or its scores or models were given,
        not trained.
    """
    if plan.entry.learns_nothing:
        raise PlanError(
            tr("{method} is not trained, so it has no final model.").format(
                method=plan.title
            )
        )
    if not finished:
        text = tr(
            "The run is not finished. The final model needs all its folds, so finish the run first."
        )
        raise PlanError(text)


def _check_same_data(result: RunResult, dataset: FoldedDataset) -> None:
    """Raise a DatasetError unless a dataset has the features and the documents of a run."""
    has_same_ids = np.array_equal(result.feature_ids, dataset.feature_ids)
    if not has_same_ids or result.feature_names != tuple(dataset.feature_names):
        text = tr(
            "{name}: the features are not those of the run. Open the data of the run."
        )
        raise DatasetError(text.format(name=dataset.name))
    # A study without its data has a dataset without documents.
    if not dataset.folds[0].train.n_documents:
        text = tr(
            "{name}: the final model needs the documents. Open the data of the run."
        )
        raise DatasetError(text.format(name=dataset.name))
    if result.data_digest and data_digest(dataset) != result.data_digest:
        text = tr(
            "{name}: the data have changed since the run. Run the plan again on the present data."
        )
        raise DatasetError(text.format(name=dataset.name))


def _all_paths_ascend(result: RunResult, choice: ProtocolChoice) -> bool:
    """Return whether the chosen combination's paths become longer with each step.

    A path is the sequence of models of one combination of parameters'
    values on a fold. A length is a number of features or rounds, as in
    a path's `x_values`. Paths do not ascend if the method also removes
    features, as a floating search does.
    """
    paths = (
        path
        for fold in result.folds
        for path in fold.paths
        if path.unit.values == choice.values
    )
    return all(bool((np.diff(path.x_values) > 0).all()) for path in paths)


def _learn_model(
    plan: Plan,
    data: RankingDataset,
    unit: Unit,
    choice: ProtocolChoice,
    *,
    ascending: bool,
) -> Waiting[Step]:
    """Yield progress, and return a model of the chosen length, trained on all of `data`.

    `unit` has the values of the parameters, and `choice` the length: a
    number of features or rounds, None for the last iteration. Training
    makes a path, a sequence of models. If the path has no model of this
    length, the largest model below it is returned, or the smallest of
    all. With `ascending`, the models only become longer, and training
    ends at the length.
    """
    fold = Fold(1, data)
    # With these two settings no measure is computed: the choice is made already.
    criterion_plan = plan.changed(select_by=CRITERION, rule=BEST)
    context = FoldContext(criterion_plan, fold, group_training(fold))
    path_length = (
        n_steps(plan, data.feature_ids) if choice.length is None else choice.length
    )
    chosen_step: Step | None = None
    with closing(_path_steps(context, unit)) as steps:
        for event in steps:
            if isinstance(event, WorkProgress):
                if not isinstance(event, Note):  # the run has them already
                    yield event
                continue
            chosen_step = (
                event
                if chosen_step is None
                else _step_nearer_length(plan, choice, chosen_step, event)
            )
            yield _path_progress(plan, event, path_length)
            # Further steps of an ascending path would only be longer.
            if (
                ascending
                and choice.length is not None
                and _step_length(plan, event) >= choice.length
            ):
                break
    if chosen_step is None:
        raise PlanError(
            tr("{method} found no model on all queries.").format(method=plan.title)
        )
    return chosen_step


def _path_steps(
    context: FoldContext, unit: Unit
) -> Generator[Step | WorkProgress, None, None]:
    """Yield the progress and the steps of a path; the measures of the steps are left out."""
    for event in context.work(unit):
        if isinstance(event, WorkProgress):
            yield event
        else:
            step, _ = event
            yield step


def _step_length(plan: Plan, step: Step) -> int:
    """Return the number of features of a step, or its number."""
    return step.n_selected if plan.step_kind is StepKind.FEATURES else step.number


def _step_nearer_length(
    plan: Plan, choice: ProtocolChoice, earlier: Step, later: Step
) -> Step:
    """Return the one of two steps, models of a path, that is nearer to the chosen length.

    A length is a number of features or rounds; `choice` has the chosen
    one. The longer step up to this length is nearer. If both steps are
    longer, the shorter one is returned. For an optimiser, which has no
    length, the later step is returned. A later step with more features
    than the plan's rule allows is not taken.
    """
    # An optimiser's last iteration is its model.
    if choice.length is None:
        return later
    max_features = parse_rule(plan.rule).most
    # More rounds may use more features than in the folds.
    if max_features is not None and later.n_selected > max_features:
        return earlier
    earlier_length = _step_length(plan, earlier)
    later_length = _step_length(plan, later)
    if earlier_length > choice.length:
        return later if later_length < earlier_length else earlier
    return later if earlier_length <= later_length <= choice.length else earlier


def _path_progress(plan: Plan, step: Step, max_length: int) -> WorkProgress:
    """Return the progress of a path towards its last length: "3 of 10 features"."""
    texts = {
        StepKind.FEATURES: tr("{n} of {total} features"),
        StepKind.ROUNDS: tr("round {n} of {total}"),
        StepKind.ITERATIONS: tr("iteration {n} of at most {total}"),
    }
    length = _step_length(plan, step)
    share = min(1.0, length / max(max_length, 1))
    return WorkProgress(texts[plan.step_kind].format(n=length, total=max_length), share)


def _model_origin(
    plan: Plan, choice: ProtocolChoice, data: RankingDataset
) -> dict[str, Any]:
    """Return the origin of a final model for its file: queries, choice, and a note on quality."""
    # A chosen length is a number of features or rounds; other steps have none.
    names = {StepKind.FEATURES: "n_features", StepKind.ROUNDS: "n_rounds"}
    length = {} if choice.length is None else {names[plan.step_kind]: choice.length}
    return {
        "trained on": {
            "queries": data.n_queries,
            "documents": data.n_documents,
            "which": "all queries of all parts (training, validation and test), each once",
        },
        "chosen": {
            "how": choice_text(plan, choice),
            "rule": plan.rule,
            "select_by": plan.select_by,
            "folds": list(choice.folds),
            "values": as_lists(plan.axis_values(choice.values)),
            **length,
        },
        "quality": _QUALITY_NOTE,
    }
