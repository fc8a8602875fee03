"""Which runs may stand side by side, and why others may not."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from experiment.runs import fold, result
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine import run_plan
from rankstudio.engine.analysis.comparisons.comparability import (
    Difference,
    comparable,
    comparable_groups,
    comparison_key,
)
from rankstudio.engine.analysis.measurements.measurement import without_test
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import FoldResult, RunResult

QUERIES = [0.1, 0.5, 0.9, 0.4, 0.3, 0.6]


def folds(numbers: tuple[int, ...] = (1, 2), digest: str = "a") -> list[FoldResult]:
    """Return folds with measures of six test queries each."""
    return [replace(fold(number, QUERIES), data_digest=digest) for number in numbers]


def sealed(run: RunResult, *, cross_fitted: bool) -> RunResult:
    """Return a run without its test part, with values of models chosen without each query, or without."""
    values = {"MAP": np.array([0.2, 0.3, 0.7])} if cross_fitted else {}
    return replace(
        run,
        folds=tuple(
            replace(without_test(one), cross_fitted=values) for one in run.folds
        ),
    )


PLAIN = result(folds())
DIFFERENT = {
    "data": (Difference.DATA, result(folds(), data="Other")),
    "digest": (Difference.DATA, result(folds(digest="b"))),
    "label": (Difference.LABEL, result(folds(), columns={"label": "clicks"})),
    "convention": (Difference.CONVENTION, result(folds(), convention="mslr")),
    "protocol": (Difference.PROTOCOL, result(folds(), protocol="2-fold")),
    "folds": (Difference.FOLDS, result(folds((2,)), folds=(2,))),
    "part": (Difference.PART, sealed(PLAIN, cross_fitted=True)),
    "unfinished": (Difference.UNFINISHED, replace(PLAIN, complete=False)),
    "hand-chosen": (Difference.HAND_CHOSEN, result(folds(), hand_chosen="given: 1")),
    "queries": (
        Difference.QUERIES,
        result([*folds((1,)), replace(fold(2, QUERIES[:3]), data_digest="a")]),
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_each_difference_separates_two_runs_and_gives_the_reason(name: str) -> None:
    difference, other = DIFFERENT[name]
    for one, two in ((PLAIN, other), (other, PLAIN)):
        found = comparable(one, two)
        assert found.difference is difference
        assert found.reason
    assert comparable(PLAIN, result(folds(), method="gas", seed=3)).is_comparable


def test_a_seed_counts_where_it_deals_the_folds() -> None:
    runs = [result(folds(), protocol="2-fold", seed=seed) for seed in (0, 1)]
    assert comparable(*runs).difference is Difference.PROTOCOL
    assert comparable(
        runs[0], result(folds(), protocol="2-fold, train 50%")
    ).is_comparable


def test_what_was_chosen_on_the_part_is_comparable_with_nothing_not_even_itself() -> (
    None
):
    optimum = sealed(PLAIN, cross_fitted=False)
    assert optimum.part is Part.CHOSEN_ON
    assert comparable(optimum, optimum).difference is Difference.NO_ESTIMATE
    honest = sealed(PLAIN, cross_fitted=True)
    assert comparable(honest, honest).is_comparable
    assert honest.average["MAP"] == pytest.approx(0.4)
    assert honest.per_query("MAP").tolist() == [0.2, 0.3, 0.7] * 2


def test_a_run_that_lacks_one_fold_of_a_part_has_none_of_it() -> None:
    (first, second) = folds()
    mixed = result([first, without_test(second)])
    assert mixed.part is Part.CHOSEN_ON
    assert not comparable(mixed, mixed).is_comparable


def drawn_runs() -> st.SearchStrategy[dict[int, RunResult]]:
    """Return runs that differ in some of what makes runs comparable."""

    def run(
        data: str,
        digest: str,
        numbers: tuple[int, ...],
        shown: str,
        complete: bool,
        **plan: Any,
    ) -> RunResult:
        made = replace(
            result(folds(numbers, digest), data=data, **plan), complete=complete
        )
        return (
            made
            if shown == "test"
            else sealed(made, cross_fitted=shown == "cross-fitted")
        )

    runs = st.builds(
        run,
        data=st.sampled_from(["Small", "Other"]),
        digest=st.sampled_from(["a", "b"]),
        numbers=st.sampled_from([(1, 2), (2,)]),
        shown=st.sampled_from(["test", "cross-fitted", "chosen on"]),
        complete=st.booleans(),
        convention=st.sampled_from(["letor4", "mslr"]),
        protocol=st.sampled_from(["given", "2-fold", "2-fold, train 20%"]),
    )
    return st.lists(runs, min_size=1, max_size=8).map(
        lambda drawn: dict(enumerate(drawn))
    )


@given(drawn_runs())
def test_groups_are_the_classes_of_comparable_runs(runs: dict[int, RunResult]) -> None:
    groups = comparable_groups(runs)
    assert sorted(name for group in groups for name in group.runs) == sorted(runs)
    group_of = {
        name: number for number, group in enumerate(groups) for name in group.runs
    }
    for one, other in product(runs, runs):
        together = group_of[one] == group_of[other]
        found = comparable(runs[one], runs[other])
        assert found.is_comparable == comparable(runs[other], runs[one]).is_comparable
        assert found.is_comparable <= together
        if together and not groups[group_of[one]].unranked:
            assert found.is_comparable
        assert bool(found.reason) is not found.is_comparable
    for number, group in enumerate(groups):
        assert {comparison_key(run) for run in group.runs.values()} == {group.key}
        leaders = [g for g in groups[:number] if g.key.data_name == group.key.data_name]
        assert bool(group.why_separate) is bool(leaders)
    names = [group.key.data_name for group in groups]
    # datasets stay together
    assert names == sorted(names, key=list(dict.fromkeys(names)).index)


def test_runs_on_the_same_files_have_one_digest_and_other_data_another() -> None:
    plans = [
        Plan("sample", method="gas", folds=(1,)),
        Plan("sample", method="mutual-information", folds=(1,)),
        Plan("sample", method="gas", folds=(1,), protocol="3-fold"),
    ]
    runs = [run_plan(plan) for plan in plans]
    assert runs[0].data_digest
    assert runs[0].data_digest == runs[1].data_digest
    assert comparable(runs[0], runs[1]).is_comparable
    assert comparable(runs[0], runs[2]).difference is Difference.PROTOCOL


@pytest.mark.parametrize(
    ("hand_chosen", "is_sealed", "is_ranked"),
    [
        ("given: 2", False, True),  # nobody saw the test queries of this fold
        ("given: 2", True, False),  # but its validation queries
        ("given: 1", False, False),
        ("given: 1, 2", False, False),
        ("3-fold, seed 0: 2", False, False),  # fold 2 of other folds
        ("", True, True),
    ],
)
def test_hand_chosen_features_measure_only_queries_that_nobody_saw(
    hand_chosen: str, is_sealed: bool, is_ranked: bool
) -> None:
    run = result(folds((2,)), folds=(2,), hand_chosen=hand_chosen)
    run = sealed(run, cross_fitted=True) if is_sealed else run
    plain = replace(run, plan=run.plan.changed(hand_chosen=""))
    assert comparable(run, plain).is_comparable is is_ranked
    groups = comparable_groups({"plain": plain, "set": run})
    assert [list(group.runs) for group in groups] == (
        [["plain", "set"]] if is_ranked else [["plain"], ["set"]]
    )
    assert bool(groups[-1].unranked) is not is_ranked
    assert not groups[0].unranked
