"""The panel with the table of a selection's features and the evidence for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isinf, nan
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QVBoxLayout

from rankstudio.engine.support.number_format import fixed, signed
from rankstudio.plugins.evidence.window.smallest_set_row import SmallestSetRow
from rankstudio.plugins.evidence.window.work_row import WorkRow
from rankstudio.ui.language import tr, trn
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Panel, TableView
from rankstudio.ui.widgets.columns import PAD
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

if TYPE_CHECKING:
    from rankstudio.engine.data.feature_costs import FeatureCosts
    from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
    from rankstudio.plugins.evidence.permutation_importance import PermutationImportance
    from rankstudio.plugins.evidence.verdicts import FeatureEvidence, Loss

NOTHING = tr("Run a method to see how sure its selection is.")
_SHOWN_BY_CLICK = tr("Click to list these queries")
_TONES = {
    "secure": "ok",
    "interchangeable": "warning",
    "uncertain": "muted",
    "dispensable": "error",
}
"""Colors of the verdicts: red if the evidence is against a feature, and none if the verdict is uncertain."""
_NUMBER = 42  # pixels of the text "100 %" beside its bar
_LOSS = 56  # pixels of the text of a loss beside its interval
_GRAB = 5  # pixels on each side of the threshold line within which the mouse grabs it
_BOUNDS = (0.51, 1.0)
"""Range of the threshold τ: the bound on selected noise features, q² / ((2τ - 1) n), needs τ > ½."""
# pixels for names; in a narrow table, other columns are hidden to keep them
_NAMES = 116
# hidden in this order
_GIVING_WAY = ("substitute", "position", "deciding", "share", "feature")
DECIDING = "deciding"
"""Key of the column with the numbers of deciding queries."""
_PROBABILITY = "probability"
_HALVING_QUERIES_TIP = tr(
    "Repeat the selection on 100 halves of the queries, and leave out each feature."
)
_HALVING_DOCUMENTS_TIP = tr("Repeat the selection on 100 halves of the documents.")
_POSITION = "position"
_LOST = "loss"
_PER_MILLISECOND = "per_millisecond"


@dataclass(frozen=True, eq=False)
class EvidenceRow:
    """A row of the table of evidence: a feature with its numbers and texts.

    Attributes
    ----------
    feature : int
        Id of the feature.
    name : str
        Name of the feature.
    numbers : FeatureEvidence
        Evidence for the feature.
    verdict : str
        Verdict, such as "secure"; "not selected" or "pinned" for
        features without one.
    reason : str
        Reason for the verdict, and the best substitute; "" without them.
    tone : str
        Role of the verdict's color.
    substitute : str
        Id of the best substitute with the change of the error; "" without one.
    per_millisecond : float or None
        Loss per millisecond of the feature's cost; None if the loss or
        the cost is unknown.
    """

    feature: int
    name: str
    numbers: FeatureEvidence
    verdict: str
    reason: str
    tone: str
    substitute: str = ""
    per_millisecond: float | None = None

    @property
    def selected(self) -> bool:
        """Whether the feature is in the selection."""
        return self.numbers.selected

    @property
    def middle(self) -> float:
        """Median position of the feature; infinity beyond the last step, NaN if unknown."""
        return self.numbers.position[1] if self.numbers.position is not None else nan


def evidence_rows(
    evidence: SelectionEvidence,
    ids: Sequence[int],
    names: Sequence[str],
    permuted: PermutationImportance | None = None,
    costs: FeatureCosts | None = None,
) -> tuple[EvidenceRow, ...]:
    """Return a row of the table for each feature, with the texts of its verdict and substitute.

    Parameters
    ----------
    evidence : SelectionEvidence
    ids, names : sequence of length n
        Ids and names of the data's columns.
    permuted : PermutationImportance, optional
        Importance whose losses are shown for features without a loss of
        their own.
    costs : FeatureCosts, optional
        Cost of each feature, for the loss per millisecond.
    """
    from rankstudio.plugins.evidence.evidence_table import (  # noqa: PLC0415 - brings kernels
        column_milliseconds,
        loss_per_millisecond,
    )

    losses = {} if permuted is None else permuted_losses(permuted)
    milliseconds = column_milliseconds(costs, ids)

    def called(column: int) -> str:
        """Return the name of a column with its id."""
        return f"{names[column]} ({ids[column]})"

    rows = []

    for row in evidence.rows:
        verdict = ""
        tone = "muted"

        # one sentence a line: tooltips do not wrap
        reason = row.reason(called).replace(". ", ".\n")
        if row.verdict is not None:
            verdict = row.verdict.label
            tone = _TONES[row.verdict.value]
        elif not row.selected:
            verdict = tr("not selected")
        elif row.column in evidence.required:
            verdict = tr("pinned")
        shown_row = (
            replace(row, loss=losses.get(row.column)) if row.loss is None else row
        )
        substitute = ""
        if row.substitute is not None and row.price is not None:
            substitute = f"{ids[row.substitute]} ({signed(100 * row.price)} %)"
            sentence = tr(
                "Best substitute: {other}, which changes the left-out error by {price} %."
            ).format(other=called(row.substitute), price=signed(100 * row.price))
            reason = f"{reason}\n{sentence}" if reason else sentence
        evidence_row = EvidenceRow(
            feature=int(ids[row.column]),
            name=names[row.column],
            numbers=shown_row,
            verdict=verdict,
            reason=reason,
            tone=tone,
            substitute=substitute,
            per_millisecond=loss_per_millisecond(shown_row, milliseconds),
        )
        rows.append(evidence_row)

    return tuple(rows)


def permuted_losses(importance: PermutationImportance) -> dict[int, Loss]:
    """Return the loss with each column of a model permuted, with its interval, by column."""
    from rankstudio.plugins.evidence.verdicts import Loss  # noqa: PLC0415 - brings kernels

    values = zip(
        importance.groups,
        importance.mean.tolist(),
        importance.low.tolist(),
        importance.high.tolist(),
        strict=True,
    )
    return {group[0]: Loss(mean, low, high) for group, mean, low, high in values}


def importance_rows(
    importance: PermutationImportance, ids: Sequence[int], names: Sequence[str]
) -> tuple[EvidenceRow, ...]:
    """Return a row for each feature that a model uses, the greatest loss first.

    The loss is that with the feature permuted. ``ids`` and ``names``
    are those of the data's columns. The rows have no verdicts.
    """
    from rankstudio.plugins.evidence.verdicts import FeatureEvidence  # noqa: PLC0415 - brings kernels

    losses = permuted_losses(importance)
    return tuple(
        EvidenceRow(
            feature=int(ids[column]),
            name=names[column],
            # True: the model uses the feature
            numbers=FeatureEvidence(column, True, loss=losses[column]),
            verdict="",
            reason="",
            tone="muted",
        )
        for column in sorted(losses, key=lambda column: (-losses[column].value, column))
    )


class EvidenceTable(TableView):
    """A table of features and their evidence, with numbers, small plots and verdicts.

    The user can drag the threshold line in the column of the selection
    probability, or move it by the keys Left and Right.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    thresholdMoved : Signal(float)
        The threshold to which the user moved the line, from 0.51 to 1.
    lists_queries : bool
        Whether there is a page that lists the deciding queries.
    """

    thresholdMoved = Signal(float)

    def __init__(self, theme: Theme) -> None:
        # Whether a click lists the deciding queries: only with a page that can.
        self.lists_queries = False

        # These values are replaced once rows are shown.
        self.threshold = 0.9  # of the selection probability, drawn as a line
        self.k = 1  # size of the selection
        self.n_steps = 12  # of the paths on halves
        self._largest_loss = 1.0  # right end of the scale of losses
        self._is_dragging_line = False
        about = tr("Evidence for each selected feature, with its verdict.")
        super().__init__(
            theme,
            self._columns(""),
            "evidence-table",
            lambda row: row.feature,
            accessible_name=tr("Evidence"),
            # entry in the list of exports
            shared=Shared("evidence", tr("Evidence"), about, always=True),
            feature_of=lambda row: row.feature,
        )

        # In a narrow table, these columns are hidden one by one, so
        # that names have room.
        self.set_spare(*((key,) for key in _GIVING_WAY), names=_NAMES)
        self.setAccessibleDescription(
            tr("Left and Right move the threshold of the selection probability.")
        )

    def show_rows(
        self,
        rows: Sequence[EvidenceRow],
        measure: str,
        k: int,
        n_steps: int,
        *,
        permuted: bool = False,
        by_margins: bool = False,
        one_ranking: bool = False,
    ) -> None:
        """Show features and their evidence in the columns of the table that apply to them.

        Parameters
        ----------
        rows : sequence of EvidenceRow
            A row for each feature.
        measure : str
            Measure of the losses.
        k, n_steps : int
            Number of features of the selection, and number of steps of
            the paths on the halves.
        permuted : bool
            Whether the losses are those of permuted features.
        by_margins : bool
            Whether the numbers of deciding queries are approximate.
        one_ranking : bool
            Whether the halves are of documents.
        """
        self.k = k
        self.n_steps = n_steps
        losses = [row.numbers.loss for row in rows if row.numbers.loss is not None]
        interval_ends = [abs(end) for loss in losses for end in (loss.low, loss.high)]
        self._largest_loss = max(interval_ends, default=1.0) or 1.0
        columns = self._columns(
            measure, permuted=permuted, by_margins=by_margins, one_ranking=one_ranking
        )
        visible = [
            column for column in columns if column.key not in _empty_columns(rows)
        ]

        # New columns forget the order of the rows: only if they differ.
        if [(c.key, c.title, c.tooltip) for c in visible] != [
            (c.key, c.title, c.tooltip) for c in self.rows_model.columns
        ]:
            self.set_columns(visible)
        self.set_rows(rows)
        self.horizontalHeader().setVisible(bool(rows))

    def move_threshold(self, threshold: float) -> None:
        """Draw the threshold line at a new position."""
        self.threshold = threshold
        self.viewport().update()

    # The threshold

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to drag the threshold line if the mouse is on it."""
        if event.button() == Qt.MouseButton.LeftButton and self._is_on_line(
            event.position()
        ):
            self._is_dragging_line = True
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the threshold line, or show by the cursor that it can be dragged."""
        if self._is_dragging_line:
            bar = self._probability_bar()
            share = (event.position().x() - bar.left()) / max(1.0, bar.width())
            self._set_threshold(round(share, 2))
            return
        is_over_line = self._is_on_line(event.position())
        self.viewport().setCursor(
            Qt.CursorShape.SplitHCursor if is_over_line else Qt.CursorShape.ArrowCursor
        )
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the drag of the threshold line."""
        if self._is_dragging_line:
            self._is_dragging_line = False
            return
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the threshold line by a hundredth with Left and Right."""
        move = {Qt.Key.Key_Left: -0.01, Qt.Key.Key_Right: 0.01}.get(Qt.Key(event.key()))
        if move is not None and self.rows():
            self._set_threshold(round(self.threshold + move, 2))
            return
        super().keyPressEvent(event)

    def _set_threshold(self, threshold: float) -> None:
        """Move the threshold within its bounds, and emit the new one."""
        lowest, highest = _BOUNDS
        new_threshold = min(max(threshold, lowest), highest)
        if new_threshold != self.threshold:
            self.move_threshold(new_threshold)
            self.thresholdMoved.emit(new_threshold)

    def _probability_bar(self) -> QRectF:
        """Return the rectangle of the probability's bar in the first row.

        The probability is a column of the table. Without this column,
        the rectangle is empty.
        """
        for number, column in enumerate(self.rows_model.columns):
            if column.key == _PROBABILITY:
                cell = self.visualRect(self.rows_model.index(0, number)).adjusted(
                    PAD, 0, -PAD, 0
                )
                return QRectF(_bar_rect(cell))
        return QRectF()

    def _is_on_line(self, point: QPointF) -> bool:
        """Return whether a point is on the threshold line, in any row."""
        if not self.rows():
            return False
        bar = self._probability_bar()
        line_x = bar.left() + self.threshold * bar.width()
        return bar.width() > 0 and abs(point.x() - line_x) <= _GRAB

    # The columns

    def _columns(
        self,
        measure: str,
        *,
        permuted: bool = False,
        by_margins: bool = False,
        one_ranking: bool = False,
    ) -> tuple[Column, ...]:
        """Return the columns of the table of features and their evidence.

        ``measure`` is that of the losses. They are ``permuted`` if
        features were permuted instead of left out. ``by_margins`` says
        that numbers of queries are approximate, and ``one_ranking``
        that halves are of documents.
        """
        lost_title = (
            tr("{measure} lost").format(measure=measure) if measure else tr("lost")
        )
        without_tip = tr(
            "What the left-out queries lose if the feature is left out and the model learned again, "
            "with the paired 95 % interval"
        )
        queries_halved_tip = tr(
            "Share of 100 halves of the queries on which the feature is among the first k. Drag the "
            "line, or press Left and Right, to move the threshold of the verdicts."
        )
        documents_halved_tip = tr(
            "Share of 100 halves of the documents on which the feature is among the first k. Drag the "
            "line, or press Left and Right, to move the threshold of the verdicts."
        )
        exact_queries_tip = tr(
            "Minimum number of queries to leave out before the step selects another feature. Click a number "
            "to list them on Queries."
        )
        approximate_queries_tip = tr(
            "Approximate number of queries to leave out before the step selects another feature, by the "
            "margins of the scores. Click a number to list them on Queries."
        )
        permuted_tip = tr(
            "What the model loses if the feature is permuted among the documents of each query, "
            "with the 95 % interval over queries"
        )
        loss_width = 118
        if permuted:  # a model without selection (k = 0) has few other columns
            loss_width = 190 if self.k else 460
        return (
            Column(
                "feature",
                tr("id"),
                "right",
                width=42,
                tone="muted",
                full_title="feature",
            ),
            Column("name", tr("feature"), stretch=True, tone=_tone),
            Column(
                _PROBABILITY,
                tr("selected in"),
                "right",
                _percent,
                value=lambda row: row.numbers.probability,
                tooltip=documents_halved_tip if one_ranking else queries_halved_tip,
                width=108,
                tone=_tone,
                paint=self._paint_probability,
                hint=_probability_hint,
            ),
            Column(
                _POSITION,
                tr("position"),
                value=lambda row: row.middle,
                format=lambda _: "",
                tooltip=tr(
                    "Position on the path over the halves: median, and 5 % to 95 % quantile"
                ),
                width=66,
                paint=self._paint_position,
                hint=_position_hint,
            ),
            Column(
                "share",
                tr("share"),
                "right",
                _percent,
                value=lambda row: row.numbers.share,
                tooltip=tr(
                    "Shapley share of the left-out gain: independent of the order of selection"
                ),
                width=58,
                tone=_faint,
            ),
            Column(
                _LOST,
                tr("{lost}, permuted").format(lost=lost_title)
                if permuted
                else lost_title,
                "right",
                lambda value: fixed(value, 3),
                value=lambda row: (
                    row.numbers.loss.value if row.numbers.loss is not None else None
                ),
                tooltip=permuted_tip if permuted else without_tip,
                width=loss_width,
                tone=_faint,
                paint=self._paint_loss,
                hint=_loss_hint,
            ),
            Column(
                _PER_MILLISECOND,
                tr("per ms"),
                "right",
                lambda value: fixed(value, 4),
                value=lambda row: row.per_millisecond,
                tooltip=tr(
                    "Loss divided by the milliseconds per query that the feature costs"
                ),
                width=64,
                tone=_faint,
            ),
            Column(
                DECIDING,
                tr("≈ queries") if by_margins else tr("queries"),
                "right",
                value=lambda row: row.numbers.n_deciding,
                tooltip=approximate_queries_tip if by_margins else exact_queries_tip,
                width=72 if by_margins else 56,
                hint=lambda row: (
                    _SHOWN_BY_CLICK
                    if self.lists_queries and row.numbers.n_deciding
                    else ""
                ),
                tone=_faint,
            ),
            Column(
                "substitute",
                tr("substitute"),
                "right",
                tooltip=tr(
                    "The best exchange for the feature, and what it does to the left-out error"
                ),
                width=118,
                tone=_faint,
            ),
            Column(
                "verdict",
                tr("verdict"),
                tooltip=tr("Verdict from the halves, the near-best sets and the loss"),
                width=134,
                tone=lambda row: row.tone,
                paint=_paint_verdict,
                hint=lambda row: row.reason,
            ),
        )

    def _paint_probability(
        self, painter: QPainter, cell: QRect, colors: Colors, row: EvidenceRow
    ) -> QRect:
        """Draw the probability as a bar with a line at the threshold.

        ``cell`` is the rectangle of the cell; the part beside the bar,
        for the number, is returned.
        """
        # A track 9 pixels high, filled up to the probability; the line
        # at the threshold is 16 pixels high.
        bar = QRectF(_bar_rect(cell))
        share = row.numbers.probability
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.q("line_soft"))
        track = QRectF(bar.left(), bar.center().y() - 4.5, bar.width(), 9)
        painter.drawRoundedRect(track, 2, 2)
        if share:
            painter.setBrush(colors.q("accent" if row.selected else "bar"))
            painter.drawRoundedRect(
                QRectF(track.left(), track.top(), max(2.0, share * track.width()), 9),
                2,
                2,
            )
        x = bar.left() + self.threshold * bar.width()
        painter.setPen(QPen(colors.q("error"), 1.5))
        painter.drawLine(
            QPointF(x, bar.center().y() - 8), QPointF(x, bar.center().y() + 8)
        )
        return cell.adjusted(round(bar.width()), 0, 0, 0)

    def _paint_position(
        self, painter: QPainter, cell: QRect, colors: Colors, row: EvidenceRow
    ) -> QRect | None:
        """Draw the median position and a line from the 5 to the 95 % quantile.

        A position is the step, from 1, at which a half of the queries
        selects the feature.

        ``cell`` is the rectangle of the cell. None is returned, as
        there is no text, or the whole cell if nothing is drawn.
        """
        position = row.numbers.position
        if position is None or isinf(position[0]):
            return cell
        low, median, high = position
        last_step = max(2, self.n_steps)

        def x(step: float) -> float:
            """Return the pixel of a step; infinity, for "not selected", is at the right end."""
            share = (min(step, last_step) - 1) / (last_step - 1)

            # 4 pixels at each end are free for the dot
            return cell.left() + 4 + share * (cell.width() - 8)

        y = cell.center().y() + 0.5
        color = colors.q("accent" if row.selected else "bar")
        painter.setPen(QPen(color, 1.5))
        painter.drawLine(QPointF(x(low), y), QPointF(x(high), y))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        if not isinf(median):
            painter.drawEllipse(QPointF(x(median), y), 3.5, 3.5)
        return None

    def _paint_loss(
        self, painter: QPainter, cell: QRect, colors: Colors, row: EvidenceRow
    ) -> QRect:
        """Draw the loss with its interval and a line at zero.

        ``cell`` is the rectangle of the cell; the part beside the
        drawing, for the number, is returned.
        """
        loss = row.numbers.loss
        bar = QRectF(cell.adjusted(0, 0, -scaled(_LOSS), 0))
        if loss is None:
            return cell

        # All rows have one scale, from a quarter of the largest loss
        # below 0; ends of intervals beyond it are cut off.
        scale_start = min(0.0, -0.25 * self._largest_loss)

        def x(value: float) -> float:
            """Return the x coordinate of a loss in pixels."""
            share = (max(value, scale_start) - scale_start) / (
                self._largest_loss - scale_start
            )
            return bar.left() + min(share, 1.0) * bar.width()

        y = bar.center().y() + 0.5
        painter.setPen(QPen(colors.q("line_hover"), 1.0))
        painter.drawLine(QPointF(x(0.0), y - 9), QPointF(x(0.0), y + 9))
        painter.setPen(QPen(colors.q("text"), 1.3))
        painter.drawLine(QPointF(x(loss.low), y), QPointF(x(loss.high), y))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.q("text"))
        painter.drawRect(QRectF(x(loss.value) - 3, y - 3, 6, 6))
        return cell.adjusted(round(bar.width()), 0, 0, 0)


def _bar_rect(cell: QRect) -> QRect:
    """Return the part of a cell for a bar, left of its number."""
    return cell.adjusted(0, 0, -scaled(_NUMBER), 0)


def _tone(row: EvidenceRow) -> str:
    """Return the color of a text: fainter for a feature that is not selected."""
    return "text" if row.selected else "muted"


def _faint(row: EvidenceRow) -> str:
    """Return the color of a minor text: faint for a feature that is not selected."""
    return "text" if row.selected else "faint"


def _features(n: int) -> str:
    """Return a number of features as a text."""
    return trn("{n} feature", "{n} features", n).format(n=n)


def _percent(value: float) -> str:
    """Return a share as whole percent."""
    return tr("{share} %").format(share=fixed(round(100 * value), 0))


def _empty_columns(rows: Sequence[EvidenceRow]) -> set[str]:
    """Return the keys of the table's columns that have no value in any row.

    The result is empty if there are no rows: a table without rows shows
    all columns.
    """
    selected = [row.numbers for row in rows if row.selected]
    has_values = {
        _PROBABILITY: any(feature.probability is not None for feature in selected),
        _POSITION: any(feature.position is not None for feature in selected),
        "verdict": any(row.verdict for row in rows),
        "substitute": any(row.substitute for row in rows),
        "share": any(feature.share is not None for feature in selected),
        _LOST: any(feature.loss is not None for feature in selected),
        _PER_MILLISECOND: any(row.per_millisecond is not None for row in rows),
        DECIDING: any(feature.n_deciding is not None for feature in selected),
    }
    return {key for key, has_any in has_values.items() if rows and not has_any}


def _probability_hint(row: EvidenceRow) -> str:
    """Return the tooltip with the share of the near-best sets that have the feature."""
    if row.numbers.near_best_share is None:
        return ""
    return tr("In {share:.0f} % of the sets that are as good as the best").format(
        share=100 * row.numbers.near_best_share
    )


def _position_hint(row: EvidenceRow) -> str:
    """Return the tooltip on a feature's position on the paths of the halves; "" without one."""
    position = row.numbers.position
    if position is None:
        return ""
    low, middle, high = (
        "–" if isinf(quantile) else f"{quantile:.0f}" for quantile in position
    )
    return tr(
        "The median position is {middle}, from {low} to {high}. A dash means not selected."
    ).format(middle=middle, low=low, high=high)


def _loss_hint(row: EvidenceRow) -> str:
    """Return the tooltip with the interval of a feature's loss; "" without a loss."""
    loss = row.numbers.loss
    if loss is None:
        return ""
    return tr("95 % interval {low} to {high}").format(
        low=fixed(loss.low, 4), high=fixed(loss.high, 4)
    )


def _paint_verdict(
    painter: QPainter, cell: QRect, colors: Colors, row: EvidenceRow
) -> QRect:
    """Draw a dot before the verdict of a selected feature.

    ``cell`` is the rectangle of the cell. The part of it for the text
    is returned.
    """
    if row.selected and row.verdict:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.q(row.tone))
        painter.drawEllipse(QPointF(cell.left() + 4, cell.center().y() + 0.5), 4, 4)
    return cell.adjusted(14, 0, 0, 0)


class EvidencePanel(Panel):
    """A table with a row for each selected feature, then the other features that halves select most often.

    Above the table are the sets of the path and the buttons that
    compute the evidence, and below it a sentence on the threshold. For
    a model without selection, the table shows the losses by
    permutation.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    inspected : Signal(int)
        Id of the feature whose row the user moved to.
    appeared : Signal()
        The panel has become visible.
    smallest : SmallestSetRow
    table : EvidenceTable
    work : WorkRow
    """

    inspected = Signal(int)
    appeared = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Evidence"), padding=0, name="evidence-panel")
        self.table = EvidenceTable(theme)

        # Each button has its text without and with an estimated time,
        # and its tooltip; the first one also its text with a bound on
        # the time.
        self.work = WorkRow(
            "evidence-work",
            tr("Compute the evidence"),
            tr("Compute the evidence (about {time})"),
            _HALVING_QUERIES_TIP,
            tr("Compute the evidence (at most {time})"),
        )
        self.permuting = WorkRow(
            "permuting",
            tr("Permute the features"),
            tr("Permute the features (about {time})"),
            tr(
                "Permute each feature within the queries, ten times, and measure what the model loses."
            ),
        )
        self.foot = named(WrappedLabel(), "evidence-foot", role="caption")
        self.smallest = SmallestSetRow()

        # The buttons are above the table, because messages of the
        # window cover the bottom of a page.
        work = fill(
            QVBoxLayout(), self.work, self.permuting, margins=(12, 4, 12, 4), spacing=0
        )
        foot = fill(QVBoxLayout(), self.foot, margins=(12, 4, 12, 6), spacing=4)
        fill(self.body, self.smallest, work, (self.table, 1), foot, spacing=0)
        self.table.chosen.connect(lambda row: self.inspected.emit(row.feature))
        self.clear(NOTHING)

    def show_unit(self, *, one_ranking: bool) -> None:
        """Say in the tooltip of the button that computes the evidence what is halved.

        The documents are halved if they are ``one_ranking``, otherwise
        the queries.
        """
        tip = _HALVING_DOCUMENTS_TIP if one_ranking else _HALVING_QUERIES_TIP
        self.work.set_tip(tip)

    def show_importance(
        self,
        importance: PermutationImportance,
        ids: Sequence[int],
        names: Sequence[str],
        *,
        by_validation: bool,
    ) -> None:
        """Show the losses of a model that uses all features, with each of them permuted.

        The losses were measured on the validation part if
        ``by_validation``, otherwise on the training part; ``ids`` and
        ``names`` are those of the data's columns.
        """
        self.table.placeholder = ""

        # Without a selection, its size and the number of steps are 0.
        self.table.show_rows(
            importance_rows(importance, ids, names),
            importance.measure.name,
            0,
            0,
            permuted=True,
        )
        text = (
            tr("{features} · {n_queries} validation queries")
            if by_validation
            else tr("{features} · {n_queries} training queries")
        )
        self.set_caption(
            text.format(
                features=_features(len(importance.groups)),
                n_queries=importance.baseline.size,
            )
        )
        self.foot.setText(
            tr(
                "The model stays as it is. Of features that say the same, each may show little loss alone."
            )
        )

    def show_evidence(
        self,
        evidence: SelectionEvidence,
        ids: Sequence[int],
        names: Sequence[str],
        measure: str,
        permuted: PermutationImportance | None = None,
        costs: FeatureCosts | None = None,
    ) -> None:
        """Show the evidence for a selection.

        ``ids`` and ``names`` are those of the data's columns, and
        ``measure`` is that of the losses. ``permuted`` has losses to
        show for features without one of their own, and ``costs`` the
        cost of each feature.
        """
        stability = evidence.stability
        self.table.placeholder = ""

        # Paths on halves may go on after the k-th step.
        steps = stability.counts.shape[0] if stability is not None else evidence.k
        self.table.move_threshold(evidence.rules.threshold)
        rows = evidence_rows(evidence, ids, names, permuted, costs)
        by_permutation = permuted is not None and evidence.losses is None
        self.table.show_rows(
            rows,
            measure,
            evidence.k,
            steps,
            permuted=by_permutation,
            by_margins=evidence.deciding_by_margins,
            one_ranking=evidence.one_ranking,
        )
        if stability is None or not stability.n_paths:
            self.set_caption(_features(evidence.k))
            self.foot.setText("")
            return
        self.set_caption(_halves_caption(evidence, stability.n_paths, len(ids)))
        sentences = [bound_sentence(evidence), evidence.one_ranking_sentence]
        self.foot.setText(" ".join(filter(None, sentences)))

    def clear(self, reason: str) -> None:
        """Show a sentence, the reason, instead of a selection."""
        self.table.placeholder = reason
        self.table.set_rows(())
        # The columns may be different for the next selection.
        self.table.horizontalHeader().hide()
        self.set_caption("")
        self.foot.setText("")


def _halves_caption(evidence: SelectionEvidence, n_halves: int, n: int) -> str:
    """Return the caption of the panel: how many of n features, and how many halves.

    The halves are of the queries, or of the documents if the documents
    are one ranking.
    """
    if evidence.one_ranking:
        text = trn(
            "{k} of {n} feature · {n_halves} halves of {n_documents} documents",
            "{k} of {n} features · {n_halves} halves of {n_documents} documents",
            n,
        )
        return text.format(
            k=evidence.k, n=n, n_halves=n_halves, n_documents=evidence.n_documents
        )
    text = trn(
        "{k} of {n} feature · {n_paths} half-samples of {n_queries} queries",
        "{k} of {n} features · {n_paths} half-samples of {n_queries} queries",
        n,
    )
    return text.format(
        k=evidence.k, n=n, n_paths=n_halves, n_queries=evidence.n_queries
    )


def bound_sentence(evidence: SelectionEvidence) -> str:
    """Return the sentence on how many features above the threshold may be there by chance.

    The threshold is that of the share of halves that select a feature.
    The sentence is "" if the number is unknown, for instance before a
    pair of halves is done.
    """
    stability = evidence.stability
    bound = (
        evidence.false_bound
        if stability is not None and stability.n_paths > 1
        else None
    )
    if bound is None:
        return ""
    if evidence.by_chance:
        return tr(
            "Line at {share:.0f} %: the bound says nothing for a selection of this size. Every feature above "
            "the line may be there by chance (Shah and Samworth 2013)."
        ).format(share=100 * evidence.rules.threshold)
    return tr(
        "Line at {share:.0f} %: at most {bound} features above it are expected to be there by chance "
        "(Shah and Samworth 2013)."
    ).format(share=100 * evidence.rules.threshold, bound=fixed(bound, 1))
