"""Sets of features as rows of a matrix, with how often each feature is in all of them below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter

from rankstudio.engine.export.figures.values import FigureAxis, MapFigure
from rankstudio.engine.support.number_format import fixed, percentage
from rankstudio.ui.language import tr, trn
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.plots.base import DEFAULT_FILE_NAME, Numbers, Plot, describe
from rankstudio.ui.plots.layers import Frame, pen
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style.colors import Colors, mix
from rankstudio.ui.style.fonts import LEFT, RIGHT, SMALL, TINY, font, scaled
from rankstudio.ui.style.theme import Theme

FREE = 0
REQUIRED = 1
EXCLUDED = -1
"""Wish for a feature."""

_ROW_HEIGHT = 18  # pixels from one row to the next
_COLUMN = 23  # from one column to the next
_CELL_WIDTH = 15.0
_HEAD_HEIGHT = 22
_MAX_BAR_HEIGHT = 30  # pixels of the highest bar
_FOOT_HEIGHT = 16  # of the numbers below the bars
_NUMBERS_WIDTH = 54  # of "0.130 %"
_GAP = 8.0
_MAX_ROWS = 40  # in a figure
_ROUNDING = 1e-9  # share of the error up to which two are equal


@dataclass(frozen=True)
class MatrixColumn:
    """A feature as a column of the matrix of feature sets.

    Attributes
    ----------
    feature : int
        Id of the feature.
    name : str
    share : float
        Share of all sets that have the feature.
    selected : bool
        Whether the feature is in the shown selection.
    wanted : int
        The user's wish for the feature: `FREE`, `REQUIRED` or
        `EXCLUDED`.
    """

    feature: int
    name: str
    share: float
    selected: bool = False
    wanted: int = FREE


@dataclass(frozen=True)
class MatrixRow:
    """A set of features as a row of the matrix of feature sets.

    Attributes
    ----------
    above : float
        Share by which the error of the set is above that of the best set.
    features : frozenset of int
        Ids of the features in the set.
    label : str
        Name of a special set: "best" or "greedy"; "" for any other set.
    own : bool
        Whether the set is the shown selection.
    """

    above: float
    features: frozenset[int]
    label: str = ""
    own: bool = False


class SetMatrixPlot(Plot):
    """A matrix of feature sets (rows, the best first) and features (columns, the most frequent first).

    A click on a feature picks it. Arrow keys move from feature to
    feature, and Space or Enter picks.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    picked : Signal(int)
        Id of the feature that was clicked.
    """

    picked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        self.columns: tuple[MatrixColumn, ...] = ()
        self.rows: tuple[MatrixRow, ...] = ()
        self.n_sets = 0  # all sets as good as the best; some of them have a row
        super().__init__(theme, Axes("", show_x=False, show_y=False))
        self.setAccessibleName(tr("Sets as good as the best"))
        self.add_layer(self._draw, 0.0, clipped=False)

    def show_sets(
        self, columns: Sequence[MatrixColumn], rows: Sequence[MatrixRow], n_sets: int
    ) -> None:
        """Show feature sets.

        Parameters
        ----------
        columns : sequence of MatrixColumn
            The features, the most frequent first.
        rows : sequence of MatrixRow
            Some of the sets, the best first. If there is no room for
            all rows, that of the shown selection is the last one.
        n_sets : int
            Number of all sets that are as good as the best.
        """
        self.columns, self.rows, self.n_sets = tuple(columns), tuple(rows), n_sets
        if self.under_mouse is not None and self.under_mouse >= len(self.columns):
            self.under_mouse = None
            self.box.hide_readout()
        self.mark_dirty()

    def show_nothing(self, reason: str) -> None:
        """Show no sets, and a text on the reason."""
        self.placeholder = reason
        self.show_sets((), (), 0)

    # Plot

    def is_empty(self) -> bool:
        """Return whether there are no sets."""
        return not self.rows

    def hit_test(self, point: QPointF) -> int | None:
        """Return the position of the feature in whose column a pixel lies; None beside the columns."""
        # `_left` is the pixel where the columns begin, `_pitch` their width.
        index = int((point.x() - self._left()) // self._pitch())
        return (
            index
            if point.x() >= self._left() and index < self._n_columns() and self.rows
            else None
        )

    def readout(self, target: int) -> list[Line]:
        """Return the lines of the box on a feature: name, in how many sets it is, and the user's wish.

        The user can require or exclude a feature. ``target`` is the
        position of the feature's column.
        """
        column = self.columns[target]  # its `feature` is an id
        text = tr("in {share:.0f} % of {n:,} sets").format(
            share=100 * column.share, n=self.n_sets
        )
        state = {REQUIRED: tr("required"), EXCLUDED: tr("excluded"), FREE: ""}[
            column.wanted
        ]
        lines = [Line(f"{column.feature} {column.name}", bold=True), Line(text)]
        return [*lines, Line(state)] if state else lines

    def feature_of(self, target: int) -> int:
        """Return the id of the feature in the column at a position."""
        return self.columns[target].feature

    def pick(self, target: int) -> None:
        """Emit `picked` with the id of a feature; ``target`` is the position of its column.

        The owner of the plot then requires the feature, excludes it, or
        neither.
        """
        self.picked.emit(self.columns[target].feature)

    def step(self, right: int, down: int) -> bool:
        """Show the box of the next feature, after an arrow key to the right or left.

        ``right`` is 1 or -1, and 0 for a key up or down, which has no
        effect. Return whether the key has an effect.
        """
        if not right or not self.rows:
            return False
        # Without a feature under the mouse, the first one is next.
        index = -1 if self.under_mouse is None else int(self.under_mouse)
        self.under_mouse = min(max(index + right, 0), self._n_columns() - 1)
        # The box is at the top of the column, below its head. Columns
        # are `_pitch` pixels apart.
        position = QPointF(
            self._left() + (self.under_mouse + 0.5) * self._pitch(),
            scaled(_HEAD_HEIGHT),
        )
        self.say(self.under_mouse, position)
        self.redraw()
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pick the feature whose box is shown with Space or Enter, and move with the arrows."""
        if (
            event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
            and self.under_mouse is not None
        ):
            self.pick(self.under_mouse)
            event.accept()
            return
        super().keyPressEvent(event)

    def numbers(self) -> Numbers:
        """Return the matrix as a table, with a row for each set.

        A row has the share by which the error is above that of the best
        set, the label, and for each feature 1 if the set has it, else
        0.
        """
        header = [
            "above the best",
            "set",
            *(str(column.feature) for column in self.columns),
        ]
        return header, [
            [
                row.above,
                row.label,
                *(int(column.feature in row.features) for column in self.columns),
            ]
            for row in self.rows
        ]

    def figure(self) -> MapFigure:
        """Return the matrix as a figure for print: a row for each set, a column for each visible feature.

        At most 40 sets have a row. A cell is 1 if the set has the feature, else
        0. The name of a row is the share by which the error of the set is above
        that of the best one, and the label of the set.
        """
        rows = self.rows[:_MAX_ROWS]
        visible = self.columns[: self._n_columns()]
        return MapFigure(
            name=DEFAULT_FILE_NAME,
            title=tr("Sets as good as the best"),
            caption="",
            rows=tuple(
                " ".join(filter(None, (_share_text(row.above), row.label)))
                for row in rows
            ),
            columns=tuple(str(column.feature) for column in visible),
            values=tuple(
                tuple(float(column.feature in row.features) for column in visible)
                for row in rows
            ),
            row_title=tr("above the best"),
            column_title=tr("feature"),
            color=FigureAxis(tr("in the set"), low=0.0, high=1.0),
            decimals=0,
            ends=((0.0, tr("no")), (1.0, tr("yes"))),
        )

    def summary(self) -> str:
        """Return in words which features are in most sets."""
        first = [
            f"{c.feature} {c.name} {percentage(c.share)}" for c in self.columns[:8]
        ]
        return describe([tr("{n:,} sets").format(n=self.n_sets), *first])

    # Places

    def _left(self) -> float:
        """Return the horizontal pixel where the columns begin, at the right of the texts beside the rows."""
        regular = QFontMetricsF(font(SMALL))
        bold = QFontMetricsF(font(SMALL, bold=True))
        # the titles of the numbers beside the rows, and of the bars below them
        texts = tr("above the best"), self._below()
        widths = [regular.horizontalAdvance(text) for text in texts]
        widths += [
            scaled(_NUMBERS_WIDTH) + _GAP + bold.horizontalAdvance(row.label)
            for row in self.rows
        ]
        return max(widths) + 2 * _GAP

    def _below(self) -> str:
        return trn("in one set", "in all {n:,} sets", self.n_sets).format(n=self.n_sets)

    def _pitch(self) -> float:
        """Return how many pixels columns are apart: all that is free, up to 1.7 times what they need."""
        available_width = max(1.0, self.width() - self._left() - _GAP)
        least = float(scaled(_COLUMN))
        count = max(1, min(len(self.columns), int(available_width / least)))
        return float(min(available_width / count, 1.7 * least))

    def _n_columns(self) -> int:
        """Return how many columns have room, at least one."""
        available_width = max(1.0, self.width() - self._left() - _GAP)
        # The pitch may be the width divided by a count: rounding must
        # not lose a column.
        count = int(available_width / self._pitch() + 1e-6)
        return min(len(self.columns), max(1, count))

    def _shown_rows(self) -> list[MatrixRow]:
        """Return the sets for which there is room, among them the shown selection (``own``)."""
        # the pixels of the head, of the bars below the rows, and of their numbers
        around_rows = (
            scaled(_HEAD_HEIGHT)
            + scaled(_MAX_BAR_HEIGHT)
            + scaled(_FOOT_HEIGHT)
            + 2 * _GAP
        )
        count = max(1, int((self.height() - around_rows) // scaled(_ROW_HEIGHT)))
        visible = list(self.rows[:count])
        selection_rows = [row for row in self.rows[count:] if row.own]
        if selection_rows:  # in place of the last set
            visible[-1:] = selection_rows[:1]
        return visible

    # Drawing

    def _draw_axes(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the text of an empty matrix; a matrix has no axes."""
        if self.is_empty():
            super()._draw_axes(painter, frame, colors)

    def _draw(self, painter: QPainter, _: Frame, colors: Colors) -> None:
        """Draw the head, the row of each set, and below them the share of the sets with each feature."""
        if not self.rows:
            return
        # The columns begin at the pixel `left_edge`, and are `pitch` pixels apart.
        left_edge = self._left()
        pitch = self._pitch()
        row_height = float(scaled(_ROW_HEIGHT))
        columns = self.columns[: self._n_columns()]
        rows = self._shown_rows()
        self._draw_head(painter, colors, columns, left_edge, pitch)
        y = float(scaled(_HEAD_HEIGHT))
        for row in rows:
            self._draw_row(
                painter,
                colors,
                row,
                QRectF(0, y, left_edge, row_height),
                columns,
                pitch,
            )
            y += row_height
        # The bars below the last row, with their numbers in percent.
        top = y + _GAP
        painter.setFont(font(SMALL))
        painter.setPen(colors.q("muted"))
        painter.drawText(
            QRectF(0, top, left_edge - _GAP, scaled(_MAX_BAR_HEIGHT)),
            LEFT,
            self._below(),
        )
        bottom = top + scaled(_MAX_BAR_HEIGHT)
        for index, column in enumerate(columns):
            middle = left_edge + (index + 0.5) * pitch
            height = column.share * scaled(_MAX_BAR_HEIGHT)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(
                colors.q("accent" if index == self.under_mouse else "bar", 0.75)
            )
            painter.drawRect(
                QRectF(middle - _CELL_WIDTH / 2, bottom - height, _CELL_WIDTH, height)
            )
            painter.setFont(font(TINY))
            painter.setPen(colors.q("muted"))
            box = QRectF(middle - pitch, bottom + 1, 2 * pitch, scaled(_FOOT_HEIGHT))
            painter.drawText(
                box, Qt.AlignmentFlag.AlignCenter, f"{100 * column.share:.0f}"
            )

    def _draw_head(
        self,
        painter: QPainter,
        colors: Colors,
        columns: Sequence[MatrixColumn],
        left_edge: float,
        pitch: float,
    ) -> None:
        """Write the title of the numbers, and the ids of the features, bold for the shown selection.

        A required feature has a colored ground, and an excluded one is
        crossed out. The columns begin at ``left_edge`` and are
        ``pitch`` pixels apart.
        """
        painter.setFont(font(SMALL))
        painter.setPen(colors.q("muted"))
        painter.drawText(
            QRectF(0, 0, left_edge, scaled(_HEAD_HEIGHT) - 4),
            LEFT,
            tr("above the best"),
        )
        for index, column in enumerate(columns):
            box = QRectF(left_edge + index * pitch, 0, pitch, scaled(_HEAD_HEIGHT) - 4)
            if column.wanted != FREE:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(
                    colors.q("tint")
                    if column.wanted == REQUIRED
                    else colors.q("line_soft")
                )
                painter.drawRoundedRect(box.adjusted(1, 0, -1, 0), 4, 4)
            # The color, by its role in the theme. A feature that is
            # neither selected nor wanted is muted, unless it is under
            # the mouse.
            is_under_mouse = index == self.under_mouse
            role = {
                REQUIRED: "accent",
                EXCLUDED: "faint",
                FREE: "accent" if is_under_mouse else "text",
            }[column.wanted]
            painter.setFont(font(SMALL, bold=column.selected))
            painter.setPen(
                colors.q(
                    role
                    if column.selected or column.wanted or is_under_mouse
                    else "muted"
                )
            )
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, str(column.feature))
            if column.wanted == EXCLUDED:
                painter.setPen(pen(colors.q("error"), 1.3))
                painter.drawLine(
                    QPointF(box.left() + 3, box.center().y()),
                    QPointF(box.right() - 3, box.center().y()),
                )

    def _draw_row(
        self,
        painter: QPainter,
        colors: Colors,
        row: MatrixRow,
        label_box: QRectF,
        columns: Sequence[MatrixColumn],
        pitch: float,
    ) -> None:
        """Draw a set: how far its error is above that of the best, and which features it has.

        ``label_box`` is the box of the texts, from whose right edge on
        there is a cell every ``pitch`` pixels for each feature of
        ``columns``.
        """
        painter.setFont(font(SMALL))
        painter.setPen(colors.q("text" if row.label else "muted"))
        painter.drawText(
            QRectF(
                label_box.left(),
                label_box.top(),
                scaled(_NUMBERS_WIDTH),
                label_box.height(),
            ),
            RIGHT,
            _share_text(row.above),
        )
        if row.label:
            painter.setFont(font(SMALL, bold=True))
            painter.setPen(colors.q("accent"))
            painter.drawText(
                label_box.adjusted(scaled(_NUMBERS_WIDTH) + _GAP, 0, 0, 0),
                LEFT,
                row.label,
            )
        # The color of a feature that the set has: the accent for the
        # shown selection (`own`), else the accent mixed with the color
        # of texts.
        full = (
            colors.q("accent")
            if row.own
            else colors.q(mix(colors.accent, colors.text, 0.45))
        )
        painter.setPen(Qt.PenStyle.NoPen)
        for index, column in enumerate(columns):
            middle = QPointF(
                label_box.right() + (index + 0.5) * pitch, label_box.center().y()
            )
            painter.setBrush(
                full if column.feature in row.features else colors.q("line_soft")
            )
            # a cell is wider than high, and leaves 5 pixels to the next row
            height = min(_CELL_WIDTH - 3, label_box.height() - 5)
            painter.drawRoundedRect(
                QRectF(
                    middle.x() - _CELL_WIDTH / 2,
                    middle.y() - height / 2,
                    _CELL_WIDTH,
                    height,
                ),
                2.5,
                2.5,
            )


def _share_text(above: float) -> str:
    return f"{fixed(100 * above if above > _ROUNDING else 0.0, 3)} %"
