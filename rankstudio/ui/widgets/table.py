"""The table of every section: 29 px rows, sortable, copied by Ctrl+C, saved as CSV, LaTeX or Markdown."""

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
    QFontMetrics,
    QGuiApplication,
    QHelpEvent,
    QIcon,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
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
    separated,
    table_text,
)
from rankstudio.ui.widgets.frozen import FrozenHeader
from rankstudio.ui.widgets.headings import HeadingBar, HeadingBars
from rankstudio.ui.widgets.layout import named

_BOUNDS = (16, 4000)  # pixels: what is beyond was damaged


class ColumnWidths(QObject):
    """Remembers which columns of a table the user gave another width.

    Parameters
    ----------
    header : QHeaderView
    key_of : callable
        Key of the column in a section.
    """

    def __init__(self, header: QHeaderView, key_of: Callable[[int], str]) -> None:
        super().__init__(header)
        self._key_of = key_of
        self._dragging = False
        self._widths: dict[str, int] = {}
        header.viewport().installEventFilter(self)
        header.sectionResized.connect(self._note)

    def of(self, key: str) -> int:
        """Return the width that the user gave a column, 0 for none."""
        return self._widths.get(key, 0)

    def as_text(self) -> str:
        """Return the widths for the settings, "" where none was changed."""
        return json.dumps(self._widths) if self._widths else ""

    def restore(self, text: str) -> None:
        """Take widths from the settings; what is damaged is left out."""
        try:
            widths = json.loads(text)
        except (ValueError, RecursionError):
            widths = {}
        items = widths.items() if isinstance(widths, dict) else ()
        self._widths = {
            key: width for key, width in items if isinstance(width, int) and _BOUNDS[0] <= width <= _BOUNDS[1]
        }

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See whether the mouse is pressed on the header: only then a new width is the user's."""
        if event.type() in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
            self._dragging = True
        elif event.type() == QEvent.Type.MouseButtonRelease:
            self._dragging = False
        return False

    @Slot(int, int, int)
    def _note(self, section: int, before: int, width: int) -> None:
        if self._dragging and before and width:
            self._widths[self._key_of(section)] = max(_BOUNDS[0], width)


def given_width(column: Column) -> int:
    """Return the width that a column has by itself, enough for its title in any language; 0 for none."""
    return max(scaled(column.width), title_width(column.title)) if column.width else 0


def _least_width(column: Column) -> int:
    """Return the width with which the names in a column that stretches can be distinguished."""
    return max(title_width(column.title), scaled(column.least or _LEAST_STRETCHED))


def title_width(title: str) -> int:
    """Return the width of a header with a title, beside which the arrow of a sorted column needs no room."""
    return _title_width(title, scaled(SMALL))


@lru_cache(maxsize=1024)  # asked for a hundred times whenever a table's width or one of its columns changes
def _title_width(title: str, _pixels: int) -> int:
    return QFontMetrics(font(SMALL)).horizontalAdvance(title) + 2 * PAD + 2


ROW_HEIGHT = 29
"""In logical pixels, for ordinary text."""
_WHOLE_ROW = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
_NO_ROW = QItemSelectionModel.SelectionFlag.NoUpdate
_WIDEST = 320
_LEAST_STRETCHED = 72  # pixels, with which names can be distinguished; below that the table scrolls
_SEEN_DRAGGED = 200  # pixels of a row that is dragged: its id and its name
_ROWS_MEASURED = 100  # for the width of a column that has none given
_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
WEIGHT_BAR = 44
_BAR = 7.0
_SELECTED = QStyle.StateFlag.State_Selected.value
_FOCUSED = QStyle.StateFlag.State_HasFocus.value


@dataclass(frozen=True)
class RowAction:
    """An action on a row: an entry of the table's menu.

    Attributes
    ----------
    text : str
    do : callable
    icon : str
        Name of an icon, or "".
    enabled : bool
    """

    text: str
    do: Callable[[], object]
    icon: str = ""
    enabled: bool = True


class TableView(QTableView):
    """Row objects in columns.

    The chosen row is always a highlighted one. Several rows can be highlighted, for what acts on all of them;
    the chosen one is the last that the user moved to.

    Parameters
    ----------
    theme : Theme
    columns : sequence of Column
    name : str
        By which the window finds the table.
    identity : callable, optional
        What makes two row objects the same row; keeps the selection when rows change.
    accessible_name : str
        What a screen reader calls it; its name where there is none.
    placeholder, shared, feature_of
        See the attributes.

    Attributes
    ----------
    chosen : Signal(object)
        The row object that the user moved to; not emitted by `choose`.
    cellClicked : Signal(object, str)
        Row object and column key of a clicked cell.
    confirmed : Signal(object)
        The row object that was double-clicked, or on which Enter was pressed.
    toggled : Signal(object)
        A row object whose tick was clicked, or which is chosen when Space is pressed; only of a table with a
        column of ticks.
    pointed : Signal(object)
        The row object under the mouse, None where there is none.
    dragging : Signal(object)
        The row object that the user drags; None at the end of the drag.
    headingFolded, headingLinked : Signal(object)
        Key of a heading whose rows are to be folded or unfolded, or whose link was pressed.
    failed : Signal(str)
        A sentence, when saving did not work.
    widths : ColumnWidths
        What the user made of the columns' widths.
    placeholder : str
        What the table says while it has no rows.
    shared : Shared
        How it is listed among what can be exported; not at all by itself.
    row_actions : callable
        Of a row object: what else its context menu offers, first.
    feature_of : callable or None
        Of a row object: the id of its feature, where rows are features.
    written_first : sequence of Column
        What only files and the clipboard have, first: what headings say.
    dragged : callable or None
        Of a row object: what a drag of its row carries. Without it, rows are not dragged. With it, a row is
        chosen when the mouse is released: to drag a row is not to choose it.
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
        self.placeholder = placeholder
        self.shared = shared
        self.feature_of = feature_of
        self.row_actions: Callable[[Row], Sequence[RowAction]] = lambda _: ()
        self.dragged: Callable[[Row], QMimeData] | None = None
        self.written_first: Sequence[Column] = ()
        self._pressed: QMouseEvent | None = None  # by which a drag would begin, or a row be chosen
        self._is_held = False  # whether a mouse button is down that was pressed here
        self._is_due = False  # whether the chosen row is to be brought into sight when the table is shown
        self._is_moving = False  # whether Qt handles an event by which the user moves to another row
        self.hovered_row = -1
        self._cut = ""  # what an empty table says, where it has no room for it
        self._set_widths: dict[str, int] = {}  # by the key of the column
        self._spare: tuple[Sequence[str], ...] = ()  # columns that give way, the first ones first
        self._names = 0  # pixels of each column that stretches, for which they do
        self._theme = theme
        self._focus_shown = False
        self._quiet = False
        self._identity = identity
        self.rows_model = ColumnModel(columns, identity, parent=self)
        self.setModel(self.rows_model)
        self.setItemDelegate(Cells(theme, self))
        self._header = FrozenHeader(self)
        self.setHorizontalHeader(self._header)
        self.widths = ColumnWidths(self.horizontalHeader(), lambda number: self.column_at(number).key)
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
        """Show other rows; the chosen row stays chosen where it is still there."""
        with self._keeping_place() as chosen:
            changed = self.rows_model.set_rows(rows)
            self._bars.place()
            if changed:
                self._fit_columns()
                if chosen is not None:
                    self._select(chosen)
        self.viewport().update()

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns of the same rows, unsorted."""
        with self._keeping_place() as chosen:
            self.rows_model.set_columns(columns)
            self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
            self._fit_columns()
            if chosen is not None:
                self._select(chosen)

    @contextmanager
    def _keeping_place(self) -> Iterator[Row | None]:
        """Yield the chosen row, and keep the table scrolled as it was, that row in sight if it was so."""
        chosen = self.current()
        value = self.verticalScrollBar().value()
        was_visible = chosen is not None and self._is_in_sight()
        self._quiet = True
        yield chosen
        if self.verticalScrollBar().value() != value:
            self.verticalScrollBar().setValue(value)
        if was_visible and not self._is_in_sight():
            self._bring_into_sight()
        self._quiet = False

    def set_spare(self, *groups: Sequence[str], names: int = 0) -> None:
        """Let columns give way where there is no room for all.

        Parameters
        ----------
        *groups : sequence of str
            Keys of columns that go at once; the first group goes first.
        names : int
            Pixels, for ordinary text, that a column which stretches and has no width is to have.
        """
        self._spare = groups
        self._names = names
        self._fit_columns()

    def freeze(self, last: str) -> None:
        """Let columns stay in sight when others are scrolled sideways, up to the one of this key."""
        keys = [column.key for column in self.rows_model.columns]
        self._header.n_frozen = keys.index(last) + 1 if last in keys else 0
        self.viewport().update()

    def rows(self) -> list[Row]:
        """Return the row objects in the order in which they are shown, without headings."""
        return [row for row in self.rows_model.shown_rows() if not isinstance(row, Heading)]

    def column_at(self, number: int) -> Column:
        """Return the column of a number."""
        return self.rows_model.columns[number]

    def current(self) -> Row | None:
        """Return the chosen row object, which is highlighted; None where there is none."""
        index = self.currentIndex()
        return index.data(ROW_ROLE) if self.selectionModel().isSelected(index) else None

    def selected(self) -> list[Row]:
        """Return the highlighted row objects in the order in which they are shown."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.rows_model.index(row, 0).data(ROW_ROLE) for row in rows]

    def select(self, row: Row | None, *, scroll: bool = True) -> None:
        """Mark a row as chosen and bring it into sight (unless not to scroll), without emitting `chosen`.

        A row that is chosen already stays where it is seen, and those stay highlighted that are so beside it.
        Otherwise the table scrolls no further down than needed: what led to the row is above it. A row that
        is not listed leaves none highlighted.
        """
        is_chosen = row is not None and self._is_chosen(row)
        self._quiet = True
        if not is_chosen and (row is None or not self._select(row)):
            if self.selectionModel().hasSelection():  # else the keyboard's place stays where it is
                self.clearSelection()
                self.setCurrentIndex(QModelIndex())
        elif scroll and not (is_chosen and self._is_in_sight()):
            self._bring_into_sight()
        self._quiet = False

    # Copying and saving

    def rows_as_csv(self) -> str:
        """Return the whole table as CSV, in the order shown, numbers with all their digits."""
        return self.rows_as(".csv")

    def selection_as_tsv(self) -> str:
        """Return the selected rows (all where none is) as tab-separated text with a header."""
        return separated(self._written_columns(), self.selected() or self.rows(), "\t")

    def rows_as(self, ending: str) -> str:
        """Return the whole table in the format of an ending of `FORMATS`; CSV for any other."""
        return table_text(self._written_columns(), self.rows(), ending)

    def _written_columns(self) -> list[Column]:
        return [*self.written_first, *self.rows_model.columns]

    def export(self, path: str | Path) -> None:
        """Write the table; the ending says how: ``.tex``, ``.md``, and CSV for any other.

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
        """Ask where to and in which format, and save; a failure is the `failed` signal."""
        save_as(self, tr("Save table"), f"{self.objectName()}.csv", FORMATS, self.export, self.failed)

    def menu(self, row: Row | None = None) -> QMenu:
        """Return the table's menu, with the actions of a row first."""
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
        menu.addAction(tr("Copy"), QKeySequence(QKeySequence.StandardKey.Copy), self.copy)
        for label, ending in FORMATS[1:]:
            menu.addAction(tr("Copy as {label}").format(label=label), partial(self.copy_as, ending))
        menu.addAction(tr("Save as CSV, LaTeX or Markdown…"), self.save_as)
        return menu

    def edit_cell(self, key: str | None) -> None:
        """Let the user write into a cell of the chosen row: of a column, or of the first that is edited."""
        for number, column in enumerate(self.rows_model.columns):
            if column.edited is not None and key in (None, column.key) and self.currentIndex().isValid():
                index = self.rows_model.index(self.currentIndex().row(), number)
                self.scrollTo(index)
                self.edit(index)
                return

    def shows_focus(self) -> bool:
        """Return whether the keyboard came here by the keyboard, so that a ring is due."""
        return self._focus_shown

    # Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy on Ctrl+C; Enter confirms the row."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() == Qt.Key.Key_Space and self.rows_model.has_ticks():
            focused = self.currentIndex()
            rows = self.selected() or [index.data(ROW_ROLE) for index in [focused] if index.isValid()]
            for row in rows:
                self.toggled.emit(row)
        elif event.key() == Qt.Key.Key_F2:
            self.edit_cell(None)
        else:
            self._focus_shown = True
            with self._moving():
                super().keyPressEvent(event)
            index = self.currentIndex()
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
                self.confirmed.emit(index.data(ROW_ROLE))

    def moveCursor(self, action: QTableView.CursorAction, keys: Qt.KeyboardModifier) -> QModelIndex:
        """Let Home and End lead to the first and the last row: rows are chosen whole."""
        index = super().moveCursor(action, keys | Qt.KeyboardModifier.ControlModifier)
        if index.isValid() and not self.rows_model.is_heading(index.row()):
            return index
        upward = (QTableView.CursorAction.MoveHome, QTableView.CursorAction.MovePageUp)
        return self._first_index() if action in upward else self.currentIndex()

    def _first_index(self) -> QModelIndex:
        """Return the first row that is no heading."""
        n_rows = self.rows_model.rowCount()
        numbers = (number for number in range(n_rows) if not self.rows_model.is_heading(number))
        return self.rows_model.index(next(numbers, -1), 0)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to copy and save, and what can be done with the row: by key, with the chosen one."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_key else self.indexAt(event.pos())
        below = self.viewport().mapToGlobal(self.visualRect(index).bottomLeft())
        is_row = index.isValid() and not self.rows_model.is_heading(index.row())
        menu = self.menu(index.data(ROW_ROLE) if is_row else None)
        menu.exec(below if by_key else event.globalPos())
        menu.deleteLater()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Let the row under the mouse light up."""
        position = event.position().toPoint()
        if self.dragged is not None and self._pressed is not None:
            offset = position - self._pressed.position().toPoint()
            if offset.manhattanLength() >= QApplication.startDragDistance():
                self._drag()
            return
        with self._moving():
            super().mouseMoveEvent(event)
        self._hover(self.indexAt(position).row())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Hide the keyboard's ring from those who use the mouse."""
        self._focus_shown = False
        index = self.indexAt(event.position().toPoint())
        if self.rows_model.is_heading(index.row()):
            return
        if index.isValid() and self.column_at(index.column()).kind == "tick":
            if event.button() == Qt.MouseButton.LeftButton:
                self.toggled.emit(index.data(ROW_ROLE))  # and the row is not chosen by that
            return
        if self.dragged is not None and event.button() == Qt.MouseButton.LeftButton and index.isValid():
            self._pressed = event.clone()
            return
        self._press(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the row that was pressed and not dragged."""
        pressed = self._pressed
        self._pressed = None
        if pressed is not None:
            self._press(pressed)
        self._is_held = False
        with self._moving():
            super().mouseReleaseEvent(event)

    def _press(self, event: QMouseEvent) -> None:
        """Let Qt handle a press."""
        self._is_held = True
        with self._moving():
            super().mousePressEvent(event)

    def _drag(self) -> None:
        """Drag the row that was pressed."""
        assert self.dragged is not None and self._pressed is not None
        index = self.indexAt(self._pressed.position().toPoint())
        self._pressed = None  # the release goes to what the row is dropped on
        if index.isValid():
            row: Row = index.data(ROW_ROLE)
            drag = QDrag(self)
            drag.setMimeData(self.dragged(row))
            room = self.visualRect(index)
            drag.setPixmap(self.viewport().grab(QRect(0, room.y(), scaled(_SEEN_DRAGGED), room.height())))
            self.dragging.emit(row)
            drag.exec(Qt.DropAction.CopyAction)
            self.dragging.emit(None)
            self._hover(-1)  # the mouse left the row without an event

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the chosen row in sight where it was, and the columns that stretch readable."""
        was_visible = self._is_in_sight(event.oldSize().height())
        super().resizeEvent(event)
        self._bars.move()
        self._give_way()
        self._stretch_columns()
        if was_visible:
            self._bring_into_sight()

    def showEvent(self, event: QShowEvent) -> None:
        """Bring a row into sight that was chosen while the table was hidden, at another size."""
        super().showEvent(event)
        if self._is_due:
            self._is_due = False
            self._bring_into_sight()

    def leaveEvent(self, event: QEvent) -> None:
        """Let no row light up."""
        super().leaveEvent(event)
        self._hover(-1)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is to those who came by Tab."""
        self._quiet = True
        super().focusInEvent(event)  # Qt may make the first row the current one
        self._focus_shown = event.reason() in _KEYBOARD
        if self._focus_shown and not self.currentIndex().isValid() and self.rows_model.rowCount():
            # Not highlighted: the ring says where the arrow keys begin, but no row was chosen.
            self.selectionModel().setCurrentIndex(self._first_index(), _NO_ROW)
        self._quiet = False

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the cells, or what an empty table says."""
        super().paintEvent(event)
        self._draw_frozen()
        empty = self.rows_model.rowCount() == 0
        cut = ""
        if empty and self.placeholder:
            painter = QPainter(self.viewport())
            painter.setFont(font(SMALL))
            painter.setPen(self._theme.colors.q("muted"))
            box = self.viewport().rect().adjusted(16, 12, -16, -12)
            flags = BELOW | Qt.TextFlag.TextWordWrap
            drawn = painter.drawText(box, flags, self.placeholder)
            painter.end()
            cut = "" if box.contains(drawn) else self.placeholder
        if empty and self._focus_shown and self.hasFocus():
            self._draw_focus()  # which no row shows
        if cut != self._cut:
            self._cut = cut
            self.setToolTip(plain(cut))

    def indexAt(self, pos: QPoint) -> QModelIndex:
        """Return the cell that is seen at a pixel."""
        section = self._header.frozen_section(pos.x())
        row = self.rowAt(pos.y())
        return self.rows_model.index(row, section) if section >= 0 and row >= 0 else super().indexAt(pos)

    def visualRect(self, index: Index) -> QRect:
        """Return where a cell is seen."""
        rect = super().visualRect(index)
        if index.isValid() and self._header.frozen_width() and index.column() < self._header.n_frozen:
            rect.moveLeft(self._header.frozen_rect(index.column()).left())
        return rect

    def scrollTo(
        self, index: Index, hint: QTableView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        """Bring a cell into sight, and not behind the columns that stay."""
        bar = self.horizontalScrollBar()
        value = bar.value()
        stays = bool(self._header.frozen_width())
        super().scrollTo(index, hint)
        if stays and index.isValid():
            if index.column() < self._header.n_frozen:
                bar.setValue(value)
                return
            overlap = self._header.frozen_width() - super().visualRect(index).left()
            bar.setValue(bar.value() - max(0, overlap))

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Draw the columns that stay anew: Qt moves what is drawn."""
        super().scrollContentsBy(dx, dy)
        self._bars.move()
        if dx and self._header.n_frozen:
            self.viewport().update()
            self._header.viewport().update()

    def _draw_frozen(self) -> None:
        """Draw the columns that stay over the scrolled ones."""
        width = self._header.frozen_width()
        if not width:
            return
        painter = QPainter(self.viewport())
        colors = self._theme.colors
        painter.fillRect(QRect(0, 0, width, self.viewport().height()), colors.q("panel"))
        first = self.rowAt(0)
        last = self.rowAt(self.viewport().height() - 1)
        last = last if last >= 0 else self.rows_model.rowCount() - 1
        for row in range(max(0, first), last + 1):
            for column in range(self._header.n_frozen):
                if not self.isColumnHidden(column):
                    self._draw_cell(painter, self.rows_model.index(row, column))
        painter.setPen(colors.q("line"))
        painter.drawLine(width - 1, 0, width - 1, self.viewport().height())
        painter.end()

    def _draw_cell(self, painter: QPainter, index: QModelIndex) -> None:
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        option.rect = self.visualRect(index)
        if self.selectionModel().isSelected(index):
            option.state |= QStyle.StateFlag.State_Selected
        self.itemDelegate().paint(painter, option, index)

    def _draw_focus(self) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.colors.q("accent"), 2.0))
        painter.drawRoundedRect(self.viewport().rect().adjusted(2, 2, -2, -2), 6, 6)
        painter.end()

    # Inside

    def _configure(self) -> None:
        """Set up what Qt's table does by default otherwise."""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setMouseTracking(True)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        triggers = QAbstractItemView.EditTrigger
        self.setEditTriggers(triggers.DoubleClicked | triggers.EditKeyPressed)  # of columns that are edited
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
        """Make the rows as high as the text wants them."""
        height = scaled(ROW_HEIGHT)
        if height != self.verticalHeader().defaultSectionSize():
            self.setMinimumHeight(2 * height)
            self.verticalHeader().setDefaultSectionSize(height)
            self.horizontalHeader().setFixedHeight(height)
            self._fit_columns()
            self._bars.move()

    def restore_widths(self, text: str) -> None:
        """Give columns the widths that the user gave them the last time."""
        self.widths.restore(text)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Give every column its width."""
        header = self.horizontalHeader()
        for number, column in enumerate(self.rows_model.columns):
            if not column.stretch:
                header.setSectionResizeMode(number, QHeaderView.ResizeMode.Interactive)
                set_width = self._set_widths.get(column.key)
                fixed = set_width or self.widths.of(column.key) or given_width(column)
                header.resizeSection(number, fixed or self._fitting_width(number, column.title))
        self._give_way()
        self._stretch_columns()

    def _give_way(self) -> None:
        """Hide the spare columns for which there is no room."""
        widths = {c.key: self.widths.of(c.key) or given_width(c) for c in self.rows_model.columns}
        widths = {
            key: self._set_widths.get(key) or width or scaled(self._names) for key, width in widths.items()
        }
        room = self.viewport().width() - sum(widths.values())
        hidden_keys = set[str]()
        for group in self._spare:
            if room < 0:
                hidden_keys |= widths.keys() & set(group)
                room += sum(widths.get(key, 0) for key in group)
        for number, column in enumerate(self.rows_model.columns if self._spare else ()):
            self.setColumnHidden(number, column.key in hidden_keys)

    def _stretch_columns(self) -> None:
        """Give columns that stretch the room that is left, and what a name needs where little is left."""
        header = self.horizontalHeader()
        columns = list(enumerate(self.rows_model.columns))
        least = {n: _least_width(c) for n, c in columns if c.stretch}
        fixed_width = sum(header.sectionSize(n) for n, _ in columns if n not in least)
        least_width = sum(width for n, width in least.items() if not header.isSectionHidden(n))
        fits = fixed_width + least_width <= self.viewport().width()
        mode = QHeaderView.ResizeMode.Stretch if fits else QHeaderView.ResizeMode.Interactive
        for number, width in least.items():
            header.setSectionResizeMode(number, mode)
            if not fits and not header.isSectionHidden(number):
                header.resizeSection(number, width)

    def setColumnHidden(self, column: int, hide: bool) -> None:
        """Show or hide a column; those that stretch share what is left."""
        if hide is not self.isColumnHidden(column):
            super().setColumnHidden(column, hide)
            self._stretch_columns()

    def setColumnWidth(self, column: int, width: int) -> None:
        """Give a column a width that stays when rows change or widths of the last time are restored."""
        self._set_widths[self.column_at(column).key] = width
        super().setColumnWidth(column, width)

    def _fitting_width(self, number: int, title: str) -> int:
        """Return a width for the title and the texts of the first rows: all would take long."""
        return min(_WIDEST, max(self.sizeHintForColumn(number), title_width(title)))

    @contextmanager
    def _moving(self) -> Iterator[None]:
        """Emit which row an event of Qt leads to after Qt has handled it, and keep that row highlighted.

        Qt makes a row the current one first, and highlights rows by their place under the mouse afterwards.
        What the window shows of the row may scroll the table or exchange its rows, and comes after both.
        """
        if self._is_moving:
            yield
            return
        row_before = self._chosen_number()
        self._is_moving = True
        try:
            yield
            if row_before >= 0:
                self._highlight_current()
        finally:
            self._is_moving = False
        row_after = self._chosen_number()
        if row_after not in (row_before, -1) and not self._quiet:
            self.chosen.emit(self.current())

    def _chosen_number(self) -> int:
        """Return where the chosen row is shown, -1 where there is none."""
        index = self.currentIndex()
        return index.row() if self.selectionModel().isSelected(index) else -1

    def _highlight_current(self) -> None:
        """Move to the nearest highlighted row where the user has taken the current one out of them."""
        index = self.currentIndex()
        if not index.isValid() or self.selectionModel().isSelected(index):
            return
        rows = [row_index.row() for row_index in self.selectionModel().selectedRows()]
        if rows:
            nearest = min(rows, key=lambda row: abs(row - index.row()))
            self.selectionModel().setCurrentIndex(self.rows_model.index(nearest, index.column()), _NO_ROW)
        else:
            self.selectionModel().setCurrentIndex(index, _WHOLE_ROW)

    def _key(self, row: Row) -> Hashable:
        """Return the identity of a row: equal for two objects of the same row."""
        key: Hashable = row if self._identity is None else self._identity(row)
        return key

    def _is_chosen(self, row: Row) -> bool:
        """Return whether a row is the chosen one already."""
        current = self.current()
        return current is not None and self._key(current) == self._key(row)

    def reveal(self, row: Row) -> bool:
        """Bring a row into sight that need not be the chosen one; return whether it is listed."""
        index = self._index_of(row)
        self.scrollTo(index)
        return index.isValid()

    def _select(self, row: Row) -> bool:
        """Make a row the chosen one; return whether it is listed."""
        index = self._index_of(row)
        if index.isValid():
            self.selectionModel().setCurrentIndex(index, _WHOLE_ROW)
        return index.isValid()

    def _index_of(self, row: Row) -> QModelIndex:
        """Return the first cell of a row; an invalid index if it is not listed."""
        key = self._key(row)
        for number, listed in enumerate(self.rows_model.rows):
            if not isinstance(listed, Heading) and self._key(listed) == key:
                return self.rows_model.index(self.rows_model.shown_number(number), 0)
        return QModelIndex()

    def _is_in_sight(self, height: int | None = None) -> bool:
        """Return whether the whole current row is seen, in a viewport of a height; its own by default."""
        rect = self.visualRect(self.currentIndex())
        height = self.viewport().height() if height is None else height
        return rect.isValid() and rect.top() >= 0 and rect.bottom() <= height

    def _bring_into_sight(self) -> None:
        """Scroll to the chosen row, no further down than needed, unless that is under a pressed mouse."""
        self._is_due = not self.isVisible()
        if not self._is_held:
            self.scrollToTop()
            self.scrollTo(self.currentIndex())

    def heading_bars(self) -> list[HeadingBar]:
        """Return the bars of the headings, in their order."""
        return self._bars.bars()

    @Slot()
    def _leave_rows(self) -> None:
        """Let no row light up: the mouse went to a heading."""
        self._hover(-1)

    def _hover(self, row: int) -> None:
        """Redraw the row that the mouse entered and the one that it left."""
        row = -1 if self.rows_model.is_heading(row) else row
        if row != self.hovered_row:
            self.hovered_row = row
            rows = self.rows_model.shown_rows()
            self.pointed.emit(rows[row] if 0 <= row < len(rows) else None)
            self.viewport().update()

    @Slot(QModelIndex, QModelIndex)
    def _on_current(self, current: QModelIndex, previous: QModelIndex) -> None:
        """Emit which row was moved to by other ways than an event here, as a screen reader does."""
        if not (self._quiet or self._is_moving) and current.isValid():
            self.chosen.emit(current.data(ROW_ROLE))

    @Slot(QModelIndex)
    def _on_confirmed(self, index: QModelIndex) -> None:
        """Emit which row was double-clicked; a cell that is edited is not confirmed by that."""
        if self.column_at(index.column()).edited is None:
            self.confirmed.emit(index.data(ROW_ROLE))

    @Slot(QModelIndex)
    def _on_clicked(self, index: QModelIndex) -> None:
        """Emit which cell was clicked."""
        if self.rows_model.is_heading(index.row()):
            return
        self.cellClicked.emit(index.data(ROW_ROLE), self.column_at(index.column()).key)


class Cells(QStyledItemDelegate):
    """Draws the cells of a `TableView`.

    Parameters
    ----------
    theme : Theme
    table : TableView
    """

    def __init__(self, theme: Theme, table: TableView) -> None:
        super().__init__(table)
        self._theme = theme
        self._table = table

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the width of the text with its decorations."""
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

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw ground and contents of a cell."""
        colors = self._theme.colors
        rect: QRect = option.rect
        state: int = option.state.value
        number = index.column()
        if self._model().is_heading(index.row()):
            return  # the table draws it
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & _SELECTED:
            painter.fillRect(rect, colors.q("tint"))
        elif index.row() == self._table.hovered_row:
            painter.fillRect(rect, colors.q("inset"))
        column = self._table.column_at(number)
        row = index.data(ROW_ROLE)
        self._paint_contents(painter, rect.adjusted(PAD, 0, -PAD, 0), column, row, number)
        if state & _FOCUSED and self._table.shows_focus():
            painter.setPen(colors.q("accent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(1.5, 1.5, -1.5, -1.5), 4, 4)
        painter.restore()

    def helpEvent(
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        """Show a cell's own tooltip, or its text where that is cut off."""
        if not index.isValid():
            return False
        QToolTip.showText(event.globalPos(), plain(self.tooltip(option, index)), view)
        return True

    def tooltip(self, option: QStyleOptionViewItem, index: Index) -> str:
        """Return the tooltip of a cell: its text where that is cut off, and its hint."""
        column = self._table.column_at(index.column())
        row = index.data(ROW_ROLE)
        if isinstance(row, Heading):
            return row.text
        hint = column.hint(row) if column.hint else ""
        text = column.text(row)
        cut = self.sizeHint(option, index).width() > self._table.visualRect(index).width()
        return "\n".join(filter(None, (text if cut and text not in hint else "", hint)))

    def _paint_contents(
        self, painter: QPainter, rect: QRect, column: Column, row: object, number: int
    ) -> None:
        """Draw the cell by the kind of its column."""
        value = column.of(row)
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
        painter.setFont(font(BASE, bold))
        text = column.text(row)
        if column.paint is not None:
            painter.save()
            rest = column.paint(painter, rect, self._theme.colors, row)
            painter.restore()
            if rest is None:
                return
            rect = rest
        if isinstance(value, ProgressCell):
            rect = self._paint_progress(painter, rect, value)
        elif column.kind == "weight" and self._has_room_for_bar(painter, rect, text):
            rect = self._paint_weight(painter, rect, float(value), number)
        painter.setPen(self._theme.colors.q(column.color(row)))
        marked = column.mark is not None and column.mark(row)
        room = rect.adjusted(0, 0, -16 if marked else 0, 0)
        # Names of features differ in their ends: "Covered query term number of title".
        cut = Qt.TextElideMode.ElideMiddle if column.stretch else Qt.TextElideMode.ElideRight
        text = painter.fontMetrics().elidedText(text, cut, room.width())
        painter.drawText(room, FLAGS[column.align], text)
        if marked:
            x = room.left() + painter.fontMetrics().horizontalAdvance(text) + 10
            self._paint_diamond(painter, QPointF(x, rect.center().y() + 1))

    def _paint_dot(self, painter: QPainter, rect: QRect, dot: Dot) -> None:
        """Draw a category's colour as a dot; as a ring where an earlier category has the same colour."""
        look = palettes.category(self._theme.colors, dot.category)
        painter.setPen(QPen(look.color, 2.0) if look.repeats else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush if look.repeats else look.color)
        radius = 3.5 if look.repeats else 4.5  # the line of a ring is half outside
        painter.drawEllipse(QPointF(rect.left() + 4.5, rect.center().y() + 0.5), radius, radius)

    def _paint_tick(self, painter: QPainter, rect: QRect, tick: Tick) -> None:
        """Draw a box like that of a check box."""
        colors = self._theme.colors
        box = QRectF(rect.left() + 0.5, rect.center().y() - 6.5, 14, 14)
        painter.setPen(QPen(colors.q("accent" if tick.on else "line_hover"), 1.0))
        painter.setBrush(colors.q("accent" if tick.on else "panel"))
        painter.drawRoundedRect(box, 3.5, 3.5)
        if tick.on:
            hook = [QPointF(3.6, 7.4), QPointF(6.2, 10.0), QPointF(10.6, 4.4)]
            painter.setPen(QPen(colors.q("on_accent"), 1.8))
            painter.drawPolyline(QPolygonF([box.topLeft() + point for point in hook]))

    def _paint_histogram(self, painter: QPainter, rect: QRect, histogram: HistogramCell) -> None:
        """Draw the shares of all as grey bars, and those of the part as a line of steps over them.

        Heights are square roots, so that a spike at zero leaves something of the rest to be seen.
        """
        if not histogram.all:
            return
        area = QRectF(rect).adjusted(0, 5, 0, -4)
        tallest = max((*histogram.all, *histogram.part))
        width = area.width() / len(histogram.all)
        colors = self._theme.colors

        def top(share: float) -> float:
            return area.bottom() - area.height() * (share / tallest) ** 0.5 if tallest else area.bottom()

        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.q("line_hover"))
        for number, share in enumerate(histogram.all):
            left_edge = area.left() + number * width
            painter.drawRect(QRectF(left_edge, top(share), width - 0.6, area.bottom() - top(share)))
        steps = [
            QPointF(area.left() + (number + side) * width, top(share))
            for number, share in enumerate(histogram.part)
            for side in (0, 1)
        ]
        painter.setPen(QPen(palettes.category(colors, 2).color, 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(steps))

    def _paint_diamond(self, painter: QPainter, point: QPointF) -> None:
        """Draw the mark after a text."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colors.q("accent"))
        moves = ((0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0))
        painter.drawPolygon(QPolygonF([point + QPointF(dx, dy) for dx, dy in moves]))

    @staticmethod
    def _has_room_for_bar(painter: QPainter, rect: QRect, text: str) -> bool:
        """Return whether there is a weight, and room for its bar beside its number."""
        room = rect.width() - painter.fontMetrics().horizontalAdvance(text)
        return text != MISSING and room >= WEIGHT_BAR + PAD

    def _paint_weight(self, painter: QPainter, rect: QRect, value: float, number: int) -> QRect:
        """Draw a bar from zero for a weight; what is left of the cell is for its number.

        Zero stands where the column's least and greatest values leave it: at the left where none is negative.
        A negative weight's bar goes to the left of it, in another colour.
        """
        colors = self._theme.colors
        low, high = self._model().bar_range(number)
        scale = WEIGHT_BAR / (high - low) if high > low else 0.0
        zero = rect.left() - low * scale
        top = rect.center().y() - _BAR / 2 + 1
        painter.setPen(Qt.PenStyle.NoPen)
        length = abs(value) * scale
        if length:
            length = max(1.5, length)
            painter.setBrush(palettes.category(colors, 0 if value > 0 else 2).color)
            left_edge = zero if value > 0 else zero - length
            painter.drawRoundedRect(QRectF(left_edge, top, length, _BAR), 1.5, 1.5)
        painter.setBrush(colors.q("line_hover"))
        painter.drawRect(QRectF(zero - 0.5, top - 3, 1.0, _BAR + 6))
        return rect.adjusted(WEIGHT_BAR + PAD, 0, 0, 0)

    def _paint_progress(self, painter: QPainter, rect: QRect, progress: ProgressCell) -> QRect:
        """Draw a thin progress bar; what is left of the cell is for the text beside it."""
        colors = self._theme.colors
        text = painter.fontMetrics().horizontalAdvance(progress.text) + 12 if progress.text else 0
        width = max(24, min(110, rect.width() - text))
        track = QRectF(rect.left(), rect.center().y() - 2, width, 6)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.q("line"))
        painter.drawRoundedRect(track, 3, 3)
        filled = min(1.0, max(0.0, progress.share)) * width
        if filled > 0:
            painter.setBrush(colors.q("accent"))
            painter.drawRoundedRect(QRectF(track.left(), track.top(), max(6.0, filled), 6), 3, 3)
        return rect.adjusted(width + 10, 0, 0, 0)

    def _model(self) -> ColumnModel:
        """Return the table's model below its sorting."""
        return self._table.rows_model
