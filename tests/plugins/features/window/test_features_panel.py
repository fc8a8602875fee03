"""The path as rows and columns, and its panel: by mouse, by keyboard, and in little room."""

import csv
import io
from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtTest import QTest
from windows import settle

from rankstudio.engine.experiment.plan.combinations import ParameterCombination, Unit
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step
from rankstudio.plugins.features.window.features_panel import (
    Arrivals,
    FeaturesPanel,
    columns,
    path_rows,
)
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.fonts import font
from rankstudio.ui.widgets.columns import PAD

UNIT = Unit(1, 0, ParameterCombination())
IDS = np.array([10, 20, 30, 40])
NAMES = ("ten", "twenty", "thirty", "forty")
EVERY = [0.1, -0.9, 0.5, 0.2]


def step(number, selected, weights, criterion=0.5, before=nan):
    coef = np.zeros(4)
    coef[list(selected)] = weights
    return Step(number, tuple(selected), coef, criterion, np.zeros(0), before=before)


def path_of(steps, measured=(), kind=StepKind.FEATURES, unit=UNIT, divisor=10):
    measures = {"MAP": np.array(measured)} if measured else {}
    return PathResult(unit, HeldSteps(tuple(steps)), measures, divisor, kind)


def make_path(order=(2, 0, 3), banned=(20,)):
    steps = [
        step(
            k,
            order[:k],
            [0.5, -0.25, 0.125][:k],
            10.0 / k,
            before=10.0 / max(k - 1, 0.5),
        )
        for k in range(1, len(order) + 1)
    ]
    unit = Unit(1, 0, ParameterCombination({"pinned": (30,), "banned": banned}))
    measures = {"MAP": np.array([0.4, 0.5, 0.45]), "NDCG@10": np.array([0.1, 0.2, 0.3])}
    return PathResult(unit, HeldSteps(steps), measures, divisor=10)


@pytest.fixture
def path():
    steps = (
        step(1, [2], [0.5], 0.9, 1.3),
        step(2, [2, 0], [0.4, -0.2], 0.7, 0.9),
        step(3, [2, 0, 3], [0.3, -0.1, 0.05], 0.65, 0.7),
    )
    unit = Unit(1, 0, ParameterCombination({"pinned": (30,), "banned": (20,)}))
    return path_of(steps, [0.4, 0.5, 0.45], unit=unit)


def test_rows_follow_the_path_and_weights_are_those_of_the_chosen_model(path):
    rows = path_rows(path, IDS, NAMES, "MAP", 1)
    assert [(r.rank, r.feature_id, r.name) for r in rows[:3]] == [
        (1, 30, "thirty"),
        (2, 10, "ten"),
        (3, 40, "forty"),
    ]
    assert [r.weight for r in rows[:2]] == [0.4, -0.2]
    assert isnan(rows[2].weight)
    assert [r.chosen for r in rows] == [True, True, False, False]
    assert [r.gain for r in rows[:3]] == pytest.approx([0.04, 0.02, 0.005])
    assert [r.after for r in rows[:3]] == [0.4, 0.5, 0.45]


def test_a_measure_that_was_not_computed_is_not_invented(path):
    assert all(isnan(r.after) for r in path_rows(path, IDS, NAMES, "P@10", 0))


def test_a_ranker_takes_all_features_at_once_and_they_are_ordered_by_weight():
    path = path_of([step(1, range(4), [0.1, -0.9, 0.5, 0.0], 0.7)], [0.4])
    rows = path_rows(path, IDS, NAMES, "MAP", 0)
    assert [r.feature_id for r in rows] == [20, 30, 10, 40]
    assert all(r.chosen for r in rows)
    assert [isnan(r.after) for r in rows] == [True, True, True, False]
    assert all(isnan(r.gain) for r in rows)


def test_of_iterations_the_last_one_tells_the_features():
    """Earlier iterations use features that the model does not, in an order that means nothing."""
    steps = (
        step(1, [1, 3], [0.5, 0.1], 0.9, 1.3),
        step(2, [2, 0], [0.4, -0.7], 0.7, 0.9),
    )
    path = path_of(steps, [0.4, 0.5], StepKind.ITERATIONS)
    rows = path_rows(path, IDS, NAMES, "MAP", 1)
    assert [(r.rank, r.feature_id, r.weight) for r in rows] == [
        (1, 10, -0.7),
        (2, 30, 0.4),
    ]
    assert [r.chosen for r in rows] == [True, True]
    assert isnan(rows[0].after)
    assert rows[1].after == 0.5


def test_rounds_tell_a_feature_when_it_first_comes():
    steps = (
        step(1, [2], [0.5], 0.9, 1.3),
        step(2, [2], [0.8], 0.7, 0.9),
        step(3, [2, 0], [0.8, 0.2], 0.6, 0.7),
    )
    path = path_of(steps, [0.4, 0.5, 0.6], StepKind.ROUNDS)
    rows = path_rows(path, IDS, NAMES, "MAP", 1)
    assert [(r.rank, r.feature_id, r.chosen) for r in rows] == [
        (1, 30, True),
        (2, 10, False),
    ]
    assert [r.after for r in rows] == [0.4, 0.6]
    assert rows[0].weight == 0.8
    assert isnan(rows[1].weight)


def test_features_that_come_together_have_a_rank_each():
    steps = (
        step(1, [3, 1], [0.1, -0.6], 0.9, 1.3),
        step(2, [3, 1, 0], [0.1, -0.6, 0.3], 0.7, 0.9),
    )
    rows = path_rows(path_of(steps, [0.4, 0.5]), IDS, NAMES, "MAP", 0)
    assert [(r.rank, r.feature_id, r.chosen) for r in rows] == [
        (1, 20, True),
        (2, 40, True),
        (3, 10, False),
    ]


class Column(int):
    """A column's number that counts how often it is looked up in a set."""

    looked_up = 0

    def __hash__(self):
        Column.looked_up += 1
        return hash(int(self))


def test_each_feature_of_a_long_path_is_looked_at_a_few_times():
    """A path has half a million features on its steps where a thousand of them come one by one."""
    n = 200
    columns = tuple(Column(column) for column in range(n))
    steps = tuple(
        Step(k, columns[:k], np.linspace(0.1, 1, n), 1.0 / k, np.zeros(0), before=1.0)
        for k in range(1, n + 1)
    )
    path = PathResult(UNIT, HeldSteps(steps), {"MAP": np.linspace(0, 1, n)}, divisor=10)
    Column.looked_up = 0
    rows = path_rows(path, np.arange(n) + 1, [""] * n, "MAP", n - 1)
    assert [row.feature_id for row in rows] == list(range(1, n + 1))
    assert Column.looked_up <= 6 * n
    arrivals = Arrivals()
    for k in range(1, n + 1):
        grown = PathResult(
            path.unit, HeldSteps(steps[:k]), {"MAP": np.zeros(k)}, divisor=10
        )
        assert len(arrivals.of(grown)) == k
    Column.looked_up = 0
    assert (
        path_rows(path, np.arange(n) + 1, [""] * n, "MAP", n - 1, arrivals)[
            -1
        ].feature_id
        == n
    )
    assert Column.looked_up <= 4 * n


def test_what_is_known_of_one_path_is_not_taken_for_another(path):
    other = path_of(
        [step(1, [1], [0.1], 0.9, 1.3), step(2, [1, 3], [0.1, 0.2], 0.9, 1.3)]
    )
    last = replace(other, step_kind=StepKind.ITERATIONS)
    arrivals = Arrivals()
    for one in (path, other, path, last, last, other):
        at = len(one.steps) - 1
        known = path_rows(one, IDS, NAMES, "MAP", at, arrivals)
        assert [row.feature_id for row in known] == [
            row.feature_id for row in path_rows(one, IDS, NAMES, "MAP", at)
        ]


def test_the_widest_margin_fits_its_column(app):
    (column,) = (
        column for column in columns("MAP", with_margin=True) if column.key == "margin"
    )
    texts = [
        column.format(sign * share)
        for sign in (1, -1)
        for share in (1.0, 0.0951, 0.00084, 0.00001)
    ]
    assert [text for text in texts if "0.01" in text] == ["< 0.01 %", "> −0.01 %"]
    padding = 20  # of a cell
    assert (
        max(map(QFontMetrics(font(13)).horizontalAdvance, texts)) + padding
        <= column.width
    )


@pytest.mark.parametrize("digits", [2, 3, 4, 7])
def test_ids_and_places_with_many_digits_fit_their_columns(app, digits):
    widest = QFontMetrics(font(13)).horizontalAdvance(digits * "8")
    assert all(
        widest + 18 <= column.width for column in columns("MAP", digits=digits)[:2]
    )


@pytest.fixture
def panel(theme, stage):
    made = stage(FeaturesPanel(theme), 500, 400)
    made.show_path(make_path(), IDS, NAMES, "MAP", 1)
    made.activateWindow()
    QCoreApplication.processEvents()
    return made


@pytest.fixture
def told(panel):
    heard = []
    for name in ("picked", "inspected"):
        getattr(panel, name).connect(
            lambda value, name=name: heard.append((name, value))
        )
    panel.toggled.connect(lambda name, value: heard.append((name, value)))
    return heard


def texts(panel):
    model = panel.table.model()
    return [
        [model.index(r, c).data() for c in range(model.columnCount())]
        for r in range(model.rowCount())
    ]


def test_rows_show_path_weights_gains_and_measure(panel):
    assert texts(panel) == [
        ["1", "30", "thirty", "+0.50", "1.00000", "0.4000"],
        ["2", "10", "ten", "−0.25", "0.50000", "0.5000"],
        ["3", "40", "forty", "–", "0.16667", "0.4500"],
        ["–", "20", "twenty (banned)", "–", "–", "–"],
    ]
    assert panel.caption() == "k = 2 of 3 · MAP 0.5000"
    assert panel.table.current().rank == 2


def test_pins_are_marked_and_rows_beyond_k_are_muted(panel):
    name = panel.table.rows_model.columns[2]
    rows = panel.table.rows_model.rows
    assert [name.mark(row) for row in rows] == [True, False, False, False]
    assert [name.color(row) for row in rows] == ["text", "text", "muted", "faint"]


def test_a_click_picks_k_and_inspects_the_feature(panel, told):
    table = panel.table
    at = table.visualRect(table.model().index(0, 2)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert told == [("inspected", 30), ("picked", 1)]


def test_arrow_keys_do_the_same_and_a_banned_row_has_no_k(panel, told):
    for _ in range(2):
        QTest.keyClick(panel.table, Qt.Key.Key_Down)
    assert told == [("inspected", 40), ("picked", 3), ("inspected", 20)]


def test_enter_and_a_double_click_confirm_a_row_that_is_a_model(panel, told):
    confirmed = []
    panel.confirmed.connect(
        lambda: confirmed.append([one for one in told if one[0] == "picked"][-1])
    )
    QTest.keyClick(panel.table, Qt.Key.Key_Down)
    QTest.keyClick(panel.table, Qt.Key.Key_Return)
    assert confirmed == [("picked", 3)]
    QTest.keyClick(panel.table, Qt.Key.Key_Down)
    QTest.keyClick(panel.table, Qt.Key.Key_Return)  # a banned feature is in no model
    assert len(confirmed) == 1
    at = panel.table.visualRect(panel.table.model().index(0, 2)).center()
    QTest.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseDClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert confirmed == [("picked", 3), ("picked", 1)]


def test_the_row_of_the_chosen_model_is_marked_while_another_one_is_shown(panel):
    panel.show_path(make_path(), IDS, NAMES, "MAP", 2, choice=1)
    rank = panel.table.rows_model.columns[0]
    rows = panel.table.rows_model.rows
    assert [row.rank for row in rows if row.is_choice] == [1]
    assert [rank.bold(row) for row in rows[:3]] == [True, False, False]
    assert panel.table.current().rank == 3


def test_showing_a_path_tells_nobody_and_follows_the_choice(panel, told):
    panel.show_path(make_path(), IDS, NAMES, "MAP", 2)
    assert panel.table.current().rank == 3
    assert told == []


def test_p_and_b_pin_and_ban_the_chosen_row(panel, told):
    QTest.keyClick(panel.table, Qt.Key.Key_P)
    QTest.keyClick(panel.table, Qt.Key.Key_B)
    assert told == [("pinned", 10), ("banned", 10)]
    row = panel.table.rows_model.rows[3]
    assert [action.text for action in panel._actions(row)] == ["Pin", "Allow again"]
    assert panel._actions(panel.table.rows_model.rows[0])[0].text == "Unpin"


def test_sorting_by_weight_goes_by_size_and_leaves_missing_ones_at_the_end(panel):
    panel.table.sortByColumn(3, Qt.SortOrder.DescendingOrder)
    assert [row.feature_id for row in panel.table.rows()][:2] == [30, 10]
    panel.table.sortByColumn(3, Qt.SortOrder.AscendingOrder)
    assert [row.feature_id for row in panel.table.rows()][:2] == [10, 30]


def test_copy_is_tab_separated_with_all_digits(panel):
    panel.table.selectAll()
    panel.table.copy()
    lines = list(
        csv.reader(io.StringIO(QGuiApplication.clipboard().text()), delimiter="\t")
    )
    assert lines[0] == ["#", "id", "feature", "weight", "gain", "MAP"]
    assert lines[2] == ["2", "10", "ten", "-0.25", "0.5", "0.5"]
    assert len(lines) == 5


def test_another_measure_and_the_test_part(panel):
    panel.show_path(make_path(), IDS, NAMES, "NDCG@10", 1)
    assert texts(panel)[1][-1] == "0.2000"
    assert panel.table.model().headerData(5, Qt.Orientation.Horizontal) == "NDCG@10"
    panel.show_test({"MAP": 0.472, "NDCG@10": 0.2251}, "LETOR 4.0")
    assert (
        panel._test.text().replace("\u00a0", " ") == "test: MAP 0.4720 · NDCG@10 0.2251"
    )
    assert "LETOR 4.0" in panel._test.toolTip()
    panel.clear()
    assert texts(panel) == []
    assert not panel._test.isVisible()
    assert not panel._pin.isEnabled()


def test_the_whole_model_is_in_sight_where_there_is_room_for_it(panel):
    panel.resize(500, 160)
    QCoreApplication.processEvents()
    table = panel.table
    assert table.viewport().height() < 4 * 29
    panel.show_path(make_path(), IDS, NAMES, "MAP", 2)
    table.scrollToBottom()
    panel.show_path(make_path(), IDS, NAMES, "MAP", 1)
    assert table.rowAt(0) == 0
    table.scrollToBottom()
    at = table.verticalScrollBar().value()
    panel.picked.connect(
        lambda k: panel.show_path(make_path(), IDS, NAMES, "MAP", k - 1)
    )
    QTest.mouseClick(
        table.viewport(),
        Qt.MouseButton.LeftButton,
        pos=table.visualRect(table.model().index(2, 2)).center(),
    )
    assert panel.caption().startswith("k = 3")
    assert table.verticalScrollBar().value() == at, (
        "a row that was clicked stays under the mouse"
    )


def test_all_measures_of_the_test_part_can_be_read(panel):
    panel.show_test({f"NDCG@{k}": 0.5 for k in range(1, 11)})
    QCoreApplication.processEvents()
    label = panel._test
    assert (
        label.height()
        >= label.heightForWidth(label.width())
        > 2 * label.fontMetrics().height()
    )


def test_gain_gives_way_in_a_narrow_panel(panel):
    assert not panel.table.isColumnHidden(4)
    panel.resize(330, 400)
    assert panel.table.isColumnHidden(4)


def test_a_wider_panel_never_shows_less_of_a_name(panel):
    long = (
        "LMIR with Dirichlet smoothing of the anchor text",
        "twenty",
        "thirty",
        "forty",
    )
    panel.show_path(make_path((0, 2, 3)), IDS, long, "MAP", 1)
    column = [column.key for column in panel.table.rows_model.columns].index("name")
    needed = panel.table.fontMetrics().horizontalAdvance(long[0]) + 2 * PAD
    shown = []
    for width in range(340, 760, 20):
        panel.resize(width, 400)
        QCoreApplication.processEvents()
        shown.append(min(needed, panel.table.columnWidth(column)))
    assert shown == sorted(shown) and shown[-1] == needed > shown[0]


def test_an_empty_table_says_how_to_fill_it(panel):
    panel.clear("Look at one fold.")
    assert panel.table.placeholder == "Look at one fold."
    panel.clear()
    assert panel.table.placeholder.startswith("Run a method")


@pytest.mark.parametrize(
    ("kind", "measured", "caption"),
    [
        (StepKind.FEATURES, [0.4], "k = 4 of 4 · MAP 0.4000"),  # of a ranker
        (StepKind.ITERATIONS, [0.4, 0.5, 0.6], "k = 4 of 4 · MAP 0.6000"),
        (StepKind.ROUNDS, [0.4, 0.5, 0.6], "k = 4 · round 3 · MAP 0.6000"),
    ],
)
def test_rows_that_are_no_models_can_be_looked_at_and_change_no_k(
    panel, told, kind, measured, caption
):
    steps = [step(i, range(4), EVERY, 0.5 / i) for i in range(1, len(measured) + 1)]
    panel.show_path(path_of(steps, measured, kind), IDS, NAMES, "MAP", len(steps) - 1)
    assert panel.table.current().feature_id == 20
    QTest.keyClick(panel.table, Qt.Key.Key_Down)
    assert told == [("inspected", 30)]
    assert panel.caption() == caption


def test_a_step_of_several_features_is_marked_by_its_last(panel):
    steps = [
        step(i, (3, 1, 0, 2)[:k], [0.1, -0.6, 0.3, 0.2][:k], 1.0 / i)
        for i, k in ((1, 2), (2, 4))
    ]
    panel.show_path(path_of(steps, [0.4, 0.5]), IDS, NAMES, "MAP", 0)
    assert panel.table.current().rank == 2
    assert panel.caption() == "k = 2 of 4 · MAP 0.4000"


class _Used(Step):
    linear = False


def test_a_model_that_is_not_linear_has_importances_and_no_weights(panel):
    def header():
        return [column.title for column in panel.table.rows_model.columns]

    path = make_path()
    used = [
        _Used(s.number, s.selected, np.abs(s.coef), s.criterion, s.candidates)
        for s in path.steps
    ]
    panel.show_path(replace(path, steps=HeldSteps(used)), IDS, NAMES, "MAP", 1)
    assert "importance" in header()
    assert "weight" not in header()
    assert texts(panel)[0][header().index("importance")] == "0.5"
    panel.show_path(path, IDS, NAMES, "MAP", 1)
    assert "weight" in header()


def shown_columns(panel):
    columns = panel.table.rows_model.columns
    return [
        column.key
        for i, column in enumerate(columns)
        if not panel.table.isColumnHidden(i)
    ]


def test_a_column_without_a_value_is_left_out(panel):
    assert "after" in shown_columns(panel)
    steps = [step(i, range(4), EVERY, 0.5 / i) for i in (1, 2)]
    panel.show_path(path_of(steps, kind=StepKind.ITERATIONS), IDS, NAMES, "MAP", 1)
    assert "after" not in shown_columns(panel)
    panel.show_path(make_path(), IDS, NAMES, "MAP", 1)
    assert "after" in shown_columns(panel)


def test_rounds_that_bring_several_features_are_no_measure_of_one(panel):
    def shown_of(*coefs):
        used = [np.flatnonzero(coef).tolist() for coef in coefs]
        steps = [
            step(i, on, np.array(coefs[i - 1])[on], 0.5 / i)
            for i, on in enumerate(used, start=1)
        ]
        path = path_of(steps, [0.4, 0.5, 0.6][: len(steps)], StepKind.ROUNDS)
        panel.show_path(path, IDS, NAMES, "MAP", 1)
        return shown_columns(panel)

    assert "after" not in shown_of([0.1, 0.9, 0.2, 0.0], [0.1, 0.9, 0.5, 0.2])
    assert "after" in shown_of(
        [0.1, 0.0, 0.0, 0.0], [0.1, 0.9, 0.0, 0.0], [0.1, 0.9, 0.5, 0.2]
    )


def test_other_columns_give_way_to_long_names_and_their_numbers_are_said(panel):
    names = ("LMIR.DIR of whole document", "two", "three", "four")
    panel.show_path(make_path(), IDS, names, "MAP", 1)
    widest = panel.table.fontMetrics().horizontalAdvance(names[0]) + 2 * 8
    seen = []
    for width in range(600, 300, -10):
        panel.resize(width, 400)
        QCoreApplication.processEvents()
        assert panel.table.columnWidth(2) >= widest or width < 380
        if shown_columns(panel) not in seen:
            seen.append(shown_columns(panel))
    assert seen == [
        ["rank", "feature_id", "name", "weight", "gain", "after"],
        ["rank", "feature_id", "name", "weight", "after"],
        ["rank", "feature_id", "name", "after"],
    ], "the id stays: features are pinned and banned here"
    name = panel.table.rows_model.columns[2]
    assert (
        name.hint(panel.table.rows()[0])
        == "30 three\nweight 0.5\npinned: in every model"
    )


def test_the_empty_path_fits_in_a_small_window(window: MainWindow) -> None:
    """Catches a header that is cut, and a bar to scroll nothing, before the first run."""
    window.resize(1280, 760)
    window.workspace.show_page("select")
    settle(window)
    panels = [
        panel for panel in window.findChildren(FeaturesPanel) if panel.isVisible()
    ]
    assert panels and not any(panel.table.rows() for panel in panels)
    for panel in panels:
        weight = next(
            n
            for n, column in enumerate(panel.table.rows_model.columns)
            if column.key == "weight"
        )
        narrow = panel.table.columnWidth(weight)
        # as at each start: what had given way to the names came back
        panel.table.restore_widths("")
        assert panel.table.columnWidth(weight) == narrow
    assert [panel.table.horizontalScrollBar().maximum() for panel in panels] == [
        0
    ] * len(panels)
