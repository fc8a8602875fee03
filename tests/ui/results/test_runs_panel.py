from statistics import mean, stdev

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtTest import QTest

from rankstudio.engine.experiment.plan.combinations import ParameterCombination, Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import Baseline, Chosen, FoldResult
from rankstudio.engine.steps import Step
from rankstudio.ui.results.run_rows import RunRow, differing, run_row, size_text, time_text
from rankstudio.ui.results.runs_panel import RunsPanel


def fold(number, size, value, part="test"):
    step = Step(size, tuple(range(size)), np.zeros(3), 0.0, np.zeros(0))
    measures = {"MAP": value, "P@10": value / 2, "MeanNDCG": value, "NDCG@10": value}
    test = measures if part == "test" else {}
    chosen = Chosen(Unit(number, 0, ParameterCombination()), step)
    single = dict.fromkeys(measures, 0.4)
    alone = Baseline(1, "one", True, single, single if test else {})
    return FoldResult(number, chosen, tuple(range(1, size + 1)), measures, test, (), alone)


@pytest.fixture
def panel(app, theme):
    made = RunsPanel(theme)
    made.resize(1200, 240)
    made.show()
    made.activateWindow()
    QCoreApplication.processEvents()
    yield made
    made.close()
    made.deleteLater()
    QCoreApplication.sendPostedEvents()


def cells(panel):
    model = panel.table.model()
    titles = [model.headerData(c, Qt.Orientation.Horizontal) for c in range(model.columnCount())]
    return [{t: model.index(r, c).data() for c, t in enumerate(titles) if t} for r in range(model.rowCount())]


def done(key, value=0.5, **changes):
    plan = Plan(data="x", parameters=changes)
    return run_row(key, plan, "MQ2008", [fold(1, 1, value), fold(2, 7, value + 0.1)], 2, "done", 1.0)


def test_a_row_has_means_deviations_and_sizes_over_the_folds():
    row = done(1)
    assert row.means["MAP"] == pytest.approx(mean([0.5, 0.6]))
    assert row.deviations["P@10"] == pytest.approx(stdev([0.25, 0.3]))
    assert row.sizes == (1, 7)
    assert row.over_single["MAP"] == pytest.approx(0.55 - 0.4)
    assert row.over_single["P@10"] == pytest.approx(0.275 - 0.4)
    assert row.part == "test"
    assert row.data == "MQ2008 · 2 folds"
    untested = run_row(1, Plan(data="x"), "f", [fold(1, 3, 0.5, "vali")], 1, "done")
    assert (untested.part, untested.means["MAP"], untested.deviations) == ("validation", 0.5, {})


def test_a_run_that_was_stopped_says_how_many_folds_it_has():
    row = run_row(1, Plan(data="x"), "MQ2008", [fold(1, 1, 0.5)], 5, "cancelled")
    assert row.data == "MQ2008 · 1 of 5 folds"
    assert run_row(1, Plan(data="x", folds=(4,)), "MQ2008", [], 1, "queued").data == "MQ2008 · fold 4"


def test_the_table_shows_them(panel):
    panel.add_run(done(1))
    row = cells(panel)[0]
    assert (row["method"], row["data"], row["status"]) == ("Greedy RankRLS", "MQ2008 · 2 folds", "✓ done")
    assert ",done," in panel.table.rows_as_csv()  # the tick is for the eye
    assert (row["MAP"], row["sd MAP"], row["k"]) == ("0.5500", "±0.071", "1–7")
    assert row["over single"] == "+0.1500"
    assert panel.caption() == "test part, mean over folds ± sd"
    assert "parameters" not in row


def test_a_run_is_followed_from_the_queue_to_its_end(panel):
    plan = Plan(data="x")
    for state, progress, left, shown in (
        ("queued", 0.0, None, "queued"),
        ("running", 0.25, 75.4, "1:15 left"),
        ("paused", 0.25, None, "paused"),
        ("failed", 0.25, None, "failed"),
    ):
        panel.update_run(1, run_row(1, plan, "MQ2008", [], 5, state, progress, left, "It broke."))
        assert [row["status"] for row in cells(panel)] == [shown]
    hint = panel.table.model().index(0, 4).data(Qt.ItemDataRole.ToolTipRole)
    assert hint == "It broke."


def test_only_parameters_that_differ_are_shown(panel):
    panel.add_run(done(1))
    panel.add_run(done(2, n_features_to_select=5))
    assert [row["parameters"] for row in cells(panel)] == ["features k all", "features k 5"]
    ranker = run_row(3, Plan(data="x", method="rankrls"), "MQ2008", [], 5, "queued")
    assert differing([done(1), ranker]) == {1: "", 3: ""}


def test_a_ranker_is_named_and_its_parameters_are_those_that_differ():
    plans = [
        Plan(data="x", method="gas", ranker="ranksvm", ranker_parameters={"C": C, "loss": "hinge"})
        for C in ("0.1", "1, 10")
    ]
    rows = [run_row(key, plan, "MQ2008", [], 5, "queued") for key, plan in enumerate(plans)]
    assert [row.method for row in rows] == ["GAS, then RankSVM"] * 2
    assert "λ" not in rows[0].parameters, "the ranker ranks, not GAS's own RankRLS"
    assert rows[0].parameters["RankSVM loss"] == "hinge"
    assert differing(rows) == {0: "RankSVM C 0.1", 1: "RankSVM C 1, 10"}


def test_the_best_of_several_is_bold_and_the_only_one_is_not(panel):
    panel.add_run(done(1, 0.5))
    assert not panel._is_best(panel.rows()[0], "MAP")
    panel.add_run(done(2, 0.6))
    assert [panel._is_best(row, "MAP") for row in panel.rows()] == [False, True]


def test_runs_are_selected_removed_and_stopped(panel):
    told = []
    panel.selected.connect(lambda key: told.append(("selected", key)))
    panel.removed.connect(lambda key: told.append(("removed", key)))
    panel.cancelRequested.connect(lambda key: told.append(("cancel", key)))
    panel.add_run(done(1))
    panel.add_run(RunRow(2, "Greedy RankRLS", "MQ2008", "running"))
    panel.choose(1)
    assert told == []
    panel.table.setFocus()
    QTest.keyClick(panel.table, Qt.Key.Key_Down)
    QTest.keyClick(panel.table, Qt.Key.Key_Delete)
    for action in panel._actions(panel.rows()[1]):
        action.trigger()
    assert told == [("selected", 2), ("removed", 2), ("cancel", 2), ("removed", 2)]
    assert [a.text() for a in panel._actions(panel.rows()[0])] == ["Remove from the table"]
    panel.remove_run(2)
    assert len(cells(panel)) == 1


def test_an_update_keeps_the_selection(panel):
    panel.add_run(done(1))
    panel.add_run(RunRow(2, "Greedy RankRLS", "MQ2008", "running"))
    panel.choose(2)
    panel.update_run(2, done(2, 0.7))
    assert panel.table.current().key == 2


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, ""), (0.2, "0:00 left"), (75, "1:15 left"), (3723, "1:02:03 left")]
)
def test_time_left(seconds, text):
    assert time_text(seconds) == text


def test_sizes():
    assert [size_text(s) for s in ((), (4,), (7, 1, 3))] == ["", "4", "1–7"]
