"""Runs side by side: which is the reference, what can be paired, and who differs in pins alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from experiment.small import dataset

from rankstudio.engine.analysis.selection_stability import selection_stability
from rankstudio.engine.analysis.significance import by_dataset, compare_runs, pin_effects
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.statistics.paired import compare_paired, holm
from rankstudio.engine.statistics.stability import stability


def ran(method: str = "greedy-rankrls", folds: int = 3, **plan: Any) -> RunResult:
    parameters = {"regularization": 1.0, **plan.pop("parameters", {})}
    made = Plan("nowhere", method, parameters=parameters, measures=("MAP", "Disagreement"), **plan)
    last = list(run(made, dataset(folds)))[-1]
    assert isinstance(last, RunFinished)
    return last.result


@pytest.fixture(scope="module")
def runs() -> list[RunResult]:
    ranked = ran("gas", ranker="rankrls", parameters={}, ranker_parameters={"regularization": 1.0})
    return [ran("rankrls"), ran(parameters={"n_features_to_select": 1}), ran("gas"), ranked]


@pytest.mark.parametrize("name", ["MAP", "Disagreement"])
def test_the_best_is_the_reference_and_the_others_are_one_family(runs, name) -> None:
    compared = compare_runs(runs, name, seed=3)
    averages = [result.average[name] for result in runs]
    best = max(averages) if name == "MAP" else min(averages)
    assert averages[compared.reference] == best
    assert compared.tests[compared.reference] is None
    assert compared.n_queries == 36
    theirs = runs[compared.reference].per_query(name)
    expected = [
        compare_paired(result.per_query(name), theirs, seed=3, higher_is_better=name == "MAP")
        for place, result in enumerate(runs)
        if place != compared.reference
    ]
    found = [tested for tested in compared.tests if tested]
    assert [tested.test for tested in found] == expected
    np.testing.assert_array_equal([t.p_holm for t in found], holm([e.p_randomisation for e in expected]))


@pytest.mark.parametrize(
    ("against", "place"), [(2, 1), ("rankrls", 0), ("gas", 2), ("gas/rankrls", 3), ("greedy-rankrls", 1)]
)
def test_the_reference_can_be_named(runs, against, place) -> None:
    assert compare_runs(runs, "MAP", against).reference == place


def test_a_method_with_rankers_alone_is_named_without_one(runs) -> None:
    assert compare_runs([runs[0], runs[3]], against="gas").reference == 1


@pytest.mark.parametrize(
    ("chosen", "options", "message"),
    [
        ([0], {}, "expected two finished runs, found 1"),
        ([0, 1], {"against": 3}, "against: expected the number of a run, from 1 to 2, got 3"),
        ([0, 3], {"against": "fsmrank"}, "against: expected one of rankrls, gas/rankrls, got 'fsmrank'"),
        ([0, 1], {"name": "P@3"}, "Run 1, RankRLS, was not measured by P@3"),
    ],
)
def test_what_cannot_be_compared_is_told(runs, chosen, options, message) -> None:
    with pytest.raises(PlanError, match=message):
        compare_runs([runs[place] for place in chosen], **options)


def test_queries_and_conventions_have_to_be_the_same(runs) -> None:
    with pytest.raises(
        PlanError, match="Run 2, RankRLS, cannot be compared with run 1: on folds 1, 2, not on"
    ):
        compare_runs([runs[0], ran("rankrls", folds=2)])
    other = replace(runs[0], plan=runs[0].plan.changed(convention="letor3"))
    with pytest.raises(PlanError, match=r"run 1: measured by LETOR 3\.0, not by LETOR 4\.0\.$"):
        compare_runs([runs[0], other])


def test_runs_are_sorted_by_dataset(runs) -> None:
    other = replace(runs[0], data_name="Other")
    assert {k: len(v) for k, v in by_dataset([other, *runs]).items()} == {"Other": 1, "Small": 4}


def test_pins_are_held_against_the_run_without_them(runs) -> None:
    free, pinned = ran(), ran(parameters={"pinned": (2,)})
    banned, elsewhere = ran(parameters={"banned": (3,)}), ran(parameters={"banned": (3,)}, seed=1)
    alone = [pinned, runs[0], banned, free, elsewhere, free]
    effects = pin_effects(alone, "MAP", seed=1)
    assert [(e.run, e.other) for e in effects] == [(0, 3), (2, 3)]
    expected = compare_paired(banned.per_query("MAP"), free.per_query("MAP"), seed=1)
    assert effects[1].tested.test == expected
    assert effects[1].tested.p_holm >= expected.p_randomisation
    assert [(e.run, e.other) for e in pin_effects([pinned, banned, pinned], "MAP")] == [(1, 0), (2, 1)]
    assert pin_effects(runs, "MAP") == ()


def test_stability_is_that_of_the_folds_selections(runs) -> None:
    found = selection_stability(runs[1])
    assert found is not None
    expected = stability([[i - 1 for i in fold.selected] for fold in runs[1].folds], 6)
    assert (found.nogueira, found.jaccard) == (expected.nogueira, expected.jaccard)
    assert selection_stability(runs[0]) is None
    assert selection_stability(ran(folds=1)) is None
