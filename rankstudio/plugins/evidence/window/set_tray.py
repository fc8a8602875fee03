"""The trays with a set of features that the user edits, and the exact left-out error of each change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QDrag,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QEnterEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
    QUndoCommand,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QInputDialog,
    QMenu,
    QToolButton,
    QWidget,
)

from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.number_format import fixed, percent
from rankstudio.plugins.evidence.window.controller import EvidenceController
from rankstudio.plugins.evidence.window.set_sentences import (
    NEGLIGIBLE,
    FeatureChange,
    signed_percent,
)
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.plots.base import Plot
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.process.turns import turns
from rankstudio.ui.select.fields import FeatureChip
from rankstudio.ui.style.fonts import TINY, font
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import TableView
from rankstudio.ui.widgets.layout import emptied, fill, named
from rankstudio.ui.widgets.panel import ElidedLabel
from rankstudio.ui.widgets.table import RowAction

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.set_changes import SetChanges


FEATURE = "application/x-rankstudio-feature"
"""Type of a drag that carries the id of a feature."""
_CHIP = "application/x-rankstudio-chip"
"""Type of a drag that carries a chip of the set, by the id of its feature."""
_MAX_OFFERED = 10
"""Changes in a menu, the best ones first."""
_MAX_NAMED_FEATURES = 3  # a larger set has chips with ids alone
_MAX_CHIPS = 16  # the other features of the set are only counted
# chips in a tray that shares its line; a table below it shows the names
_MAX_CHIPS_BESIDE = 6
_NAMED_CHIP_WIDTH = 220  # maximum width of a chip with a name, in pixels
_NUMBERED_CHIP_WIDTH = 52  # minimum width of a chip with an id alone
_CROSS = 40  # width of the cross and the margins of a chip
_TARGET_LINE = 1.6  # pixels of the line around the tray while a feature is dragged
_RUN_HELP = tr(
    "Run RankRLS with this set on all folds of this run, and compare the two runs"
)
_CHIP_SPACING = 4  # pixels between chips
LEAST_SENTENCE_WIDTH = 210
"""Minimum width of the sentence on the error, in pixels."""


@dataclass(frozen=True)
class ShownSet:
    """The set that a tray shows.

    Attributes
    ----------
    features : tuple of (int, str)
        Ids and names, in the order of the set.
    edited : bool
        Whether the set differs from the selection.
    sentence : str
        Sentence on the error of the set, or on the inspected feature.
    swaps : mapping of int to float
        Relative change of the error if the feature under the mouse
        replaces a member, by the member's id.
    """

    features: tuple[tuple[int, str], ...]
    edited: bool
    sentence: str
    swaps: Mapping[int, float] = field(default_factory=dict)


class SetChip(FeatureChip):
    """A chip for a feature of the set: a click inspects the feature, a drag out of the tray removes it.

    Attributes
    ----------
    inspected, pointed : Signal(int)
        Id of the feature that was clicked, and that is under the
        pointer; 0 once the pointer has left.
    menuAsked : Signal(int, QPoint)
    """

    inspected = Signal(int)
    pointed = Signal(int)
    menuAsked = Signal(int, QPoint)

    # Defaults for changeEvent, which Qt may call before __init__ has finished.
    feature_id = 0
    name = ""
    _shows_name = False
    _error_change: float | None = None

    def __init__(
        self, theme: Theme, feature_id: int, name: str, *, shows_name: bool
    ) -> None:
        super().__init__(theme, feature_id, name, shows_name=shows_name)
        self._fit_width()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._press_position: QPoint | None = None

    def changeEvent(self, event: QEvent) -> None:
        """Fit the width to another text size."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._fit_width()

    def _fit_width(self) -> None:
        """Set the width of the chip to that of its text: id and name, or the id alone."""
        advance = self.fontMetrics().horizontalAdvance
        named_width = min(
            advance(f"{self.feature_id} {self.name} ") + _CROSS, _NAMED_CHIP_WIDTH
        )

        # without a name, the margins are 4 pixels narrower
        numbered_width = max(
            advance(f"{self.feature_id}") + _CROSS - 4, _NUMBERED_CHIP_WIDTH
        )
        self.setFixedWidth(named_width if self._shows_name else numbered_width)

    def show_swap(self, share: float | None) -> None:
        """Show in a chip how the error changes if the feature under the mouse replaces the chip's feature.

        ``share`` is the relative change of the error; None shows the
        chip as usual.
        """
        if share != self._error_change:
            self._error_change = share
            self._cross.setVisible(share is None)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the chip, or instead the change of the error by a swap of its feature."""
        if self._error_change is None:
            super().paintEvent(event)
            return
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(colors.q("accent"))
        painter.setBrush(colors.q("panel"))

        # A line is sharp half a pixel inside the edge.
        painter.drawRoundedRect(
            self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 6.5, 6.5
        )
        painter.setFont(font(TINY))
        color = "text"
        if self._error_change >= NEGLIGIBLE:
            color = "error"
        elif self._error_change <= -NEGLIGIBLE:
            color = "ok"
        painter.setPen(colors.q(color))
        painter.drawText(
            self.rect(),
            Qt.AlignmentFlag.AlignCenter,
            signed_percent(self._error_change),
        )

    def enterEvent(self, event: QEnterEvent) -> None:
        """Emit the feature under the pointer."""
        self.pointed.emit(self.feature_id)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Emit that no feature is under the pointer."""
        self.pointed.emit(0)
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the actions on the feature."""
        self.menuAsked.emit(self.feature_id, event.globalPos())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Inspect the feature."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._press_position = event.position().toPoint()
            self.inspected.emit(self.feature_id)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Begin to drag the feature out of the set."""
        if self._press_position is None:
            return
        moved = event.position().toPoint() - self._press_position
        if moved.manhattanLength() < QApplication.startDragDistance():
            return
        self._press_position = None
        drag = QDrag(self)
        data = QMimeData()
        data.setText(f"{self.feature_id} {self.name}")
        data.setData(_CHIP, str(self.feature_id).encode())
        drag.setMimeData(data)
        drag.setPixmap(self.grab())

        # Widgets that accept the drop decide what it does.
        drag.exec(Qt.DropAction.MoveAction)


class SetTray(QFrame):
    """A line that shows a set of features as chips, with its left-out error and buttons.

    The user removes a feature by the cross of its chip, adds features
    from a menu or by dropping them, takes changes back, and runs the
    set. A long set shows its first chips and the number of the others.

    Parameters
    ----------
    theme : Theme
    name : str
        Object name, which differs between the trays of the two pages.
    shares_line : bool
        Whether the tray shares its line with other controls, and
        therefore shows fewer chips.

    Attributes
    ----------
    removed, dropped, inspected, pointed : Signal(int)
        Ids of features.
    menuAsked : Signal(int, QPoint)
    addAsked : Signal(QPoint)
    appeared : Signal()
    undo, reset, run : QToolButton
    """

    removed = Signal(int)
    dropped = Signal(int)
    inspected = Signal(int)
    pointed = Signal(int)
    menuAsked = Signal(int, QPoint)
    addAsked = Signal(QPoint)
    appeared = Signal()

    _shown: ShownSet | None = None

    def __init__(self, theme: Theme, name: str, *, shares_line: bool = False) -> None:
        super().__init__()
        named(self, name, tr("Set of features"), role="panel")

        # Beside other controls there is no room for names.
        self._max_named_chips = 0 if shares_line else _MAX_NAMED_FEATURES
        self._max_chips = _MAX_CHIPS_BESIDE if shares_line else _MAX_CHIPS
        self.setAcceptDrops(True)
        self._theme = theme
        self.chips: list[SetChip] = []
        self._row = fill(QHBoxLayout(), spacing=_CHIP_SPACING)  # the chips
        self._others = named(
            PlainLabel(), f"{name}-others", role="muted"
        )  # "and 3 more"
        tip = tr("Add a feature. The best ones are listed first.")
        self.add = self._tool("plus", f"{name}-add", tip)
        self.sentence = named(ElidedLabel(), f"{name}-said", role="caption")
        self.undo = self._tool(
            "undo", f"{name}-undo", tr("Undo the last change of the set")
        )
        self.reset = self._tool(
            "reset", f"{name}-reset", tr("Show the selection again")
        )
        self.run = named(QToolButton(), f"{name}-run", tip=_RUN_HELP)
        self.run.setText(tr("Run this set"))
        self._title = named(PlainLabel(tr("Set")), role="title")
        self._drop_text = ""  # effect of a drop here, while a feature is dragged
        self._is_under_drag = False
        fill(
            QHBoxLayout(self),
            self._title,
            self._row,
            self._others,
            self.add,
            (self.sentence, 1),
            self.undo,
            self.reset,
            self.run,
            margins=(12, 4, 8, 4),
            spacing=8,
        )
        self.add.clicked.connect(lambda: self.addAsked.emit(_below(self.add)))

    def show_set(self, feature_set: ShownSet, *, undoable: bool) -> None:
        """Show a set: its chips, a sentence, and for each chip the error after a swap, if any.

        ``undoable`` says whether there is a change of the set to undo.
        """
        before = self._shown
        self._shown = feature_set
        if before is None or before.features != feature_set.features:
            self._make_chips(feature_set.features)
        self._show_sentence()
        for chip in self.chips:
            chip.show_swap(feature_set.swaps.get(chip.feature_id))
        self.undo.setEnabled(undoable)
        for button in (self.reset, self.run):
            button.setEnabled(feature_set.edited)

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for an update, as changes are not shown while the tray is hidden."""
        super().showEvent(event)
        self.appeared.emit()

    def show_target(self, text: str) -> None:
        """Show in the tray the effect of dropping the dragged feature here, as a text.

        The text is "" once the drag has ended.
        """
        self._drop_text = text
        self._is_under_drag = False
        self._show_sentence()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw where a dragged feature can be dropped."""
        super().paintEvent(event)
        if not self._drop_text:
            return
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        style = Qt.PenStyle.SolidLine if self._is_under_drag else Qt.PenStyle.DashLine
        painter.setPen(QPen(colors.q("accent"), _TARGET_LINE, style))
        painter.setBrush(colors.q("tint"))
        painter.drawRoundedRect(
            self.rect().toRectF().adjusted(1.5, 1.5, -1.5, -1.5), 6.5, 6.5
        )

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept features from tables, and chips of the set, which stay in the set."""
        if any(event.mimeData().hasFormat(kind) for kind in (_CHIP, FEATURE)):
            event.acceptProposedAction()
            self._is_under_drag = True
            self.update()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Show that the drag has left the target."""
        self._is_under_drag = False
        self.update()

    def dropEvent(self, event: QDropEvent) -> None:
        """Put a feature into the set, or leave a chip where it was."""
        self._is_under_drag = False
        event.acceptProposedAction()
        if event.mimeData().hasFormat(FEATURE):
            self.dropped.emit(_carried(event.mimeData(), FEATURE))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many chips as fit."""
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Show as many chips as fit when their widths change with the text size."""
        if event.type() is QEvent.Type.LayoutRequest:
            self._fit()
        return super().event(event)

    def _show_sentence(self) -> None:
        """Show the effect of a drop during a drag, otherwise the sentence on the set."""
        self.sentence.setText(
            self._drop_text or (self._shown.sentence if self._shown is not None else "")
        )

    def _make_chips(self, features: Sequence[tuple[int, str]]) -> None:
        """Replace the chips by new ones for the features, up to the maximum number of chips."""
        emptied(self._row)
        self.chips = []
        shows_names = len(features) <= self._max_named_chips

        for feature, name in features[: self._max_chips]:
            chip = SetChip(self._theme, feature, name, shows_name=shows_names)
            for signal, target in (
                (chip.removed, self.removed),
                (chip.inspected, self.inspected),
                (chip.pointed, self.pointed),
            ):
                signal.connect(target)
            chip.menuAsked.connect(self.menuAsked)
            self._row.addWidget(chip)
            self.chips.append(chip)

        self._fit()  # hides the chips for which there is no room

    def _fit(self) -> None:
        """Hide the last chips that would leave no room for the sentence, and show their number."""
        features = () if self._shown is None else self._shown.features
        metrics = self._others.fontMetrics()
        count_width = metrics.horizontalAdvance(
            tr("and {n} more").format(n=len(features))
        )
        buttons = (self.add, self.undo, self.reset, self.run)
        room = (
            self.width()
            - sum(button.sizeHint().width() for button in buttons)
            - self._title.width()
        )

        # 8 pixels between the parts of the line: the buttons, and four
        # more for title, chips, number of others and sentence
        room -= LEAST_SENTENCE_WIDTH + 8 * (len(buttons) + 4)
        has_too_many = len(features) > len(self.chips)
        if (
            has_too_many
            or sum(chip.minimumWidth() + _CHIP_SPACING for chip in self.chips) > room
        ):
            room -= count_width
        n_shown = 0

        for chip in self.chips:
            room -= chip.minimumWidth() + _CHIP_SPACING

            # At least one chip is shown. isHidden, as the tray itself
            # may be invisible.
            chip.setVisible(room >= 0 or not n_shown)
            n_shown += not chip.isHidden()

        hidden = features[n_shown:]
        self._others.setText(tr("and {n} more").format(n=len(hidden)) if hidden else "")
        self._others.setToolTip(
            plain("\n".join(f"{feature} {name}" for feature, name in hidden))
        )
        self._others.setVisible(bool(hidden))

    def _tool(self, icon: str, name: str, tip: str) -> QToolButton:
        """Return a button with an icon and a tooltip."""
        button = named(QToolButton(), name, tip, tip, role="quiet")
        set_icon(button, self._theme, icon, "muted")
        return button


class _SetChange(QUndoCommand):
    """A change of the edited set of features, to do and to undo.

    ``selection_key`` identifies the selection from which the set was edited.
    """

    def __init__(
        self,
        controller: SetTrayController,
        selection_key: object,
        columns_before: tuple[int, ...],
        columns_after: tuple[int, ...],
    ) -> None:
        super().__init__(tr("changing the set"))
        self._controller = controller
        self.selection_key = selection_key
        self._columns_before = columns_before
        self._columns_after = columns_after

    def redo(self) -> None:
        """Put the set after the change into the trays."""
        self._controller.put(self.selection_key, self._columns_after)

    def undo(self) -> None:
        """Put the set before the change into the trays."""
        self._controller.put(self.selection_key, self._columns_before)


class SetTrayController(Controller):
    """Holds the set of features that the user edits, shows it in the trays of two pages, and runs it.

    The set starts as the shown selection. Each selection keeps its
    edited set while the program runs.

    Parameters
    ----------
    theme : Theme
    models : Models
    evidence : EvidenceController
        Controller that runs sets and knows the shown selection.

    Attributes
    ----------
    pointedAt : Signal(str)
        Sentence on the feature under the mouse, on pages without a
        tray; "" once the mouse has left the feature.
    known : Signal()
        The changes of the set have been computed.
    """

    pointedAt = Signal(str)
    known = Signal()

    def __init__(
        self,
        theme: Theme,
        models: Models,
        evidence: EvidenceController,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._models = models
        self._session = models.session
        self._evidence = evidence

        # the shown set, the sets that the user has edited by the key of
        # their selection, and the key of the shown selection
        self._columns: tuple[int, ...] = ()
        self._edited_sets: dict[object, tuple[int, ...]] = {}
        self._selection_key: object = None
        self._changes: SetChanges | None = None

        # ids; 0 stands for no feature
        self._hovered_feature = 0
        self._inspected_feature = 0

        # sentence on the hovered feature, while no tray is visible
        self._status_text = ""
        self._menu: QMenu | None = None
        self.trays = (
            SetTray(theme, "features-set"),
            SetTray(theme, "evidence-set", shares_line=True),
        )
        self.panels = self.trays

        for tray in self.trays:
            tray.removed.connect(self.remove)
            tray.dropped.connect(self.add)
            tray.inspected.connect(self._session.inspectAsked)
            tray.pointed.connect(self._on_hovered)
            tray.menuAsked.connect(self._show_menu)
            tray.addAsked.connect(self._offer)
            tray.undo.clicked.connect(self.undo)
            tray.reset.clicked.connect(self.reset)
            tray.run.clicked.connect(self.run)
            tray.appeared.connect(self._ask)

        self._computed = OnDemand(
            parent=self,
            worker=models.task_worker,
            key=self._key,
            compute=self._compute,
            failed=self.failed.emit,
            slot="set-changes",
        )
        evidence.evidence.changed.connect(self._ask)
        self._session.undo.indexChanged.connect(self._ask)
        self._session.inspected.connect(self.look_at)

    @property
    def features(self) -> tuple[int, ...]:
        """Ids of the features of the set; () without data."""
        dataset = self._session.dataset
        return (
            ()
            if dataset is None
            else tuple(int(dataset.feature_ids[c]) for c in self._columns)
        )

    @property
    def edited(self) -> bool:
        """Whether the set differs from the selection."""
        model = self._evidence.evidence.model
        return model is not None and set(self._columns) != set(model.step.selected)

    # Changes

    @Slot(int)
    def add(self, feature: int) -> None:
        """Put a feature into the set, by its id."""
        column = self._session.column_of(feature)
        if column is not None and column not in self._columns:
            self._change((*self._columns, column))

    @Slot(int)
    def remove(self, feature: int) -> None:
        """Take a feature out of the set; the last one stays."""
        columns = tuple(
            c for c in self._columns if c != self._session.column_of(feature)
        )
        if columns and columns != self._columns:
            self._change(columns)

    def exchange(self, removed: int, added: int) -> None:
        """Put a feature in the place of another one, both given by their ids."""
        old = self._session.column_of(removed)
        new = self._session.column_of(added)
        if old in self._columns and new is not None and new not in self._columns:
            self._change(tuple(new if c == old else c for c in self._columns))

    @Slot()
    def undo(self) -> None:
        """Take the last change back."""
        if self._undoable:
            self._session.undo.undo()

    @Slot()
    def reset(self) -> None:
        """Show the selection again."""
        model = self._evidence.evidence.model
        if model is not None and self.edited:
            self._change(tuple(model.step.selected))

    @Slot()
    def run(self) -> None:
        """Run the set on the folds of the shown run, and compare the two runs.

        The form of the next run and the shown run stay.
        """
        labels = {record.label.name for record in self._models.runs.records}

        # the first number without a run "Set 1", "Set 2", ...
        number = next(
            n
            for n in range(1, len(labels) + 2)
            if tr("Set {n}").format(n=n) not in labels
        )
        self._evidence.compare_set(self._columns, tr("Set {n}").format(n=number))

    def actions(self, feature: int) -> list[RowAction]:
        """Return the actions of the menu of a feature, by its id: to add it to the set or remove it.

        The set is the one that the user edits. There are no actions if
        the set cannot be edited.
        """
        column = self._session.column_of(feature)
        if not self._is_editable or column is None:
            return []
        if column in self._columns:
            return [RowAction(tr("Remove from the set"), partial(self.remove, feature))]
        return [RowAction(tr("Add to the set"), partial(self.add, feature))]

    def join_workspace(self, area: QWidget) -> None:
        """Remove features whose chips are dropped on an area outside the trays.

        Escape and a drop outside of the window cancel the drag. The
        chip cannot tell these two apart, so only a drop on the area
        removes its feature.
        """
        area.setAcceptDrops(True)
        area.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Accept chips dragged over an area outside the trays, and remove a dropped chip's feature.

        The area is that of :meth:`join_workspace`, whose events come here first.
        """
        if isinstance(
            event, QDragEnterEvent | QDropEvent
        ) and event.mimeData().hasFormat(_CHIP):
            event.acceptProposedAction()
            if event.type() is QEvent.Type.Drop:
                self.remove(_carried(event.mimeData(), _CHIP))
            return True
        return super().eventFilter(watched, event)

    def serve(self, page: QWidget) -> None:
        """Show the set's changes by the feature under the mouse, for all plots and tables of a page.

        Rows of the page's tables can then be dragged into the set.
        """
        # A plot's readout on a feature also says what the feature would
        # change. It is shown again once the changes are known.
        for plot in page.findChildren(Plot):
            plot.about_feature = self.lines
            plot.pointed.connect(self._on_hovered)
            self.known.connect(plot.show_readout_again)
        for table in page.findChildren(TableView):
            if table.feature_of is not None:
                self._serve_table(table, table.feature_of)

    def _serve_table(self, table: TableView, feature_of: Callable[[Any], int]) -> None:
        """Follow the mouse over a table, and let its rows be dragged into the set.

        ``feature_of`` returns the feature id of a row. Id 0 stands for
        no feature, where the mouse is on no row.
        """
        table.pointed.connect(
            lambda row: self._on_hovered(0 if row is None else feature_of(row))
        )
        table.dragged = lambda row: feature_data(feature_of(row))
        table.dragging.connect(
            lambda row: self._show_target(0 if row is None else feature_of(row))
        )

    def _show_target(self, feature: int) -> None:
        """Show in the trays the effect of dropping a feature.

        The id is 0 once no feature is dragged.
        """
        text = ""
        if feature in self.features:
            text = tr("{feature} is in the set already.").format(
                feature=self._id_and_name(feature)
            )
        elif feature:
            text = tr("Drop here to add {feature}").format(
                feature=self._id_and_name(feature)
            )
        for tray in self.trays:
            tray.show_target(text)

    def lines(self, feature: int) -> list[Line]:
        """Return lines on the changes by a feature, for the readout of a plot."""
        change = self._change_of(feature)
        return (
            [] if change is None else change.lines(lambda column: str(self._id(column)))
        )

    @Slot(int)
    def look_at(self, feature: int) -> None:
        """Show the changes by the inspected feature."""
        self._inspected_feature = feature
        self._ask()

    # What is shown

    @property
    def _is_editable(self) -> bool:
        """Whether the exact left-out errors of the selection's changes can be computed."""
        # The method that selected the features has such errors, or the
        # RankRLS that ranks with them.
        evidence = self._evidence.evidence
        return evidence.model is not None and (
            evidence.all_parts_apply or evidence.has_judge
        )

    def _change(self, columns: tuple[int, ...]) -> None:
        """Change the set to other columns, so that the user can undo it."""
        self._session.undo.push(
            _SetChange(self, self._selection_key, self._columns, columns)
        )

    def put(self, selection_key: object, columns: tuple[int, ...]) -> None:
        """Make some columns the set of a selection (called by the undo commands only)."""
        self._edited_sets[selection_key] = columns
        if selection_key == self._selection_key:
            self._columns = columns
        self._ask()

    @property
    def _undoable(self) -> bool:
        """Whether the last command that can be undone is a change of this set."""
        stack = self._session.undo
        last = stack.command(stack.index() - 1) if stack.index() else None
        return (
            isinstance(last, _SetChange) and last.selection_key == self._selection_key
        )

    @Slot()
    def _ask(self) -> None:
        """Show the set once, after the present events."""
        turns().ask(self._show)

    @Slot()
    def _show(self) -> None:
        """Show the set in the visible trays, and have its changes computed if they are needed.

        Each selection has its own set: the selection itself, until the
        user edits it.
        """
        evidence = self._evidence.evidence
        dataset = self._session.dataset
        model = evidence.model

        # Another selection is shown: its set, and no changes of it yet.
        if evidence.key != self._selection_key:
            self._selection_key = evidence.key
            self._changes = None
            selected = () if model is None else tuple(model.step.selected)
            self._columns = self._edited_sets.get(self._selection_key, selected)

        for tray in self.trays:
            tray.setVisible(self._is_editable)
        if self._is_editable and (
            self._hovered_feature or any(tray.isVisible() for tray in self.trays)
        ):
            self._computed.update()  # computes the changes of a changed set
        self._show_in_status()
        if not self._is_editable or dataset is None:
            return
        names = dataset.feature_names
        features = tuple((int(dataset.feature_ids[c]), names[c]) for c in self._columns)

        # For a hovered feature outside the set, each chip shows the
        # error after a swap.
        change = self._change_of(self._hovered_feature)
        swaps = {}
        if change is not None and not change.inside:
            swaps = {self._id(c): share for c, share in change.swaps}
        shown_set = ShownSet(features, self.edited, self._sentence(), swaps)

        for tray in self.trays:
            tray.show_set(shown_set, undoable=self._undoable)

    def _sentence(self) -> str:
        """Return the sentence that the tray shows on the error of the set or its changes.

        The sentence is on the feature under the mouse. Without such a
        feature, it is on an inspected feature outside the set, or else
        on the set.
        """
        model = self._evidence.evidence.model
        changes = self._known_changes
        if model is None or changes is None:
            return tr("Computing …") if self._computed.busy else ""

        # The hovered feature (id 0 if there is none) goes before the
        # inspected one.
        change = self._change_of(self._hovered_feature or self._inspected_feature)
        if change is not None and (self._hovered_feature or not change.inside):
            return self._in_words(change)
        error = tr("left-out error {error} per document").format(
            error=fixed(changes.criterion / model.path.divisor, 5)
        )
        selection_error = model.step.criterion
        if not self.edited or not selection_error:
            return error

        # share by which the set's error is above that of the selection
        above = changes.criterion / selection_error - 1
        if abs(above) < NEGLIGIBLE:
            return error
        text = (
            tr("{error}, {share} above the selection")
            if above > 0
            else tr("{error}, {share} below the selection")
        )
        return text.format(error=error, share=percent(abs(above)))

    @property
    def _known_changes(self) -> SetChanges | None:
        """The changes of the present set; None while they are not computed."""
        changes = self._changes
        return (
            changes
            if changes is not None and set(changes.features) == set(self._columns)
            else None
        )

    def _change_of(self, feature: int) -> FeatureChange | None:
        """Return the changes of the edited set's error by a feature, given by its id.

        The result is None while the changes are not computed, and for id 0.
        """
        changes = self._known_changes
        column = self._session.column_of(feature) if feature else None
        return (
            None
            if changes is None or column is None
            else FeatureChange.of(changes, column)
        )

    def _in_words(self, change: FeatureChange) -> str:
        """Return the sentence on a change of the set."""
        return change.sentence(lambda column: str(self._id(column)))

    def _show_in_status(self) -> None:
        """Show the changes of the edited set by the hovered feature in the status line.

        Nothing is shown in the status line while a tray is visible.
        """
        needs_status = self._hovered_feature and not any(
            tray.isVisible() for tray in self.trays
        )
        change = self._change_of(self._hovered_feature) if needs_status else None
        text = "" if change is None else self._in_words(change)
        if text != self._status_text:
            self._status_text = text
            self.pointedAt.emit(text)

    @Slot(int)
    def _on_hovered(self, feature: int) -> None:
        """Show the change by the feature under the mouse."""
        if feature != self._hovered_feature:
            self._hovered_feature = feature
            self._ask()

    # Menus

    @Slot(QPoint)
    def _offer(self, position: QPoint) -> None:
        """Open a menu with the features whose addition gives the lowest error, the best one first.

        ``position`` is that of the menu on the screen. Any other
        feature can be chosen in a dialog.
        """
        menu = self._new_menu()
        changes = self._known_changes
        if changes is not None:
            # Qt calls the functions of actions with their checked state.
            for column in _best(changes.added):
                change = signed_percent(changes.relative(changes.added[column]))
                action = menu.addAction(
                    f"{self._id_and_name(self._id(column))}\t{change}"
                )
                action.triggered.connect(
                    lambda _=False, column=column: self.add(self._id(column))
                )
            menu.addSeparator()
        menu.addAction(tr("Another feature…"), self._ask_feature)
        menu.popup(position)

    @Slot(int, QPoint)
    def _show_menu(self, feature: int, position: QPoint) -> None:
        """Open a menu to remove a feature of the set, by its id, or to replace it.

        The best replacements are listed with the change of the error.
        ``position`` is that of the menu on the screen.
        """
        menu = self._new_menu()
        changes = self._known_changes
        column = self._session.column_of(feature)
        menu.addAction(tr("Remove from the set"), lambda: self.remove(feature))
        if changes is not None and column in changes.features:
            errors = changes.swapped[changes.features.index(column)]
            replace_menu = menu.addMenu(tr("Replace with"))

            # Qt calls the functions of actions with their checked state.
            for other in _best(errors):
                change = signed_percent(changes.relative(errors[other]))
                action = replace_menu.addAction(
                    f"{self._id_and_name(self._id(other))}\t{change}"
                )
                action.triggered.connect(
                    lambda _=False, other=other: self.exchange(feature, self._id(other))
                )
            replace_menu.setEnabled(not replace_menu.isEmpty())
        menu.popup(position)

    @Slot()
    def _ask_feature(self) -> None:
        """Let the user choose a feature outside the set in a dialog, and add it."""
        dataset = self._session.dataset
        if dataset is None:
            return
        columns = [
            c for c in range(len(dataset.feature_names)) if c not in self._columns
        ]
        offered = [self._id_and_name(self._id(column)) for column in columns]

        # The first feature is marked, and its text cannot be edited.
        name, is_accepted = QInputDialog.getItem(
            self.trays[0].window(),
            tr("Add to the set"),
            tr("Feature:"),
            offered,
            0,
            False,
        )
        if is_accepted and name in offered:
            self.add(self._id(columns[offered.index(name)]))

    def _new_menu(self) -> QMenu:
        """Return an empty menu in place of the last one."""
        if self._menu is not None:
            self._menu.deleteLater()
        self._menu = QMenu(self.trays[0].window())
        return self._menu

    # What is computed

    def _key(self) -> Key | None:
        """Return a key that identifies the edited set, for which changes are computed.

        It consists of the checksum of the data, the method, the number
        of the fold, a text of all other settings of the shown model,
        and the columns of the set, ascending. The changes are computed
        again whenever it differs. None if there is no set to edit, so
        that nothing is computed.
        """
        selection_key = self._evidence.evidence.key
        if selection_key is None or not self._is_editable:
            return None

        # The key of the shown selection ends with the columns of the
        # selection, in place of which come those of the set.
        *learned_from, _ = selection_key
        return (*learned_from, tuple(sorted(self._columns)))

    def _compute(self) -> Computation | None:
        """Return the computation of the changes of the set; None without a model.

        The changes are the left-out errors after a feature is added,
        removed or replaced. `_take` receives them.
        """
        request = self._evidence.evidence.search_request
        if request is None:
            return None
        text = tr("Computing the changes of a set")
        function = self._evidence.evidence.tasks.set_changes
        return computation(text, self._take, function, request, self._columns)

    def _take(self, changes: SetChanges | None) -> None:
        """Store the computed changes of the set, and show them; None if they cannot be computed."""
        self._changes = changes
        self._ask()
        self.known.emit()

    def _id(self, column: int) -> int:
        """Return the id of the feature in a column."""
        assert self._session.dataset is not None
        return int(self._session.dataset.feature_ids[column])

    def _id_and_name(self, feature: int) -> str:
        """Return a feature's id and name, or only the id if the data do not have the feature."""
        dataset = self._session.dataset
        column = self._session.column_of(feature)
        return (
            f"{feature} {dataset.feature_names[column]}"
            if dataset and column is not None
            else f"{feature}"
        )


def feature_data(feature: int) -> QMimeData:
    """Return the data of a drag of a feature, by its id."""
    data = QMimeData()
    data.setData(FEATURE, str(feature).encode())
    return data


def _carried(data: QMimeData, kind: str) -> int:
    """Return the id of the feature that a drag carries."""
    return int(data.data(kind).toStdString())


def _best(errors: Floats) -> list[int]:
    """Return the columns with the smallest errors, the smallest first.

    Columns with NaN are left out.
    """
    order = [int(column) for column in np.argsort(errors, kind="stable")]
    return [column for column in order if not np.isnan(errors[column])][:_MAX_OFFERED]


def _below(widget: QWidget) -> QPoint:
    """Return the point on the screen below the left end of a widget."""
    return widget.mapToGlobal(QPoint(0, widget.height()))
