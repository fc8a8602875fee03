"""How much work plans are: units counted, seconds by the runs that are finished on the same data."""

from dataclasses import replace

import pytest
from experiment.runs import fold, result

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.results.workload import (
    SAMPLE_DOCUMENTS,
    typical_seconds,
    workload,
)
from rankstudio.engine.methods.catalog import method, methods

N = 6  # features of the runs


def took(times: float, place: str = "x", **changes: object) -> RunResult:
    run = result([fold(1, [0.5]), fold(2, [0.5])], **changes)
    seconds = times * typical_seconds(run.plan, 2, N)
    return replace(run, plan=run.plan.changed(data=place), seconds=seconds)


def test_units_are_combinations_times_folds_and_seconds_those_of_the_fastest_run_of_the_method() -> (
    None
):
    plan = Plan("x", parameters={"regularization": (1.0, 2.0, 4.0)})
    finished = [took(times) for times in (8.0, 40.0, 12.0)]
    found = workload(
        [(plan, 5), (Plan("x", "gas", folds=(2,)), 5)],
        [*finished, took(3.0, method="gas")],
        n_features=N,
    )
    assert (found.n_runs, found.n_units, found.n_guessed) == (2, 15 + 11, 0)
    own, other = (
        8.0 * typical_seconds(plan, 5, N),
        3.0 * typical_seconds(Plan("x", "gas"), 1, N),
    )
    assert found.seconds == pytest.approx(own + other)
    assert workload([], finished).n_units == 0


def test_a_method_that_was_not_run_goes_by_the_others_on_the_same_data_and_else_by_their_size() -> (
    None
):
    plan = Plan("x", "gas", ranker="ranksvm")
    runs = [took(12.0), took(60.0), took(99.0, "y")]
    known = workload([(plan, 5)], runs, n_documents=3 * SAMPLE_DOCUMENTS)
    assert known.n_guessed == 0
    # between 12 and 3, as ratios
    assert known.seconds == pytest.approx(6.0 * typical_seconds(plan, 5))
    unknown = workload([(plan, 5)], [took(99.0, "y")], n_documents=3 * SAMPLE_DOCUMENTS)
    assert unknown.n_guessed == 1
    assert unknown.seconds == pytest.approx(3.0 * typical_seconds(plan, 5))


def test_a_pipeline_shares_its_selection_and_ends_with_its_last_size() -> None:
    fast, slow = Plan("x", "gas", ranker="rankrls"), Plan("x", "gas", ranker="ranksvm")
    assert typical_seconds(slow, 5) > 5 * typical_seconds(fast, 5)
    assert (
        typical_seconds(Plan("x", "fs-bfs", ranker="rankrls"), 1)
        < 2 * method("fs-bfs").seconds.fold
    )
    few = slow.changed(parameters={"n_features_to_select": 4})
    assert typical_seconds(few, 5) < typical_seconds(slow, 5) / 5


def test_every_ranker_of_the_catalog_has_a_typical_time_along_a_path() -> None:
    assert all(entry.seconds.path for entry in methods() if not entry.selects)
