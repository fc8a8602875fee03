"""Two widgets for summaries: a grid of facts, each a key with its value, and a bar chart of counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QWidget

from rankstudio.engine.support.number_format import count_text
from rankstudio.ui.style import palettes
from rankstudio.ui.style.fonts import LEFT, RIGHT, SMALL, font, scaled
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import ElidedLabel


@dataclass(frozen=True)
class Fact:
    """A key with its value, as a row of `KeyValue`.

    Attributes
    ----------
    key, value : str
        Name of the fact, and its value as text.
    note : str
        Text after the value, in the color of ``role``: "6 constant".
    role : {"warning", "ok", "error", "muted"}
        Role of the note in the style sheet.
    tooltip : str
        Explanation of the fact.
    term : str
        Glossary term to which the key is linked; "" for none.
    wraps : bool
        Whether a long value is continued in further lines instead of being cut.
    """

    key: str
    value: str
    note: str = ""
    role: str = "warning"
    tooltip: str = ""
    term: str = ""
    wraps: bool = False


class KeyValue(QWidget):
    """A grid of facts: a row for each, with the key at the left and the value at the right.

    A value that is too long ends in "…", and its tooltip shows it in full.

    Parameters
    ----------
    rows : sequence of Fact
        The facts, from top to bottom.
    """

    def __init__(self, rows: Sequence[Fact] = ()) -> None:
        super().__init__()
        self._rows: tuple[Fact, ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(5)

        # Values, in the second column, take the width that keys leave.
        self._grid.setColumnStretch(1, 1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_rows(rows)

    def set_rows(self, rows: Sequence[Fact]) -> None:
        """Show other facts, each with its key at the left and its value at the right.

        Facts that differ only in the value keep their widgets.
        """
        # Beyond the end of the shorter list, one of the two facts is None.
        for i, (old_row, row) in enumerate(zip_longest(self._rows, rows)):
            if old_row == row:
                continue
            if (
                old_row is not None
                and row is not None
                and _differ_only_in_value(old_row, row)
            ):
                value_widget = self._widget_at(i, 1)  # in the second column
                assert isinstance(value_widget, _Value)
                value_widget.label.setText(row.value)
                continue
            if old_row is not None:
                self._remove(i)
            if row is not None:
                key = named(PlainLabel(row.key), tip=row.tooltip, role="muted")
                key.set_term(row.term)
                self._grid.addWidget(key, i, 0)
                self._grid.addWidget(_Value(row), i, 1)
        self._rows = tuple(rows)

    def _widget_at(self, row: int, column: int) -> QWidget:
        """Return the widget of the key (column 0) or of the value (column 1) in a row."""
        item = self._grid.itemAtPosition(row, column)
        widget = item.widget() if item is not None else None
        assert widget is not None  # every fact has a key and a value
        return widget

    def _remove(self, row: int) -> None:
        """Remove both widgets of a row."""
        for column in range(2):
            widget = self._widget_at(row, column)
            self._grid.removeWidget(widget)
            widget.setParent(None)
            widget.deleteLater()


def _differ_only_in_value(first: Fact, second: Fact) -> bool:
    """Return whether two facts differ only in the texts of their values."""
    # A fact without a value has no " · " before its note, so that its widget differs.
    both_have_values = bool(first.value) == bool(second.value)
    return both_have_values and replace(first, value=second.value) == second


class _Value(QWidget):
    """The right half of a fact; `label` shows its value."""

    def __init__(self, row: Fact) -> None:
        super().__init__()
        named(self, tip=row.tooltip)
        self.label = PlainLabel(row.value) if row.wraps else ElidedLabel(row.value)
        self.label.setWordWrap(row.wraps)
        self.label.setAlignment(RIGHT)
        policy = QSizePolicy.Policy.Preferred if row.wraps else QSizePolicy.Policy.Fixed
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, policy)
        line = fill(QHBoxLayout(self), (self.label, 1), margins=(0, 0, 0, 0), spacing=0)

        # Without a value, the note needs no dot before it.
        if row.note:
            line.addWidget(
                named(
                    PlainLabel(f" · {row.note}" if row.value else row.note),
                    role=row.role,
                )
            )


_ROW = 19  # height of a row in pixels
_BAR = 8.0  # height of a bar
_GAP = 10  # between label, bar and count


class BarRows(QWidget):
    """A bar chart of counts: rows with a label, a bar and the count.

    The greatest count has the longest bar.

    Parameters
    ----------
    theme : Theme
    name : str
        What is counted, for screen readers: "documents by relevance".
    """

    def __init__(self, theme: Theme, name: str = "") -> None:
        super().__init__()
        self._theme = theme
        self._rows: tuple[tuple[str, int], ...] = ()  # labels and counts
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_rows(self, rows: Sequence[tuple[str, int]]) -> None:
        """Show other rows: pairs of a label and a count.

        The tooltip and screen readers have the labels and counts as text.
        """
        self._rows = tuple(rows)
        text = "\n".join(f"{label}: {count_text(count)}" for label, count in rows)
        self.setAccessibleDescription(text)
        self.setToolTip(plain(text))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of all rows."""
        return QSize(160, max(1, len(self._rows)) * scaled(_ROW))

    def minimumSizeHint(self) -> QSize:
        """Return the height of all rows."""
        return QSize(80, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows: labels, bars and counts. The bar of the greatest count has the full width."""
        if not self._rows:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font(SMALL))
        metrics = QFontMetrics(font(SMALL))
        label_width = max(metrics.horizontalAdvance(text) for text, _ in self._rows)
        count_width = max(
            metrics.horizontalAdvance(count_text(count)) for _, count in self._rows
        )

        # 1 instead of 0, by which the counts could not be divided.
        largest = max(count for _, count in self._rows) or 1
        height = scaled(_ROW)
        for i, (text, count) in enumerate(self._rows):
            row = QRect(0, i * height, self.width(), height)
            track = row.adjusted(label_width + _GAP, 0, -count_width - 2 * _GAP, 0)
            self._draw_row(
                painter, row, QRectF(track), text, count, share=count / largest, index=i
            )

    def _draw_row(
        self,
        painter: QPainter,
        row: QRect,
        track: QRectF,
        text: str,
        count: int,
        share: float,
        index: int,
    ) -> None:
        """Draw one row: its label at the left, its count at the right, and the bar between.

        ``row`` is the rectangle of the row, and ``track`` the area
        between label and count, of which the bar fills the ``share``,
        from 0 to 1. The color of the bar is that of the category with
        the row's ``index``.
        """
        # Lengths are in pixels. The bar lies in the middle of the row,
        # and has corners with a radius of 2.
        colors = self._theme.colors
        painter.setPen(colors.q("muted"))
        painter.drawText(row, LEFT, text)
        painter.drawText(row, RIGHT, count_text(count))
        bar = QRectF(
            track.left(), track.center().y() - _BAR / 2 + 0.5, track.width(), _BAR
        )
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.q("line_soft"))
        painter.drawRoundedRect(bar, 2, 2)

        # The smallest count other than 0 is visible, too.
        if count:
            bar.setWidth(max(3.0, share * bar.width()))
            painter.setBrush(palettes.category(self._theme.colors, index).color)
            painter.drawRoundedRect(bar, 2, 2)
