"""Columns that describe what a table shows of its row objects, the model of a table, and tables as text."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from rankstudio.engine.export.tables import csv_text, latex_text, markdown_text
from rankstudio.engine.support.number_format import count_text, fixed, signed
from rankstudio.ui.language import tr
from rankstudio.ui.style.fonts import LEFT, RIGHT
from rankstudio.ui.style.plain_text import plain

if TYPE_CHECKING:
    from PySide6.QtCore import QRect
    from PySide6.QtGui import QPainter

    from rankstudio.ui.style.colors import Colors


Align = Literal["left", "right", "center"]
CellKind = Literal["text", "weight", "dot", "progress", "tick", "histogram"]
Index = QModelIndex | QPersistentModelIndex
Row = Any

ROW_ROLE = int(Qt.ItemDataRole.UserRole)

FLAGS = {"left": LEFT, "right": RIGHT, "center": Qt.AlignmentFlag.AlignCenter}
"""Qt's alignment of a column's texts."""
_READ = (
    Qt.ItemFlag.ItemIsSelectable
    | Qt.ItemFlag.ItemIsEnabled
    | Qt.ItemFlag.ItemNeverHasChildren
)
_WRITTEN = _READ | Qt.ItemFlag.ItemIsEditable
PAD = 8
"""Room at both sides of a cell, in pixels."""

MISSING = "–"


@dataclass(frozen=True)
class ProgressCell:
    """The value of a cell of kind ``progress``: a share in [0, 1] and a text beside the bar ("0:12 left")."""

    share: float
    text: str = ""


@dataclass(frozen=True)
class Dot:
    """The value of a cell of kind ``dot``: the category whose color the dot has."""

    category: int


@dataclass(frozen=True)
class Tick:
    """The value of a cell of kind ``tick``: a box that is ticked or not."""

    on: bool


@dataclass(frozen=True)
class HistogramCell:
    """The value of a cell of kind ``histogram``: the share of each bin among all values, and among a part."""

    all: tuple[float, ...]
    part: tuple[float, ...] = ()


@dataclass(frozen=True)
class Heading:
    """A heading among the rows of a table: it names and folds the rows below it, and is not chosen or sorted.

    Attributes
    ----------
    key : Hashable
        Identity of the heading, which stays the same when its texts change.
    title : str
        Text in bold at the beginning.
    parts : tuple of (str, bool)
        Pieces of the sentence after the title, each with whether it is bold.
    is_folded : bool
        Whether the rows below the heading are hidden.
    link : str
        Text of a link to an action on the rows below the heading; ""
        for no link.
    link_hint : str
        Tooltip of the link.
    """

    key: Hashable
    title: str
    parts: tuple[tuple[str, bool], ...] = ()
    is_folded: bool = False
    link: str = ""
    link_hint: str = ""

    @property
    def text(self) -> str:
        """The title and all parts."""
        return " ".join((self.title, "".join(text for text, _ in self.parts))).strip()


@dataclass(frozen=True)
class Column:
    """A column of a table: how its cells get their values from row objects, and how they are drawn.

    Callables take the row object as their argument, unless stated otherwise.

    Attributes
    ----------
    key : str
        Attribute of the row object, or key of a mapping; the column's
        name in signals.
    title : str
        Title in the header.
    full_title : str
        Title in files, where there is more room; "" for `title`.
    align : {"left", "right", "center"}
        Numbers go to the right.
    format : str or callable
        A format specification (".4f"), or a function of the value; None
        and NaN are "–" in any case.
    value : callable, optional
        Returns the value, if it is not the attribute `key` of the row.
    tooltip : str
        Tooltip of the header: what the column means.
    width : int
        Width in pixels; 0 for the width of the texts.
    stretch : bool
        Whether the column takes the remaining room.
    least : int
        Least width in pixels of a column that stretches; where there is
        less room, the table scrolls.
    kind : {"text", "weight", "dot", "progress", "tick", "histogram"}
        How cells are drawn. A ``weight`` is a number, a ``dot`` a
        `Dot`, a ``tick`` a `Tick`, a ``histogram`` a `HistogramCell`; a
        ``progress`` cell draws a `ProgressCell` as a bar and any other
        value as text.
    tone : str or callable
        Color role of the text, or a function that returns the role.
    bold : callable, optional
        Returns whether the cell is bold.
    mark : callable, optional
        Returns whether a diamond follows the text ("pinned").
    hint : callable, optional
        Returns the tooltip of the cell; without it, a text that is cut
        off is the tooltip.
    sort : callable, optional
        Returns the value to sort by, if it is not the cell's value.
    editor_text : callable, optional
        Returns the text with which the editor of the cell opens.
        Without it, the user cannot edit cells.
    paint : callable, optional
        Draws into a cell, before its text. The function takes the
        painter, the cell's rectangle, the theme's colors and the row,
        and returns the rectangle that is left for the text, or None if
        no text is to follow.
    spoken : callable, optional
        Returns the words of a screen reader for the cell, if these are
        not the text.
    parts : tuple of Column
        Columns that replace this one in CSV and on the clipboard, with
        one number each; empty for itself.
    """

    key: str
    title: str
    align: Align = "left"
    format: str | Callable[[Any], str] = ""
    value: Callable[[Row], Any] | None = None
    tooltip: str = ""
    width: int = 0
    stretch: bool = False
    least: int = 0
    kind: CellKind = "text"
    tone: str | Callable[[Row], str] = "text"
    bold: Callable[[Row], bool] | None = None
    mark: Callable[[Row], bool] | None = None
    hint: Callable[[Row], str] | None = None
    sort: Callable[[Row], Any] | None = None
    editor_text: Callable[[Row], str] | None = None
    paint: Callable[[QPainter, QRect, Colors, Row], QRect | None] | None = None
    full_title: str = ""
    spoken: Callable[[Row], str] | None = None
    parts: tuple[Column, ...] = ()

    @property
    def written_title(self) -> str:
        """The title of the column in a file."""
        return self.full_title or self.title or self.key

    def value_in(self, row: Row) -> Any:
        """Return the value of this column in a row."""
        if self.value is not None:
            return self.value(row)
        return row[self.key] if isinstance(row, Mapping) else getattr(row, self.key)

    def text(self, row: Row) -> str:
        """Return the text of the cell in a row.

        The text is the formatted value, "–" for a missing value, and ""
        for a cell that is drawn.
        """
        value = self.value_in(row)
        if is_missing(value):
            return MISSING
        if isinstance(value, ProgressCell):
            return value.text

        # A dot, a tick and a histogram are drawn, without a text.
        if isinstance(value, Dot | Tick | HistogramCell):
            return ""
        if callable(self.format):
            return self.format(value)
        if self.kind == "weight" and not self.format:
            return signed(value)

        # ".4f" is a number of decimals, and "," a whole number with grouped digits.
        if self.format[:1] == "." and self.format[-1:] == "f":
            return fixed(value, int(self.format[1:-1]))
        return count_text(value) if self.format == "," else format(value, self.format)

    def plain(self, row: Row) -> str:
        """Return the text of the cell that is copied and exported.

        Numbers have all digits, and a missing value is "". For a cell
        that the user can edit, this is the text of the editor, without
        marks added to it.
        """
        # `editor_text` returns the text with which the editor of a cell
        # opens. A number in an editable cell is written with all digits
        # instead, as the editor may show fewer.
        value = self.value_in(row)
        if isinstance(value, str) and self.editor_text is not None:
            return self.editor_text(row)
        if is_missing(value) or isinstance(value, Dot | Tick | HistogramCell):
            return ""
        return value.text if isinstance(value, ProgressCell) else str(value)

    def color(self, row: Row) -> str:
        """Return the color role of the cell's text."""
        return self.tone(row) if callable(self.tone) else self.tone

    def order(self, row: Row) -> Any:
        """Return the key that the column sorts a row by: the `sort` function's value, or that of the cell."""
        value = self.sort(row) if self.sort is not None else self.value_in(row)
        if isinstance(value, ProgressCell):
            return value.share
        if isinstance(value, Tick):
            # False is before True: ticked rows come first.
            return not value.on

        # Histograms are sorted by their highest bin: the more even, the earlier.
        if isinstance(value, HistogramCell):
            return max(value.all, default=0.0)

        # Dots are in the order of their categories.
        return value.category if isinstance(value, Dot) else value


def tick_column(is_ticked: Callable[[Row], bool], tooltip: str) -> Column:
    """Return a narrow column of boxes without a title.

    ``is_ticked`` returns whether a row has a tick; ``tooltip`` is that
    of the header.
    """
    return Column(
        "tick",
        "",
        kind="tick",
        value=lambda row: Tick(is_ticked(row)),
        tooltip=tooltip,
        width=30,
    )


def is_missing(value: object) -> bool:
    """Return whether a cell has nothing to show."""
    return value is None or (isinstance(value, float) and math.isnan(value))


class ColumnModel(QAbstractTableModel):
    """The model of a table: row objects in columns, sorted by a column, separately below each heading.

    The sort key of each row is computed once. Qt's proxy model would
    compare pairs of cells in Python, which takes a second for two
    thousand rows.

    Parameters
    ----------
    columns : sequence of Column
        The columns, from left to right.
    identity : callable, optional
        Returns the identity of a row object, by which the selection is
        kept when rows change.
    rows : sequence
        The rows to begin with; they are not copied.
    parent : QObject, optional
    """

    written = Signal(object, str, str)
    """The user wrote a text into a cell (row object, column key, text)."""

    def __init__(
        self,
        columns: Sequence[Column],
        identity: Callable[[Row], Hashable] | None = None,
        rows: Sequence[Row] = (),
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self.rows = rows
        self._identity = identity  # returns what distinguishes a row

        # For columns with bars, by their positions: the least and the
        # greatest number, which are the ends of the scale of the bars.
        self._ranges: dict[int, tuple[float, float]] = {}

        # Position of the column that sorts, -1 for none, and the order.
        self._sorting = (-1, Qt.SortOrder.AscendingOrder)

        # Indices in `rows`, in the order shown.
        self._shown_indices: Sequence[int] = range(len(rows))

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns of the same rows, in the order of `rows`: not sorted."""
        self.beginResetModel()
        self.columns = tuple(columns)
        self._sorting = (-1, Qt.SortOrder.AscendingOrder)
        self._shown_indices = range(len(self.rows))
        self._ranges.clear()
        self.endResetModel()

    def set_rows(self, rows: Sequence[Row]) -> bool:
        """Show other rows, sorted as the present ones.

        Returns
        -------
        bool
            Whether these are other rows; False if the same rows only
            have new contents.
        """
        # For the same rows, Qt is only notified of new contents: a
        # reset would lose its selection and scroll position.
        new_rows = list(rows)
        if self.identities(self.rows) == self.identities(new_rows) and new_rows:
            self.rows = new_rows
            self._ranges.clear()
            self._rearrange()
            self.dataChanged.emit(
                self.index(0, 0), self.index(len(new_rows) - 1, len(self.columns) - 1)
            )
            return False
        self.beginResetModel()
        self.rows = new_rows
        self._shown_indices = self._sorted_indices()
        self._ranges.clear()
        self.endResetModel()
        return True

    def shown_rows(self) -> list[Row]:
        """Return the row objects in the order in which they are shown."""
        return [self.rows[index] for index in self._shown_indices]

    def shown_number(self, index: int) -> int:
        """Return the position at which a row is shown, given its index in `rows`."""
        return self._shown_indices.index(index)

    def sort(
        self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder
    ) -> None:
        """Sort by a column, -1 for the order in which the rows were given.

        ``column`` is the position of the column. Rows with equal values
        keep the order in which rows were given.
        """
        # Qt calls this twice for a click on a header
        if self._sorting != (column, order):
            self._sorting = (column, order)
            self._rearrange()

    def _sorted_indices(self) -> Sequence[int]:
        """Return the indices in `rows` in the order that the sorting column gives.

        Headings stay above their rows; the rows below a heading are
        sorted among themselves.
        """
        number, order = self._sorting
        if not 0 <= number < len(self.columns):
            return range(len(self.rows))

        # Rows before the first heading are sorted among themselves, and
        # so are those between two headings. A heading is followed by
        # its rows, up to the next heading or the end.
        headings = [
            index for index, row in enumerate(self.rows) if isinstance(row, Heading)
        ]
        column = self.columns[number]
        descends = order == Qt.SortOrder.DescendingOrder
        if not headings:
            return self._sort(range(len(self.rows)), column, descends)
        indices = self._sort(range(headings[0]), column, descends)
        for heading, end in zip(headings, [*headings[1:], len(self.rows)], strict=True):
            indices += [heading, *self._sort(range(heading + 1, end), column, descends)]
        return indices

    def _sort(
        self, indices: Sequence[int], column: Column, descends: bool
    ) -> list[int]:
        """Return indices of rows, sorted by the values of a column.

        ``descends`` says whether the greatest value comes first. Rows
        without a value come last in either direction, and texts ignore
        case. The indices may be a range.
        """
        keys = {index: column.order(self.rows[index]) for index in indices}
        present = [index for index in indices if not is_missing(keys[index])]
        missing = [index for index in indices if is_missing(keys[index])]

        # If some keys are texts, all are compared as texts.
        if any(isinstance(keys[index], str) for index in present):
            keys = {index: str(key).casefold() for index, key in keys.items()}
        present.sort(key=keys.__getitem__, reverse=descends)
        return present + missing

    def _rearrange(self) -> None:
        """Sort the shown rows, and let Qt's persistent indexes follow their rows.

        A persistent index is a cell that Qt remembers: the current cell
        or a highlighted cell. The index has the position of the row,
        which the sorting changes.
        """
        old_indices = self._shown_indices
        new_indices = self._sorted_indices()
        if old_indices == new_indices:
            return
        self.layoutAboutToBeChanged.emit()
        new_positions = {index: position for position, index in enumerate(new_indices)}
        persistent = self.persistentIndexList()
        self._shown_indices = new_indices

        # From the old position to the row, and from the row to the new position.
        moved = [
            self.index(new_positions[old_indices[old.row()]], old.column())
            for old in persistent
        ]
        self.changePersistentIndexList(persistent, moved)
        self.layoutChanged.emit()

    def identities(self, rows: Sequence[Row]) -> list[Hashable]:
        """Return the identities of rows.

        The identities are the positions of the rows if no function
        ``identity`` was given.
        """
        return [self._identity_of(row, index) for index, row in enumerate(rows)]

    def _identity_of(self, row: Row, index: int) -> Hashable:
        """Return the identity of a row: the key of a heading, else what `identity` returns, or the index."""
        if isinstance(row, Heading):
            return Heading, row.key
        return index if self._identity is None else self._identity(row)

    def row_at(self, number: int) -> Row | Heading:
        """Return the row that is shown at a position."""
        return self.rows[self._shown_indices[number]]

    def is_heading(self, number: int) -> bool:
        """Return whether the row shown at a position is a heading.

        ``number`` is the position, from 0. Return False for a position
        without a row.
        """
        if not 0 <= number < len(self._shown_indices):
            return False
        return isinstance(self.rows[self._shown_indices[number]], Heading)

    def has_ticks(self) -> bool:
        """Return whether there is a column of ticks."""
        return any(column.kind == "tick" for column in self.columns)

    def bar_range(self, column: int) -> tuple[float, float]:
        """Return the ends of the scale of a column's bars.

        ``column`` is the position of the column. The ends are the least
        and the greatest number of the column, 0 included. The ends are
        computed once for the present rows.
        """
        if column not in self._ranges:
            rows = (row for row in self.rows if not isinstance(row, Heading))
            values = [self.columns[column].value_in(row) for row in rows]
            numbers = [0.0, *(v for v in values if not is_missing(v))]
            self._ranges[column] = min(numbers), max(numbers)
        return self._ranges[column]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Return how many rows there are."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Return how many columns there are."""
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a property of a cell, by the role: its text, tooltip, row object and others.

        Qt calls it for each property; None leaves the property as it is
        by default.
        """
        if not index.isValid():
            return None
        row = self.rows[self._shown_indices[index.row()]]
        column = self.columns[index.column()]
        if isinstance(row, Heading):
            return self._heading_data(row, index.column(), role)
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.EditRole and column.editor_text is not None:
            return column.editor_text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(column.hint(row)) if column.hint else None
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(FLAGS[column.align])
        return (
            _text_for_screen_reader(column, row)
            if role == Qt.ItemDataRole.AccessibleTextRole
            else None
        )

    @staticmethod
    def _heading_data(heading: Heading, column: int, role: int) -> Any:
        """Return a property of a cell in the row of a heading, by the role.

        The first cell has the text of the heading; every cell has the
        heading itself as its row object. Any other property is None.
        """
        if role == ROW_ROLE:
            return heading
        is_text = role in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.AccessibleTextRole,
        )
        return heading.text if is_text and column == 0 else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the flags of a cell."""
        if not index.isValid() or self.is_heading(index.row()):
            return Qt.ItemFlag.NoItemFlags
        return _READ if self.columns[index.column()].editor_text is None else _WRITTEN

    def setData(
        self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        """Emit `written` with the text that the user wrote; return whether the cell can be edited.

        An unchanged text is not emitted. The model does not change
        rows: the owner of the rows sets other rows.
        """
        if not index.isValid() or role != Qt.ItemDataRole.EditRole:
            return False
        row = self.rows[self._shown_indices[index.row()]]
        column = self.columns[index.column()]
        if column.editor_text is not None and str(value) != column.editor_text(row):
            self.written.emit(row, column.key, str(value))
        return column.editor_text is not None

    def headerData(
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """Return a property of the header, by the role.

        The property is the title, tooltip or alignment of a column, or
        the number of a row, from 1. ``section`` is the position of the
        column or row.
        """
        if orientation == Qt.Orientation.Vertical:
            return (
                count_text(section + 1) if role == Qt.ItemDataRole.DisplayRole else None
            )
        if not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(column.tooltip) or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(FLAGS[column.align])
        return None


def _text_for_screen_reader(column: Column, row: Row) -> str | None:
    """Return the words of a screen reader for a cell; None if these are the text of the cell."""
    if column.kind == "tick":
        return tr("ticked") if column.value_in(row).on else tr("not ticked")
    return column.spoken(row) if column.spoken is not None else None


FORMATS = (("CSV", ".csv"), ("LaTeX", ".tex"), ("Markdown", ".md"))
"""Formats in which a table can be saved: name and file suffix of each."""

_DRAWN = ("dot", "tick", "histogram")  # kinds of cells without a text


def separated_text(
    columns: Sequence[Column], rows: Sequence[Row], separator: str = ","
) -> str:
    """Return rows as text with a header line, the cells separated by `separator`.

    Each column gives one cell of a line, or a cell for each of its
    parts; a column of drawings is left out. Numbers have all their
    digits.
    """
    # A column of drawings is left out, and one with several numbers is
    # divided into columns of one number.
    written_columns = [
        part for c in columns if c.kind not in _DRAWN for part in (c.parts or (c,))
    ]
    titles = [column.written_title for column in written_columns]
    return csv_text(
        titles,
        ([column.plain(row) for column in written_columns] for row in rows),
        separator,
    )


def table_text(columns: Sequence[Column], rows: Sequence[Row], ending: str) -> str:
    """Return rows as a table, in the format of a file name's ending.

    The format is LaTeX for ".tex", Markdown for ".md", and CSV for any
    other ``ending``. In CSV numbers have all their digits; the other
    formats have the texts of the cells.
    """
    if ending not in (".tex", ".md"):
        return separated_text(columns, rows)
    written_columns = [c for c in columns if c.kind not in _DRAWN]
    texts = [[c.text(row) for c in written_columns] for row in rows]
    left_aligned = [i for i, c in enumerate(written_columns) if c.align == "left"]
    titles = [c.written_title for c in written_columns]
    text = (
        latex_text(titles, texts, left_aligned)
        if ending == ".tex"
        else markdown_text(titles, texts, left_aligned)
    )
    return f"{text}\n"
