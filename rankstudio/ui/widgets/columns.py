"""Tables as data: columns that say what to show of a row object, the model made of them, and their texts."""

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
"""Where the texts of a column stand."""
_READ = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
_WRITTEN = _READ | Qt.ItemFlag.ItemIsEditable
PAD = 8
"""Room at both sides of a cell, in pixels."""

MISSING = "–"


@dataclass(frozen=True)
class ProgressCell:
    """The value of a cell of kind ``progress``: a share in [0, 1] and what stands beside it ("0:12 left")."""

    share: float
    text: str = ""


@dataclass(frozen=True)
class Dot:
    """The value of a cell of kind ``dot``: the category whose colour and marker it takes."""

    category: int


@dataclass(frozen=True)
class Tick:
    """The value of a cell of kind ``tick``: a box that is ticked or not."""

    on: bool


@dataclass(frozen=True)
class HistogramCell:
    """The value of a cell of kind ``histogram``: shares of each bin, of all and of a part of them."""

    all: tuple[float, ...]
    part: tuple[float, ...] = ()


@dataclass(frozen=True)
class Heading:
    """A row of a table that names the rows below it, and folds them. It is neither chosen nor sorted.

    Attributes
    ----------
    key : Hashable
        What makes it the same heading when its texts are others.
    title : str
        Drawn bold.
    parts : tuple of (str, bool)
        Texts after the title, and whether each is bold; one sentence, cut into pieces.
    is_folded : bool
        Whether the rows below it are left out.
    link : str
        What can be done with the rows below it; "" for nothing.
    link_hint : str
        What that does, as a sentence.
    """

    key: Hashable
    title: str
    parts: tuple[tuple[str, bool], ...] = ()
    is_folded: bool = False
    link: str = ""
    link_hint: str = ""

    @property
    def text(self) -> str:
        """All of it."""
        return " ".join((self.title, "".join(text for text, _ in self.parts))).strip()


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    key : str
        Attribute of the row object, or key of a mapping; the column's name in signals.
    title : str
        In the header.
    full_title : str
        In files, where there is room for more; "" for the title.
    align : {"left", "right", "center"}
        Numbers go to the right.
    format : str or callable
        A format specification (".4f"), or a function of the value; None and NaN are "–" in any case.
    value : callable, optional
        Gets the value from the row, where it is no plain attribute.
    tooltip : str
        Of the header: what the column means.
    width : int
        In pixels; 0 for as wide as the texts are.
    stretch : bool
        Whether the column takes the room that is left.
    least : int
        Pixels that a column that stretches has at least: the table scrolls where there is less room for it.
    kind : {"text", "weight", "dot", "progress", "tick", "histogram"}
        How cells are drawn. A ``weight`` is a number, a ``dot`` a `Dot`, a ``tick`` a `Tick`, a
        ``histogram`` a `HistogramCell`; a ``progress`` cell draws a `ProgressCell` as a bar and any other
        value as text.
    tone : str or callable
        Colour role of the text, or a function of the row that gives one.
    bold : callable, optional
        Of the row: whether the cell is bold.
    mark : callable, optional
        Of the row: whether a diamond follows the text ("pinned").
    hint : callable, optional
        Of the row: the tooltip of the cell; the text itself where there is none.
    sort : callable, optional
        Of the row: what to sort by, where it is not the value.
    edited : callable, optional
        Of the row: the text to begin with where the user edits the cell; cells are edited only then.
    paint : callable, optional
        Draws into a cell, before its text: gets the painter, the cell's room, the theme's colours and the
        row, and returns the room that is left for the text, or None where no text is to follow.
    spoken : callable, optional
        Of the row: what a screen reader says of the cell, where it is not the text.
    parts : tuple of Column
        What stands in its place in CSV and on the clipboard: one number a column; none for itself.
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
    edited: Callable[[Row], str] | None = None
    paint: Callable[[QPainter, QRect, Colors, Row], QRect | None] | None = None
    full_title: str = ""
    spoken: Callable[[Row], str] | None = None
    parts: tuple[Column, ...] = ()

    @property
    def written_title(self) -> str:
        """Its heading in a file."""
        return self.full_title or self.title or self.key

    def of(self, row: Row) -> Any:
        """Return the value of this column in a row."""
        if self.value is not None:
            return self.value(row)
        return row[self.key] if isinstance(row, Mapping) else getattr(row, self.key)

    def text(self, row: Row) -> str:
        """Return the text of the cell."""
        value = self.of(row)
        if is_missing(value):
            return MISSING
        if isinstance(value, ProgressCell):
            return value.text
        if isinstance(value, Dot | Tick | HistogramCell):
            return ""
        if callable(self.format):
            return self.format(value)
        if self.kind == "weight" and not self.format:
            return signed(value)
        if self.format[:1] == "." and self.format[-1:] == "f":
            return fixed(value, int(self.format[1:-1]))
        return count_text(value) if self.format == "," else format(value, self.format)

    def plain(self, row: Row) -> str:
        """Return the text that is copied and exported: numbers with all their digits, "" where there is none.

        Of what the user writes there, that without the marks of the cell.
        """
        value = self.of(row)
        if isinstance(value, str) and self.edited is not None:
            return self.edited(row)
        if is_missing(value) or isinstance(value, Dot | Tick | HistogramCell):
            return ""
        return value.text if isinstance(value, ProgressCell) else str(value)

    def color(self, row: Row) -> str:
        """Return the colour role of the cell's text."""
        return self.tone(row) if callable(self.tone) else self.tone

    def order(self, row: Row) -> Any:
        """Return the key that the column sorts by."""
        value = self.sort(row) if self.sort is not None else self.of(row)
        if isinstance(value, ProgressCell):
            return value.share
        if isinstance(value, Tick):
            return not value.on
        if isinstance(value, HistogramCell):
            return max(value.all, default=0.0)
        return value.category if isinstance(value, Dot) else value


def tick_column(is_ticked: Callable[[Row], bool], tooltip: str) -> Column:
    """Return a column of ticks."""
    return Column("tick", "", kind="tick", value=lambda row: Tick(is_ticked(row)), tooltip=tooltip, width=30)


def is_missing(value: object) -> bool:
    """Return whether a cell has nothing to show."""
    return value is None or (isinstance(value, float) and math.isnan(value))


class ColumnModel(QAbstractTableModel):
    """Row objects seen through columns, sorted by one of them; between headings, each part by itself.

    Each row is asked once for what it sorts by: a comparison of two cells in Python, as Qt's proxy asks for,
    takes a second for two thousand rows.

    Parameters
    ----------
    columns : sequence of Column
    identity : callable, optional
        What makes two row objects the same row, so that a selection survives new rows.
    rows : sequence
        The first rows; they are not copied.
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
        self._identity = identity
        self._ranges: dict[int, tuple[float, float]] = {}
        self._sorting = (-1, Qt.SortOrder.AscendingOrder)
        self._shown_indices: Sequence[int] = range(len(rows))  # of the shown rows in `rows`

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns of the same rows, unsorted."""
        self.beginResetModel()
        self.columns = tuple(columns)
        self._sorting = (-1, Qt.SortOrder.AscendingOrder)
        self._shown_indices = range(len(self.rows))
        self._ranges.clear()
        self.endResetModel()

    def set_rows(self, rows: Sequence[Row]) -> bool:
        """Show other rows.

        Returns
        -------
        bool
            Whether they are other rows; False where the same rows only have new contents.
        """
        new = list(rows)
        if self.identities(self.rows) == self.identities(new) and new:
            self.rows = new
            self._ranges.clear()
            self._rearrange()
            self.dataChanged.emit(self.index(0, 0), self.index(len(new) - 1, len(self.columns) - 1))
            return False
        self.beginResetModel()
        self.rows = new
        self._shown_indices = self._order()
        self._ranges.clear()
        self.endResetModel()
        return True

    def shown_rows(self) -> list[Row]:
        """Return the row objects in the order in which they are shown."""
        return [self.rows[index] for index in self._shown_indices]

    def shown_number(self, index: int) -> int:
        """Return where a row is shown, of its place in `rows`."""
        return self._shown_indices.index(index)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column, -1 for the order in which the rows were given; equal rows keep that order."""
        if self._sorting != (column, order):  # a click on a header comes twice
            self._sorting = (column, order)
            self._rearrange()

    def _order(self) -> Sequence[int]:
        """Return the places of the rows as they are sorted: numbers as numbers, missing ones at the end."""
        number, order = self._sorting
        if not 0 <= number < len(self.columns):
            return range(len(self.rows))
        headings = [index for index, row in enumerate(self.rows) if isinstance(row, Heading)]
        column = self.columns[number]
        descends = order == Qt.SortOrder.DescendingOrder
        if not headings:
            return self._sorted(range(len(self.rows)), column, descends)
        places = self._sorted(range(headings[0]), column, descends)
        for heading, end in zip(headings, [*headings[1:], len(self.rows)], strict=True):
            places += [heading, *self._sorted(range(heading + 1, end), column, descends)]
        return places

    def _sorted(self, places: Sequence[int], column: Column, descends: bool) -> list[int]:
        """Return places of rows as a column sorts them."""
        keys = {index: column.order(self.rows[index]) for index in places}
        present = [index for index in places if not is_missing(keys[index])]
        missing = [index for index in places if is_missing(keys[index])]
        if any(isinstance(keys[index], str) for index in present):
            keys = {index: str(key).casefold() for index, key in keys.items()}
        present.sort(key=keys.__getitem__, reverse=descends)
        return present + missing

    def _rearrange(self) -> None:
        """Show the rows in their order, and move persistent indexes with them."""
        before = self._shown_indices
        after = self._order()
        if before == after:
            return
        self.layoutAboutToBeChanged.emit()
        target_rows = dict(zip(after, range(len(after)), strict=True))
        persistent = self.persistentIndexList()
        self._shown_indices = after
        new_indexes = [self.index(target_rows[before[index.row()]], index.column()) for index in persistent]
        self.changePersistentIndexList(persistent, new_indexes)
        self.layoutChanged.emit()

    def identities(self, rows: Sequence[Row]) -> list[Hashable]:
        """Return the identities of rows; their position where no ``identity`` was given."""
        return [self._identity_of(row, index) for index, row in enumerate(rows)]

    def _identity_of(self, row: Row, index: int) -> Hashable:
        if isinstance(row, Heading):
            return Heading, row.key
        return index if self._identity is None else self._identity(row)

    def is_heading(self, number: int) -> bool:
        """Return whether a shown row is a heading."""
        return 0 <= number < len(self._shown_indices) and isinstance(
            self.rows[self._shown_indices[number]], Heading
        )

    def has_ticks(self) -> bool:
        """Return whether a column is ticked by the user."""
        return any(column.kind == "tick" for column in self.columns)

    def bar_range(self, column: int) -> tuple[float, float]:
        """Return the least and the greatest of a column's numbers and 0, for the length of its bars."""
        if column not in self._ranges:
            rows = (row for row in self.rows if not isinstance(row, Heading))
            values = [self.columns[column].of(row) for row in rows]
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
        """Return the text, the sorting key or the tooltip of a cell, by the role."""
        if not index.isValid():
            return None
        row, column = self.rows[self._shown_indices[index.row()]], self.columns[index.column()]
        if isinstance(row, Heading):
            return self._heading_data(row, index.column(), role)
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.EditRole and column.edited is not None:
            return column.edited(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(column.hint(row)) if column.hint else None
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(FLAGS[column.align])
        return _text_for_screen_reader(column, row) if role == Qt.ItemDataRole.AccessibleTextRole else None

    @staticmethod
    def _heading_data(heading: Heading, column: int, role: int) -> Any:
        """Return the text of a heading: all of it in the first column."""
        if role == ROW_ROLE:
            return heading
        is_text = role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
        return heading.text if is_text and column == 0 else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the flags of a cell."""
        if not index.isValid() or self.is_heading(index.row()):
            return Qt.ItemFlag.NoItemFlags
        return _READ if self.columns[index.column()].edited is None else _WRITTEN

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Emit the user's text; the owner of the rows answers with other rows."""
        if not index.isValid() or role != Qt.ItemDataRole.EditRole:
            return False
        row, column = self.rows[self._shown_indices[index.row()]], self.columns[index.column()]
        if column.edited is not None and str(value) != column.edited(row):
            self.written.emit(row, column.key, str(value))
        return column.edited is not None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return title, tooltip or alignment of a column, or a row's number from 1."""
        if orientation == Qt.Orientation.Vertical:
            return count_text(section + 1) if role == Qt.ItemDataRole.DisplayRole else None
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
    """Return the words of a screen reader for a cell; None for its text."""
    if column.kind == "tick":
        return tr("ticked") if column.of(row).on else tr("not ticked")
    return column.spoken(row) if column.spoken is not None else None


FORMATS = (("CSV", ".csv"), ("LaTeX", ".tex"), ("Markdown", ".md"))
"""In which a table can be saved, with the ending that asks for each."""

_DRAWN = ("dot", "tick", "histogram")  # kinds of cells without a text


def separated(columns: Sequence[Column], rows: Sequence[Row], separator: str = ",") -> str:
    """Return rows as separated text with a header line, numbers with all their digits."""
    written = [part for c in columns if c.kind not in _DRAWN for part in (c.parts or (c,))]
    return csv_text(
        [c.written_title for c in written], ([c.plain(row) for c in written] for row in rows), separator
    )


def table_text(columns: Sequence[Column], rows: Sequence[Row], ending: str) -> str:
    """Return rows in the format of an ending of `FORMATS`; CSV for any other."""
    make = {".tex": latex_text, ".md": markdown_text}.get(ending)
    if make is None:
        return separated(columns, rows)
    written = [c for c in columns if c.kind not in _DRAWN]
    texts = [[c.text(row) for c in written] for row in rows]
    left_aligned = [i for i, c in enumerate(written) if c.align == "left"]
    return make([c.written_title for c in written], texts, left_aligned) + "\n"
