"""What was printed of a method, beside what a run of it gives."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from experiment.runs import fold, result
from experiment.small import dataset, ended
from wording import naming

from rankstudio.engine import evaluate
from rankstudio.engine.analysis.comparisons.published import (
    all_published,
    published,
    published_rows,
)
from rankstudio.engine.analysis.tried_models import run_curves as run_curves_module
from rankstudio.engine.analysis.tried_models.run_curves import RunCurve, run_curves
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run, run_plan
from rankstudio.engine.methods.catalog import method
from rankstudio.plugins.papers.reproduction import (
    Reproduction,
    _best_test_size,
    cells_of,
    load_reproduction,
    reproductions,
)

FIVE = [fold(i, [0.47, 0.48]) for i in range(1, 6)]


def test_printed_averages_stand_beside_ours() -> None:
    run = result(FIVE, "MQ2008", parameters={"pinned": (2,)})
    [row] = published_rows([(3, run)])
    assert (row.key, row.measure, row.printed.value) == (3, "MAP", 0.472)
    assert row.ours == pytest.approx(0.475)
    assert row.difference == pytest.approx(0.003)
    assert row.printed.source == "Pahikkala et al. 2010, Tables 7-10"
    assert row.set == "pinned b", "what is not the method as it was printed is said"


def test_other_data_and_fewer_folds_have_none() -> None:
    assert (
        published_rows([(1, result(FIVE, "Mine")), (2, result(FIVE[:2], "MQ2008"))])
        == []
    )


def test_published_numbers_are_of_known_methods_and_found_by_what_was_run() -> None:
    assert len(all_published()) > 200
    for number in all_published():
        method(number.method)
        assert 0 < number.value < 1
        for condition in filter(None, number.when.split(", ")):
            name, value = re.split("[=>]", condition)
            method(number.method).parameter(name).validate(value)
    hinge = Plan("x", method="ranksvm", parameters={"loss": "hinge"})
    found = {
        p.label: p.value for p in published(hinge, "OHSUMED QueryLevelNorm", "MAP")
    }
    assert found == {"RankSVM": 0.4334, "RankSVM-Struct": 0.4478}
    squared = Plan("x", method="ranksvm")
    assert [p.label for p in published(squared, "MQ2008", "NDCG@10")] == [
        "RankSVM-Primal"
    ]
    gas = Plan("x", method="gas", parameters={}, ranker="ranksvm")
    assert [p.value for p in published(gas, "MQ2008", "MAP")] == [0.4767]
    assert (
        published(gas.changed(ranker="", ranker_parameters={}), "MQ2008", "MAP") == ()
    )


def results(paper: Reproduction) -> dict[str, RunResult]:
    found = {}
    for name, plan in paper.plans("Small", "nowhere", "letor4").items():
        found[name] = ended(run(plan, dataset(5)))
    return found


def paper(tables: list[dict]) -> Reproduction:
    runs = {
        "Greedy": {
            "method": "greedy-rankrls",
            "parameters": {"regularization": (1.0, 4.0)},
        },
        "All": {
            "method": "rankrls",
            "parameters": {"regularization": 1.0},
            "note": "nobody knows how",
        },
    }
    return Reproduction("small", "A small paper", runs, tables)


def test_measured_tables_compare_folds_and_the_average_digit_by_digit() -> None:
    table = {"number": "Table 1", "title": "MAP", "dataset": "Small", "measure": "MAP"}
    blank = paper([{**table, "columns": {"Greedy": [0.0] * 6, "All": [0.0] * 6}}])
    ours = results(blank)
    printed = {
        name: [
            *(round(fold.test["MAP"], 4) for fold in r.folds),
            round(r.average["MAP"], 4),
        ]
        for name, r in ours.items()
    }
    printed["Greedy"][2] += 0.0001
    made = paper([{**table, "columns": printed}]).table(
        {**table, "columns": printed}, ours
    )
    assert made.title == "Table 1: MAP"
    assert [label for label, _ in made.rows] == ["1", "2", "3", "4", "5", "avg"]
    assert made.promised == (True, False)
    cells = list(made.cells())
    assert len(cells) == 6
    assert [cell.agrees for cell in cells] == [True, True, False, True, True, True]
    assert all(cell.agrees for _, row in made.rows for cell in row[1:])


def test_tables_of_selected_features_compare_lambda_size_and_order() -> None:
    table = {
        "number": "Table 2",
        "title": "Selected",
        "dataset": "Small",
        "run": "Greedy",
    }
    ours = results(paper([table]))
    folds = ours["Greedy"].folds
    printed = {
        **table,
        "lambda": [
            "2^0" if fold.chosen.unit.values == (1.0,) else "4" for fold in folds
        ],
        "sizes": [len(fold.selected) for fold in folds],
        "first": [list(fold.selected[:2]) for fold in folds],
    }
    made = paper([printed]).table(printed, ours)
    assert all(cell.agrees for cell in made.cells())
    printed["first"][1] = [5]
    other = paper([printed]).table(printed, ours)
    assert [label for label, row in other.rows for cell in row if not cell.agrees] in (
        ["selected 1"],
        [],
    )
    assert other.rows[2][1][1].printed == "5"


def test_tables_of_averages_have_a_row_for_each_method() -> None:
    table = {
        "number": "I",
        "title": "all",
        "dataset": "Small",
        "measures": ["MAP", "P@5"],
    }
    table["rows"] = {"Greedy": [0.5, 0.5], "All": [0.5, 0.5]}
    ours = results(paper([table]))
    made = paper([table]).table(table, ours)
    assert made.columns == ("MAP", "P@5")
    assert [row[0] for row in made.rows] == ["Greedy", "All"]
    assert made.rows[1][1][1].ours == f"{ours['All'].average['P@5']:.4f}"
    assert not any(made.promised)


def test_tables_of_sizes_have_one_number_for_all_folds() -> None:
    runs = {
        "ED, RLS": {
            "method": "expected-divergence",
            "ranker": "rankrls",
            "ranker_parameters": {"regularization": (1.0, 64.0)},
        },
        "WAF, RLS": {"method": "rankrls", "parameters": {"regularization": 1.0}},
    }
    table = {"number": "1", "title": "sizes", "dataset": "Small", "measure": "MAP"}
    table["used"] = {"ED": {"RLS": 3}, "WAF": {"RLS": 6}}
    made = Reproduction("small", "A small paper", runs, [table], ("a note",))
    ours = results(made)
    values = np.array(
        [
            [path.validation["MAP"] for path in fold.paths]
            for fold in ours["ED, RLS"].folds
        ]
    )  # folds × settings × sizes
    best = int(values.max(axis=1).mean(axis=0).argmax()) + 1
    shown = made.table(table, ours)
    assert shown.columns == ("RLS",)
    assert [(label, cells[0].ours) for label, cells in shown.rows] == [
        ("ED", str(best)),
        ("WAF", "6"),
        ("ED, MAP", f"{ours['ED, RLS'].average['MAP']:.4f}"),
        ("WAF, MAP", f"{ours['WAF, RLS'].average['MAP']:.4f}"),
    ]
    promised, left_open = cells_of([shown])
    assert promised == []
    assert [cell.printed for cell in left_open] == ["3", "6"]


def test_what_is_shipped_can_be_run() -> None:
    assert {"greedy-rankrls", "fsmrank", "fs-ed", "airola-2011"} == set(reproductions())
    for key in reproductions():
        found = load_reproduction(key)
        for data in found.datasets():
            for plan in found.plans(data, "nowhere", "letor4").values():
                method(plan.method)
        for table in found.tables:
            rows = table.get("used", {}).values()
            # every selector with the same rankers
            assert len({tuple(row) for row in rows}) <= 1
            for values in table.get("columns", {}).values():
                assert len(values) == 6
                # What is printed as the average is one of what is printed of the folds.
                assert values[5] == pytest.approx(sum(values[:5]) / 5, abs=1.01e-4)
            for values in filter(None, table.get("rows", {}).values()):
                assert len(values) == len(table["measures"])


def test_all_that_lai_et_al_print_is_stored() -> None:
    tables = load_reproduction("fsmrank").tables
    assert (
        sum(len(cells) for table in tables for cells in table["rows"].values()) == 426
    )
    for table in tables:
        measures = table["measures"]
        for cells in table["rows"].values():
            assert len(cells) == len(measures) and all(
                0.2 < cell < 0.9 for cell in cells
            )
    for key in ("s-ones", "s-pearson"):
        plan = load_reproduction("fsmrank").plans("OHSUMED", "nowhere", "letor3")[key]
        assert plan.parameters["lambda1"] == (0.0,)
        assert (
            plan.parameters["importance"]
            == {"s-ones": "none", "s-pearson": "pearson"}[key]
        )


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(PlanError, match=naming("x airola-2011 fsmrank")):
        load_reproduction("x")
    with pytest.raises(PlanError, match=naming("greedy-rankrls Yahoo MQ2007 MQ2008")):
        load_reproduction("greedy-rankrls").of("Yahoo")


def test_a_run_without_similarity_stands_beside_the_table_that_has_it() -> None:
    sources = {}
    without = [((0.0,), importance) for importance in ("pearson", "none", "map")]
    for lambda1, importance in [((0.1, 0.5), "pearson"), *without]:
        plan = Plan("x", "fsmrank", {"lambda1": lambda1, "importance": importance})
        found = published(plan, "OHSUMED", "NDCG@1")
        sources[lambda1, importance] = [(p.source[-9:].strip(), p.value) for p in found]
    assert sources == {
        ((0.1, 0.5), "pearson"): [(", Table I", 0.5394)],
        ((0.0,), "pearson"): [("Table III", 0.5550)],
        ((0.0,), "none"): [("Table III", 0.5486)],
        ((0.0,), "map"): [],
    }


def test_no_cell_is_stored_twice() -> None:
    cells = [
        (p.dataset, p.method, p.ranker, p.when, p.label, p.measure, p.source)
        for p in all_published()
    ]
    assert len(set(cells)) == len(cells)


def test_the_coarse_reading_takes_the_best_test_result_of_the_listed_sizes() -> None:
    data = dataset(folds=2)
    ran = run_plan(
        Plan("small", "expected-divergence", {"kde": "fast"}, measures=("NDCG@10",)),
        data,
    )
    paper = load_reproduction("fs-ed")
    used = {"FS-ED": {"RankSVM": 3}}
    printed = {"number": "1", "title": "t", "measure": "NDCG@10", "used": used}
    plain = paper.table(printed, {"FS-ED, RankSVM": ran})
    coarse = {**printed, "coarse": ["FS-ED"], "coarse_sizes": [1, 3, 50]}
    table = paper.table(coarse, {"FS-ED, RankSVM": ran}, data)
    assert len(table.rows) == len(plain.rows) + 1
    label, (cell,) = table.rows[1]
    assert "best test result" in label and "1, 3, 50" in label
    means = {}
    for size in (1, 3):
        values = []
        for own, part in zip(ran.folds, data.folds, strict=True):
            assert part.test is not None
            at = max(own.paths, key=lambda path: path.validation["NDCG@10"][size - 1])
            scores = at.steps[size - 1].scores(np.ascontiguousarray(part.test.X.T))
            found = evaluate(part.test.y, scores, part.test.qid, measures=["NDCG@10"])
            values.append(found["NDCG@10"])
        means[size] = np.mean(values)
    assert cell.ours == str(max(means, key=means.__getitem__))
    assert cell.printed == "3"


def test_models_that_a_study_does_not_keep_give_no_best_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The trees of a resumed run are not all there: the first size was printed."""
    data = dataset(folds=2)
    ran = run_plan(Plan("small", "gas", measures=("NDCG@10",)), data)

    def partly_kept(*args: Any, **options: Any) -> list[RunCurve | None]:
        (curve,) = run_curves(*args, **options)
        assert curve is not None
        means = curve.mean.copy()
        means[1] = np.nan
        return [replace(curve, mean=means)]

    assert _best_test_size(ran, "NDCG@10", (1, 3), data) in (1, 3)
    monkeypatch.setattr(run_curves_module, "run_curves", partly_kept)
    assert _best_test_size(ran, "NDCG@10", (1, 3), data) in (1, 3)
    assert _best_test_size(ran, "NDCG@10", (1, 2, 3), data) == ""
    assert _best_test_size(ran, "NDCG@10", (50,), data) == ""
