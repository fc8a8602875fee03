import csv
import io
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from experiment.runs import fold
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest

from rankstudio.engine.analysis.comparisons.significance import ComparedRun
from rankstudio.engine.analysis.result_table.fold_table import (
    best_of_several,
    measure_summary,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.statistics.paired import compare_paired
from rankstudio.ui.compare import runs_panel
from rankstudio.ui.compare.groups import RunGroup
from rankstudio.ui.compare.runs_panel import RunRow, RunsPanel, run_row
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.session import NOTHING_CHOSEN, Choice
from rankstudio.ui.widgets import Heading

NO_SIZES = np.zeros(0, dtype=np.int64)


@pytest.fixture
def panel(theme, stage):
    made = stage(RunsPanel(theme), 1200, 240)
    made.activateWindow()
    QCoreApplication.processEvents()
    return made


def cells(panel):
    model = panel.table.model()
    titles = [
        model.headerData(c, Qt.Orientation.Horizontal)
        for c in range(model.columnCount())
    ]
    numbers = [r for r in range(model.rowCount()) if not model.is_heading(r)]
    return [
        {t: model.index(r, c).data() for c, t in enumerate(titles) if t}
        for r in numbers
    ]


def headings(panel):
    return [
        row.text
        for row in panel.table.rows_model.shown_rows()
        if isinstance(row, Heading)
    ]


def one_group(*rows, **changes):
    keys = tuple(row.key for row in rows)
    measured = tuple(row.key for row in rows if row.is_done)
    given = {
        "data": "MQ2008",
        "extent": "2 folds, 4 queries",
        "part": Part.TEST,
        **changes,
    }
    return RunGroup(keys=keys, measured=measured, **given)


def show(panel, *rows):
    panel.show_runs(rows, [one_group(*rows)])


def done(key, value=0.5, measure="MAP", **changes):
    plan = Plan(data="x", parameters=changes, measures=(measure,), select_by=measure)
    folds = [fold(1, [value]), fold(2, [value + 0.1], tuple(range(1, 8)))]
    for one in folds:
        for part in (one.test, one.baseline.test):
            part[measure] = part["MAP"]
    return RunRow(
        key, plan, "MQ2008 · 2 folds", "done", 1.0, summary=measure_summary(plan, folds)
    )


def test_a_run_that_was_stopped_says_how_many_folds_it_has():
    def data(n_folds, done, state, **plan):
        parts = (SimpleNamespace(parts={}),) * n_folds
        dataset = SimpleNamespace(
            name="MQ2008", from_disk=False, folds=parts, query_sizes=NO_SIZES
        )
        folds = {number: fold(number, [0.5]) for number in range(1, done + 1)}
        record = RunRecord(1, Plan(data="x", **plan), dataset, state, folds=folds)
        return run_row(
            record, MeasuredRun(record.plan, folds=folds), NOTHING_CHOSEN
        ).data

    assert data(5, 1, RunState.CANCELLED) == "MQ2008 · 1 of 5 folds"
    assert data(5, 1, RunState.RUNNING) == "MQ2008 · 5 folds"
    assert data(5, 0, RunState.QUEUED, folds=(4,)) == "MQ2008 · fold 4"
    assert data(1, 1, RunState.DONE) == "MQ2008 · 1 fold"


def test_the_table_shows_them(panel):
    show(panel, done(1))
    assert len(headings(panel)) == 1
    for key in ("deviation", "over_single", "chosen_on"):
        assert key not in [column.key for column in panel.table.rows_model.columns]
        panel._show_column(key, True)
    row = cells(panel)[0]
    assert (row["name"], row["status"]) == ("Greedy RankRLS", "✓ done")
    assert panel.table.rows_as_csv().count(",done,") == 1
    # it is for the eye
    assert "tick" not in panel.table.rows_as_csv().splitlines()[0].split(",")
    assert "data" not in row  # they do not differ
    assert (row["MAP"], row["sd MAP"], row["k"]) == ("0.5500", "±0.071", "1–7")
    assert row["gain over best single"] == "+0.4500"
    assert panel.caption() == "test"
    assert row[Part.CHOSEN_ON.label] == "0.5000"
    assert "settings" not in row


def test_a_model_chosen_by_hand_is_named_beside_the_sizes_that_the_rule_chose(panel):
    panel.show_runs([done(1)])
    assert "chosen by hand" not in cells(panel)[0]
    plan = Plan(data="x", parameters={"regularization": (1.0, 8.0)})
    folds = {1: fold(1, [0.5]), 2: fold(2, [0.5], tuple(range(1, 8)))}
    of_data = (SimpleNamespace(parts={}),) * 2
    dataset = SimpleNamespace(
        name="x", from_disk=False, folds=of_data, query_sizes=NO_SIZES
    )
    record = RunRecord(2, plan, dataset, RunState.DONE, folds=folds)
    chosen = run_row(record, MeasuredRun(plan, folds=folds), Choice((8.0,), 10))
    panel.show_runs([done(1), chosen])
    assert [(row["k"], row["chosen by hand"]) for row in cells(panel)] == [
        ("1–7", "–"),
        ("1–7", "λ = 2³ · k = 10"),
    ]


def test_a_run_is_followed_from_the_queue_to_its_end(panel):
    for state, progress, left, shown in (
        ("queued", 0.0, None, "queued"),
        ("running", 0.25, 75.4, "1:15 left"),
        ("paused", 0.25, None, "paused"),
        ("failed", 0.25, None, "failed"),
    ):
        panel.show_runs(
            [RunRow(1, Plan(data="x"), "MQ2008", state, progress, left, "It broke.")]
        )
        assert [row["status"] for row in cells(panel)] == [shown]
    columns = [column.key for column in panel.table.rows_model.columns]
    hint = (
        panel.table.model()
        .index(0, columns.index("status"))
        .data(Qt.ItemDataRole.ToolTipRole)
    )
    assert hint == "It broke."


def test_only_parameters_that_differ_are_shown(panel):
    panel.show_runs([done(1), done(2, n_features_to_select=5)])
    assert [row["settings"] for row in cells(panel)] == [
        "features k all",
        "features k 5",
    ]


@pytest.mark.parametrize(
    ("name", "bold"), [("MAP", [False, True]), ("Disagreement", [True, False])]
)
def test_the_best_of_several_is_bold_and_the_only_one_is_not(panel, name, bold):
    show(panel, done(1, 0.5, name))
    assert not panel._is_best(panel.rows()[0], name)
    show(panel, done(1, 0.5, name), done(2, 0.6, name))
    assert [panel._is_best(row, name) for row in panel.rows()] == bold


def test_the_best_of_many_is_looked_for_once_and_not_by_each_cell(panel, monkeypatch):
    asked = []
    monkeypatch.setattr(
        runs_panel,
        "best_of_several",
        lambda *of: asked.append(of) or best_of_several(*of),
    )
    show(panel, *(done(key, 0.3 + key / 100) for key in range(1, 31)))
    measures = len(panel.rows()[0].summary.means)
    panel.grab()
    assert len(asked) == measures


def test_runs_are_selected_removed_and_stopped(panel):
    told = []
    panel.selected.connect(lambda key: told.append(("selected", key)))
    panel.removed.connect(lambda keys: told.append(("removed", *keys)))
    panel.cancelRequested.connect(lambda key: told.append(("cancel", key)))
    panel.show_runs([done(1), RunRow(2, Plan(data="x"), "MQ2008", "running")])
    panel.mark(1)
    assert told == []
    panel.table.setFocus()
    QTest.keyClick(panel.table, Qt.Key.Key_Down)
    QTest.keyClick(panel.table, Qt.Key.Key_Delete)
    for action in panel._actions(panel.rows()[1])[3:]:
        action.do()
    assert told == [("selected", 2), ("removed", 2), ("cancel", 2), ("removed", 2)]
    assert [a.text for a in panel._actions(panel.rows()[0])] == [
        *("Rename", "Tags…", "Note…"),
        "Compare the others with this run",
        "Hide",
        "Remove",
    ]
    panel.show_runs([done(1)])
    assert len(cells(panel)) == 1


def test_an_update_keeps_the_selection(panel):
    panel.show_runs([done(1), RunRow(2, Plan(data="x"), "MQ2008", "running")])
    panel.mark(2)
    panel.show_runs([done(1), done(2, 0.7)])
    assert panel.table.current().key == 2


def test_against_the_reference_there_are_difference_interval_p_and_counts(panel):
    show(panel, done(1), done(2, 0.7))
    assert "difference from the reference, 95 %" not in cells(panel)[0]
    found = compare_paired([0.5, 0.7, 0.7, 0.2], [0.4, 0.6, 0.7, 0.3])
    panel.show_tests(
        [
            ComparedRun(2, "", "reference"),
            ComparedRun(1, "", "compared", "", 0.5, found, 0.04, 0.2),
        ],
        "MAP",
    )
    second, first = cells(panel)  # the best first
    title = "difference from the reference, 95 %"
    assert first[title] == f"+0.0250 (−{-found.low:.4f} … +{found.high:.4f})"
    assert first["p (Holm)"] == "0.0400"
    assert first["better · equal · worse"] == "2 / 1 / 1"
    assert (second[title], second["p (Holm)"]) == ("reference", "–")
    keys = [column.key for column in panel.table.rows_model.columns]
    spoken = (
        panel.table.model()
        .index(2, keys.index("difference"))
        .data(Qt.ItemDataRole.AccessibleTextRole)
    )
    assert f"{found.low:.4f}".removeprefix("-") in spoken
    assert "Greedy RankRLS" in headings(panel)[0]
    written = list(csv.DictReader(io.StringIO(panel.table.rows_as_csv())))
    numbers = (
        "95 % interval from",
        "95 % interval to",
        "better",
        "equal",
        "worse",
        "smallest k",
        "largest k",
    )
    assert [float(written[1][name]) for name in numbers] == [
        found.low,
        found.high,
        2,
        1,
        1,
        1,
        7,
    ]
    assert float(written[1]["difference"]) == found.mean_difference
    assert [row["comparison"] for row in written] == ["reference", ""]
    assert [row["part"] for row in written] == ["test", "test"]


def test_groups_have_headings_and_only_ranked_runs_of_a_group_are_compared(panel):
    rows = [
        done(1, 0.5),
        done(2, 0.9),
        done(3, 0.7),
        RunRow(4, Plan("x"), "MQ2008", "running"),
    ]
    groups = [
        one_group(*rows[:1], *rows[2:]),
        one_group(rows[1], why_separate="on fold 5 only, not on all 2 folds"),
    ]
    panel.show_runs(rows, groups)
    panel.show_tests((), "MAP")
    assert [row["run"] for row in cells(panel)] == ["3", "1", "4", "2"]
    assert [panel._is_best(row, "MAP") for row in rows] == [False, False, True, False]
    assert "on fold 5" in headings(panel)[1]
    keys = [column.key for column in panel.table.rows_model.columns]
    panel.table.sortByColumn(keys.index("MAP"), Qt.SortOrder.AscendingOrder)
    assert [row["run"] for row in cells(panel)] == ["1", "3", "4", "2"], (
        "each group is sorted by itself"
    )
    assert cells(panel)[2]["MAP"] == "–", "a run that is not finished has no numbers"
    assert [row.key for row in panel.table.rows()] == [1, 3, 4, 2]


def test_headings_are_neither_chosen_nor_ticked_nor_counted(panel, theme):
    told = []
    panel.selected.connect(told.append)
    panel.ticked.connect(told.append)
    rows = [done(1, 0.7), done(2, 0.5)]
    panel.show_runs(rows, [one_group(rows[0]), one_group(rows[1], data="OHSUMED")])
    model, viewport = panel.table.model(), panel.table.viewport()
    for column in (0, 3):
        at = panel.table.visualRect(model.index(0, column)).center()
        QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=at)
    assert told == []
    panel.table.setFocus()
    panel.mark(1)
    QTest.keyClick(panel.table, Qt.Key.Key_Down)
    assert told == [2] and panel.table.current().key == 2
    QTest.keyClick(panel.table, Qt.Key.Key_Home)
    assert panel.table.current().key == 1
    QTest.keyClick(panel.table, Qt.Key.Key_Up)
    assert panel.table.current().key == 1
    panel.table.selectAll()
    assert len(panel.table.selection_as_tsv().splitlines()) == 3


def test_the_filter_shows_the_runs_with_all_its_words(panel):
    panel.show_runs(
        [
            done(1),
            done(2, n_features_to_select=5),
            RunRow(3, Plan("x", "gas"), "OHSUMED"),
        ]
    )
    panel.filter.setText("greedy mq2008")
    assert [row["run"] for row in cells(panel)] == ["1", "2"]
    assert panel.caption().endswith("2 of 3 runs")
    panel.filter.setText("ohsumed")
    assert [row["name"] for row in cells(panel)] == ["GAS"]
    panel.filter.clear()
    assert len(cells(panel)) == 3


def test_columns_are_hidden_and_runs_of_a_method_stand_together(panel):
    panel.show_runs([done(1), RunRow(2, Plan("x", "gas"), "MQ2008 · 2 folds"), done(3)])
    panel._fill_menu()
    actions = {action.text(): action for action in panel._menu.actions()}
    actions["MAP"].toggle()
    assert "MAP" not in cells(panel)[0]
    panel._fill_menu()
    actions = {action.text(): action for action in panel._menu.actions()}
    assert not actions["MAP"].isChecked()
    actions["Group runs by method"].toggle()
    actions["MAP"].toggle()
    assert [(row["run"], "MAP" in row) for row in cells(panel)] == [
        ("1", True),
        ("3", True),
        ("2", True),
    ]


def test_space_ticks_and_r_refers_to_the_run(panel):
    told = []
    panel.ticked.connect(lambda key: told.append(("tick", key)))
    panel.referenceAsked.connect(lambda key: told.append(("reference", key)))
    panel.show_runs([done(1), done(2), RunRow(3, Plan("x"), "MQ2008", "running")])
    panel.table.setFocus()
    for row, key in ((1, Qt.Key.Key_Space), (1, Qt.Key.Key_R), (2, Qt.Key.Key_R)):
        panel.mark(row + 1)
        QTest.keyClick(panel.table, key)
    assert told == [("tick", 2), ("reference", 2)]
    panel.show_ticks({1, 3})
    index = panel.table.model().index(1, 0)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "not ticked"


def test_the_measure_that_is_looked_at_is_in_sight(panel):
    def is_in_sight(name):
        number = [column.key for column in panel.table.rows_model.columns].index(name)
        left = panel.table.columnViewportPosition(number)
        return (
            left >= 0
            and left + panel.table.columnWidth(number) <= panel.table.viewport().width()
        )

    panel.resize(560, 240)
    panel.show_tests((), "MAP")
    both = {"MAP": 0.5, "NDCG@5": 0.6}
    rows = [done(1, regularization=1.0), done(2, regularization=2.0)]
    rows = [replace(row, summary=replace(row.summary, means=both)) for row in rows]
    panel.show_runs(rows)
    bar = panel.table.horizontalScrollBar()
    bar.setValue(bar.maximum())
    panel._show_column("NDCG@5", False)
    panel.show_tests((), "NDCG@5")
    assert is_in_sight("NDCG@5")
    bar.setValue(bar.maximum())
    at = bar.value()
    panel.show_runs(rows)
    assert bar.value() == at, "what the user scrolled to stays"


def test_the_title_gives_way_to_nothing(panel):
    panel.show_runs([done(1)])
    panel.resize(420, 240)
    QCoreApplication.processEvents()
    assert panel._title.shown_text() == "Runs"


def test_name_and_measure_stay_in_sight_when_the_table_is_scrolled_sideways(panel):
    panel.resize(700, 240)
    show(panel, done(1), done(2, 0.7))
    panel.show_tests((), "MAP")
    for key in ("deviation", "over_single", "chosen_on"):
        panel._show_column(key, True)
    panel._edit("tags")
    panel._edit("note")
    table = panel.table
    QTest.keyClick(table, Qt.Key.Key_Escape)
    bar = table.horizontalScrollBar()
    bar.setValue(bar.maximum())
    assert bar.value() > 0
    keys = [column.key for column in table.rows_model.columns]
    for key in ("tick", "method", "MAP"):
        rect = table.visualRect(table.model().index(1, keys.index(key)))
        assert rect.left() >= 0 and rect.right() <= table.viewport().width()
        assert table.indexAt(rect.center()).column() == keys.index(key)
    told = []
    panel.ticked.connect(told.append)
    box = table.visualRect(table.model().index(1, keys.index("tick"))).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=box)
    assert told == [2]
    value = bar.value()
    panel.mark(1)
    assert bar.value() == value, "a mark scrolls nothing sideways"
    header = table.horizontalHeader()
    at = header.frozen_rect(keys.index("MAP")).center()
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert header.sortIndicatorSection() == keys.index("MAP")
    table.grab()


def two_groups(panel):
    rows = (done(1), done(2), done(3))
    groups = [
        one_group(*rows[:2]),
        replace(one_group(rows[2], extent="fold 5 only"), partial=(3,), n_folds=5),
    ]
    panel.show_runs(rows, groups)
    return rows, groups


def listed(panel):
    rows = panel.table.rows_model.shown_rows()
    return ["heading" if isinstance(row, Heading) else row.key for row in rows]


def test_a_press_on_a_heading_folds_its_runs_and_they_stay_folded_when_runs_are_shown_anew(
    panel,
):
    rows, groups = two_groups(panel)
    first, second = panel.table.heading_bars()
    assert first.geometry().top() == panel.table.rowViewportPosition(0)
    QTest.mouseClick(first, Qt.MouseButton.LeftButton, pos=first.rect().center())
    assert listed(panel) == ["heading", "heading", 3]
    panel.show_runs(rows, groups)
    assert listed(panel) == ["heading", "heading", 3]
    assert second.geometry().top() == panel.table.rowViewportPosition(1)
    QTest.mouseClick(first, Qt.MouseButton.LeftButton, pos=first.rect().center())
    assert listed(panel) == ["heading", 1, 2, "heading", 3]


def test_headings_are_folded_by_keys_and_tab_leads_there(panel):
    two_groups(panel)
    first = panel.table.heading_bars()[0]
    panel.table.setFocus()
    QTest.keyClick(panel.table, Qt.Key.Key_Tab)
    assert first.button.hasFocus()
    for key, is_folded in (
        (Qt.Key.Key_Space, True),
        (Qt.Key.Key_Return, False),
        (Qt.Key.Key_Left, True),
        (Qt.Key.Key_Left, True),
        (Qt.Key.Key_Right, False),
    ):
        QTest.keyClick(panel.window().focusWidget(), key)
        assert (1 not in listed(panel)) is is_folded
        assert first.button.hasFocus()


def test_a_folded_group_opens_for_a_run_that_comes_to_be_shown(panel):
    two_groups(panel)
    panel.mark(1)
    panel.table.headingFolded.emit(panel.group_of(1).identity)
    assert panel.table.current() is None  # it is not listed
    panel.mark(1)
    assert 1 not in listed(panel)
    panel.mark(3)
    assert panel.table.current().key == 3
    panel.mark(2)
    assert panel.table.current().key == 2


def test_the_link_of_a_group_on_some_folds_asks_for_all_folds(panel):
    two_groups(panel)
    first, second = panel.table.heading_bars()
    assert first.link.isHidden() and not second.link.isHidden()
    asked = []
    panel.everyFoldAsked.connect(asked.append)
    QTest.mouseClick(second.link, Qt.MouseButton.LeftButton)
    assert asked == [(3,)]
    assert 3 in listed(panel)  # and does not fold


def test_a_finished_run_has_no_numbers_while_it_is_measured(panel):
    row = done(1)
    group = replace(one_group(row, unranked="not finished"), measured=())
    panel.show_runs([row], [group])
    assert cells(panel)[0]["MAP"] == "–"
    assert group.unranked not in headings(panel)[0]
    panel.show_runs([row], [one_group(row)])
    assert cells(panel)[0]["MAP"] == "0.5500"


def test_a_run_comes_into_sight_once_it_is_listed_and_another_one_stays_highlighted(
    panel,
):
    table = panel.table

    def is_in_sight(key):
        [number] = [
            n
            for n, row in enumerate(table.rows_model.shown_rows())
            if getattr(row, "key", 0) == key
        ]
        rect = table.visualRect(table.model().index(number, 1))
        return rect.top() >= 0 and rect.bottom() <= table.viewport().height()

    rows = [done(key) for key in range(1, 12)]
    show(panel, *rows)
    panel.mark(1)
    panel.reveal(12)
    assert is_in_sight(1)
    show(panel, *rows, done(12, 0.1))  # the last one, whatever the order
    assert is_in_sight(12) and not is_in_sight(1)
    assert table.current().key == 1
    table.verticalScrollBar().setValue(0)
    show(panel, *rows, done(12, 0.2))
    assert is_in_sight(1)  # once
