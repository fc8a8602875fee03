"""Runs that are one and the same are found, and count once in a family of tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from experiment.runs import fold, result

from rankstudio.engine.analysis.repeated_runs import first_equals
from rankstudio.engine.analysis.significance import compare_runs, compare_with, compared_runs
from rankstudio.engine.statistics.paired import holm

A, B, C = [0.1, 0.5, 0.9, 0.4, 0.2], [0.2, 0.6, 0.7, 0.8, 0.3], [0.5, 0.6, 0.8, 0.7, 0.9]


def ran(values: list[float], **plan):
    return result([fold(1, values)], **plan)


def test_a_run_repeats_another_of_the_same_plan_and_bits_wherever_its_data_lie() -> None:
    first = ran(A)
    runs = [
        first,
        ran(B),
        replace(first, plan=first.plan.changed(data="elsewhere", measures=("MAP", "P@1"))),
        ran(A, seed=1),
        ran([*A[:-1], float(np.nextafter(A[-1], 1.0))]),
        replace(first, data_name="Other"),
        ran(B),
        result([fold(1, A), fold(2, A)]),
        result([fold(1, A, (2,))]),
    ]
    assert first_equals(runs) == [0, 1, 0, 3, 4, 5, 1, 7, 8]
    assert first_equals([]) == []


def test_runs_that_differ_only_in_what_does_not_count_are_the_same() -> None:
    """The λ of a selector's own model where a ranker follows, and RankSVM's C where RankRLS gives weights."""
    ranked = {"ranker": "ranksvm", "method": "gas"}
    runs = [
        ran(A, **ranked),
        ran(A, **ranked, parameters={"regularization": 3.0}),
        ran(A, **ranked, parameters={"c": 0.5}),
        ran(A, method="gas", parameters={"regularization": 3.0}),
        ran(A, method="gas"),
    ]
    assert first_equals(runs) == [0, 0, 2, 3, 4]
    ties = [ran(A, parameters={"cost": "unit", "ties": given}) for given in (True, False)]
    counting = [ran(A, parameters={"ties": given}) for given in (True, False)]
    assert first_equals([*ties, *counting]) == [0, 0, 2, 3]


def test_a_run_that_was_repeated_counts_once_in_holms_family() -> None:
    runs = [ran(A), ran(B), ran(C), ran(B), ran(A)]
    compared = compare_runs(runs, "MAP", 1)
    p = holm([compare_with(run, runs[0], "MAP").p_randomisation for run in runs[1:3]])
    corrected = [test.p_holm for test in compared.tests if test]
    assert corrected == [p[0], p[1], p[0], 1.0]
    without = compare_runs(runs[:3], "MAP", 1)
    assert [test.p_t_holm for test in compared.tests[1:3] if test] == [
        test.p_t_holm for test in without.tests[1:] if test
    ]


def test_the_window_counts_as_the_terminal_does() -> None:
    runs = dict(enumerate([ran(A), ran(B), ran(C), ran(B), ran(A)], start=1))
    found = {key: compare_with(run, runs[2], "MAP") for key, run in runs.items() if key != 2}
    rows = compared_runs(runs, 2, "MAP", found)
    compared = compare_runs(list(runs.values()), "MAP", 2)
    expected = {number: test.p_holm for number, test in enumerate(compared.tests, start=1) if test}
    assert {row.key: row.p_holm for row in rows if row.role == "compared"} == expected
    assert expected[1] == expected[5]
    assert expected[4] == pytest.approx(1.0)
