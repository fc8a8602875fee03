"""Several values of any parameter: what is tried, chosen, stored, written and typed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from experiment.small import dataset, plan_of_command, plan_of_program
from wording import naming

from rankstudio.cli.commands.run import summary
from rankstudio.cli.progress_bar import ProgressBar
from rankstudio.engine.analysis.comparisons.batch import folder_name
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.combinations import varied_axes
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import plan_as_dict
from rankstudio.engine.experiment.reports import metrics_table, results_as_dict
from rankstudio.engine.experiment.results.events import (
    RunFinished,
    RunStarted,
    StepDone,
    UnitFinished,
)
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run, run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.export.tables import csv_text
from rankstudio.engine.methods.catalog import Kind, Method, Parameter, methods

LOSSES = Plan(
    "small",
    "ranksvm",
    {"C": (0.25, 1.0), "loss": ["hinge", "squared_hinge"]},
    convention="standard",
)
SIZES = Plan(
    "small",
    parameters={
        "regularization": 1.0,
        "n_features_to_select": [2, "all"],
        "pinned": [[3], []],
    },
    convention="standard",
)


def finished(plan: Plan) -> RunResult:
    return run_plan(plan, dataset())


def alone(plan: Plan, **own: object) -> RunResult:
    return finished(plan.changed(parameters={**plan.parameters, **own}))


def test_every_combination_is_the_run_that_has_it_alone_and_the_best_is_chosen() -> (
    None
):
    result = finished(LOSSES)
    singles = [
        alone(LOSSES, C=C, loss=loss)
        for C in LOSSES.parameters["C"]
        for loss in LOSSES.parameters["loss"]
    ]
    for place, fold in enumerate(result.folds):
        there = [single.folds[place] for single in singles]
        assert [path.unit.values for path in fold.paths] == [
            s.values for s in LOSSES.combinations
        ]
        for path, one in zip(fold.paths, there, strict=True):
            assert np.array_equal(path.steps[-1].coef, one.paths[0].steps[-1].coef)
        # the first of equal ones
        best = max(there, key=lambda one: one.validation["MAP"])
        assert dict(fold.test) == dict(best.test)


def test_ties_go_to_the_value_listed_first() -> None:
    for solvers in (("newton", "auto"), ("auto", "newton")):
        own = {"C": 1.0, "loss": "squared_hinge", "solver": solvers}
        chosen = [fold.chosen.unit for fold in alone(LOSSES, **own).folds]
        assert [unit.values[-1] for unit in chosen] == [solvers[0]] * 2
        assert {unit.parameters["solver"] for unit in chosen} == {solvers[0]}


def test_the_longest_path_is_foretold_and_every_value_is_checked_before_any_work() -> (
    None
):
    started = next(run(SIZES, dataset()))
    assert isinstance(started, RunStarted)
    assert (len(started.units), started.steps_per_unit) == (8, 6)
    wrong = SIZES.changed(parameters={**SIZES.parameters, "pinned": [[3], [77]]})
    with pytest.raises(ParameterError, match=naming("pinned 1 6 77")):
        next(run(wrong, dataset()))


def test_an_interrupted_run_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    path = tmp_path / "study.rankstudio"
    for plan in (LOSSES, SIZES):
        whole = finished(plan)
        with Study.open(path) if path.exists() else Study.create(path) as study:
            done = 0
            for event in run_stored(plan, dataset(), study):
                done += isinstance(event, UnitFinished)
                if done == 3:
                    break
        with Study.open(path) as study:
            assert study.runs()[-1].key.plan == plan
            events = list(run_stored(plan, dataset(), study))
            places = {
                (e.unit.fold, e.unit.position)
                for e in events
                if isinstance(e, StepDone)
            }
            assert len(places) == 8 - 3
            assert isinstance(events[-1], RunFinished)
            assert results_as_dict(events[-1].result) == results_as_dict(whole)
            assert results_as_dict(
                study.result(study.runs()[-1].key)
            ) == results_as_dict(whole)


def test_tables_name_the_values() -> None:
    for plan, names in (
        (LOSSES, ["C", "loss"]),
        (SIZES, ["regularization", "n_features_to_select", "pinned"]),
    ):
        result = finished(plan)
        header, *rows = csv.reader(io.StringIO(csv_text(*metrics_table(result))))
        assert header[: len(names) + 3] == ["fold", "part", *names, "n_features"]
        for fold, row in zip(result.folds, rows[1::2], strict=False):
            values = zip(plan.axes, fold.chosen.unit.values, row[2:], strict=False)
            assert all(
                cell in (str(value), axis.format(value)) for axis, value, cell in values
            )
        table = json.loads(json.dumps(results_as_dict(result), allow_nan=False))
        assert table["plan"] == plan_as_dict(plan)
        assert list(table["folds"][0]["chosen"])[: len(names)] == names
        text = summary(result)
        for fold in result.folds:
            for axis, value in zip(plan.axes, fold.chosen.unit.values, strict=True):
                assert axis.format(value) in text


def test_the_bar_says_which_values_are_tried() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    progress = ProgressBar(stream)
    for event in run(LOSSES.changed(folds=(1,)), dataset()):
        progress._line._last_drawn = 0.0
        progress.show(event)
    assert "C 2^-2, loss squared hinge" in stream.getvalue()


@pytest.mark.parametrize("plan", [LOSSES, SIZES], ids=["choices", "sizes"])
def test_a_command_and_a_program_say_the_same_plan(plan: Plan) -> None:
    sample = plan.changed(data="sample")
    assert plan_of_command(sample) == plan_of_program(sample) == sample


def test_a_comparison_names_folders_by_the_values() -> None:
    assert folder_name(LOSSES) == "ranksvm-hinge+squared_hinge"
    assert (
        folder_name(Plan("x", "rankboost", {"n_rounds": "50, 100"}))
        == "rankboost-50+100"
    )


@pytest.mark.parametrize("entry", methods(), ids=lambda entry: entry.key)
def test_columns_of_axes_are_called_like_no_other_column(entry: Method) -> None:
    assert not {p.name for p in entry.parameters} & {
        "fold",
        "part",
        "round",
        "n_features",
    }


@pytest.mark.parametrize("entry", methods(), ids=lambda entry: entry.key)
def test_any_parameter_of_any_method_can_have_several_values(entry: Method) -> None:
    for p in entry.parameters:
        needed = {p.only_with[0]: p.only_with[1][0]} if p.only_with else {}
        plan = Plan("x", entry.key, {**needed, p.name: _two(p)})
        assert [
            axis.parameter
            for axis in plan.axes
            if not axis.is_grid or p.kind is Kind.GRID
        ].count(p) == 1
        assert {repr(s.parameters[p.name]) for s in plan.combinations} == {
            repr(value) for value in p.values(plan.parameters[p.name])
        }


def _two(p: Parameter) -> list[object]:
    match p.kind:
        case Kind.CHOICE:
            return [key for key, _ in p.choices]
        case Kind.SWITCH:
            return [True, False]
        case Kind.MEASURE:
            return ["MAP", "P@5"]
        case Kind.FEATURES:
            return [[1], [2, 3]]
        case Kind.COSTS:
            return [[[1, 2.0]], [[2, 0.5]]]
        case Kind.INTEGER:
            return [int(p.low) + 1, int(p.low) + 2]
        case _:
            return [0.25, 0.5]


def test_the_axes_are_told_on_which_combinations_differ() -> None:
    assert varied_axes([(1.0, "a", 2.0), (3.0, "a", 4.0)]) == (0, 2)
    assert varied_axes([(1.0, "a"), (1.0, "b")]) == (1,)
    assert varied_axes([(1.0, "a")]) == (0,)
    assert varied_axes([]) == (0,)
