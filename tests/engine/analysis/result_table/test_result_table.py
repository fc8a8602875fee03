"""The table of a paper says what the runs measured, and what the tests of its columns are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
from experiment.runs import fold, result
from experiment.small import dataset, ended
from wording import naming

from rankstudio.engine import evaluate
from rankstudio.engine.analysis.comparisons.significance import compare_runs
from rankstudio.engine.analysis.measurements.measurement import without_test
from rankstudio.engine.analysis.result_table.builder import TableRun, result_table
from rankstudio.engine.analysis.result_table.query import TableQuery
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.export.result_table.formats import FORMATS, latex_table
from rankstudio.engine.export.result_table.table import (
    NO_ESTIMATE,
    ResultTable,
    TableStyle,
)
from rankstudio.engine.statistics.paired import holm, paired_t, signed_ranks


def ran(method: str = "greedy-rankrls", **plan: Any) -> RunResult:
    parameters = {"regularization": 1.0, **plan.pop("parameters", {})}
    made = Plan(
        "nowhere",
        method,
        parameters=parameters,
        measures=("MAP", "Disagreement"),
        **plan,
    )
    return ended(run(made, dataset(3)))


@pytest.fixture(scope="module")
def runs() -> list[RunResult]:
    return [ran("rankrls"), ran(parameters={"n_features_to_select": 1}), ran("gas")]


def table(runs: Sequence[RunResult], *names: str, **query: Any) -> ResultTable:
    return result_table(
        [TableRun(one, documents=lambda: dataset(3)) for one in runs],
        TableQuery(names, **query),
    )


def titles(found: ResultTable) -> list[str]:
    return [row.title for row in found.rows]


def test_cells_are_means_and_deviations_over_the_folds(runs) -> None:
    found = table(runs, tested=False)
    assert [column.name for column in found.columns] == ["MAP", "Disagreement"]
    assert [column.higher_is_better for column in found.columns] == [True, False]
    for row, one in zip(found.rows, runs, strict=True):
        for cell, name in zip(row.cells, ("MAP", "Disagreement"), strict=True):
            values = [f.test[name] for f in one.folds]
            assert (cell.mean, cell.n) == (one.average[name], 3)
            assert cell.mean == pytest.approx(mean(values))
            assert cell.sd == pytest.approx(stdev(values))
            assert isnan(cell.p)
    assert found.mark_note == ""


@pytest.mark.parametrize("against", [2, "greedy-rankrls", "Greedy RankRLS"])
def test_every_column_is_a_family_of_the_tests_of_the_terminal(runs, against) -> None:
    found = table(runs, against=against, seed=3)
    assert isnan(found.rows[1].cells[0].p)
    for at, name in enumerate(("MAP", "Disagreement")):
        compared = compare_runs(runs, name, 2, seed=3)
        expected = [test.p_holm for test in compared.tests if test]
        assert [
            row.cells[at].p for row in found.rows if not isnan(row.cells[at].p)
        ] == expected
    assert naming("Greedy RankRLS Fisher").search(found.mark_note)
    assert naming("36 Holm 2").search(found.mark_note)


def test_the_reference_is_the_best_of_the_first_column(runs) -> None:
    for names in (("MAP",), ("Disagreement",)):
        found = table(runs, *names)
        best = [
            row.title
            for row, ranks in zip(found.rows, found.ranks(15), strict=True)
            if ranks[0] == "best"
        ]
        assert best == [row.title for row in found.rows if isnan(row.cells[0].p)]


def test_a_measure_that_was_not_stored_is_computed_from_the_scores_of_the_models(
    runs,
) -> None:
    found = table(runs, "NDCG@3", "MAP", "ERR")
    data = dataset(3)
    for row, one in zip(found.rows, runs, strict=True):
        for at, name in ((0, "NDCG@3"), (2, "ERR")):
            values = []
            for fold_result, part in zip(one.folds, data.folds, strict=True):
                test = part.test
                assert test is not None
                scores = fold_result.chosen.step.scores(np.ascontiguousarray(test.X.T))
                values.append(evaluate(test.y, scores, test.qid, measures=[name])[name])
            assert row.cells[at].mean == pytest.approx(mean(values))
        assert row.cells[1].mean == one.average["MAP"]
    with pytest.raises(PlanError, match=naming("RankRLS Small ERR")):
        result_table([TableRun(one) for one in runs], TableQuery(("ERR",)))


def test_columns_can_be_folds_with_their_mean(runs) -> None:
    found = table(runs, by="folds")
    assert [c.title for c in found.columns] == ["Fold 1", "Fold 2", "Fold 3", "Mean"]
    for row, one in zip(found.rows, runs, strict=True):
        assert [cell.mean for cell in row.cells[:3]] == [
            f.test["MAP"] for f in one.folds
        ]
        assert row.cells[3].mean == one.average["MAP"]
        assert all(isnan(cell.sd) and isnan(cell.p) for cell in row.cells[:3])
    assert naming("MAP Small test fold").search(found.caption)


def test_a_method_on_several_datasets_stands_in_one_row(runs) -> None:
    others = [replace(one, data_name="Other") for one in runs[1:]]
    found = table([*runs, *others], "MAP", "Disagreement")
    assert titles(found) == ["RankRLS", "Greedy RankRLS", "GAS"]
    assert found.groups() == [("Small", 2), ("Other", 2)]
    assert [c.name for c in found.columns][1:3] == ["Small Disagreement", "Other MAP"]
    assert isnan(found.rows[0].cells[2].mean)
    assert found.rows[0].cells[2].n == 0
    by_data = table([*runs, *others], "MAP", "Disagreement", by="datasets")
    assert by_data.groups() == [("MAP", 2), ("Disagreement", 2)]
    assert [c.title for c in by_data.columns] == ["Small", "Other", "Small", "Other"]
    assert {c.higher_is_better for c in by_data.columns[2:]} == {False}
    assert naming("1 2 hypotheses").search(by_data.mark_note)


def test_runs_of_a_method_are_told_apart_and_those_that_are_the_same_stand_once(
    runs,
) -> None:
    two = ran(parameters={"n_features_to_select": 2})
    again = replace(runs[1], plan=runs[1].plan.changed(data="elsewhere"))
    found = table([runs[1], two, again, runs[2]], "MAP")
    assert len(found.rows) == 3
    assert titles(found)[0].startswith("Greedy RankRLS (")
    assert titles(found)[0] != titles(found)[1]
    assert "for the 2 hypotheses" in found.mark_note
    other = [replace(one, data_name="Other") for one in (two, runs[1])]
    both = table([runs[1], two, *other], "MAP")
    assert [[cell.mean for cell in row.cells] for row in both.rows] == [
        [one.average["MAP"]] * 2 for one in (runs[1], two)
    ]


def test_what_a_person_calls_a_run_is_its_title(runs) -> None:
    named = [TableRun(runs[0], "Ours"), TableRun(runs[1]), TableRun(runs[2], "Ours")]
    assert titles(result_table(named, TableQuery(("MAP",), tested=False))) == [
        "Ours (1)",
        "Greedy RankRLS",
        "Ours (2)",
    ]


def covered(run: RunResult) -> RunResult:
    return replace(run, folds=tuple(map(without_test, run.folds)))


def test_nothing_of_a_sealed_test_part_is_in_a_table(runs) -> None:
    sealed = [
        TableRun(covered(one), documents=lambda: dataset(3), sealed=True)
        for one in runs
    ]
    found = result_table(sealed, TableQuery(("MAP",)))
    for row, one in zip(found.rows, runs, strict=True):
        values = [
            float(np.mean(fold_result.cross_fitted["MAP"])) for fold_result in one.folds
        ]
        assert row.cells[0].mean == pytest.approx(mean(values))
        assert row.cells[0].is_estimate
    assert naming("MAP Small validation cross-fitted 3").search(found.caption)
    assert naming("test left out Small validation").search(found.notes[1])
    assert found.mark_note


def test_runs_that_are_not_comparable_stand_in_blocks_and_the_best_is_of_a_block() -> (
    None
):
    """A set on fold 5 only was bold above runs on all five folds."""
    whole = [
        result(
            [fold(f, [0.1 * k, 0.5, 0.4]) for f in range(1, 6)], method="gas", seed=k
        )
        for k in (1, 2)
    ]
    part = result([fold(5, [0.9, 0.9, 0.9])], method="rankrls", folds=(5,))
    found = result_table(
        [TableRun(one) for one in (part, *whole)], TableQuery(("MAP",))
    )
    assert [row.block for row in found.rows] == [0, 0, 1]
    assert titles(found)[2] == "RankRLS"
    assert [ranks[0] for ranks in found.ranks(4)] == ["second", "best", ""]
    assert [isnan(row.cells[0].p) for row in found.rows] == [False, True, True]
    assert naming("5 only 3").search(found.block_captions[1])
    text = latex_table(found, TableStyle(bold=True, marks=True))
    assert text.count(r"\textbf") == 1 and r"\textbf{0.9000}" not in text
    for form in FORMATS:
        assert form.content(found, TableStyle(bold=True, marks=True, sd=True))
    assert [name for name, *_ in found.numbers(TableStyle())[1]] == titles(found)
    assert found.numbers(TableStyle())[0][:2] == ["Method", "Contents"]


def cross_fitted(run: RunResult, queries: list[float]) -> RunResult:
    folds = [replace(f, cross_fitted={"MAP": np.array(queries)}) for f in run.folds]
    return replace(run, folds=tuple(folds))


def test_what_was_chosen_on_its_own_part_is_never_bold_and_cross_fitted_values_are_ranked() -> (
    None
):
    """The method with the greatest mean on the part that chose it is the worst by cross-fitted values."""
    flattered, honest = (
        covered(
            replace(
                run,
                folds=tuple(replace(f, validation={"MAP": mean}) for f in run.folds),
            )
        )
        for run, mean in (
            (result([fold(1, [0.2, 0.4]), fold(2, [0.3, 0.1])], method="gas"), 0.4902),
            (
                result([fold(1, [0.5, 0.4]), fold(2, [0.6, 0.1])], method="rankrls"),
                0.4864,
            ),
        )
    )
    chosen_on = [TableRun(run, sealed=True) for run in (flattered, honest)]
    found = result_table(chosen_on, TableQuery(("MAP",)))
    assert all(cell.is_muted for row in found.rows for cell in row.cells)
    assert [ranks[0] for ranks in found.ranks(4)] == ["", ""]
    assert found.mark_note == ""
    text = latex_table(found, TableStyle(bold=True, marks=True))
    assert r"\textbf" not in text and r"\textit{0.4902}" in text
    assert found.notes_of(TableStyle(bold=True))[-1] == NO_ESTIMATE
    fitted = [cross_fitted(flattered, [0.2, 0.3]), cross_fitted(honest, [0.4, 0.3])]
    ranked = result_table(
        [TableRun(run, sealed=True) for run in fitted], TableQuery(("MAP",))
    )
    assert [ranks[0] for ranks in ranked.ranks(4)] == ["second", "best"]
    assert [row.cells[0].mean for row in ranked.rows] == pytest.approx([0.25, 0.35])
    assert naming("cross-fitted 2 4").search(ranked.caption)
    mixed = result_table(
        [TableRun(run, sealed=True) for run in (flattered, fitted[1])],
        TableQuery(("MAP",)),
    )
    assert [ranks[0] for ranks in mixed.ranks(4)] == ["", ""]
    assert [row.cells[0].is_muted for row in mixed.rows] == [False, True]


def test_notes_say_what_has_to_be_known() -> None:
    runs = [
        TableRun(result([fold(1, [0.1, 0.2, 0.5]), fold(2, [0.3])], method=name))
        for name in ("gas", "listnet")
    ]
    found = result_table(runs, TableQuery(("MAP",)))
    assert found.notes == ("Measures follow the Standard convention.",)
    assert found.notes_of(TableStyle()) == found.notes
    assert found.notes_of(TableStyle(sd=True))[1:] == (
        "± is the standard deviation over the folds.",
    )
    better = result_table(
        [runs[0], TableRun(result([fold(1, [0.9, 0.9, 0.9]), fold(2, [0.9])]))],
        TableQuery(),
    )
    noted = better.notes_of(TableStyle(bold=True, marks=True))
    assert naming("bold underlined").search(noted[1])
    assert noted[2].startswith(
        "† p < 0.05, ‡ p < 0.01 for the difference from Greedy RankRLS: "
    )


@pytest.mark.parametrize(
    ("test", "by_hand", "called"),
    [
        (
            "wilcoxon",
            lambda a, b: signed_ranks(a, b).p,
            "Wilcoxon's signed-rank test, two-sided, over",
        ),
        (
            "t",
            lambda a, b: paired_t(a, b).p,
            "Student's paired t-test, two-sided, over",
        ),
    ],
)
def test_marks_are_of_the_test_that_is_chosen(runs, test, by_hand, called) -> None:
    found = table(runs, "MAP", against=1, test=test)
    values = [run.per_query("MAP") for run in runs]
    p = holm([by_hand(values[at], values[0]) for at in (1, 2)]).tolist()
    assert [row.cells[0].p for row in found.rows[1:]] == p
    assert naming(f"{found.rows[0].title} {called}").search(found.mark_note)
    assert "assignments" not in found.mark_note
    with pytest.raises(PlanError, match=naming("test")):
        table(runs, "MAP", test="sign")


def test_what_makes_no_table_is_told(runs) -> None:
    with pytest.raises(PlanError, match=naming("completed run")):
        table([])
    with pytest.raises(ParameterError, match="measure"):
        table(runs, "MOP")
    with pytest.raises(PlanError, match=naming("against 1 3 4")):
        table(runs, against=4)
    with pytest.raises(
        PlanError, match=naming("against rankrls greedy-rankrls gas svm")
    ):
        table(runs, against="svm")
    with pytest.raises(PlanError, match=naming("by measures folds")):
        table(runs, by="queries")


def test_no_test_is_made_for_somebody_who_has_gone(runs) -> None:
    found = result_table(
        [TableRun(one) for one in runs], TableQuery(("MAP",)), lambda: True
    )
    assert all(isnan(cell.p) for row in found.rows for cell in row.cells)
