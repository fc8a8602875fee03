"""The risk of runs: only of comparable ones, against the right baseline, and what is said of the others."""

from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from experiment.runs import fold, result

from rankstudio.engine import run_risks
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.statistics.risk import baseline_risk, geo_risks
from rankstudio.plugins.risk.risk_tables import risk_csv, risk_table

GAS = (0.2, 0.4, 0.6)
RANKRLS = (0.5, 0.3, 0.7)
GREEDY = (0.1, 0.9, 0.0)


def run(method, scores, data="A", digest="digest", **changes):
    """Return a run with a fold per score."""
    folds = [
        replace(fold(number, [score]), data_digest=digest)
        for number, score in enumerate(scores, start=1)
    ]
    return result(folds, data, method=method, **changes)


def three():
    return [
        run("gas", GAS),
        run("rankrls", RANKRLS),
        run("greedy-rankrls", GREEDY),
    ]


def renamed(finished, measure):
    """Return a run whose values are those of another measure."""
    folds = [
        replace(f, per_query={measure: f.per_query["MAP"]}, test={measure: 0.5})
        for f in finished.folds
    ]
    return replace(finished, folds=tuple(folds))


def test_each_run_has_the_risk_against_the_baseline():
    (group,) = run_risks(three(), "MAP", baseline=1, alpha=2)
    assert group.baseline == 1
    assert group.baseline_name == "run 1, GAS"
    assert [row.number for row in group.runs] == [1, 2, 3]
    assert group.runs[0].risk is None
    assert group.runs[1].risk == baseline_risk(RANKRLS, GAS, 2)
    assert group.runs[2].risk == baseline_risk(GREEDY, GAS, 2)
    table = np.column_stack([GAS, RANKRLS, GREEDY])
    assert [row.georisk for row in group.runs] == geo_risks(table, 2).tolist()
    assert [row.mean for row in group.runs] == pytest.approx([0.4, 0.5, 1 / 3])
    assert group.n_queries == 3


def test_the_best_run_is_the_baseline_unless_one_is_named():
    (group,) = run_risks(three())
    assert [row.number for row in group.runs] == [2, 1, 3]
    (group,) = run_risks(three(), baseline="greedy-rankrls")
    assert group.baseline == 3
    with pytest.raises(PlanError, match="against"):
        run_risks(three(), baseline=4)
    with pytest.raises(PlanError, match="against"):
        run_risks(three(), baseline="nothing")


def test_runs_of_other_queries_are_never_compared():
    other_runs = [run("gas", GAS, digest="other"), run("rankrls", GAS, "B")]
    groups = run_risks([*three(), *other_runs, run("gas", GAS[:2])], baseline=1)
    assert [sorted(group.group.runs) for group in groups] == [[1, 2, 3], [4], [6], [5]]
    assert [group.baseline for group in groups] == [1, None, None, None]
    for group in groups[1:]:
        assert group.runs == ()
        assert "no two comparable runs" in group.notes[0]


def test_what_is_no_estimate_is_not_compared():
    sealed = [
        replace(
            finished,
            folds=tuple(replace(f, test={}, per_query={}) for f in finished.folds),
        )
        for finished in three()
    ]
    (group,) = run_risks(sealed)
    assert group.baseline is None
    assert "validation part that chose the model" in group.notes[0]


def test_a_run_without_the_measure_is_left_out_and_named():
    runs = [*three(), renamed(run("chi-squared", GAS), "P@10")]
    (group,) = run_risks(runs, "MAP")
    assert [row.number for row in group.runs] == [2, 1, 3]
    assert "run 4" in group.notes[-1]
    assert "MAP was not measured" in group.notes[-1]


def test_queries_in_which_a_run_has_no_value_do_not_count():
    nan = float("nan")
    folds = {
        "gas": fold(1, [0.2, nan, 0.4]),
        "rankrls": fold(1, [0.5, nan, 0.3]),
    }
    runs = [result([f], "A", method=method) for method, f in folds.items()]
    (group,) = run_risks(runs, baseline="gas")
    assert group.n_queries == 2
    assert group.runs[1].risk == baseline_risk([0.5, 0.3], [0.2, 0.4])


def test_of_an_error_less_is_better_and_there_is_no_georisk():
    runs = [renamed(finished, "Disagreement") for finished in three()]
    (group,) = run_risks(runs, "Disagreement", baseline=1)
    assert group.runs[1].risk == baseline_risk(GAS, RANKRLS)
    assert all(isnan(row.georisk) for row in group.runs)
    assert "for Disagreement, smaller values are better" in group.notes[0]


def test_negative_values_have_no_georisk():
    runs = [
        renamed(run(method, scores), "Tau")
        for method, scores in (("gas", (-0.5, 0.1)), ("rankrls", (0.2, 0.3)))
    ]
    (group,) = run_risks(runs, "Tau", baseline="gas")
    assert all(isnan(row.georisk) for row in group.runs)
    assert "negative values" in group.notes[0]
    assert group.runs[1].risk == baseline_risk((0.2, 0.3), (-0.5, 0.1))


def test_an_aversion_and_a_measure_must_be_possible():
    with pytest.raises(ParameterError, match="alpha"):
        run_risks(three(), alpha=-1)
    with pytest.raises(ParameterError):
        run_risks(three(), "nothing")
    with pytest.raises(PlanError, match="No runs"):
        run_risks([])


def test_the_table_names_the_baseline_and_the_weight_of_losses():
    (group,) = run_risks(three(), alpha=4)
    table = risk_table(group)
    assert "risk by MAP" in table.title
    assert "3 folds" in table.title
    assert table.rows[0][1] == "RankRLS"
    assert table.rows[0][3:8] == ("–",) * 5
    assert "Baseline: run 2, RankRLS" in table.note
    assert "counts 5 times" in table.note


def test_the_file_has_a_row_per_run_with_all_digits():
    groups = run_risks(three(), baseline=1)
    header, baseline, first, _ = risk_csv(groups).splitlines()
    assert header.split(",")[:5] == ["data", "scope", "measure", "alpha", "baseline"]
    names = header.split(",")
    risk = groups[0].runs[1].risk
    # the scope has commas of its own, and quotes
    values = dict(zip(reversed(names), reversed(first.split(",")), strict=False))
    assert float(values["urisk"]) == risk.urisk
    assert float(values["georisk"]) == groups[0].runs[1].georisk
    assert baseline.split(",")[-8:-3] == ["", "", "", "", ""]
