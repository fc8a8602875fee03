"""The Compare page in the real window: what each view shows after some runs."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest
from compare_page import look, paired, run_with, three_runs, views
from hands import fact_texts
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import turn, wait_until
from windows import Opened, settle
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.analysis.comparisons.significance import compare_runs
from rankstudio.engine.export.tables import p_text
from rankstudio.engine.statistics.paired import compare_paired, holm
from rankstudio.ui.compare import feeders
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.widgets import Heading

prepare = three_runs


@pytest.mark.thorough
def test_the_terminal_gives_the_same_numbers_for_the_same_study(
    opened: Opened, folds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(folds) as window:
        window.session.change("editing", measures=("MAP", "Disagreement"))
        three_runs(window)
        # less is better, and some queries have none
        window.session.show_measure("Disagreement")
        look(window, "tests")
        wait_until(lambda: all(row.role != "waiting" for row in paired(window)))
        settle(window)
        rows = {row.key: row for row in paired(window)}
        study = str(window.models.study_store.path)
    assert main(["compare", study, "--measure", "Disagreement", "--json"]) == 0
    terminal = json.loads(capsys.readouterr().out)
    assert terminal["reference"] == next(
        key for key, row in rows.items() if row.role == "reference"
    )
    for run in terminal["runs"]:
        row = rows[run["run"]]
        assert run["average"] == row.mean
        if row.paired_test is None:
            assert run["comparison"] is None
            continue
        assert run["comparison"] == {
            **asdict(row.paired_test),
            "p_holm": row.p_holm,
            "p_t_holm": row.p_t_holm,
            "p_wilcoxon_holm": row.p_wilcoxon_holm,
        }
    assert len(rows) == len(terminal["runs"]) == 3


def test_runs_that_cannot_be_paired_are_left_out_with_the_reason(
    window: MainWindow,
) -> None:
    run_with(window)
    run_with(window, convention="trec_eval")
    run_with(window, convention="standard", folds=(1,))
    window.sections.compare.panel.selected.emit(1)
    look(window, "tests")
    assert paired(window) == []
    groups = window.sections.compare._scope.groups()
    assert {group.measured: group.why_separate for group in groups} == {
        (1,): "",
        (2,): "measured by the convention trec_eval, not Standard",
        (3,): "on fold 1 only, not on all 2 folds",
    }
    rows = window.sections.compare.panel.table.rows_model.shown_rows()
    headings = [row.text for row in rows if isinstance(row, Heading)]
    assert [
        group.why_separate in text for group, text in zip(groups, headings, strict=True)
    ] == [True] * 3
    assert [curve.key for curve in window.sections.compare.curves.plot.curves] == [1]


def test_the_folds_of_the_chosen_run_stand_under_each_other_with_mean_and_deviation(
    ran: MainWindow,
) -> None:
    window, first = ran, ran.runs.records[0]
    plan = first.plan
    second = run_with(
        window, method=plan.method, parameters=plan.parameters, rule="at most 2"
    )
    look(window, "folds")
    table = views(window).folds.table
    assert [row.label for row in table.rows()] == ["1", "2", "mean", "sd"]
    for record in (second, first):
        window.sections.compare.panel.selected.emit(record.key)
        one, two, average, spread = table.rows()
        folds = [record.folds[1], record.folds[2]]
        for row, fold in zip((one, two), folds, strict=True):
            assert (row.values, row.size) == (
                fold.chosen.unit.values,
                len(fold.selected),
            )
            assert (row.test, row.validation) == (fold.test, fold.validation)
        for name in record.plan.measures:
            values = [fold.test[name] for fold in folds]
            assert average.test[name] == pytest.approx(mean(values))
            assert spread.test[name] == pytest.approx(stdev(values))
            assert average.validation[name] == pytest.approx(
                mean(f.validation[name] for f in folds)
            )
        assert average.size == mean(len(fold.selected) for fold in folds)
    assert (
        views(window).caption().startswith("run 1 · Greedy RankRLS on Small · Standard")
    )
    table.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    assert [row.label for row in table.rows()][2:] == ["mean", "sd"]


def test_a_click_on_a_fold_looks_at_it_and_the_fold_looked_at_is_marked(
    ran: MainWindow,
) -> None:
    look(ran, "folds")
    table = views(ran).folds.table
    assert table.current().fold == ran.session.fold == 2
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Up)
    assert ran.session.fold == 1
    ran.commands["next_fold"].trigger()
    assert table.current().fold == 2
    QTest.keyClick(table, Qt.Key.Key_Down)  # the mean is of all folds
    assert ran.session.fold is None and table.current().label == "mean"
    settle(ran)


def test_all_runs_stand_side_by_side_by_the_measure_that_is_shown(
    ran: MainWindow,
) -> None:
    window, records = ran, ran.runs.records
    run_with(window, folds=(1,))  # on other folds, so it has no column
    window.sections.compare.panel.selected.emit(1)
    look(window, "folds")
    view = views(window).folds
    view.scope._group.buttons()[1].click()
    window.session.show_measure("P@10")
    rows = view.table.rows()
    assert [row.label for row in rows] == ["1", "2", "mean", "sd"]
    for row in rows[:2]:
        values = {record.key: record.folds[row.fold].test["P@10"] for record in records}
        assert row.values == values
        assert row.best in (max(values.values()), None)
    assert rows[2].values == pytest.approx(
        {r.key: r.result.average["P@10"] for r in records}
    )
    header = view.table.rows_as_csv().splitlines()[0]
    assert header == "fold,1 Greedy RankRLS,2 Greedy RankRLS,3 RankRLS"
    assert views(window).caption() == "P@10 of every finished run on these folds"
    view.table.chosen.emit(rows[0])
    assert window.session.fold == 1
    view.scope._group.buttons()[0].click()
    assert view.table.rows_as_csv().splitlines()[0].startswith("fold,λ,k,test MAP")
    settle(window)


def test_every_run_is_held_against_the_best_by_all_queries(ran: MainWindow) -> None:
    window, records = ran, ran.runs.records
    look(window, "tests")
    wait_until(lambda: all(row.role != "waiting" for row in paired(window)))
    settle(window)
    results = {record.key: record.result for record in records}
    best = max(results.values(), key=lambda r: r.average["MAP"])
    rows = paired(window)
    assert results[rows[0].key] is best
    assert [row.role for row in rows] == ["reference", "compared", "compared"]
    by_query = {
        key: np.concatenate([f.per_query["MAP"] for f in result.folds])
        for key, result in results.items()
    }
    wanted = [
        compare_paired(by_query[row.key], by_query[rows[0].key]) for row in rows[1:]
    ]
    assert [row.paired_test for row in rows[1:]] == wanted
    assert [row.p_holm for row in rows[1:]] == pytest.approx(
        holm([w.p_randomisation for w in wanted])
    )
    assert [row.p_t_holm for row in rows[1:]] == pytest.approx(
        holm([w.p_t for w in wanted])
    )
    in_the_terminal = compare_runs([results[row.key] for row in rows], "MAP", against=1)
    assert [(t.p_holm, t.p_t_holm) for t in in_the_terminal.tests[1:] if t] == [
        (row.p_holm, row.p_t_holm) for row in rows[1:]
    ]
    queries = sum(fold.test.n_queries for fold in window.session.dataset.folds)
    assert (
        views(window)
        .caption()
        .startswith(f"MAP, {queries} queries, against run {rows[0].key}")
    )


def test_what_pins_did_is_called_so_beside_the_run_without(
    ran: MainWindow, questions: list[str]
) -> None:
    plain, pinned, _ = ran.runs.records
    look(ran, "tests")
    box = views(ran).tests.reference
    box.setCurrentIndex(box.findData(plain.key))
    box.activated.emit(box.currentIndex())
    settle(ran)
    name = ran.session.dataset.feature_names[6]
    said = {row.key: row.differs for row in paired(ran)}
    assert said[pinned.key] == f"effect of pins: pinned {name}"
    assert said[3] == "another method"
    # Enter on a row, as a double click, makes it the reference; the best comes back from the box.
    table = views(ran).tests.table
    table.select(next(row for row in paired(ran) if row.key == pinned.key))
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Return)
    settle(ran)
    assert paired(ran)[0].key == pinned.key
    assert box.currentData() == pinned.key
    assert {row.key: row.differs for row in paired(ran)}[
        plain.key
    ] == f"effect of pins: not pinned {name}"
    ran.sections.compare.panel.removed.emit((pinned.key,))
    settle(ran)
    assert pinned.key not in [row.key for row in paired(ran)]
    assert box.currentText() == "against the best"


def test_tests_follow_the_measure_that_is_shown(ran: MainWindow) -> None:
    look(ran, "tests")
    ran.session.show_measure("P@10")
    settle(ran)
    rows = paired(ran)
    values = {r.key: r.result.average["P@10"] for r in ran.runs.records}
    assert [row.mean for row in rows] == [values[row.key] for row in rows]
    header = views(ran).tests.table.rows_as_csv().splitlines()[0]
    assert header.startswith(
        "run,method,differs by,P@10,difference,95 % from,to,p Fisher,Holm,"
    )


def test_the_tests_never_scroll_sideways_and_files_have_what_is_hidden(
    ran: MainWindow,
) -> None:
    look(ran, "tests")
    table = views(ran).tests.table
    p = {"p_holm", "p_t_holm", "p_wilcoxon_holm"}

    def shown() -> set[str]:
        columns = enumerate(table.rows_model.columns)
        return {
            column.key for number, column in columns if not table.isColumnHidden(number)
        }

    for width, height in ((1024, 700), (1280, 760), (1440, 900)):
        ran.resize(width, height)
        settle(ran)
        assert not table.horizontalScrollBar().maximum()
        assert shown() >= p | {"key", "method", "mean_difference"}
    ran.workspace._pages["compare"].maximise(views(ran))
    wait_until(lambda: table.width() > 1200)
    assert shown() >= p | {"low", "high", "wins", "ties", "losses", "mean", "differs"}
    assert not table.horizontalScrollBar().maximum()
    header = table.rows_as_csv().splitlines()[0]
    assert header.endswith(
        ",p Fisher,Holm,p t-test,Holm,p Wilcoxon,Holm,better,equal,worse"
    )
    row = next(row for row in paired(ran) if row.paired_test is not None)
    (corrected,) = (
        column for column in table.rows_model.columns if column.key == "p_t_holm"
    )
    assert corrected.hint is not None
    assert corrected.hint(row) == f"{p_text(row.paired_test.p_t)} uncorrected"


def test_nothing_is_computed_for_a_page_that_is_not_seen_and_never_on_the_window_s_thread(
    ran: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    on: list[threading.Thread] = []
    real = feeders.compare_with

    def watched(*args: object) -> object:
        on.append(threading.current_thread())
        return real(*args)

    monkeypatch.setattr(feeders, "compare_with", watched)
    ran.session.show_measure("P@3")  # which no other test has seen
    settle(ran)
    assert on == []
    look(ran, "folds")
    assert len(on) == 2, "the table of runs shows them"
    look(ran, "tests")
    assert threading.main_thread() not in on
    ran.workspace.show_page("select")
    look(ran, "tests")
    assert len(on) == 2, "what was found is kept"


def test_comparisons_that_nobody_waits_for_any_more_come_to_nothing(
    ran: MainWindow,
) -> None:
    ran.session.show_measure("P@4")  # which no other test has seen
    settle(ran)
    ran.workspace.show_page("compare")
    tests = ran.sections.compare._tests
    assert [row.role for row in tests.rows].count("waiting") == 2
    for key in (1, 2):
        ran.models.marks.tick(key, False)
    settle(ran)
    turn(0.05)
    assert [row.role for row in tests.rows] == ["reference"]


def test_folds_are_compared_by_the_features_that_they_chose(ran: MainWindow) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    window, plan = ran, ran.runs.records[0].plan
    record = run_with(
        window, method=plan.method, parameters=plan.parameters, rule="at most 3"
    )
    look(window, "stability")
    view = views(window).stability
    one, two = (set(record.folds[i].selected) for i in (1, 2))
    jaccard = len(one & two) / len(one | two)
    np.testing.assert_allclose(view.plot.values[::-1], [[1, jaccard], [jaccard, 1]])
    assert view.plot.row_labels == ("2", "1")
    for row in view.table.rows():
        ranks = {
            i: record.folds[i].selected.index(row.feature) + 1
            for i in (1, 2)
            if row.feature in record.folds[i].selected
        }
        assert (dict(row.ranks), row.times) == (ranks, len(ranks))
    assert {row.feature for row in view.table.rows()} == one | two
    facts = dict(fact_texts(view.facts))
    assert facts["Jaccard"] == f"{jaccard:.2f}"
    assert facts["selected by all folds"] == str(len(one & two))
    assert naming("2 folds 73 %").search(view.warning.text())
    view.index.setFocus()
    view.index._group.buttons()[1].click()
    assert view.plot.axes.title.startswith(("Kuncheva", "Lustgarten"))
    view.table.chosen.emit(view.table.rows()[-1])
    assert window.sections.features.feature == view.table.rows()[-1].feature
    settle(window)


@pytest.mark.thorough
def test_one_fold_and_a_method_without_a_choice_have_no_stability(
    ran: MainWindow,
) -> None:
    window, plan = ran, ran.runs.records[0].plan
    run_with(window, method=plan.method, parameters=plan.parameters, folds=(1,))
    look(window, "stability")
    view = views(window).stability
    assert view.plot.is_empty()
    assert view.table.rows()
    assert not view.warning.isVisible()
    run_with(window, folds=(), method="rankrls", parameters={})
    settle(window)
    assert view.table.rows() == []
    assert naming("RankRLS all features").search(views(window).caption())
