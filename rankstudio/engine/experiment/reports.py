"""A finished run as files.

They are results.json, metrics.csv, selection_path.csv, plan.toml and
the models.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isnan, nan
from pathlib import Path
from typing import Any

from rankstudio.engine.data.feature_groups import feature_groups_of, group_names
from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.plan.combinations import Axis
from rankstudio.engine.experiment.plan.left_out_names import left_out, plain
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import (
    as_lists,
    load_plan,
    plan_as_dict,
    plan_from_dict,
    save_plan,
    with_data_beside,
)
from rankstudio.engine.experiment.results.results import Chosen, FoldResult, RunResult
from rankstudio.engine.experiment.versions import versions
from rankstudio.engine.export.model_files import FOLDER
from rankstudio.engine.export.models import Model, Weight, model_json
from rankstudio.engine.export.tables import save_csv
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step
from rankstudio.engine.support.files import make_folder, read_text, write_text

Row = tuple[Any, ...]

RESULT_FILES = ("results.json", "metrics.csv", "selection_path.csv", "plan.toml")
LEFT_OUT = "leave-query-out"
PAIRS_LEFT_OUT = "leave-pair-out"
"""Names of left-out training queries and pairs in the column of parts."""
MODELS = FOLDER
"""Name of the folder with the chosen model of each fold: fold1.json and so on."""
REFITTED = f"{MODELS}/all.json"
"""The final model, trained on all queries."""


def chosen_values(result: RunResult, fold: FoldResult) -> dict[str, Any]:
    """Return the values of parameters, and the size, of a fold's selected model, by name.

    Included are the parameters for which the plan has several values,
    the round of a boosting, and the number of features.
    """
    values = result.plan.axis_values(fold.chosen.unit.values)
    rounds = (
        {"round": fold.chosen.step.number}
        if result.plan.step_kind is StepKind.ROUNDS
        else {}
    )
    return {**values, **rounds, "n_features": len(fold.selected)}


def results_as_dict(result: RunResult) -> dict[str, Any]:
    """Return the results of a run as plain values for JSON.

    Equal runs give equal results: times and dates are left out.
    Measures are dicts of name to value.
    """
    # NaN is not valid JSON, so it becomes None.
    return {
        "plan": plan_as_dict(result.plan),
        "data": result.data_name,
        "convention": result.plan.convention,
        # The largest label, on which the measure ERR depends.
        **_nan_as_none({"greatest_grade": result.greatest_grade}),
        "complete": result.complete,
        "folds": [
            {
                "fold": fold.fold,
                "chosen": chosen_values(result, fold),
                "selected": list(fold.selected),
                "weights": fold.chosen.step.coef[
                    list(fold.chosen.step.selected)
                ].tolist(),
                "validation": _nan_as_none(fold.validation),
                "test": _nan_as_none(fold.test),
                # Only some methods measure by queries left out of training.
                **(
                    {"left_out": _left_out_measures(result, fold)}
                    if result.plan.leaves_out
                    else {}
                ),
                "best_single_feature": {
                    "id": fold.baseline.feature,
                    "descending": fold.baseline.descending,
                    "validation": _nan_as_none(fold.baseline.validation),
                    "test": _nan_as_none(fold.baseline.test),
                },
            }
            for fold in result.folds
        ],
        "average": _nan_as_none(result.reported_average),
        "best_single_feature": _nan_as_none(result.baseline),
        "versions": dict(result.versions),
    }


def _left_out_measures(result: RunResult, fold: FoldResult) -> dict[str, Any]:
    """Return the measures of a fold on queries that were left out of training, for JSON.

    The key "chosen" has the measures of the chosen model, and "paths"
    those of every model of each path. A path has the models of one
    combination of parameters' values.
    """
    return {
        # `plain` shortens names: "MAP", not "leave-query-out MAP".
        "chosen": _nan_as_none(plain(fold.left_out)),
        "paths": [
            {
                **result.plan.axis_values(path.unit.values),
                "steps": path.x_values.tolist(),
                "measures": {
                    name: [
                        None if isnan(number) else number for number in values.tolist()
                    ]
                    for name, values in plain(left_out(path.validation)).items()
                },
            }
            for path in fold.paths
        ],
    }


def _nan_as_none(measures: Mapping[str, float]) -> dict[str, float | None]:
    """Return measures by name for JSON, in which NaN is not allowed.

    NaN, the value of an undefined measure, becomes None.
    """
    return {name: None if isnan(value) else value for name, value in measures.items()}


def metrics_table(result: RunResult) -> tuple[list[str], list[Row]]:
    """Return the header and the rows of metrics.csv.

    There is a row for each fold and part, and one for the average.
    Parts are validation, test, and left-out queries or pairs of
    documents. The columns are the fold, the part, the chosen values of
    the plan's parameters, the number of features, and the measures.
    """
    # Rows of a fold: one for each part that has values.
    names = list(result.plan.evaluated)
    axes = result.plan.axes
    rows: list[Row] = []
    for fold in result.folds:
        chosen_by_name = chosen_values(result, fold)
        left_out_part = PAIRS_LEFT_OUT if result.plan.pairs_out else LEFT_OUT
        parts = (
            ("validation", fold.validation),
            ("test", fold.test),
            (left_out_part, plain(fold.left_out)),
        )
        for part, values in parts:
            if values:
                axis_cells = (
                    _axis_cell(axis, chosen_by_name[axis.name]) for axis in axes
                )
                head = (fold.fold, part, *axis_cells, chosen_by_name["n_features"])
                rows.append(
                    (*head, *(_nan_as_blank(values.get(name, nan)) for name in names))
                )

    # The average has neither parameters nor a size.
    average = result.reported_average
    if average:
        part = "test" if result.folds[0].test else "validation"
        rows.append(
            (
                "average",
                part,
                *("" for _ in axes),
                "",
                *(_nan_as_blank(average[n]) for n in names),
            )
        )
    return ["fold", "part", *(axis.name for axis in axes), "n_features", *names], rows


def _nan_as_blank(value: float) -> float | str:
    """Return a measure for a table: an empty cell where ``results.json`` has null."""
    return "" if isnan(value) else value


def _axis_cell(axis: Axis, value: Any) -> float | str:
    """Return the value of an axis, a parameter with several values, for a cell of a table.

    Numbers and texts stay as they are; other values become the axis's
    text for them.
    """
    is_plain = isinstance(value, int | float | str) and not isinstance(value, bool)
    return value if is_plain else axis.format(value)


def features_table(result: RunResult) -> tuple[list[str], list[Row]]:
    """Return the header and the rows of selection_path.csv: one per fold and feature.

    The features are those of the fold's chosen model, then others that
    its path, the sequence of models, selects later. If the plan has
    groups, the last column has the group of each feature.
    """
    groups = group_names(feature_groups_of(result.plan))
    rows: list[Row] = []
    for fold in result.folds:
        path = next(p for p in fold.paths if p.unit == fold.chosen.unit)
        last = path.steps[-1]
        model = fold.chosen.step
        # The criterion beside a feature is that of the first step that
        # uses it. Where steps are not features, it is that of the last
        # step.
        steps = path.steps if path.step_kind is StepKind.FEATURES else ()
        # The first step that uses each column.
        first_step: dict[int, Step] = {}
        for step in steps:
            for column in step.selected:
                first_step.setdefault(column, step)
        weights = model.coef
        selected = set(model.selected)
        for rank, column in enumerate(
            dict.fromkeys((*model.selected, *last.selected)), start=1
        ):
            step = first_step.get(column, last)
            is_selected = column in selected
            feature = int(result.feature_ids[column])
            rows.append(
                (
                    fold.fold,
                    rank,
                    feature,
                    result.feature_names[column],
                    int(is_selected),
                    float(weights[column]) if is_selected else "",
                    # The divisor is the number of documents for a sum over them.
                    step.criterion / path.divisor,
                    *((groups.get(feature, ""),) if groups else ()),
                )
            )
    header = [
        "fold",
        "rank",
        "id",
        "feature",
        "chosen",
        "weight",
        "criterion_per_document",
    ]
    return [*header, "group"] if groups else header, rows


def write_results(result: RunResult, folder: str | Path) -> list[Path]:
    """Write all files of a run into a folder, and return their paths.

    The folder is made if it does not exist.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    folder = make_folder(folder)
    text = (
        json.dumps(
            results_as_dict(result), indent=2, ensure_ascii=False, allow_nan=False
        )
        + "\n"
    )
    write_text(folder / "results.json", text)
    save_csv(folder / "metrics.csv", *metrics_table(result))
    save_csv(folder / "selection_path.csv", *features_table(result))
    existing_plan = _readable_plan(folder / "plan.toml")
    # An existing plan with the same settings is kept: it may have
    # comments of its author.
    if existing_plan is None or not existing_plan.agrees(result.plan):
        save_plan(result.plan, folder / "plan.toml")
    return [
        *(folder / name for name in RESULT_FILES),
        *_write_models(result, folder / MODELS),
    ]


def _write_models(result: RunResult, folder: Path) -> list[Path]:
    """Write the chosen model of each fold to fold1.json and so on; return the file paths.

    Left out are models that the user gave, and a model that an older
    study did not store completely.
    """
    # A step that is not whole lacks a part that scoring needs.
    models = {
        folder / f"fold{fold.fold}.json": chosen_model(result, fold)
        for fold in result.folds
        if fold.chosen.step.whole and not result.plan.entry.learns_nothing
    }
    for path, model in models.items():
        make_folder(folder)
        write_text(path, model_json(model))
    return list(models)


def chosen_model(result: RunResult, fold: FoldResult) -> Model:
    """Return the selected model of a fold."""
    measures = {"validation": fold.validation, "test": fold.test}
    features = result.feature_ids.tolist(), result.feature_names
    return portable_model(
        result.plan, features, result.data_name, fold.chosen, measures
    )


def plan_of_results(folder: Path) -> Plan | None:
    """Return the plan of the results in a folder, or else a plan that is to be run there.

    The result is None if the folder has neither, or if the file of the
    plan cannot be read or is no plan.
    """
    results = folder / "results.json"
    if not results.exists():
        return _readable_plan(folder / "plan.toml")
    # A file with other contents may raise any of these errors.
    try:
        return plan_from_dict(json.loads(read_text(results))["plan"])
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
        RankStudioError,
    ):
        return None


def _readable_plan(path: Path) -> Plan | None:
    """Return the plan in a file; None if it cannot be read."""
    try:
        return with_data_beside(load_plan(path), path)
    except RankStudioError:
        return None


def portable_model(
    plan: Plan,
    features: tuple[Sequence[int], Sequence[str]],
    data_name: str,
    chosen: Chosen,
    measures: Mapping[str, Mapping[str, float]],
    fold: str | int | None = None,
) -> Model:
    """Return a model of a run, finished or not, in the form that is written to a file.

    Parameters
    ----------
    plan : Plan
        Plan of the run.
    features : tuple
        Ids and names of the dataset's features.
    data_name : str
        Name of the dataset.
    chosen : Chosen
        Step with the model, and its unit: the fold and the parameters' values.
    measures : Mapping
        Measures by part: ``{"validation": {"MAP": …}, "test": {…}}``.
    fold : str or int, optional
        Fold on whose training part the model was trained, or "all" for
        all queries; by default the fold of the unit.
    """
    # Weights of the selected features only. `beyond` is what a
    # nonlinear model has besides its weights.
    step = chosen.step
    ids, names = features
    coef = step.coef
    weights = tuple(
        Weight(int(ids[column]), names[column], float(coef[column]))
        for column in step.selected
    )

    # Where the model comes from, and what its scores depend on.
    origin = {
        "data": data_name,
        # These keys are those of the format of the file.
        **_model_source(plan, chosen.unit.fold if fold is None else fold),
        "normalize": plan.normalize,
        "missing": plan.missing,
        "convention": plan.convention,
        **{part: _nan_as_none(values) for part, values in measures.items() if values},
        "versions": versions(plan.sources),
    }
    if plan.ranker:
        origin |= {
            "ranked by": plan.ranker,
            "its parameters": as_lists(chosen.unit.combination.ranker),
        }
    return Model(
        features=weights,
        method=plan.method,
        parameters=as_lists(chosen.unit.parameters),
        origin=origin,
        beyond=step.beyond_weights([int(i) for i in ids]),
        plan=plan_as_dict(plan),
    )


def _model_source(plan: Plan, fold: str | int) -> dict[str, Any]:
    """Return where a model comes from, as a dict with the key "fold" or "given".

    "fold" has the fold on which the model was learned. "given" has the
    files of a model that the user gave.
    """
    return (
        {"given": plan_as_dict(plan)["scores"]}
        if plan.entry.learns_nothing
        else {"fold": fold}
    )
