"""The table widget of all pages: it is sortable, copied by Ctrl+C, and saved as CSV, LaTeX or Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QDrag,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QHelpEvent,
    QIcon,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QToolTip,
)

from rankstudio.engine.support.files import write_bytes
from rankstudio.ui.language import tr
from rankstudio.ui.process.files_read import save_as
from rankstudio.ui.style import palettes
from rankstudio.ui.style.fonts import BASE, BELOW, SMALL, font, scaled
from rankstudio.ui.style.icons import icon
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.shared import NOT_SHARED, Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.columns import (
    FLAGS,
    FORMATS,
    MISSING,
    PAD,
    ROW_ROLE,
    Column,
    ColumnModel,
    Dot,
    Heading,
    HistogramCell,
    Index,
    ProgressCell,
    Row,
    Tick,
    separated_text,
    table_text,
)
from rankstudio.ui.widgets.frozen import FrozenHeader
from rankstudio.ui.widgets.headings import HeadingBar, HeadingBars
from rankstudio.ui.widgets.layout import named

# pixels of a column; a width in the settings outside these bounds is damaged
_MIN_WIDTH = 16
_MAX_WIDTH = 4000


class ColumnWidths(QObject):
    """Remembers the widths that the user gave to columns of a table.

    Parameters
    ----------
    header : QHeaderView
        The header of the table.
    key_of : callable
        Returns the key of a column, by the number of its section in the header.
    """

    def __init__(self, header: QHeaderView, key_of: Callable[[int], str]) -> None:
        super().__init__(header)
        self._key_of = key_of
        self._is_header_pressed = False
        self._widths: dict[str, int] = {}  # pixels, by the keys of the columns

        # The mouse events of a header arrive at its viewport.
        header.viewport().installEventFilter(self)
        header.sectionResized.connect(self._remember_width)

    def of(self, key: str) -> int:
        """Return the width that the user gave to a column; 0 for none."""
        return self._widths.get(key, 0)

    def as_text(self) -> str:
        """Return the widths as text for the settings.

        Return "" if the user has changed none.
        """
        return json.dumps(self._widths) if self._widths else ""

    def restore(self, text: str) -> None:
        """Take over the widths from the settings.

        ``text`` is a JSON object of widths in pixels by the keys of
        columns. Damaged entries are left out; without a valid text
        there are no widths.
        """
        # Deeply nested brackets of a damaged text exceed Python's recursion limit.
        try:
            widths = json.loads(text)
        except (ValueError, RecursionError):
            widths = {}
        items = widths.items() if isinstance(widths, dict) else ()
        self._widths = {
            key: width
            for key, width in items
            if isinstance(width, int) and _MIN_WIDTH <= width <= _MAX_WIDTH
        }

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Track whether the mouse is pressed on the header: only then is a new width the user's.

        ``watched`` is the header. Return False, which leaves the event
        to the header.
        """
        if event.type() in (
            QEvent.Type.MouseButtonPress,
            QEvent.Type.MouseButtonDblClick,
        ):
            self._is_header_pressed = True
        elif event.type() == QEvent.Type.MouseButtonRelease:
            self._is_header_pressed = False
        return False

    @Slot(int, int, int)
    def _remember_width(self, section: int, old_width: int, width: int) -> None:
        """Store the new width of a column if the user has set it with the mouse.

        ``section`` is the position of the column in the header.
        """
        # A width of 0 means that the column is being hidden or shown.
        if self._is_header_pressed and old_width and width:
            self._widths[self._key_of(section)] = max(_MIN_WIDTH, width)


def given_width(column: Column) -> int:
    """Return a column's own width, at least that of its title in the present language.

    The width is in pixels. Return 0 for a column whose width is that of
    its texts.
    """
    return max(scaled(column.width), title_width(column.title)) if column.width else 0


def _least_width(column: Column) -> int:
    """Return the least width of a column that stretches, with which its names can be distinguished."""
    return max(title_width(column.title), scaled(column.least or _LEAST_STRETCHED))


def title_width(title: str) -> int:
    """Return the width of a header with a title, without room for the arrow of a sorted column."""
    # The font size is a key of the cache only.
    return _title_width(title, scaled(SMALL))


# called a hundred times whenever the width of a table or of a column changes
@lru_cache(maxsize=1024)
def _title_width(title: str, _pixels: int) -> int:
    """Return the width of a title in the present size of text, which ``_pixels`` stands for."""
    return QFontMetrics(font(SMALL)).horizontalAdvance(title) + 2 * PAD + 2


ROW_HEIGHT = 29
"""Height of a row in logical pixels, for text of ordinary size."""
_HIGHLIGHT_ROW = (
    QItemSelectionModel.SelectionFlag.ClearAndSelect
    | QItemSelectionModel.SelectionFlag.Rows
)
_NO_HIGHLIGHT = QItemSelectionModel.SelectionFlag.NoUpdate
_WIDEST = 320  # pixels of a column whose width is that of its texts
# pixels with which names can be distinguished; below that the table scrolls
_LEAST_STRETCHED = 72
# pixels of the picture of a row that is dragged: its id and its name
_DRAGGED_WIDTH = 200
_ROWS_MEASURED = 100  # rows that decide on the width of a column without a given width
_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
WEIGHT_BAR = 44  # pixels of the longest bar of a weight
_BAR = 7.0  # height of that bar
_SELECTED = QStyle.StateFlag.State_Selected.value
_FOCUSED = QStyle.StateFlag.State_HasFocus.value


@dataclass(frozen=True)
class RowAction:
    """An action on a row of a table: an entry of the table's context menu.

    Attributes
    ----------
    text : str
    do : callable
        Called without arguments to carry out the action.
    icon : str
        Name of an icon; "" for none.
    enabled : bool
        Whether the user can choose the action now.
    """

    text: str
    do: Callable[[], object]
    icon: str = ""
    enabled: bool = True


class TableView(QTableView):
    """A table of row objects, whose columns are described by `Column`.

    Several rows can be highlighted, for actions on all of them. One of
    the highlighted rows is the chosen one: the last to which the user
    moved.

    Parameters
    ----------
    theme : Theme
    columns : sequence of Column
        The columns, from left to right.
    name : str
        Object name by which the window finds the table.
    identity : callable, optional
        Returns the identity of a row object, by which the selection is
        kept when rows change.
    accessible_name : str
        Name for screen readers; by default made of the object name.
    placeholder, shared, feature_of
        Initial values of the attributes of these names.

    Attributes
    ----------
    chosen : Signal(object)
        The row object that the user moved to; not emitted by `select`.
    cellClicked : Signal(object, str)
        Row object and column key of a clicked cell.
    confirmed : Signal(object)
        The row object that was double-clicked, or on which Enter was pressed.
    toggled : Signal(object)
        In a table with a column of ticks, a row object whose tick was
        clicked, or which is highlighted when Space is pressed.
    pointed : Signal(object)
        The row object under the mouse; None for none.
    dragging : Signal(object)
        The row object that the user drags; None at the end of the drag.
    headingFolded, headingLinked : Signal(object)
        Key of a heading whose rows are to be folded or unfolded, or
        whose link was pressed.
    failed : Signal(str)
        An error message, when saving did not work.
    widths : ColumnWidths
        Widths that the user gave to columns.
    placeholder : str
        Text of the table while it has no rows.
    shared : Shared
        Entry of the table in the list of exports; by default the table
        is not listed.
    row_actions : callable
        Returns the actions on a row object that its context menu offers first.
    feature_of : callable or None
        Returns the id of a row object's feature, where rows are features.
    written_first : sequence of Column
        Columns that come first in files and on the clipboard, and are
        not shown, as headings contain them.
    dragged : callable or None
        Returns the data that a drag of a row object carries; None if
        rows cannot be dragged. If rows can be dragged, a row is chosen
        when the mouse is released: dragging a row does not choose it.
    """

    chosen = Signal(object)
    cellClicked = Signal(object, str)
    confirmed = Signal(object)
    toggled = Signal(object)
    pointed = Signal(object)
    dragging = Signal(object)
    headingFolded = Signal(object)
    headingLinked = Signal(object)
    failed = Signal(str)

    def __init__(
        self,
        theme: Theme,
        columns: Sequence[Column],
        name: str,
        identity: Callable[[Row], Hashable] | None = None,
        *,
        accessible_name: str = "",
        placeholder: str = "",
        shared: Shared = NOT_SHARED,
        feature_of: Callable[[Row], int] | None = None,
    ) -> None:
        super().__init__()
        named(self, name, accessible_name or name.replace("-", " "))
        self.placeholder = placeholder  # text of an empty table
        self.shared = shared  # the entry in the list of exports
        self.feature_of = feature_of  # returns the id of the feature of a row

        # Actions of the context menu of a row, and the data of a drag of it.
        self.row_actions: Callable[[Row], Sequence[RowAction]] = lambda _: ()
        self.dragged: Callable[[Row], QMimeData] | None = None

        # Columns that are exported first, and not shown.
        self.written_first: Sequence[Column] = ()

        # A press that may begin a drag or a click.
        self._pending_press: QMouseEvent | None = None

        # Whether Qt has handled a press here, and no release yet.
        self._is_button_down = False

        # Whether to scroll to the chosen row when the table is shown.
        self._scrolls_when_shown = False

        # Whether Qt handles an event by which the user moves to another row.
        self._is_moving = False
        self.hovered_row = -1  # position of the row under the mouse, -1 for none

        # The placeholder if the table has no room for it, which is then the tooltip
        self._placeholder_tooltip = ""
        self._set_widths: dict[str, int] = {}  # by the key of the column

        # Keys of columns to hide, the first group first.
        self._spare_groups: tuple[Sequence[str], ...] = ()

        # Pixels that a column of names needs; spare columns are hidden for it.
        self._names_width = 0
        self._theme = theme
        self._focus_shown = False  # whether the focus came by a key, and is drawn
        self._is_quiet = False  # whether a change of the current row is not the user's
        self._identity = identity
        self.rows_model = ColumnModel(columns, identity, parent=self)
        self.setModel(self.rows_model)
        self.setItemDelegate(Cells(theme, self))
        self._header = FrozenHeader(self)
        self.setHorizontalHeader(self._header)
        self.widths = ColumnWidths(
            self.horizontalHeader(), lambda number: self.column_at(number).key
        )
        self._bars = HeadingBars(theme, self, self.rows_model)
        self._bars.folded.connect(self.headingFolded)
        self._bars.linked.connect(self.headingLinked)
        self._bars.entered.connect(self._leave_rows)
        self._configure()
        self._fit_columns()
        for signal in (self.rows_model.modelReset, self.rows_model.layoutChanged):
            signal.connect(self._bars.place)
        self.clicked.connect(self._on_clicked)
        self.doubleClicked.connect(self._on_confirmed)
        self.selectionModel().currentRowChanged.connect(self._on_current)
        theme.restyled.connect(self._follow_text)

    # Rows

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows; the chosen row stays chosen if it is among them."""
        with self._keeping_scroll_position() as chosen:
            # Whether these are other rows, rather than new contents.
            changed = self.rows_model.set_rows(rows)
            self._bars.place()
            if changed:
                self._fit_columns()
                if chosen is not None:
                    self._select(chosen)
        self.viewport().update()

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns of the same rows, unsorted."""
        with self._keeping_scroll_position() as chosen:
            self.rows_model.set_columns(columns)
            self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
            self._fit_columns()
            if chosen is not None:
                self._select(chosen)

    @contextmanager
    def _keeping_scroll_position(self) -> Iterator[Row | None]:
        """Keep the scroll position while a ``with`` block exchanges rows or columns.

        The block gets the chosen row, or None. Afterwards scroll back,
        and to the chosen row if that was visible. Rows that become
        current meanwhile are not choices of the user, and are not
        emitted as `chosen`.
        """
        chosen = self.current()
        value = self.verticalScrollBar().value()
        was_visible = chosen is not None and self._is_in_sight()
        self._is_quiet = True
        yield chosen
        if self.verticalScrollBar().value() != value:
            self.verticalScrollBar().setValue(value)
        if was_visible and not self._is_in_sight():
            self._bring_into_sight()
        self._is_quiet = False

    def set_spare(self, *groups: Sequence[str], names: int = 0) -> None:
        """Set the columns to hide where there is no room for all columns.

        Parameters
        ----------
        *groups : sequence of str
            Keys of columns that are hidden together; the first group is
            hidden first.
        names : int
            Pixels, for text of ordinary size, that a column without a
            width needs.
        """
        self._spare_groups = groups
        self._names_width = names
        self._fit_columns()

    def freeze(self, last: str) -> None:
        """Keep columns visible when the others are scrolled sideways.

        The first columns are kept, up to the column with the key
        ``last``. No column is kept if the table has no such column.
        """
        keys = [column.key for column in self.rows_model.columns]
        self._header.n_frozen = keys.index(last) + 1 if last in keys else 0
        self.viewport().update()

    def rows(self) -> list[Row]:
        """Return the row objects in the order in which they are shown, without headings."""
        return [
            row for row in self.rows_model.shown_rows() if not isinstance(row, Heading)
        ]

    def column_at(self, number: int) -> Column:
        """Return the column at a position, from 0."""
        return self.rows_model.columns[number]

    def current(self) -> Row | None:
        """Return the chosen row object; None if no row is chosen."""
        index = self.currentIndex()
        return index.data(ROW_ROLE) if self.selectionModel().isSelected(index) else None

    def selected(self) -> list[Row]:
        """Return the highlighted row objects in the order in which they are shown."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.rows_model.index(row, 0).data(ROW_ROLE) for row in rows]

    def select(self, row: Row | None, *, scroll: bool = True) -> None:
        """Choose a row and scroll to it (unless `scroll` is False), without emitting `chosen`.

        If the row is already the chosen one, other highlighted rows
        stay highlighted, and the table does not scroll to a visible
        row. Otherwise the table scrolls no further down than needed, so
        that rows above the chosen one are visible. None, or a row that
        the table does not have, leaves no row highlighted.
        """
        is_chosen = row is not None and self._is_chosen(row)
        self._is_quiet = True

        # `_select` makes the row the chosen one, unless it is not listed.
        if not is_chosen and (row is None or not self._select(row)):
            # If no row is highlighted, the row where the arrow keys begin stays.
            if self.selectionModel().hasSelection():
                self.clearSelection()
                self.setCurrentIndex(QModelIndex())
        elif scroll and not (is_chosen and self._is_in_sight()):
            self._bring_into_sight()
        self._is_quiet = False

    # Copying and saving

    def rows_as_csv(self) -> str:
        """Return the whole table as CSV, in the order shown, numbers with all their digits."""
        return self.rows_as(".csv")

    def selection_as_tsv(self) -> str:
        """Return the highlighted rows, or all rows if none is, as tab-separated text with a header."""
        return separated_text(
            self._written_columns(), self.selected() or self.rows(), "\t"
        )

    def rows_as(self, ending: str) -> str:
        """Return the whole table in the format of an ending of `FORMATS`.

        Any other ending gives CSV.
        """
        return table_text(self._written_columns(), self.rows(), ending)

    def _written_columns(self) -> list[Column]:
        """Return the columns in files and on the clipboard."""
        return [*self.written_first, *self.rows_model.columns]

    def export(self, path: str | Path) -> None:
        """Write the table to a file in the format of its suffix: ``.tex``, ``.md``, or CSV for any other.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        write_bytes(path, self.rows_as(Path(path).suffix.lower()).encode())

    @Slot()
    def copy(self) -> None:
        """Put the selected rows on the clipboard."""
        QGuiApplication.clipboard().setText(self.selection_as_tsv())

    def copy_as(self, ending: str) -> None:
        """Put the whole table on the clipboard, in the format of an ending of `FORMATS`."""
        QGuiApplication.clipboard().setText(self.rows_as(ending))

    @Slot()
    def save_as(self) -> None:
        """Ask for a file and a format, and save the table there.

        If that does not work, emit `failed` with the reason.
        """
        save_as(
            self,
            tr("Save table"),
            f"{self.objectName()}.csv",
            FORMATS,
            self.export,
            self.failed,
        )

    def menu(self, row: Row | None = None) -> QMenu:
        """Return the context menu of the table: actions of a row, then those to copy and save the table.

        Without a row, there are no actions of a row.
        """
        menu = QMenu(self)
        for row_action in self.row_actions(row) if row is not None else ():
            action = menu.addAction(
                icon(self._theme, row_action.icon) if row_action.icon else QIcon(),
                row_action.text,
                row_action.do,
            )
            action.setEnabled(row_action.enabled)
        if not menu.isEmpty():
            menu.addSeparator()
        menu.addAction(
            tr("Copy"), QKeySequence(QKeySequence.StandardKey.Copy), self.copy
        )

        # The first format, CSV, is left out: "Copy" copies tab-separated text instead.
        for label, ending in FORMATS[1:]:
            menu.addAction(
                tr("Copy as {label}").format(label=label), partial(self.copy_as, ending)
            )
        menu.addAction(tr("Save as CSV, LaTeX or Markdown…"), self.save_as)
        return menu

    def edit_cell(self, key: str | None) -> None:
        """Open the editor of a cell in the current row.

        ``key`` is the key of the cell's column; None stands for the
        first column that can be edited. Nothing is done if there is no
        such cell.
        """
        for number, column in enumerate(self.rows_model.columns):
            if (
                # The column can be edited.
                column.editor_text is not None
                and key in (None, column.key)
                and self.currentIndex().isValid()
            ):
                index = self.rows_model.index(self.currentIndex().row(), number)
                self.scrollTo(index)
                self.edit(index)
                return

    def shows_focus(self) -> bool:
        """Return whether the table got the focus by a key, so that a focus ring is drawn."""
        return self._focus_shown

    # Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle a key: Ctrl+C copies, Space toggles ticks, F2 edits.

        Other keys are Qt's, such as those that move to another row.
        Enter also confirms the current row.
        """
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() == Qt.Key.Key_Space and self.rows_model.has_ticks():
            # The highlighted rows, else the current one.
            rows = self.selected()
            if not rows and self.currentIndex().isValid():
                rows = [self.currentIndex().data(ROW_ROLE)]
            for row in rows:
                self.toggled.emit(row)
        elif event.key() == Qt.Key.Key_F2:
            self.edit_cell(None)
        else:
            self._focus_shown = True
            with self._emitting_chosen():
                super().keyPressEvent(event)
            index = self.currentIndex()
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
                self.confirmed.emit(index.data(ROW_ROLE))

    def moveCursor(
        self, action: QTableView.CursorAction, keys: Qt.KeyboardModifier
    ) -> QModelIndex:
        """Move by rows: Home and End lead to the first and the last row, and headings are skipped."""
        # With Ctrl, Qt's Home and End go to the first and last row, and
        # not within the row.
        index = super().moveCursor(action, keys | Qt.KeyboardModifier.ControlModifier)
        if index.isValid() and not self.rows_model.is_heading(index.row()):
            return index
        upward = (QTableView.CursorAction.MoveHome, QTableView.CursorAction.MovePageUp)
        return self._first_index() if action in upward else self.currentIndex()

    def _first_index(self) -> QModelIndex:
        """Return the first row that is no heading."""
        n_rows = self.rows_model.rowCount()
        numbers = (
            number for number in range(n_rows) if not self.rows_model.is_heading(number)
        )
        return self.rows_model.index(next(numbers, -1), 0)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the row under the mouse.

        If a key opens the menu, the menu is that of the current row.
        """
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())

        # By a key, the menu opens below the row; by the mouse, at its position.
        below = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
        is_row = index.isValid() and not self.rows_model.is_heading(index.row())
        menu = self.menu(index.data(ROW_ROLE) if is_row else None)
        menu.exec(below if by_key else event.globalPos())
        menu.deleteLater()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Highlight the row under the mouse, or start a drag of the pressed row.

        Rows can be dragged in a table with a function `dragged`.
        """
        # A pressed row is dragged once the mouse has moved some pixels.
        position = event.position().toPoint()
        if self.dragged is not None and self._pending_press is not None:
            offset = position - self._pending_press.position().toPoint()
            if offset.manhattanLength() >= QApplication.startDragDistance():
                self._drag()
            return

        # Emit `chosen` afterwards if Qt moves to another row.
        with self._emitting_chosen():
            super().mouseMoveEvent(event)
        self._hover(self.indexAt(position).row())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Toggle a pressed tick, or choose the pressed row.

        If rows can be dragged, the press is only remembered until the
        mouse moves, for a drag, or is released, which chooses the row.
        """
        self._focus_shown = False
        index = self.indexAt(event.position().toPoint())
        if self.rows_model.is_heading(index.row()):
            return
        if index.isValid() and self.column_at(index.column()).kind == "tick":
            if event.button() == Qt.MouseButton.LeftButton:
                # A click on a tick does not choose the row.
                self.toggled.emit(index.data(ROW_ROLE))
            return
        may_become_drag = (
            self.dragged is not None and event.button() == Qt.MouseButton.LeftButton
        )
        if may_become_drag and index.isValid():
            self._pending_press = event.clone()
            return
        self._press(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the row that was pressed, unless it was dragged."""
        # If the press might have begun a drag, Qt did not get it then:
        # it gets the press now, directly before the release.
        press = self._pending_press
        self._pending_press = None
        if press is not None:
            self._press(press)
        self._is_button_down = False
        with self._emitting_chosen():
            super().mouseReleaseEvent(event)

    def _press(self, event: QMouseEvent) -> None:
        """Have Qt handle a press."""
        self._is_button_down = True
        with self._emitting_chosen():
            super().mousePressEvent(event)

    def _drag(self) -> None:
        """Drag the row that was pressed, with a picture of its beginning, until it is dropped."""
        assert self.dragged is not None and self._pending_press is not None
        index = self.indexAt(self._pending_press.position().toPoint())

        # This table gets no release: the widget on which the row is dropped gets it.
        self._pending_press = None
        if index.isValid():
            row: Row = index.data(ROW_ROLE)
            drag = QDrag(self)
            drag.setMimeData(self.dragged(row))
            cell = self.visualRect(index)
            drag.setPixmap(
                self.viewport().grab(
                    QRect(0, cell.y(), scaled(_DRAGGED_WIDTH), cell.height())
                )
            )

            # `exec` returns when the row is dropped; None says that the
            # drag has ended.
            self.dragging.emit(row)
            drag.exec(Qt.DropAction.CopyAction)
            self.dragging.emit(None)
            self._hover(-1)  # the mouse left the row without an event

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep a visible chosen row visible, and fit the columns to the new width."""
        was_visible = self._is_in_sight(event.oldSize().height())
        super().resizeEvent(event)
        self._bars.move()
        self._hide_spare_columns()
        self._stretch_columns()
        if was_visible:
            self._bring_into_sight()

    def showEvent(self, event: QShowEvent) -> None:
        """Scroll to a row that was chosen while the table was hidden, as its size may have been another."""
        super().showEvent(event)
        if self._scrolls_when_shown:
            self._scrolls_when_shown = False
            self._bring_into_sight()

    def leaveEvent(self, event: QEvent) -> None:
        """Highlight no row under the mouse any more."""
        super().leaveEvent(event)
        self._hover(-1)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus ring if the focus came by a key.

        The ring is around the current row, or around the first row if
        there is no current row.
        """
        self._is_quiet = True
        super().focusInEvent(event)  # Qt may make the first row the current one
        self._focus_shown = event.reason() in _KEYBOARD

        # Without a current row, Qt would show no focus.
        if (
            self._focus_shown
            and not self.currentIndex().isValid()
            and self.rows_model.rowCount()
        ):
            # The row is not highlighted: the ring shows where the arrow
            # keys begin, but no row is chosen.
            self.selectionModel().setCurrentIndex(self._first_index(), _NO_HIGHLIGHT)
        self._is_quiet = False

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the cells, or the placeholder if the table is empty.

        A placeholder that does not fit into the table is also its tooltip.
        """
        super().paintEvent(event)
        self._draw_frozen()
        is_empty = self.rows_model.rowCount() == 0
        tooltip = ""
        if is_empty and self.placeholder:
            painter = QPainter(self.viewport())
            painter.setFont(font(SMALL))
            painter.setPen(self._theme.colors.q("muted"))

            # The text has margins, in pixels.
            box = self.viewport().rect().adjusted(16, 12, -16, -12)
            flags = BELOW | Qt.TextFlag.TextWordWrap

            # The rectangle of the text, which may be larger than the box.
            drawn = painter.drawText(box, flags, self.placeholder)
            painter.end()
            tooltip = "" if box.contains(drawn) else self.placeholder
        if is_empty and self._focus_shown and self.hasFocus():
            self._draw_focus()  # there is no row that could show the focus
        if tooltip != self._placeholder_tooltip:
            self._placeholder_tooltip = tooltip
            self.setToolTip(plain(tooltip))

    def indexAt(self, pos: QPoint) -> QModelIndex:
        """Return the cell that is visible at a pixel.

        ``pos`` is the pixel. A cell of a frozen column may cover
        another cell there. Without a cell, the index is invalid.
        """
        section = self._header.frozen_section(pos.x())
        row = self.rowAt(pos.y())
        return (
            self.rows_model.index(row, section)
            if section >= 0 and row >= 0
            else super().indexAt(pos)
        )

    def visualRect(self, index: Index) -> QRect:
        """Return the rectangle where a cell is visible.

        Cells of frozen columns are not scrolled with the others.
        """
        rect = super().visualRect(index)
        if (
            index.isValid()
            and self._header.frozen_width()
            and index.column() < self._header.n_frozen
        ):
            rect.moveLeft(self._header.frozen_rect(index.column()).left())
        return rect

    def scrollTo(
        self,
        index: Index,
        hint: QTableView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Scroll until a cell is visible, and not covered by frozen columns."""
        bar = self.horizontalScrollBar()
        value = bar.value()
        has_frozen_columns = bool(self._header.frozen_width())
        super().scrollTo(index, hint)

        # A frozen cell is always visible, so that scrolling sideways is
        # undone. Another cell may be below the frozen ones, and is
        # moved out to their right.
        if has_frozen_columns and index.isValid():
            if index.column() < self._header.n_frozen:
                bar.setValue(value)
                return
            overlap = self._header.frozen_width() - super().visualRect(index).left()
            bar.setValue(bar.value() - max(0, overlap))

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Redraw all after scrolling sideways with frozen columns, as Qt moves the pixels already drawn."""
        super().scrollContentsBy(dx, dy)
        self._bars.move()
        if dx and self._header.n_frozen:
            self.viewport().update()
            self._header.viewport().update()

    def _draw_frozen(self) -> None:
        """Draw the frozen columns over the scrolled ones."""
        width = self._header.frozen_width()
        if not width:
            return
        painter = QPainter(self.viewport())
        colors = self._theme.colors
        painter.fillRect(
            QRect(0, 0, width, self.viewport().height()), colors.q("panel")
        )
        first_row = self.rowAt(0)
        last_row = self.rowAt(self.viewport().height() - 1)
        if last_row < 0:  # the rows end above the lower edge
            last_row = self.rows_model.rowCount() - 1
        for row in range(max(0, first_row), last_row + 1):
            for column in range(self._header.n_frozen):
                if not self.isColumnHidden(column):
                    self._draw_cell(painter, self.rows_model.index(row, column))
        painter.setPen(colors.q("line"))
        painter.drawLine(width - 1, 0, width - 1, self.viewport().height())
        painter.end()

    def _draw_cell(self, painter: QPainter, index: QModelIndex) -> None:
        """Draw a frozen cell where it is visible, which is not where Qt draws it."""
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        option.rect = self.visualRect(index)
        if self.selectionModel().isSelected(index):
            option.state |= QStyle.StateFlag.State_Selected
        self.itemDelegate().paint(painter, option, index)

    def _draw_focus(self) -> None:
        """Draw the focus ring around an empty table."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.colors.q("accent"), 2.0))
        painter.drawRoundedRect(self.viewport().rect().adjusted(2, 2, -2, -2), 6, 6)
        painter.end()

    # Inside

    def _configure(self) -> None:
        """Set the properties in which this table differs from Qt's default."""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setMouseTracking(True)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        triggers = QAbstractItemView.EditTrigger

        # These open the editor of a cell, in editable columns.
        self.setEditTriggers(triggers.DoubleClicked | triggers.EditKeyPressed)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setMinimumSectionSize(24)
        header.setResizeContentsPrecision(_ROWS_MEASURED)
        header.setSectionsClickable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        self.setSortingEnabled(True)
        self._follow_text()

    @Slot()
    def _follow_text(self) -> None:
        """Fit the height of rows and the widths of columns to a changed size of text."""
        height = scaled(ROW_HEIGHT)
        if height != self.verticalHeader().defaultSectionSize():
            self.setMinimumHeight(2 * height)
            self.verticalHeader().setDefaultSectionSize(height)
            self.horizontalHeader().setFixedHeight(height)
            self._fit_columns()
            self._bars.move()

    def restore_widths(self, text: str) -> None:
        """Give columns the widths that the user gave to them in an earlier session."""
        self.widths.restore(text)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Give every column a width, then hide and stretch columns.

        A width may be set by the program, by the user or in the column;
        without such a width, it is that of the column's texts.
        """
        header = self.horizontalHeader()
        for number, column in enumerate(self.rows_model.columns):
            if not column.stretch:
                header.setSectionResizeMode(number, QHeaderView.ResizeMode.Interactive)
                width = self._known_width(column)
                header.resizeSection(
                    number, width or self._fitting_width(number, column.title)
                )
        self._hide_spare_columns()
        self._stretch_columns()

    def _known_width(self, column: Column) -> int:
        """Return the width that the program set for a column, else the user's, else the column's own.

        The width is in pixels; 0 stands for a column without any of
        these widths.
        """
        return (
            self._set_widths.get(column.key)
            or self.widths.of(column.key)
            or given_width(column)
        )

    def _hide_spare_columns(self) -> None:
        """Hide groups of spare columns while the table is too narrow for all columns.

        The groups, of keys of columns, are hidden one after the other
        until the rest fits; the others are shown.
        """
        if not self._spare_groups:
            return
        columns = self.rows_model.columns
        widths = {
            column.key: self._known_width(column) or scaled(self._names_width)
            for column in columns
        }

        # Pixels that all columns leave; negative if they are too wide.
        free_width = self.viewport().width() - sum(widths.values())
        hidden_keys = set[str]()
        for group in self._spare_groups:
            if free_width < 0:
                hidden_keys |= widths.keys() & set(group)
                free_width += sum(widths.get(key, 0) for key in group)
        for number, column in enumerate(columns):
            self.setColumnHidden(number, column.key in hidden_keys)

    def _stretch_columns(self) -> None:
        """Share the remaining width among columns that stretch, each with at least its least width.

        If even the least widths do not fit, the columns have these, and
        the table scrolls.
        """
        header = self.horizontalHeader()
        columns = list(enumerate(self.rows_model.columns))

        # By the positions of the columns that stretch.
        least_widths = {n: _least_width(c) for n, c in columns if c.stretch}
        fixed_width = sum(
            header.sectionSize(n) for n, _ in columns if n not in least_widths
        )
        stretched_width = sum(
            width for n, width in least_widths.items() if not header.isSectionHidden(n)
        )
        fits = fixed_width + stretched_width <= self.viewport().width()
        mode = (
            QHeaderView.ResizeMode.Stretch
            if fits
            else QHeaderView.ResizeMode.Interactive
        )
        for number, width in least_widths.items():
            header.setSectionResizeMode(number, mode)
            if not fits and not header.isSectionHidden(number):
                header.resizeSection(number, width)

    def setColumnHidden(self, column: int, hide: bool) -> None:
        """Show or hide a column.

        Columns that stretch then share the remaining room.
        """
        if hide is not self.isColumnHidden(column):
            super().setColumnHidden(column, hide)
            self._stretch_columns()

    def setColumnWidth(self, column: int, width: int) -> None:
        """Give a column a width that neither other rows nor restored widths of the user change."""
        self._set_widths[self.column_at(column).key] = width
        super().setColumnWidth(column, width)

    def _fitting_width(self, number: int, title: str) -> int:
        """Return a width in pixels that fits the title of a column and its texts in the first rows.

        ``number`` is the position of the column. Measuring all rows
        would take long.
        """
        return min(_WIDEST, max(self.sizeHintForColumn(number), title_width(title)))

    @contextmanager
    def _emitting_chosen(self) -> Iterator[None]:
        """Emit `chosen` after a ``with`` block in which Qt handles an event completely.

        The signal is emitted if the event has led to another row. Qt
        first makes a row the current one, and then highlights rows by
        their positions under the mouse. A slot of `chosen` may scroll
        the table or exchange its rows. Such a slot must not run between
        these two steps of Qt.
        """
        if self._is_moving:  # an event within an event; the outer one emits
            yield
            return
        row_before = self._chosen_number()
        self._is_moving = True
        try:
            yield

            # The user may have removed the highlight of the chosen row.
            if row_before >= 0:
                self._highlight_current()
        finally:
            self._is_moving = False
        row_after = self._chosen_number()
        if row_after not in (row_before, -1) and not self._is_quiet:
            self.chosen.emit(self.current())

    def _chosen_number(self) -> int:
        """Return the position at which the chosen row is shown.

        Return -1 if no row is chosen.
        """
        index = self.currentIndex()
        return index.row() if self.selectionModel().isSelected(index) else -1

    def _highlight_current(self) -> None:
        """See to it that the current row is highlighted, after the user has removed its highlight.

        The nearest highlighted row becomes the current row. If no row
        is highlighted, the current row is highlighted again.
        """
        index = self.currentIndex()
        if not index.isValid() or self.selectionModel().isSelected(index):
            return
        highlighted_rows = [
            row_index.row() for row_index in self.selectionModel().selectedRows()
        ]
        if highlighted_rows:
            nearest = min(highlighted_rows, key=lambda row: abs(row - index.row()))
            self.selectionModel().setCurrentIndex(
                self.rows_model.index(nearest, index.column()), _NO_HIGHLIGHT
            )
        else:
            self.selectionModel().setCurrentIndex(index, _HIGHLIGHT_ROW)

    def _key(self, row: Row) -> Hashable:
        """Return the identity of a row: equal for two objects of the same row."""
        key: Hashable = row if self._identity is None else self._identity(row)
        return key

    def _is_chosen(self, row: Row) -> bool:
        """Return whether a row is already the chosen one."""
        current = self.current()
        return current is not None and self._key(current) == self._key(row)

    def reveal(self, row: Row) -> bool:
        """Scroll to any row without choosing it.

        Return whether the table lists the row: a folded or unknown row
        is not listed.
        """
        index = self._index_of(row)
        self.scrollTo(index)
        return index.isValid()

    def _select(self, row: Row) -> bool:
        """Make a row the chosen one; return whether it is listed."""
        index = self._index_of(row)
        if index.isValid():
            self.selectionModel().setCurrentIndex(index, _HIGHLIGHT_ROW)
        return index.isValid()

    def _index_of(self, row: Row) -> QModelIndex:
        """Return the first cell of a row; an invalid index if it is not listed."""
        key = self._key(row)
        for number, listed in enumerate(self.rows_model.rows):
            if not isinstance(listed, Heading) and self._key(listed) == key:
                return self.rows_model.index(self.rows_model.shown_number(number), 0)
        return QModelIndex()

    def _is_in_sight(self, height: int | None = None) -> bool:
        """Return whether the whole current row is visible, in a viewport of the present or a given height."""
        rect = self.visualRect(self.currentIndex())
        height = self.viewport().height() if height is None else height
        return rect.isValid() and rect.top() >= 0 and rect.bottom() <= height

    def _bring_into_sight(self) -> None:
        """Scroll to the chosen row, no further down than needed.

        The table does not scroll while a mouse button is pressed on it.
        """
        self._scrolls_when_shown = not self.isVisible()
        if not self._is_button_down:
            self.scrollToTop()  # from the top, Qt scrolls just as far as the row needs
            self.scrollTo(self.currentIndex())

    def heading_bars(self) -> list[HeadingBar]:
        """Return the bars of the headings, in their order."""
        return self._bars.bars()

    @Slot()
    def _leave_rows(self) -> None:
        """Highlight no row under the mouse, which has gone to a heading."""
        self._hover(-1)

    def _hover(self, row: int) -> None:
        """Note which row is under the mouse, redraw the rows and emit `pointed` with the row object.

        ``row`` is the position of the row, -1 for no row; a heading
        counts as no row.
        """
        row = -1 if self.rows_model.is_heading(row) else row
        if row != self.hovered_row:
            self.hovered_row = row
            rows = self.rows_model.shown_rows()
            self.pointed.emit(rows[row] if 0 <= row < len(rows) else None)
            self.viewport().update()

    @Slot(QModelIndex, QModelIndex)
    def _on_current(self, current: QModelIndex, previous: QModelIndex) -> None:
        """Emit `chosen` for a row that became current without an event here, as by a screen reader."""
        if not (self._is_quiet or self._is_moving) and current.isValid():
            self.chosen.emit(current.data(ROW_ROLE))

    @Slot(QModelIndex)
    def _on_confirmed(self, index: QModelIndex) -> None:
        """Emit `confirmed` for a double-clicked row, unless the double click edits the cell."""
        if self.column_at(index.column()).editor_text is None:
            self.confirmed.emit(index.data(ROW_ROLE))

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        """Emit `cellClicked` for a clicked cell that is not a heading."""
        if self.rows_model.is_heading(index.row()):
            return
        self.cellClicked.emit(index.data(ROW_ROLE), self.column_at(index.column()).key)


@lru_cache(maxsize=2000)
def _histogram_shapes(
    histogram: HistogramCell, width: int, height: int
) -> tuple[QPainterPath, QPolygonF]:
    """Return the bars of a histogram, and the stepped line of the part of its values.

    ``width`` and ``height`` are those of the area in pixels, with its
    corner at (0, 0). Tables are painted often, and a histogram has
    dozens of shapes, so that they are cached.
    """
    # `all` has the share of each bin among all values, `part` that
    # among the values of a part. Heights are square roots of shares, so
    # that small bins are visible beside a high one. Between two bars is
    # a gap of 0.6 pixels.
    tallest = max((*histogram.all, *histogram.part)) or 1.0
    bar_width = width / len(histogram.all)
    bars = QPainterPath()
    for number, share in enumerate(histogram.all):
        bar_height = height * (share / tallest) ** 0.5
        bars.addRect(
            number * bar_width, height - bar_height, bar_width - 0.6, bar_height
        )

    # The line goes along the top of each bin, from its left to its right edge.
    steps = QPolygonF()
    for number, share in enumerate(histogram.part):
        top = height - height * (share / tallest) ** 0.5
        steps.append(QPointF(number * bar_width, top))
        steps.append(QPointF((number + 1) * bar_width, top))
    return bars, steps


@lru_cache(maxsize=20_000)
def _elided_text(
    text: str, mode: Qt.TextElideMode, width: int, text_font: QFont
) -> str:
    """Return a text as it fits into a width in pixels, with an ellipsis where it is cut."""
    return QFontMetrics(text_font).elidedText(text, mode, width)


class Cells(QStyledItemDelegate):
    """Draws the cells of a `TableView`.

    Parameters
    ----------
    theme : Theme
    table : TableView
        The table whose cells are drawn.
    """

    def __init__(self, theme: Theme, table: TableView) -> None:
        super().__init__(table)
        self._theme = theme
        self._table = table

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the size in pixels that a cell needs: for its text, the bar of a weight and a mark.

        The width of a heading is 0, as no column is fitted to it.
        """
        # 29 is the height of a row. PAD is at each side of the text, 2
        # are the grid, 8 the gap beside a bar, and 16 the room for a
        # mark.
        column = self._table.column_at(index.column())
        row = index.data(ROW_ROLE)
        if isinstance(row, Heading):
            return QSize(0, 29)
        width = option.fontMetrics.horizontalAdvance(column.text(row)) + 2 * PAD + 2
        if column.kind == "weight":
            width += WEIGHT_BAR + 8
        if column.mark is not None:
            width += 16
        return QSize(width, 29)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Draw the background, the contents and the focus ring of a cell; Qt calls it for each cell."""
        colors = self._theme.colors
        rect: QRect = option.rect
        state: int = option.state.value
        number = index.column()
        row = self._model().row_at(index.row())
        if isinstance(row, Heading):
            return  # `HeadingBars` shows headings
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & _SELECTED:
            painter.fillRect(rect, colors.q("tint"))
        elif index.row() == self._table.hovered_row:
            painter.fillRect(rect, colors.q("inset"))
        column = self._table.column_at(number)
        self._paint_contents(
            painter, rect.adjusted(PAD, 0, -PAD, 0), column, row, number
        )

        # The focus ring is inside the cell, with round corners.
        if state & _FOCUSED and self._table.shows_focus():
            painter.setPen(colors.q("accent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(1.5, 1.5, -1.5, -1.5), 4, 4)
        painter.restore()

    def helpEvent(
        self,
        event: QHelpEvent,
        view: QAbstractItemView,
        option: QStyleOptionViewItem,
        index: Index,
    ) -> bool:
        """Show the tooltip of a cell."""
        if not index.isValid():
            return False
        QToolTip.showText(event.globalPos(), plain(self.tooltip(option, index)), view)
        return True

    def tooltip(self, option: QStyleOptionViewItem, index: Index) -> str:
        """Return the tooltip of a cell: its text if that is cut off, and the hint of its column."""
        column = self._table.column_at(index.column())
        row = index.data(ROW_ROLE)
        if isinstance(row, Heading):
            return row.text
        hint = column.hint(row) if column.hint else ""
        text = column.text(row)
        is_cut = (
            self.sizeHint(option, index).width() > self._table.visualRect(index).width()
        )

        # The hint may repeat the text.
        needs_text = is_cut and text not in hint
        return "\n".join(filter(None, (text if needs_text else "", hint)))

    def _paint_contents(
        self, painter: QPainter, rect: QRect, column: Column, row: object, number: int
    ) -> None:
        """Draw a dot, tick or histogram, or the text of a cell with its bar and mark.

        ``row`` is the row object, ``rect`` the cell without its
        margins, and ``number`` the position of the column.
        """
        value = column.value_in(row)
        if isinstance(value, Dot):
            self._paint_dot(painter, rect, value)
            return
        if isinstance(value, Tick):
            self._paint_tick(painter, rect, value)
            return
        if isinstance(value, HistogramCell):
            self._paint_histogram(painter, rect, value)
            return
        bold = column.bold is not None and column.bold(row)
        cell_font = font(BASE, bold)
        painter.setFont(cell_font)
        text = column.text(row)

        # The column's own drawing returns the rectangle that it leaves to the text.
        if column.paint is not None:
            painter.save()
            rest = column.paint(painter, rect, self._theme.colors, row)
            painter.restore()

            # No text is to follow.
            if rest is None:
                return
            rect = rest
        if isinstance(value, ProgressCell):
            rect = self._paint_progress(painter, rect, value)
        elif column.kind == "weight" and self._has_room_for_bar(painter, rect, text):
            rect = self._paint_weight(painter, rect, float(value), number)
        painter.setPen(self._theme.colors.q(column.color(row)))
        has_mark = column.mark is not None and column.mark(row)

        # A mark is drawn after the text, and needs 16 pixels.
        text_rect = rect.adjusted(0, 0, -16 if has_mark else 0, 0)

        # Names of features often differ only at their ends: "Covered
        # query term number of title".
        elide_mode = (
            Qt.TextElideMode.ElideMiddle
            if column.stretch
            else Qt.TextElideMode.ElideRight
        )
        text = _elided_text(text, elide_mode, text_rect.width(), cell_font)
        painter.drawText(text_rect, FLAGS[column.align], text)

        # The middle of the mark is 10 pixels to the right of the text.
        if has_mark:
            x = text_rect.left() + painter.fontMetrics().horizontalAdvance(text) + 10
            self._paint_diamond(painter, QPointF(x, rect.center().y() + 1))

    def _paint_dot(self, painter: QPainter, rect: QRect, dot: Dot) -> None:
        """Draw the dot of a category, in the category's color.

        The dot is a ring if an earlier category has the same color.
        ``rect`` is the cell without its margins.
        """
        style = palettes.category(self._theme.colors, dot.category)
        painter.setPen(QPen(style.color, 2.0) if style.repeats else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush if style.repeats else style.color)

        # Half the line of a ring is outside its radius, so that the radius is smaller.
        radius = 3.5 if style.repeats else 4.5
        painter.drawEllipse(
            QPointF(rect.left() + 4.5, rect.center().y() + 0.5), radius, radius
        )

    def _paint_tick(self, painter: QPainter, rect: QRect, tick: Tick) -> None:
        """Draw a box like that of a check box, ticked or not.

        ``rect`` is the cell without its margins.
        """
        # The box has sides of 14 pixels.
        colors = self._theme.colors
        box = QRectF(rect.left() + 0.5, rect.center().y() - 6.5, 14, 14)
        painter.setPen(QPen(colors.q("accent" if tick.on else "line_hover"), 1.0))
        painter.setBrush(colors.q("accent" if tick.on else "panel"))
        painter.drawRoundedRect(box, 3.5, 3.5)
        if tick.on:
            # Pixels from the upper left corner of the box.
            check_mark = [QPointF(3.6, 7.4), QPointF(6.2, 10.0), QPointF(10.6, 4.4)]
            painter.setPen(QPen(colors.q("on_accent"), 1.8))
            painter.drawPolyline(
                QPolygonF([box.topLeft() + point for point in check_mark])
            )

    def _paint_histogram(
        self, painter: QPainter, rect: QRect, histogram: HistogramCell
    ) -> None:
        """Draw the shares of all values as gray bars, and the shares of a part as a stepped line over them.

        Heights are square roots of shares, so that small bins stay
        visible beside a spike at zero. ``rect`` is the cell without its
        margins.
        """
        if not histogram.all:
            return
        colors = self._theme.colors

        # 5 pixels above the bars and 4 below them stay free. The line
        # of the part has the third color of the categories.
        bars, steps = _histogram_shapes(histogram, rect.width(), rect.height() - 9)
        painter.translate(rect.left(), rect.top() + 5)
        painter.fillPath(bars, colors.q("line_hover"))
        painter.setPen(QPen(palettes.category(colors, 2).color, 1.2))
        painter.drawPolyline(steps)

    def _paint_diamond(self, painter: QPainter, point: QPointF) -> None:
        """Draw the diamond that marks a cell, after its text.

        ``point`` is the middle of the diamond.
        """
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colors.q("accent"))
        moves = ((0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0))
        painter.drawPolygon(QPolygonF([point + QPointF(dx, dy) for dx, dy in moves]))

    @staticmethod
    def _has_room_for_bar(painter: QPainter, rect: QRect, text: str) -> bool:
        """Return whether the cell has a weight, and room for a bar beside the weight's number.

        ``text`` is the number, and ``rect`` the cell.
        """
        room = rect.width() - painter.fontMetrics().horizontalAdvance(text)
        return text != MISSING and room >= WEIGHT_BAR + PAD

    def _paint_weight(
        self, painter: QPainter, rect: QRect, value: float, number: int
    ) -> QRect:
        """Draw a bar from zero for a weight, and return the rest of the cell, which is for the number.

        ``number`` is the position of the column. All bars of a column
        have one scale, from the least to the greatest value of the
        column; zero is at the left if no weight is negative. The bar of
        a negative weight goes to the left of zero, in another color.
        """
        colors = self._theme.colors
        low, high = self._model().bar_range(number)
        scale = WEIGHT_BAR / (high - low) if high > low else 0.0
        zero = rect.left() - low * scale
        top = rect.center().y() - _BAR / 2 + 1
        painter.setPen(Qt.PenStyle.NoPen)
        length = abs(value) * scale
        if length:
            # A small weight stays visible.
            length = max(1.5, length)
            painter.setBrush(palettes.category(colors, 0 if value > 0 else 2).color)
            left_edge = zero if value > 0 else zero - length
            painter.drawRoundedRect(QRectF(left_edge, top, length, _BAR), 1.5, 1.5)

        # A vertical line at zero.
        painter.setBrush(colors.q("line_hover"))
        painter.drawRect(QRectF(zero - 0.5, top - 3, 1.0, _BAR + 6))
        return rect.adjusted(WEIGHT_BAR + PAD, 0, 0, 0)

    def _paint_progress(
        self, painter: QPainter, rect: QRect, progress: ProgressCell
    ) -> QRect:
        """Draw a thin progress bar, and return the rest of the cell, for the text beside the bar.

        ``rect`` is the cell without its margins; ``progress`` has the
        share that is done, and the text.
        """
        colors = self._theme.colors

        # With the pixels between the bar and the text.
        text_width = (
            painter.fontMetrics().horizontalAdvance(progress.text) + 12
            if progress.text
            else 0
        )

        # The bar is 24 to 110 pixels long; a small share stays visible.
        width = max(24, min(110, rect.width() - text_width))
        track = QRectF(rect.left(), rect.center().y() - 2, width, 6)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.q("line"))
        painter.drawRoundedRect(track, 3, 3)
        filled_width = min(1.0, max(0.0, progress.share)) * width
        if filled_width > 0:
            painter.setBrush(colors.q("accent"))
            painter.drawRoundedRect(
                QRectF(track.left(), track.top(), max(6.0, filled_width), 6), 3, 3
            )
        return rect.adjusted(width + 10, 0, 0, 0)

    def _model(self) -> ColumnModel:
        """Return the model of the table."""
        return self._table.rows_model
