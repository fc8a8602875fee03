"""Runs side by side: what can be paired, which is the reference, and who differs in pins alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from experiment.runs import fold, result
from experiment.small import dataset, ended
from wording import naming

from rankstudio.engine.analysis.comparisons.comparability import paired_over
from rankstudio.engine.analysis.comparisons.significance import (
    best_run,
    compare_groups,
    compare_runs,
    compare_with,
    compared_runs,
    first_equals,
    pin_effects,
    why_unpaired,
)
from rankstudio.engine.analysis.features.selection_stability import stability_of
from rankstudio.engine.analysis.measurements.measurement import without_test
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.statistics.paired import compare_paired, holm
from rankstudio.engine.statistics.stability import stability

A, B, C = (
    [0.1, 0.5, 0.9, 0.4, 0.2],
    [0.2, 0.6, 0.7, 0.8, 0.3],
    [0.5, 0.6, 0.8, 0.7, 0.9],
)


def ran_on(values: list[float], **plan):
    return result([fold(1, values)], **plan)


def test_a_run_repeats_another_of_the_same_plan_and_bits_wherever_its_data_lie() -> (
    None
):
    first = ran_on(A)
    runs = [
        first,
        ran_on(B),
        replace(
            first, plan=first.plan.changed(data="elsewhere", measures=("MAP", "P@1"))
        ),
        ran_on(A, seed=1),
        ran_on([*A[:-1], float(np.nextafter(A[-1], 1.0))]),
        replace(first, data_name="Other"),
        ran_on(B),
        result([fold(1, A), fold(2, A)]),
        result([fold(1, A, (2,))]),
    ]
    assert first_equals(runs) == [0, 1, 0, 3, 4, 5, 1, 7, 8]
    assert first_equals([]) == []


def test_runs_that_differ_only_in_what_does_not_count_are_the_same() -> None:
    """The λ of a selector's own model where a ranker follows, and RankSVM's C where RankRLS gives weights."""
    ranked = {"ranker": "ranksvm", "method": "gas"}
    runs = [
        ran_on(A, **ranked),
        ran_on(A, **ranked, parameters={"regularization": 3.0}),
        ran_on(A, **ranked, parameters={"c": 0.5}),
        ran_on(A, method="gas", parameters={"regularization": 3.0}),
        ran_on(A, method="gas"),
    ]
    assert first_equals(runs) == [0, 0, 2, 3, 4]
    ties = [
        ran_on(A, parameters={"cost": "unit", "ties": given}) for given in (True, False)
    ]
    counting = [ran_on(A, parameters={"ties": given}) for given in (True, False)]
    assert first_equals([*ties, *counting]) == [0, 0, 2, 3]


def test_a_run_that_was_repeated_counts_once_in_holms_family() -> None:
    runs = [ran_on(A), ran_on(B), ran_on(C), ran_on(B), ran_on(A)]
    compared = compare_runs(runs, "MAP", 1)
    p = holm([compare_with(run, runs[0], "MAP").p_randomisation for run in runs[1:3]])
    corrected = [test.p_holm for test in compared.tests if test]
    assert corrected == [p[0], p[1], p[0], 1.0]
    without = compare_runs(runs[:3], "MAP", 1)
    assert [test.p_t_holm for test in compared.tests[1:3] if test] == [
        test.p_t_holm for test in without.tests[1:] if test
    ]


def ran(method: str = "greedy-rankrls", folds: int = 3, **plan: Any) -> RunResult:
    parameters = {"regularization": 1.0, **plan.pop("parameters", {})}
    made = Plan(
        "nowhere",
        method,
        parameters=parameters,
        measures=("MAP", "Disagreement"),
        **plan,
    )
    return ended(run(made, dataset(folds)))


@pytest.fixture(scope="module")
def runs() -> list[RunResult]:
    ranked = ran(
        "gas",
        ranker="rankrls",
        parameters={},
        ranker_parameters={"regularization": 1.0},
    )
    return [
        ran("rankrls"),
        ran(parameters={"n_features_to_select": 1}),
        ran("gas"),
        ranked,
    ]


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
        compare_paired(
            result.per_query(name), theirs, seed=3, higher_is_better=name == "MAP"
        )
        for place, result in enumerate(runs)
        if place != compared.reference
    ]
    found = [tested for tested in compared.tests if tested]
    assert [tested.test for tested in found] == expected
    np.testing.assert_array_equal(
        [t.p_holm for t in found], holm([e.p_randomisation for e in expected])
    )
    np.testing.assert_array_equal(
        [t.p_t_holm for t in found], holm([e.p_t for e in expected])
    )
    np.testing.assert_array_equal(
        [t.p_wilcoxon_holm for t in found], holm([e.p_wilcoxon for e in expected])
    )


@pytest.mark.parametrize(
    ("against", "place"),
    [(2, 1), ("rankrls", 0), ("gas", 2), ("gas/rankrls", 3), ("greedy-rankrls", 1)],
)
def test_the_reference_can_be_named(runs, against, place) -> None:
    assert compare_runs(runs, "MAP", against).reference == place


def test_a_method_with_rankers_alone_is_named_without_one(runs) -> None:
    assert compare_runs([runs[0], runs[3]], against="gas").reference == 1


@pytest.mark.parametrize(
    ("chosen", "options", "message"),
    [
        ([0], {}, "1 runs"),
        ([0, 1], {"against": 3}, "against 1 2 3"),
        ([0, 3], {"against": "fsmrank"}, "against rankrls gas/rankrls fsmrank"),
        ([0, 1], {"name": "P@3"}, "1 RankRLS P@3"),
    ],
)
def test_what_cannot_be_compared_is_told(runs, chosen, options, message) -> None:
    with pytest.raises(PlanError, match=naming(message)):
        compare_runs([runs[place] for place in chosen], **options)


def test_queries_and_conventions_have_to_be_the_same(runs) -> None:
    with pytest.raises(PlanError, match=naming("2 RankRLS 1")):
        compare_runs([runs[0], ran("rankrls", folds=2)])
    other = replace(runs[0], plan=runs[0].plan.changed(convention="letor3"))
    with pytest.raises(PlanError, match=naming("1 LETOR 3.0 Standard")):
        compare_runs([runs[0], other])


def test_runs_are_ranked_and_tested_within_their_groups_only() -> None:
    """A run on fold 5 only has the greatest mean, and is no reference of the runs on all folds."""
    chosen_on = result(
        [without_test(replace(fold(1, A), per_query={})), without_test(fold(2, A))]
    )
    runs = {
        1: result([fold(1, A), fold(2, B)]),
        2: result([fold(1, B), fold(2, A)]),
        3: result([fold(2, [0.9, 0.9, 0.9, 0.9, 0.9])], folds=(2,)),
        4: chosen_on,
        5: result([fold(1, A), fold(2, C)]),
    }
    whole, part, best_of_many = compare_groups(runs, "MAP")
    assert (whole.numbers, whole.against) == ((1, 2, 5), 5)
    expected = compare_paired(runs[1].per_query("MAP"), runs[5].per_query("MAP"))
    assert whole.tests[0] is not None and whole.tests[0].test == expected
    assert (
        whole.tests[0].p_holm
        == holm([test.test.p_randomisation for test in whole.tests if test])[0]
    )
    assert (part.numbers, part.reference, part.tests) == ((3,), None, (None,))
    assert part.group.why_separate and not part.group.unranked
    assert (best_of_many.numbers, best_of_many.reference) == ((4,), None)
    assert best_of_many.group.unranked
    assert compare_groups(runs, "MAP", against=2)[0].against == 2
    assert compare_groups(runs, "MAP", against=3)[0].against == 5
    assert best_run(list(runs.values()), "MAP") is None


def test_pins_are_held_against_the_run_without_them(runs) -> None:
    free, pinned = ran(), ran(parameters={"pinned": (2,)})
    banned, elsewhere = (
        ran(parameters={"banned": (3,)}),
        ran(parameters={"banned": (3,)}, seed=1),
    )
    alone = [pinned, runs[0], banned, free, elsewhere, free]
    effects = pin_effects(alone, "MAP", seed=1)
    assert [(e.run, e.other) for e in effects] == [(0, 3), (2, 3)]
    expected = compare_paired(banned.per_query("MAP"), free.per_query("MAP"), seed=1)
    assert effects[1].tested.test == expected
    assert effects[1].tested.p_holm >= expected.p_randomisation
    assert [(e.run, e.other) for e in pin_effects([pinned, banned, pinned], "MAP")] == [
        (1, 0),
        (2, 1),
    ]
    assert pin_effects(runs, "MAP") == ()


def test_stability_is_that_of_the_folds_selections(runs) -> None:
    found = stability_of(runs[1])
    assert found is not None
    expected = stability([[i - 1 for i in fold.selected] for fold in runs[1].folds], 6)
    assert (found.nogueira, found.jaccard) == (expected.nogueira, expected.jaccard)
    assert stability_of(runs[0]) is None
    assert stability_of(ran(folds=1)) is None


def test_a_table_that_grows_ends_with_the_numbers_of_one_made_at_once() -> None:
    runs = [ran_on(A), ran_on(B), ran_on(C, method="gas"), ran_on(A), ran_on(B)]
    by_number = dict(enumerate(runs, start=1))
    made = compare_runs(runs, "MAP", seed=0)
    reference = made.reference + 1
    found = {}
    for number in by_number.keys() - {reference}:
        rows = compared_runs(by_number, reference, "MAP", found)
        assert [row.role for row in rows].count("waiting") == 4 - len(found)
        assert {(row.p_holm, row.p_t_holm, row.p_wilcoxon_holm) for row in rows} == {
            (None,) * 3
        }, "no family is whole yet"
        found[number] = compare_with(by_number[number], by_number[reference], "MAP")
    first, *others = compared_runs(by_number, reference, "MAP", found)
    assert (first.key, first.role, first.paired_test, first.mean) == (
        reference,
        "reference",
        None,
        runs[made.reference].average["MAP"],
    )
    for row in others:
        tested = made.tests[row.key - 1]
        assert tested is not None
        assert (row.paired_test, row.p_holm, row.p_t_holm) == (
            tested.test,
            tested.p_holm,
            tested.p_t_holm,
        )
    assert {row.key: row.differs for row in others}[4] == "another method"


def test_a_run_that_cannot_be_paired_is_in_no_family(runs) -> None:
    by_number = {1: runs[0], 2: ran("rankrls", folds=2), 3: runs[1]}
    test = compare_with(runs[1], runs[0], "MAP")
    rows = compared_runs(by_number, 1, "MAP", {3: test})
    assert [(row.key, row.role) for row in rows] == [
        (1, "reference"),
        (3, "compared"),
        (2, "left out"),
    ]
    assert (rows[1].p_holm, rows[1].p_t_holm) == (test.p_randomisation, test.p_t)
    assert rows[2].differs == "left out: on folds 1, 2 only, not on all 3 folds"


FIRST, SECOND = [0.2, 0.9, 0.4], [0.6, 0.1, 0.7, 0.5]


def two_folds(**changes: object) -> RunResult:
    return result([fold(1, FIRST), fold(2, SECOND)], **changes)


def test_runs_on_the_same_queries_are_paired_whatever_was_run() -> None:
    reference = two_folds()
    for other in (
        two_folds(method="gas", ranker="ranksvm"),
        two_folds(normalize="query_minmax", seed=3),
    ):
        assert why_unpaired(other, reference, "MAP") == ""


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (two_folds(data="Large"), "on Large, not on Small"),
        (
            two_folds(convention="letor3"),
            "measured by the convention LETOR 3.0, not Standard",
        ),
        (
            two_folds(protocol="2-fold", seed=1),
            "different folds: 2-fold, seed 1, not as in the files",
        ),
        (result([fold(1, FIRST)]), "on fold 1 only, not on all 2 folds"),
        (result([fold(1, FIRST), fold(2, FIRST)]), "fold 2 has 3 queries, not 4"),
    ],
)
def test_runs_that_cannot_be_paired_are_refused_with_the_reason(
    other: RunResult, why: str
) -> None:
    assert why_unpaired(other, two_folds(), "MAP") == why


def test_folds_of_single_queries_are_the_same_whatever_the_seed_and_are_counted() -> (
    None
):
    queries = [fold(i, [0.1 * i]) for i in range(1, 12)]
    left_out = result(queries, protocol="leave-query-out")
    again = result(queries, protocol="leave-query-out", seed=5)
    assert why_unpaired(again, left_out, "MAP") == ""
    fewer = result(queries[1:], protocol="leave-query-out")
    assert why_unpaired(fewer, left_out, "MAP") == (
        "on folds 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 only, not on all 11 folds"
    )
    assert why_unpaired(left_out, two_folds(), "MAP").startswith(
        "different folds: leave-query-out, not"
    )


def test_a_run_that_was_not_measured_so_cannot_be_paired() -> None:
    assert why_unpaired(two_folds(), two_folds(), "NDCG@3") == "NDCG@3 was not measured"


def test_the_best_run_has_the_best_average_and_of_an_error_less_is_better() -> None:
    assert best_run([], "MAP") is None
    good, poor = two_folds(), result([fold(1, [0.1] * 3), fold(2, [0.1] * 4)])
    assert best_run([poor, good, two_folds()], "MAP") is good
    for run_, errors in ((good, 0.3), (poor, 0.2)):
        for one in run_.folds:
            one.test["Disagreement"] = errors  # type: ignore[index]
    assert best_run([good, poor], "Disagreement") is poor


def test_real_runs_are_compared_by_the_queries_they_were_tested_on() -> None:
    data = dataset()
    plans = [
        Plan("small", parameters={"regularization": 1.0, "n_features_to_select": k})
        for k in (1, 4)
    ]
    runs = [ended(run(plan, data)) for plan in plans]
    assert why_unpaired(runs[1], runs[0], "MAP") == ""
    found = compare_with(runs[1], runs[0], "MAP")
    by_hand = [
        sum(runs[i].folds[f].per_query["MAP"].sum() for f in range(2)) / found.n
        for i in range(2)
    ]
    assert found.n == sum(f.test.n_queries for f in data.folds if f.test)
    assert found.mean_difference == pytest.approx(by_hand[1] - by_hand[0])


def test_folds_of_one_ranking_are_not_called_queries() -> None:
    plan = Plan("small")
    one = plan.changed(columns={"no_queries": True})
    assert (one.one_ranking, plan.one_ranking) == (True, False)
    assert "queries" in paired_over(plan, 784) and "queries" not in paired_over(one, 5)
