"""Runs in groups: measured ones by comparability, others where they will belong."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from experiment.runs import fold, result

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.part import Part
from rankstudio.ui.compare.groups import RunGroup, run_groups
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_record import RunRecord


def record(key: int, data: str = "MQ2008", n_folds: int = 2, **plan: Any) -> RunRecord:
    folds = tuple(
        SimpleNamespace(number=number, parts={}) for number in range(1, n_folds + 1)
    )
    return cast(
        RunRecord,
        SimpleNamespace(
            key=key,
            plan=Plan("x", **plan),
            dataset=SimpleNamespace(name=data, folds=folds),
        ),
    )


def measured(
    data: str = "MQ2008", numbers: tuple[int, ...] = (1, 2), **plan: Any
) -> MeasuredRun:
    run = result([fold(number, [0.5, 0.6]) for number in numbers], data, **plan)
    return MeasuredRun(run.plan, result=run)


def waiting(**plan: Any) -> MeasuredRun:
    return MeasuredRun(Plan("x", **plan))


def grouped(
    runs: dict[int, tuple[RunRecord, MeasuredRun]], first: str = ""
) -> tuple[RunGroup, ...]:
    return run_groups(
        [record for record, _ in runs.values()],
        {key: run for key, (_, run) in runs.items()},
        first,
    )


def test_a_run_that_is_not_finished_is_in_the_group_to_which_it_will_belong() -> None:
    groups = grouped(
        {
            1: (record(1), measured()),
            2: (record(2, folds=(2,)), measured(numbers=(2,), folds=(2,))),
            3: (record(3), waiting()),
            4: (record(4, folds=(2,)), waiting(folds=(2,))),
            5: (record(5, convention="trec_eval"), waiting(convention="trec_eval")),
        }
    )
    assert [group.keys for group in groups] == [(1, 3), (2, 4), (5,)]
    assert [group.measured for group in groups] == [(1,), (2,), ()]
    assert [group.is_ranked for group in groups] == [True, True, False]
    assert [bool(group.why_separate) for group in groups] == [False, True, False]
    assert groups[2].unranked


def test_a_result_that_is_not_complete_counts_as_not_finished() -> None:
    run = measured()
    assert run.result is not None
    partial = replace(run, result=replace(run.result, complete=False))
    (group,) = grouped({1: (record(1), measured()), 2: (record(2), partial)})
    assert (group.keys, group.measured) == ((1, 2), (1,))


def test_the_open_dataset_comes_first_and_names_of_groups_last() -> None:
    runs = {1: (record(1, "A"), measured("A")), 2: (record(2, "B"), measured("B"))}
    assert [group.data for group in grouped(runs)] == ["A", "B"]
    assert [group.data for group in grouped(runs, "B")] == ["B", "A"]


def test_measures_on_the_part_that_chose_the_models_rank_nothing() -> None:
    run = measured()
    assert run.result is not None
    folds = tuple(replace(one, test={}) for one in run.result.folds)
    chosen_on = replace(run, result=replace(run.result, folds=folds))
    (group,) = grouped({1: (record(1), chosen_on), 2: (record(2), chosen_on)})
    assert (group.part, group.is_ranked) == (Part.CHOSEN_ON, False)
    assert group.measured == (1, 2) and group.unranked


def test_runs_on_some_folds_that_no_run_does_on_all_are_partial() -> None:
    some = {"folds": (2,), "seed": 5}
    groups = grouped(
        {
            1: (record(1), measured()),
            2: (record(2, folds=(2,)), measured(numbers=(2,), folds=(2,))),
            3: (record(3, **some), measured(numbers=(2,), **some)),
            4: (record(4, folds=(1, 2)), measured(folds=(1, 2))),
        }
    )
    by_run = {key: group for group in groups for key in group.keys}
    assert by_run[1].partial == ()
    assert by_run[2].partial == (3,)
    assert by_run[2].n_folds == 2
