"""The set of features as an object: chips to take out and put in, with the exact error of each change."""

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
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QInputDialog, QMenu, QToolButton, QWidget

from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.number_format import fixed, percent
from rankstudio.plugins.evidence.window.controller import EvidenceController
from rankstudio.plugins.evidence.window.set_sentences import NEGLIGIBLE, FeatureChange, signed_percent
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
_CHIP = "application/x-rankstudio-chip"  # of a drag of a chip of the set, with the id of its feature
_MAX_OFFERED = 10
"""Changes in a menu, the best ones first."""
_MAX_NAMED_FEATURES = 3
_MAX_CHIPS = 16
"""Chips with names, and chips at all: the others are counted."""
_MAX_CHIPS_BESIDE = 6  # chips in a line that is not the tray's alone, above a table that has the names
_NAMED_CHIP_WIDTH = 220  # pixels of chips with a name, with an id alone, and besides
_NUMBERED_CHIP_WIDTH = 52
_CROSS = 40
_TARGET_LINE = 1.6  # pixels of the line around the tray while a feature is dragged
_RUN_HELP = tr("Run RankRLS with this set on all folds of this run, and compare the two runs")
_CHIP_SPACING = 4  # pixels between chips, and of the sentence on the error
LEAST_SAID = 210


@dataclass(frozen=True)
class ShownSet:
    """The set that a tray shows.

    Attributes
    ----------
    features : tuple of (int, str)
        Ids and names, in the order of the set.
    edited : bool
        Whether it is not the selection any more.
    said : str
        On its error, or on the inspected feature.
    swaps : mapping of int to float
        Of members, by their ids: relative change of the error if the feature under the mouse replaces them.
    """

    features: tuple[tuple[int, str], ...]
    edited: bool
    said: str
    swaps: Mapping[int, float] = field(default_factory=dict)


class SetChip(FeatureChip):
    """A feature of the set: a click inspects it, a drag out of the tray removes it.

    Attributes
    ----------
    inspected, pointed : Signal(int)
        Clicked, and under the pointer; 0 where the pointer has left.
    menuAsked : Signal(int, QPoint)
    """

    inspected = Signal(int)
    pointed = Signal(int)
    menuAsked = Signal(int, QPoint)

    feature_id = 0  # until it is built: Qt may change the font before
    name = ""
    _shows_name = False
    _error_change: float | None = None

    def __init__(self, theme: Theme, feature_id: int, name: str, *, shows_name: bool) -> None:
        super().__init__(theme, feature_id, name, shows_name=shows_name)
        self._take_width()
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._pressed: QPoint | None = None

    def changeEvent(self, event: QEvent) -> None:
        """Take as much room as another text size needs."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self._take_width()

    def _take_width(self) -> None:
        advance = self.fontMetrics().horizontalAdvance
        named_width = min(advance(f"{self.feature_id} {self.name} ") + _CROSS, _NAMED_CHIP_WIDTH)
        numbered = max(advance(f"{self.feature_id}") + _CROSS - 4, _NUMBERED_CHIP_WIDTH)
        self.setFixedWidth(named_width if self._shows_name else numbered)

    def show_swap(self, share: float | None) -> None:
        """Show how the error changes if the feature under the mouse replaces this one; None for none."""
        if share != self._error_change:
            self._error_change = share
            self._cross.setVisible(share is None)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the chip, or how much a swap of its feature would change the error."""
        if self._error_change is None:
            super().paintEvent(event)
            return
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(colors.q("accent"))
        painter.setBrush(colors.q("panel"))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 6.5, 6.5)
        painter.setFont(font(TINY))
        color = "text"
        if self._error_change >= NEGLIGIBLE:
            color = "error"
        elif self._error_change <= -NEGLIGIBLE:
            color = "ok"
        painter.setPen(colors.q(color))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, signed_percent(self._error_change))

    def enterEvent(self, event: QEnterEvent) -> None:
        """Emit the feature under the pointer."""
        self.pointed.emit(self.feature_id)
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Tell that it is not any more."""
        self.pointed.emit(0)
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the actions on the feature."""
        self.menuAsked.emit(self.feature_id, event.globalPos())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Inspect the feature."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._pressed = event.position().toPoint()
            self.inspected.emit(self.feature_id)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Begin to drag the feature out of the set."""
        if self._pressed is None:
            return
        if (event.position().toPoint() - self._pressed).manhattanLength() < QApplication.startDragDistance():
            return
        self._pressed = None
        drag = QDrag(self)
        data = QMimeData()
        data.setText(f"{self.feature_id} {self.name}")
        data.setData(_CHIP, str(self.feature_id).encode())
        drag.setMimeData(data)
        drag.setPixmap(self.grab())
        drag.exec(Qt.DropAction.MoveAction)  # the effect depends on where the chip is dropped


class SetTray(QFrame):
    """One line: the set as chips, what its error is, and what can be done with it.

    Parameters
    ----------
    theme : Theme
    name : str
        For the program and its tests: there is one on each of two pages.

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
        self._most_named, self._most = (
            (0, _MAX_CHIPS_BESIDE) if shares_line else (_MAX_NAMED_FEATURES, _MAX_CHIPS)
        )
        self.setAcceptDrops(True)
        self._theme = theme
        self.chips: list[SetChip] = []
        self._row = fill(QHBoxLayout(), spacing=_CHIP_SPACING)
        self._others = named(PlainLabel(), f"{name}-others", role="muted")
        tip = tr("Add a feature. The best ones are listed first.")
        self.add = self._tool("plus", f"{name}-add", tip)
        self.said = named(ElidedLabel(), f"{name}-said", role="caption")
        self.undo = self._tool("undo", f"{name}-undo", tr("Undo the last change of the set"))
        self.reset = self._tool("reset", f"{name}-reset", tr("Show the selection again"))
        self.run = named(QToolButton(), f"{name}-run", tip=_RUN_HELP)
        self.run.setText(tr("Run this set"))
        self._title = named(PlainLabel(tr("Set")), role="title")
        self._target = ""  # what a drop here does, while a feature is dragged
        self._is_under_drag = False
        fill(
            QHBoxLayout(self),
            self._title,
            self._row,
            self._others,
            self.add,
            (self.said, 1),
            self.undo,
            self.reset,
            self.run,
            margins=(12, 4, 8, 4),
            spacing=8,
        )
        self.add.clicked.connect(lambda: self.addAsked.emit(_below(self.add)))

    def show_set(self, feature_set: ShownSet, *, undoable: bool) -> None:
        """Show a set."""
        before = self._shown
        self._shown = feature_set
        if before is None or before.features != feature_set.features:
            self._make_chips(feature_set.features)
        self._say()
        for chip in self.chips:
            chip.show_swap(feature_set.swaps.get(chip.feature_id))
        self.undo.setEnabled(undoable)
        for button in (self.reset, self.run):
            button.setEnabled(feature_set.edited)

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for the changes that came while the tray was hidden."""
        super().showEvent(event)
        self.appeared.emit()

    def show_target(self, text: str) -> None:
        """Show the effect of a drop here on the dragged feature; "" once the drag has ended."""
        self._target = text
        self._is_under_drag = False
        self._say()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw where a dragged feature can be dropped."""
        super().paintEvent(event)
        if not self._target:
            return
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        style = Qt.PenStyle.SolidLine if self._is_under_drag else Qt.PenStyle.DashLine
        painter.setPen(QPen(colors.q("accent"), _TARGET_LINE, style))
        painter.setBrush(colors.q("tint"))
        painter.drawRoundedRect(self.rect().toRectF().adjusted(1.5, 1.5, -1.5, -1.5), 6.5, 6.5)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take features of tables, and chips back that are dropped over the tray."""
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

    def _say(self) -> None:
        """Say the effect of a drop, else the error of the set."""
        self.said.setText(self._target or (self._shown.said if self._shown is not None else ""))

    def _make_chips(self, features: Sequence[tuple[int, str]]) -> None:
        """Replace the chips by one for each feature, as many as are shown at most."""
        emptied(self._row)
        self.chips = []
        for feature, name in features[: self._most]:
            chip = SetChip(self._theme, feature, name, shows_name=len(features) <= self._most_named)
            for signal, target in (
                (chip.removed, self.removed),
                (chip.inspected, self.inspected),
                (chip.pointed, self.pointed),
            ):
                signal.connect(target)
            chip.menuAsked.connect(self.menuAsked)
            self._row.addWidget(chip)
            self.chips.append(chip)
        self._fit()

    def _fit(self) -> None:
        """Hide the last chips where they would leave no room for the sentence, and count them."""
        features = () if self._shown is None else self._shown.features
        metrics = self._others.fontMetrics()
        count_width = metrics.horizontalAdvance(tr("and {n} more").format(n=len(features)))
        buttons = (self.add, self.undo, self.reset, self.run)
        room = self.width() - sum(button.sizeHint().width() for button in buttons) - self._title.width()
        room -= LEAST_SAID + 8 * (len(buttons) + 4)
        if (
            len(features) > len(self.chips)
            or sum(chip.minimumWidth() + _CHIP_SPACING for chip in self.chips) > room
        ):
            room -= count_width
        n_shown = 0
        for chip in self.chips:
            room -= chip.minimumWidth() + _CHIP_SPACING
            chip.setVisible(room >= 0 or not n_shown)
            n_shown += not chip.isHidden()
        hidden = features[n_shown:]
        self._others.setText(tr("and {n} more").format(n=len(hidden)) if hidden else "")
        self._others.setToolTip(plain("\n".join(f"{feature} {name}" for feature, name in hidden)))
        self._others.setVisible(bool(hidden))

    def _tool(self, icon: str, name: str, tip: str) -> QToolButton:
        button = named(QToolButton(), name, tip, tip, role="quiet")
        set_icon(button, self._theme, icon, "muted")
        return button


class _SetChange(QUndoCommand):
    """One change of the set of a selection."""

    def __init__(
        self, sets: SetTrayController, of: object, before: tuple[int, ...], after: tuple[int, ...]
    ) -> None:
        super().__init__(tr("changing the set"))
        self._sets = sets
        self.of = of
        self._before = before
        self._after = after

    def redo(self) -> None:
        self._sets.put(self.of, self._after)

    def undo(self) -> None:
        self._sets.put(self.of, self._before)


class SetTrayController(Controller):
    """Feeds the trays of two pages, and makes runs of their set.

    Parameters
    ----------
    theme : Theme
    models : Models
    evidence : EvidenceController
        Which runs sets.

    Attributes
    ----------
    pointedAt : Signal(str)
        What the feature under the mouse changes, on pages without a tray; "" where the mouse has left it.
    known : Signal()
        The changes of the set are computed.
    """

    pointedAt = Signal(str)
    known = Signal()

    def __init__(
        self, theme: Theme, models: Models, evidence: EvidenceController, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._models = models
        self._session = models.session
        self._evidence = evidence
        self._columns: tuple[int, ...] = ()
        self._sets: dict[object, tuple[int, ...]] = {}  # that were edited, by what identifies the selection
        self._of: object = None
        self._changes: SetChanges | None = None
        self._pointed = 0
        self._looked_at = 0
        self._status_text = ""  # of the feature under the mouse, while no tray is visible
        self._menu: QMenu | None = None
        self.trays = SetTray(theme, "features-set"), SetTray(theme, "evidence-set", shares_line=True)
        self.panels = self.trays
        for tray in self.trays:
            tray.removed.connect(self.remove)
            tray.dropped.connect(self.add)
            tray.inspected.connect(self._session.inspectAsked)
            tray.pointed.connect(self._point)
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
        """The ids of the set."""
        dataset = self._session.dataset
        return () if dataset is None else tuple(int(dataset.feature_ids[c]) for c in self._columns)

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
        columns = tuple(c for c in self._columns if c != self._session.column_of(feature))
        if columns and columns != self._columns:
            self._change(columns)

    def exchange(self, removed: int, added: int) -> None:
        """Put a feature in the place of another one."""
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
        """Run the set on the folds of its run, and compare the two; the form and what is shown stay."""
        labels = {record.label.name for record in self._models.runs.records}
        number = next(n for n in range(1, len(labels) + 2) if tr("Set {n}").format(n=n) not in labels)
        self._evidence.compare_set(self._columns, tr("Set {n}").format(n=number))

    def actions(self, feature: int) -> list[RowAction]:
        """Return the actions of the menu of a feature in a table."""
        column = self._session.column_of(feature)
        if not self._is_editable or column is None:
            return []
        if column in self._columns:
            return [RowAction(tr("Remove from the set"), partial(self.remove, feature))]
        return [RowAction(tr("Add to the set"), partial(self.add, feature))]

    def surround(self, area: QWidget) -> None:
        """Remove chips that are dropped over an area, the trays in it apart.

        Only a drop there removes a chip. Escape, and a drop outside of the window, cancel the drag: both
        look alike to where it began.
        """
        area.setAcceptDrops(True)
        area.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take chips that are dragged out of the set."""
        if isinstance(event, QDragEnterEvent | QDropEvent) and event.mimeData().hasFormat(_CHIP):
            event.acceptProposedAction()
            if event.type() is QEvent.Type.Drop:
                self.remove(_carried(event.mimeData(), _CHIP))
            return True
        return super().eventFilter(watched, event)

    def serve(self, page: QWidget) -> None:
        """Say the changes by the feature under the mouse, in all plots and tables of a page.

        Rows of its tables can be dragged into the set.
        """
        for plot in page.findChildren(Plot):
            plot.about_feature = self.lines
            plot.pointed.connect(self._point)
            self.known.connect(plot.say_again)
        for table in page.findChildren(TableView):
            if table.feature_of is not None:
                self._serve_table(table, table.feature_of)

    def _serve_table(self, table: TableView, feature_of: Callable[[Any], int]) -> None:
        table.pointed.connect(lambda row: self._point(0 if row is None else feature_of(row)))
        table.dragged = lambda row: feature_data(feature_of(row))
        table.dragging.connect(lambda row: self._show_target(0 if row is None else feature_of(row)))

    def _show_target(self, feature: int) -> None:
        """Show that a feature which is dragged can be dropped on the trays; 0 for none."""
        text = ""
        if feature in self.features:
            text = tr("{feature} is in the set already.").format(feature=self._said(feature))
        elif feature:
            text = tr("Drop here to add {feature}").format(feature=self._said(feature))
        for tray in self.trays:
            tray.show_target(text)

    def lines(self, feature: int) -> list[Line]:
        """Return the lines of a box on a feature: its changes, and each swap."""
        change = self._change_of(feature)
        return [] if change is None else change.lines(lambda column: str(self._id(column)))

    @Slot(int)
    def look_at(self, feature: int) -> None:
        """Say the changes by the inspected feature."""
        self._looked_at = feature
        self._ask()

    # What is shown

    @property
    def _is_editable(self) -> bool:
        """Whether the selection is one whose changes are known exactly."""
        evidence = self._evidence.evidence
        return evidence.model is not None and (evidence.whole or evidence.judged)

    def _change(self, columns: tuple[int, ...]) -> None:
        self._session.undo.push(_SetChange(self, self._of, self._columns, columns))

    def put(self, of: object, columns: tuple[int, ...]) -> None:
        """Make some columns the set of a selection (called by the undo commands only)."""
        self._sets[of] = columns
        if of == self._of:
            self._columns = columns
        self._ask()

    @property
    def _undoable(self) -> bool:
        """Whether the last thing done is a change of this set."""
        stack = self._session.undo
        last = stack.command(stack.index() - 1) if stack.index() else None
        return isinstance(last, _SetChange) and last.of == self._of

    @Slot()
    def _ask(self) -> None:
        turns().ask(self._show)

    @Slot()
    def _show(self) -> None:
        """Show the set in the visible trays."""
        evidence = self._evidence.evidence
        dataset = self._session.dataset
        model = evidence.model
        if evidence.key != self._of:
            self._of = evidence.key
            self._changes = None
            selected = () if model is None else tuple(model.step.selected)
            self._columns = self._sets.get(self._of, selected)
        for tray in self.trays:
            tray.setVisible(self._is_editable)
        if self._is_editable and (self._pointed or any(tray.isVisible() for tray in self.trays)):
            self._computed.update()
        self._tell_elsewhere()
        if not self._is_editable or dataset is None:
            return
        names = dataset.feature_names
        features = tuple((int(dataset.feature_ids[c]), names[c]) for c in self._columns)
        change = self._change_of(self._pointed)
        swaps = {self._id(c): share for c, share in change.swaps} if change and not change.inside else {}
        shown_set = ShownSet(features, self.edited, self._sentence(), swaps)
        for tray in self.trays:
            tray.show_set(shown_set, undoable=self._undoable)

    def _sentence(self) -> str:
        """Return the sentence on the error of the set, or on the feature that is pointed at."""
        model = self._evidence.evidence.model
        changes = self._found
        if model is None or changes is None:
            return tr("Computing …") if self._computed.busy else ""
        change = self._change_of(self._pointed or self._looked_at)
        if change is not None and (self._pointed or not change.inside):
            return self._in_words(change)
        error = tr("left-out error {error} per document").format(
            error=fixed(changes.criterion / model.path.divisor, 5)
        )
        selection_error = model.step.criterion
        if not self.edited or not selection_error:
            return error
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
    def _found(self) -> SetChanges | None:
        """The changes of the set; None where they are not known yet."""
        changes = self._changes
        return changes if changes is not None and set(changes.features) == set(self._columns) else None

    def _change_of(self, feature: int) -> FeatureChange | None:
        """Return the changes by a feature, by its id; None before they are known."""
        changes = self._found
        column = self._session.column_of(feature) if feature else None
        return None if changes is None or column is None else FeatureChange.of(changes, column)

    def _in_words(self, change: FeatureChange) -> str:
        return change.sentence(lambda column: str(self._id(column)))

    def _tell_elsewhere(self) -> None:
        """Say the changes by the feature under the mouse in the window's line, where no tray is visible."""
        unseen = self._pointed and not any(tray.isVisible() for tray in self.trays)
        change = self._change_of(self._pointed) if unseen else None
        text = "" if change is None else self._in_words(change)
        if text != self._status_text:
            self._status_text = text
            self.pointedAt.emit(text)

    @Slot(int)
    def _point(self, feature: int) -> None:
        if feature != self._pointed:
            self._pointed = feature
            self._ask()

    # Menus

    @Slot(QPoint)
    def _offer(self, position: QPoint) -> None:
        """Offer features to add, the best ones first."""
        menu = self._new_menu()
        changes = self._found
        if changes is not None:
            for column in _best(changes.added):
                change = signed_percent(changes.relative(changes.added[column]))
                action = menu.addAction(f"{self._said(self._id(column))}\t{change}")
                action.triggered.connect(lambda _=False, column=column: self.add(self._id(column)))
            menu.addSeparator()
        menu.addAction(tr("Another feature…"), self._ask_feature)
        menu.popup(position)

    @Slot(int, QPoint)
    def _show_menu(self, feature: int, position: QPoint) -> None:
        """Offer the actions on a feature of the set."""
        menu = self._new_menu()
        changes = self._found
        column = self._session.column_of(feature)
        menu.addAction(tr("Remove from the set"), lambda: self.remove(feature))
        if changes is not None and column in changes.features:
            row = changes.swapped[changes.features.index(column)]
            inner = menu.addMenu(tr("Replace with"))
            for other in _best(row):
                change = signed_percent(changes.relative(row[other]))
                action = inner.addAction(f"{self._said(self._id(other))}\t{change}")
                action.triggered.connect(lambda _=False, other=other: self.exchange(feature, self._id(other)))
            inner.setEnabled(not inner.isEmpty())
        menu.popup(position)

    @Slot()
    def _ask_feature(self) -> None:
        dataset = self._session.dataset
        if dataset is None:
            return
        columns = [c for c in range(len(dataset.feature_names)) if c not in self._columns]
        offered = [self._said(self._id(column)) for column in columns]
        name, agreed = QInputDialog.getItem(
            self.trays[0].window(), tr("Add to the set"), tr("Feature:"), offered, 0, False
        )
        if agreed and name in offered:
            self.add(self._id(columns[offered.index(name)]))

    def _new_menu(self) -> QMenu:
        if self._menu is not None:
            self._menu.deleteLater()
        self._menu = QMenu(self.trays[0].window())
        return self._menu

    # What is computed

    def _key(self) -> Key | None:
        key = self._evidence.evidence.key
        return None if key is None or not self._is_editable else (*key[:4], tuple(sorted(self._columns)))

    def _compute(self) -> Computation | None:
        request = self._evidence.evidence.wanted
        if request is None:
            return None
        text = tr("Computing the changes of a set")
        function = self._evidence.evidence.tasks.set_changes
        return computation(text, self._take, function, request, self._columns)

    def _take(self, changes: SetChanges | None) -> None:
        self._changes = changes
        self._ask()
        self.known.emit()

    def _id(self, column: int) -> int:
        assert self._session.dataset is not None
        return int(self._session.dataset.feature_ids[column])

    def _said(self, feature: int) -> str:
        """Return a feature's id and name."""
        dataset = self._session.dataset
        column = self._session.column_of(feature)
        return (
            f"{feature} {dataset.feature_names[column]}" if dataset and column is not None else f"{feature}"
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
    """Return the columns with the least errors, the least first."""
    order = [int(column) for column in np.argsort(errors, kind="stable")]
    return [column for column in order if not np.isnan(errors[column])][:_MAX_OFFERED]


def _below(widget: QWidget) -> QPoint:
    return widget.mapToGlobal(QPoint(0, widget.height()))
