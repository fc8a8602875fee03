"""Which runs can be compared query by query, and who is better."""

from __future__ import annotations

from itertools import product

import pytest
from experiment.runs import fold, result
from experiment.small import dataset

from rankstudio.engine.analysis.pairing import best_run, compare_with, why_unpaired
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run

FIRST, SECOND = [0.2, 0.9, 0.4], [0.6, 0.1, 0.7, 0.5]


def two_folds(**changes: object) -> RunResult:
    return result([fold(1, FIRST), fold(2, SECOND)], **changes)


def test_runs_on_the_same_queries_are_paired_whatever_was_run() -> None:
    reference = two_folds()
    for other in (two_folds(method="gas", ranker="ranksvm"), two_folds(normalize="query_minmax", seed=3)):
        assert why_unpaired(other, reference, "MAP") == ""


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (two_folds(data="Large"), "on Large, not on Small"),
        (two_folds(convention="letor3"), "measured by LETOR 3.0, not by LETOR 4.0"),
        (
            two_folds(protocol="2-fold", seed=1),
            "folds made otherwise: 2-fold, seed 1, not those of the files",
        ),
        (result([fold(1, FIRST)]), "on fold 1, not on folds 1, 2"),
        (result([fold(1, FIRST), fold(2, FIRST)]), "fold 2 has 3 queries, not 4"),
    ],
)
def test_runs_that_cannot_be_paired_are_refused_with_the_reason(other: RunResult, why: str) -> None:
    assert why_unpaired(other, two_folds(), "MAP") == why


def test_folds_of_single_queries_are_the_same_whatever_the_seed_and_are_counted() -> None:
    queries = [fold(i, [0.1 * i]) for i in range(1, 12)]
    left_out = result(queries, protocol="leave-query-out")
    again = result(queries, protocol="leave-query-out", seed=5)
    assert why_unpaired(again, left_out, "MAP") == ""
    fewer = result(queries[1:], protocol="leave-query-out")
    assert why_unpaired(fewer, left_out, "MAP") == (
        "on folds 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, not on 11 folds"
    )
    assert why_unpaired(left_out, two_folds(), "MAP").startswith("folds made otherwise: leave-query-out, not")


def test_a_run_that_was_not_measured_so_cannot_be_paired() -> None:
    assert why_unpaired(two_folds(), two_folds(), "NDCG@3") == "not measured by NDCG@3"


def test_the_difference_is_over_all_queries_and_its_p_counts_every_assignment_of_signs() -> None:
    ours, theirs = two_folds(), result([fold(1, [0.1, 0.8, 0.4]), fold(2, [0.7, 0.1, 0.2, 0.1])])
    differences = [a - b for a, b in zip(FIRST + SECOND, [0.1, 0.8, 0.4, 0.7, 0.1, 0.2, 0.1], strict=True)]
    found = compare_with(ours, theirs, "MAP")
    assert found.mean_difference == pytest.approx(sum(differences) / 7)
    assert (found.wins, found.ties, found.losses, found.n) == (4, 2, 1, 7)
    moved = [d for d in differences if abs(d) > 1e-12]
    as_far = [
        abs(sum(s * d for s, d in zip(signs, moved, strict=True))) >= abs(sum(moved)) - 1e-12
        for signs in product((1, -1), repeat=len(moved))
    ]
    assert found.p_randomisation == pytest.approx(sum(as_far) / len(as_far))
    assert found.low <= found.mean_difference <= found.high


def test_the_best_run_has_the_best_average_and_of_an_error_less_is_better() -> None:
    assert best_run([], "MAP") is None
    good, poor = two_folds(), result([fold(1, [0.1]), fold(2, [0.1])])
    assert best_run([poor, good, two_folds()], "MAP") is good
    for run_, errors in ((good, 0.3), (poor, 0.2)):
        for one in run_.folds:
            one.test["Disagreement"] = errors  # type: ignore[index]
    assert best_run([good, poor], "Disagreement") is poor


def test_real_runs_are_compared_by_the_queries_they_were_tested_on() -> None:
    data = dataset()
    plans = [Plan("small", parameters={"regularization": 1.0, "n_features_to_select": k}) for k in (1, 4)]
    runs = [e.result for plan in plans for e in run(plan, data) if isinstance(e, RunFinished)]
    assert why_unpaired(runs[1], runs[0], "MAP") == ""
    found = compare_with(runs[1], runs[0], "MAP")
    by_hand = [sum(runs[i].folds[f].per_query["MAP"].sum() for f in range(2)) / found.n for i in range(2)]
    assert found.n == sum(f.test.n_queries for f in data.folds if f.test)
    assert found.mean_difference == pytest.approx(by_hand[1] - by_hand[0])
