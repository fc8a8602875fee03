"""Tables: cells, sorting, what is chosen, files and keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QGuiApplication, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QFileDialog,
    QMenu,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)
from walks.user import User
from wording import naming

from rankstudio.engine.errors import OutputError
from rankstudio.ui.style import palettes
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Dot, ProgressCell, TableView
from rankstudio.ui.widgets.columns import is_missing
from rankstudio.ui.widgets.table import PAD, Cells, RowAction

NAN = float("nan")


@dataclass(frozen=True)
class Feature:
    id: int
    name: str
    weight: float
    gain: float | None = None
    pinned: bool = False


ROWS = [
    Feature(39, "LMIR.DIR of whole document", 0.24, 10.0),
    Feature(7, "BM25 of title", -0.3123456789, 9.0, pinned=True),
    Feature(25, "bm25, of anchor", NAN, None),
    Feature(23, "LMIR.DIR of body", 0.1, 100.0),
]
COLUMNS = [
    Column("dot", "", kind="dot", value=lambda row: Dot(row.id % 7), width=30),
    Column("id", "id", align="right", tone="muted"),
    Column(
        "name",
        "feature",
        stretch=True,
        mark=lambda row: row.pinned,
        bold=lambda row: row.id == 39,
    ),
    Column("weight", "weight", kind="weight"),
    Column(
        "gain", "gain", align="right", format=".1f", tooltip="What the criterion gained"
    ),
]


def click(table, row, column=2):
    at = table.visualRect(table.model().index(row, column)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)


@pytest.fixture
def table(theme, stage):
    made = TableView(theme, COLUMNS, "features-table", identity=lambda row: row.id)
    stage(made, 460, 200)
    made.set_rows(ROWS)
    return made


@pytest.fixture
def chosen(table):
    told = []
    table.chosen.connect(lambda row: told.append(row.id))
    return told


def ids(table):
    return [row.id for row in table.rows()]


def shown(table, row):
    model = table.model()
    return [model.index(row, column).data() for column in range(model.columnCount())]


def test_cells_are_formatted_and_what_is_missing_is_a_dash(table):
    assert shown(table, 0) == ["", "39", "LMIR.DIR of whole document", "+0.24", "10.0"]
    assert shown(table, 1)[3] == "−0.31"
    assert shown(table, 2)[3:] == ["–", "–"]
    assert is_missing(None) and is_missing(NAN) and not is_missing(0)


def test_numbers_sort_as_numbers_and_missing_ones_stay_at_the_end(table):
    table.sortByColumn(4, Qt.SortOrder.AscendingOrder)
    assert ids(table) == [7, 39, 23, 25]
    table.sortByColumn(4, Qt.SortOrder.DescendingOrder)
    assert ids(table) == [23, 39, 7, 25]
    table.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    assert ids(table) == [7, 25, 23, 39]
    table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
    assert ids(table) == [39, 7, 25, 23]


def many(theme, stage, n=300):
    """Return a table of many rows in no order, and the rows that are asked what they sort by."""
    asked = []
    rows = [Feature(7 * i % n, f"feature {i}", i / n) for i in range(n)]
    columns = [
        Column("id", "id", sort=lambda row: asked.append(row) or row.id),
        Column("name", "name"),
    ]
    table = TableView(theme, columns, "many", identity=lambda row: row.name)
    stage(table, 300, 200)
    table.set_rows(rows)
    return table, rows, asked


def test_sorting_asks_each_row_once(theme, stage):
    """Qt's own proxy asks two rows for each comparison, in Python: a second for 2,000 rows."""
    table, rows, asked = many(theme, stage)
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        table.sortByColumn(0, order)
        assert len(asked) == len(rows)
        asked.clear()
    assert ids(table) == list(range(299, -1, -1))


def test_the_widths_of_columns_come_from_the_first_rows(theme, stage, monkeypatch):
    measured = []
    size = Cells.sizeHint
    monkeypatch.setattr(
        Cells, "sizeHint", lambda *given: measured.append(1) or size(*given)
    )
    many(theme, stage, 3000)
    assert len(measured) < 500


def test_equal_rows_keep_the_order_in_which_they_were_given(table):
    same = [Feature(i, "same", 0.0, 1.0 if i < 3 else None) for i in range(5)]
    table.set_rows(same)
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        for column in (2, 3, 4):
            table.sortByColumn(column, order)
            assert ids(table) == [0, 1, 2, 3, 4]


def test_the_chosen_row_and_the_selected_ones_move_with_the_sorting(table, chosen):
    click(table, 1)
    QTest.keyClick(table, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    chosen.clear()
    table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    assert ids(table) == [39, 25, 23, 7]
    assert table.current() is ROWS[2]
    assert [line.split("\t")[0] for line in table.selection_as_tsv().splitlines()] == [
        "id",
        "25",
        "7",
    ]
    assert chosen == []


def test_new_contents_are_sorted_as_the_old_ones_were(table, chosen):
    click(table, 1)
    chosen.clear()
    table.sortByColumn(4, Qt.SortOrder.AscendingOrder)
    assert ids(table) == [7, 39, 23, 25]
    table.set_rows(
        [Feature(row.id, row.name, row.weight, -(row.gain or 0.0)) for row in ROWS]
    )
    assert ids(table) == [23, 39, 7, 25]
    assert table.current().id == 7
    table.set_rows(ROWS[:2])
    assert ids(table) == [7, 39]
    assert chosen == []


def test_the_header_sorts_on_a_click(table):
    header = table.horizontalHeader()
    at = QPoint(header.sectionViewportPosition(1) + 8, 10)
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert ids(table) == [7, 23, 25, 39]


def test_the_user_s_choice_is_told_the_program_s_is_not(table, chosen):
    click(table, 1)
    QTest.keyClick(table, Qt.Key.Key_Down)
    table.select(ROWS[3])
    assert chosen == [7, 25]
    assert table.current() is ROWS[3]
    table.select(None)
    assert table.current() is None


def test_a_click_tells_row_and_column(table):
    told = []
    table.cellClicked.connect(lambda row, key: told.append((row.id, key)))
    click(table, 2, 3)
    assert told == [(25, "weight")]


def test_new_contents_of_the_same_rows_keep_choice_and_scroll_and_tell_nobody(
    table, chosen
):
    click(table, 1)
    chosen.clear()
    news = [Feature(row.id, row.name, 5.0) for row in ROWS]
    table.set_rows(news)
    assert table.current() is news[1]
    assert shown(table, 1)[3] == "+5.00"
    table.set_rows(news[::-1][:3])
    assert table.current() is news[1]
    table.set_rows(news[2:])
    assert table.current() is None
    assert chosen == []


def test_the_menu_has_the_row_s_own_actions_first(table):
    table.row_actions = lambda row: [RowAction(f"Pin {row.id}", table.copy)]
    texts = [action.text() for action in table.menu(ROWS[0]).actions()]
    always = [
        "Copy",
        "Copy as LaTeX",
        "Copy as Markdown",
        "Save as CSV, LaTeX or Markdown…",
    ]
    assert texts == ["Pin 39", "", *always]
    assert [action.text() for action in table.menu().actions()] == always


def pixels(table, row, column):
    rect = table.visualRect(table.model().index(row, column))
    image = table.viewport().grab(rect).toImage()
    return [
        image.pixelColor(x, y).name()
        for x in range(image.width())
        for y in range(image.height())
    ]


def spots(table, row, column, color):
    """Return where in a cell a colour is, as pixels from its left edge."""
    rect = table.visualRect(table.model().index(row, column))
    image = table.viewport().grab(rect).toImage()
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return [x for x, y in places if image.pixelColor(x, y).name() == color]


def test_bars_go_from_zero_and_negative_ones_to_the_left_in_another_colour(
    table, theme
):
    above, below = (palettes.category(theme.colors, i).color.name() for i in (0, 2))
    positive, small = spots(table, 0, 3, above), spots(table, 3, 3, above)
    assert len(positive) > 1.8 * len(small) > 0
    negative = spots(table, 1, 3, below)
    assert len(negative) > len(positive)
    assert max(negative) <= min(positive) == min(small)
    assert not spots(table, 1, 3, above)
    assert not spots(table, 2, 3, above)


def test_without_negative_weights_zero_is_at_the_left(table, theme):
    table.set_rows([row for row in ROWS if row.weight > 0])
    color = palettes.category(theme.colors, 0).color.name()
    assert min(spots(table, 0, 3, color)) <= PAD + 1


def test_marks_and_dots_are_drawn(table, theme):
    assert theme.colors.accent in pixels(table, 1, 2)
    assert theme.colors.accent not in pixels(table, 0, 2)
    assert palettes.category(theme.colors, 39 % 7).color.name() in pixels(table, 0, 0)


def test_a_chosen_row_is_tinted_in_both_themes(table, theme):
    click(table, 1)
    QTest.mouseMove(table.viewport(), QPoint(5, 195))
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        assert pixels(table, 1, 4)[0] == QColor(theme.colors.tint).name()
        assert theme.colors.tint not in pixels(table, 3, 4)


def test_the_row_under_the_mouse_lights_up(table, theme):
    before = pixels(table, 2, 4)[0]
    QTest.mouseMove(
        table.viewport(), table.visualRect(table.model().index(2, 0)).center()
    )
    assert pixels(table, 2, 4)[0] == theme.colors.inset != before


def test_progress_shows_a_bar_and_its_text(theme, stage):
    column = Column(
        "status", "status", kind="progress", value=lambda row: row[0], width=200
    )
    table = TableView(theme, [column], "runs")
    stage(table, 240, 120)
    table.set_rows([(ProgressCell(0.5, "0:12 left"),), ("done",), (ProgressCell(1.0),)])
    assert [shown(table, i)[0] for i in range(3)] == ["0:12 left", "done", ""]
    half, none, full = (
        pixels(table, i, 0).count(theme.colors.accent) for i in range(3)
    )
    assert none == 0 < half < full
    table.sortByColumn(0, Qt.SortOrder.AscendingOrder)  # bars and words mixed: no error
    assert table.rows_as_csv().splitlines()[0] == "status"


def test_texts_that_are_cut_off_show_as_tooltips(table, monkeypatch):
    told = []
    monkeypatch.setattr(QToolTip, "showText", lambda _at, text, *_: told.append(text))
    table.setColumnWidth(2, 60)
    table.horizontalHeader().setStretchLastSection(False)
    table.resize(240, 200)
    event = QHelpEvent(QHelpEvent.Type.ToolTip, QPoint(), QPoint())
    for column in (1, 2):
        index = table.model().index(0, column)
        table.itemDelegate().helpEvent(event, table, QStyleOptionViewItem(), index)
    assert told == ["", "LMIR.DIR of whole document"]


def test_names_that_do_not_fit_are_told_apart_by_their_ends(theme, stage):
    columns = [Column("id", "id", width=40), Column("name", "feature", stretch=True)]
    table = TableView(theme, columns, "names", identity=lambda row: row.id)
    stage(table, 260, 120)
    common = "Covered query term number of the whole "
    pictures = []
    for end in ("body", "title"):
        table.set_rows([Feature(1, common + end, 0.0)])
        pictures.append(table.grab().toImage())
    assert pictures[0] != pictures[1]


def test_rows_are_29_pixels_and_names_are_there_for_screen_readers(table):
    assert table.rowHeight(0) == table.horizontalHeader().height() == 29
    assert not table.tabKeyNavigation(), "Tab leaves the table"
    assert table.objectName() == "features-table"
    assert table.accessibleName() == "features table"
    assert table.model().headerData(
        4, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
    )


def test_an_empty_table_says_what_will_be_here(theme, stage):
    table = TableView(theme, COLUMNS, "empty")
    stage(table, 300, 120)
    blank = table.viewport().grab().toImage()
    table.placeholder = "No run yet."
    assert table.viewport().grab().toImage() != blank


def test_an_empty_table_shows_that_the_keyboard_is_there(theme, stage):
    table = TableView(theme, COLUMNS, "empty")
    stage(table, 300, 120)
    table.clearFocus()
    blank = table.viewport().grab().toImage()
    table.setFocus(Qt.FocusReason.TabFocusReason)
    assert table.viewport().grab().toImage() != blank


def test_other_columns_of_the_same_rows(table, chosen):
    click(table, 1)
    chosen.clear()
    table.set_columns([Column("name", "feature", stretch=True), Column("id", "id")])
    assert shown(table, 0) == ["LMIR.DIR of whole document", "39"]
    assert table.current() is ROWS[1]
    assert chosen == []


def test_mappings_are_rows_too(theme, stage):
    table = TableView(
        theme, [Column("a", "A"), Column("b", "B", format=str.upper)], "mappings"
    )
    stage(table)
    table.set_rows([{"a": 1, "b": "x"}])
    assert shown(table, 0) == ["1", "X"]


def test_a_column_that_was_dragged_keeps_its_width(table, stage, theme):
    header = table.horizontalHeader()
    edge = QPoint(header.sectionViewportPosition(1) + header.sectionSize(1) - 1, 10)
    before = header.sectionSize(1)
    table.set_rows(ROWS[:2])
    assert table.widths.as_text() == "", "nobody dragged anything"
    QTest.mousePress(header.viewport(), Qt.MouseButton.LeftButton, pos=edge)
    QTest.mouseMove(header.viewport(), edge + QPoint(40, 0))
    QTest.mouseRelease(
        header.viewport(), Qt.MouseButton.LeftButton, pos=edge + QPoint(40, 0)
    )
    dragged = header.sectionSize(1)
    assert dragged > before
    table.set_rows(ROWS)
    assert header.sectionSize(1) == dragged
    other = stage(TableView(theme, COLUMNS, "features-table"), 460, 200)
    other.restore_widths(table.widths.as_text())
    assert other.horizontalHeader().sectionSize(1) == dragged


@pytest.mark.parametrize(
    "text",
    ["", "[", "[1]", '{"id": "wide"}', '{"id": -3, "gain": 1e9}', "null", "[" * 10**5],
)
def test_damaged_widths_are_not_believed(table, text):
    before = [table.columnWidth(i) for i in range(5)]
    table.restore_widths(text)
    assert [table.columnWidth(i) for i in range(5)] == before
    assert table.widths.as_text() == ""


def test_rows_grow_with_the_text(table, theme):
    height = table.rowHeight(0)
    theme.set_text_size(18)
    try:
        assert table.rowHeight(0) == round(height * 18 / 13)
        assert table.horizontalHeader().height() == table.rowHeight(0)
    finally:
        theme.set_text_size(13)
    assert table.rowHeight(0) == height


def test_copying_takes_the_selected_rows_with_a_header_and_all_digits(table):
    click(table, 1)
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == (
        "id\tfeature\tweight\tgain\n7\tBM25 of title\t-0.3123456789\t9.0\n"
    )


def test_copying_without_a_selection_takes_everything_in_the_order_shown(table):
    table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    table.copy()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["id", "7", "23", "25", "39"]


def test_csv_is_the_whole_table_quoted_where_needed(table, tmp_path):
    table.export(tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text(encoding="utf-8")
    assert text == table.rows_as_csv()
    assert text.splitlines()[3] == '25,"bm25, of anchor",,'


def test_latex_and_markdown_have_the_digits_that_are_shown(table, tmp_path):
    copied = []
    for action in table.menu().actions()[1:3]:
        action.trigger()
        copied.append(QGuiApplication.clipboard().text())
    for name in ("a.tex", "a.md"):
        table.export(tmp_path / name)
    assert copied == [
        (tmp_path / name).read_text(encoding="utf-8") for name in ("a.tex", "a.md")
    ]
    latex, markdown = (text.splitlines() for text in copied)
    assert r"\begin{tabular}{rllr}" in latex
    assert r"7 & BM25 of title & $-$0.31 & 9.0 \\" in latex
    cells = [
        [cell.strip(" -") for cell in line.split("|")[1:-1]] for line in markdown[1:4:2]
    ]
    assert cells == [[":", "", "", ":"], ["7", "BM25 of title", "−0.31", "9.0"]]


def test_saving_takes_the_format_that_was_chosen(table, tmp_path, monkeypatch):
    answer = (str(tmp_path / "a"), "LaTeX (*.tex)")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    table.save_as()
    assert (tmp_path / "a.tex").read_text(encoding="utf-8") == table.rows_as(".tex")


def test_saving_says_when_it_cannot(table, tmp_path, monkeypatch):
    said = []
    table.failed.connect(said.append)
    for name in ("a", "no/b.csv", ""):
        answer = (str(tmp_path / name) if name else "", "CSV (*.csv)")
        monkeypatch.setattr(
            QFileDialog, "getSaveFileName", lambda *_, answer=answer: answer
        )
        table.save_as()
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
    assert len(said) == 1 and naming("b.csv").search(said[0])
    with pytest.raises(OutputError):
        table.export(tmp_path / "no" / "b.csv")


@pytest.fixture
def numbers(theme: Theme, stage: Callable[..., QWidget]) -> TableView:
    columns = (
        Column("real", "number", value=lambda n: n),
        Column("twice", "twice", value=lambda n: 2 * n),
    )
    made = TableView(theme, columns, "numbers-table")
    made.set_rows(range(9))
    stage(made, 300, 400)
    made.select(4)
    return made


def test_home_and_end_lead_to_the_first_and_the_last_row(numbers: TableView) -> None:
    heard: list[int] = []
    numbers.chosen.connect(heard.append)
    for key, row in ((Qt.Key.Key_Home, 0), (Qt.Key.Key_End, 8)):
        QTest.keyClick(numbers, key)
        assert numbers.current() == row
        assert [index.row() for index in numbers.selectionModel().selectedRows()] == [
            row
        ]
    assert heard == [0, 8]


@pytest.mark.parametrize("row", [0, 7])
def test_the_menu_key_opens_the_menu_of_the_chosen_row(
    numbers: TableView, row: int
) -> None:
    asked: list[object] = []
    numbers.row_actions = lambda one: asked.append(one) or ()
    places: list[QPoint] = []

    def look(menu: QMenu) -> None:
        places.append(menu.pos())
        menu.close()

    numbers.select(row)
    middle = numbers.rect().center()
    event = QContextMenuEvent(
        QContextMenuEvent.Reason.Keyboard, middle, numbers.mapToGlobal(middle)
    )
    User().doing(lambda: QCoreApplication.sendEvent(numbers, event), look, QMenu)
    assert asked == [row]
    room = numbers.visualRect(numbers.currentIndex())
    assert places == [numbers.viewport().mapToGlobal(room.bottomLeft())]


@pytest.fixture
def long(theme: Theme, stage: Callable[..., QWidget]) -> TableView:
    """A table of many rows whose owner marks each chosen row, as every page of the window does."""
    column = Column("real", "number", value=lambda n: n)
    made = TableView(theme, (column,), "numbers-table", identity=lambda n: n)
    made.set_rows(range(200))
    stage(made, 300, 400)
    made.chosen.connect(made.select)
    return made


def row_at(table: TableView, y: int) -> int:
    return table.indexAt(QPoint(20, y)).row()


def highlighted(table: TableView) -> list[int]:
    return sorted(index.row() for index in table.selectionModel().selectedRows())


@pytest.mark.parametrize("y", [45, 200, 300])
def test_the_row_under_the_mouse_is_highlighted_in_a_scrolled_table(
    long: TableView, y: int
) -> None:
    """Marking the chosen row scrolled the table in the middle of the press: another row was highlighted."""
    heard: list[int] = []
    long.chosen.connect(heard.append)
    for offset in (1000, 2017, 2600):
        long.verticalScrollBar().setValue(offset)
        row = row_at(long, y)
        QTest.mouseClick(long.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, y))
        assert heard[-1] == row == long.current()
        assert highlighted(long) == [row]
        # the row stays under the mouse: a second click means the same
        assert row_at(long, y) == row
    assert len(heard) == 3


def is_in_sight(table: TableView) -> bool:
    rect = table.visualRect(table.currentIndex())
    return (
        rect.isValid()
        and rect.top() >= 0
        and rect.bottom() <= table.viewport().height()
    )


def test_rows_above_the_chosen_one_leave_it_in_sight(long: TableView) -> None:
    long.select(20)
    assert is_in_sight(long)
    long.set_rows(range(-10, 200))
    assert long.current() == 20 and is_in_sight(long)
    long.verticalScrollBar().setValue(2000)
    long.set_rows(range(-20, 200))
    assert long.verticalScrollBar().value() == 2000  # the user scrolled away from it


def test_a_hand_that_trembles_highlights_no_more_rows(long: TableView) -> None:
    long.verticalScrollBar().setValue(1700)
    row = row_at(long, 150)
    QTest.mousePress(long.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, 150))
    QTest.mouseMove(long.viewport(), QPoint(21, 151))
    QTest.mouseRelease(long.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(21, 151))
    assert highlighted(long) == [row] == [long.current()]


def test_several_rows_stay_highlighted_whose_last_one_is_the_chosen_one(
    long: TableView,
) -> None:
    long.verticalScrollBar().setValue(1700)
    first, last = row_at(long, 60), row_at(long, 300)
    QTest.mouseClick(long.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, 60))
    shift = Qt.KeyboardModifier.ShiftModifier
    QTest.mouseClick(
        long.viewport(), Qt.MouseButton.LeftButton, shift, pos=QPoint(20, 300)
    )
    assert highlighted(long) == list(range(first, last + 1))
    assert long.current() == last
    QTest.keyClick(long, Qt.Key.Key_Down, shift)
    assert highlighted(long) == list(range(first, last + 2))
    assert long.current() == last + 1


def test_the_chosen_row_is_always_a_highlighted_one(long: TableView) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    heard: list[int] = []
    for y in (60, 120, 180):
        QTest.mouseClick(
            long.viewport(), Qt.MouseButton.LeftButton, control, pos=QPoint(20, y)
        )
    rows = [row_at(long, y) for y in (60, 120, 180)]
    assert highlighted(long) == rows
    long.chosen.connect(heard.append)
    QTest.mouseClick(
        long.viewport(), Qt.MouseButton.LeftButton, control, pos=QPoint(20, 120)
    )
    assert highlighted(long) == [rows[0], rows[2]]
    assert long.current() in (rows[0], rows[2])
    assert heard in ([], [long.current()])
    for y in (60, 180):
        QTest.mouseClick(
            long.viewport(), Qt.MouseButton.LeftButton, control, pos=QPoint(20, y)
        )
        assert long.current() in highlighted(long)


def test_a_press_on_rows_that_are_replaced_by_it_keeps_the_row(long: TableView) -> None:
    """What is shown of another run may list its rows anew, in another order."""
    long.chosen.connect(lambda row: long.set_rows([row, *range(300, 500)]))
    long.verticalScrollBar().setValue(1700)
    row = row_at(long, 150)
    QTest.mouseClick(long.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, 150))
    assert long.current() == row
    assert highlighted(long) == [0]


def test_a_row_that_is_not_listed_leaves_none_highlighted(long: TableView) -> None:
    long.select(7)
    long.select(1000)
    assert long.current() is None
    assert highlighted(long) == []


def test_the_keyboard_chooses_no_row_by_coming(long: TableView, theme: Theme) -> None:
    """Where none is shown, none is highlighted; the ring says where the arrow keys begin."""
    heard: list[int] = []
    long.chosen.connect(heard.append)
    long.setFocus(Qt.FocusReason.TabFocusReason)
    assert heard == []
    assert highlighted(long) == []
    assert long.current() is None
    QTest.keyClick(long, Qt.Key.Key_Down)
    assert [long.current()] == heard == highlighted(long)
