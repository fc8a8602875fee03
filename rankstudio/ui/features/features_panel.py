"""The Features page: the path as a table, with pins and bans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan, nan

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.feature_groups import Groups
from rankstudio.engine.experiment.results.results import Baseline, PathResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.ui.features.path_rows import (
    IMPORTANCE,
    WEIGHT,
    Arrivals,
    FeatureRow,
    as_importance,
    columns,
    has_own_values,
    path_rows,
)
from rankstudio.ui.language import tr
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.icons import icon
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import CoveredNumber, Panel, TableView
from rankstudio.ui.widgets.columns import PAD
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.table import WEIGHT_BAR

_MOST_FOR_NAMES = 320  # pixels for which other columns give way; what is longer is cut
_EDGES = 12  # pixels of the scroll bar and the frame
_GIVING_WAY = ("gain", "bars", "weight")  # to the names, the first one first
_ROOM_FOR_MARGIN = 300

NO_PATH = tr("Run a method or move λ to see the selected features.")
_GIVEN = tr("These are given scores: there are no features and no path.")


class FeaturesPanel(Panel):
    """The features of one path in the order in which they came; those beyond the chosen k are muted.

    A row is chosen by a click or the arrow keys; P pins and B bans the feature of the chosen row, and takes
    either back.

    Attributes
    ----------
    chosen : Signal(int)
        k, when the user moved to another row.
    inspected : Signal(int)
        Id of the feature in that row.
    toggled : Signal(str, int)
        "pinned" or "banned", and the id of the feature to pin or ban, or to take that back.
    unsealAsked : Signal()
        The user wants to see what was measured on the sealed test part.
    appeared : Signal()
        The panel is seen again, and has not followed what came while it was hidden.
    """

    chosen = Signal(int)
    inspected = Signal(int)
    toggled = Signal(str, int)
    unsealAsked = Signal()
    appeared = Signal()

    def __init__(self, theme: Theme, name: str = "features") -> None:
        super().__init__(theme, tr("Path"), padding=0)
        self.setObjectName(f"{name}-panel")
        self._measure, self._linear = "MAP", True
        self._k = 0
        self._order: list[int] = []
        self._arrivals = Arrivals()
        self._held: int | None = None
        self._margins: Mapping[int, float] = {}
        self._with_margin = False
        self._of: PathResult | None = None
        self._stepwise = True
        self.table = TableView(theme, columns(self._measure), f"{name}-table", lambda row: row.feature_id)
        self.table.setAccessibleName(tr("Features of the path"))
        self.table.placeholder = NO_PATH
        self.table.row_actions = self._actions
        self._test = named(PlainLabel(), "features-test", role="caption")
        self._covered = CoveredNumber(self.unsealAsked)
        self._note = named(PlainLabel(), "margin-note", role="caption")
        self._pin = self._tool("pin", "pinned", "P", tr("Pin the selected feature, or unpin it (P)"))
        self._ban = self._tool("ban", "banned", "B", tr("Ban the selected feature, or allow it again (B)"))
        self._pins = False  # whether the path's method knows pinned and banned features
        self._lay_out()
        self.table.chosen.connect(self._on_chosen)
        self.table.cellClicked.connect(self._on_clicked)

    def show_path(
        self,
        path: PathResult,
        feature_ids: Sequence[int] | Ints,
        names: Sequence[str],
        measure: str,
        position: int,
        groups: Groups | None = None,
    ) -> None:
        """Show a path and which of its models is chosen.

        Parameters
        ----------
        path : PathResult
        feature_ids, names : sequence of length n
            Of the dataset's columns.
        measure : str
            The validation measure to show.
        position : int
            Of the chosen model among the path's steps.
        groups : Mapping of str to tuple of int, optional
            Of features, by their ids, with which the path was made.
        """
        linear = path.steps[position].linear
        if (measure, linear) != (self._measure, self._linear):
            self._measure, self._linear = measure, linear
            self._show_columns()
            self._make_room()
        if path is not self._of:
            self._of, self._margins = path, {}
        found = path_rows(path, feature_ids, names, measure, position, self._arrivals, groups)
        rows = self._with_margins(found)
        self.table.placeholder = NO_PATH if path.steps[position].learned else _GIVEN
        order = [row.feature_id for row in rows]
        self.table.set_rows(rows)
        self._make_room()
        # Where rows are no models of their own, none is the chosen one, and the table begins at its first.
        self._stepwise = len(path.steps) > 1 and path.step_kind is StepKind.FEATURES
        size = int(path.sizes[position])
        self._pins = "pinned" in path.unit.parameters
        if (size, order) != (self._k, self._order) or self.table.current() is None:
            self._k, self._order = size, order
            self._mark(rows)
        self.set_caption(_caption(path, position, measure))
        self._update_tools()

    def show_margins(self, path: PathResult, margins: Mapping[int, float], note: str) -> None:
        """Show how far each feature was ahead of the next candidate.

        Parameters
        ----------
        path : PathResult
            Whose margins they are: those of a path that is shown no more are ignored.
        margins : mapping of int to float
            Shares by the id of the feature; empty for a method that compares none.
        note : str
            A sentence on what they are.
        """
        if path is not self._of:
            return
        if bool(margins) is not self._with_margin:
            self._with_margin = bool(margins)
            self._show_columns()
        self._margins = margins
        self._note.setText(note)
        self._note.setVisible(bool(note))
        self._make_room()
        self.table.set_rows(self._with_margins(self.table.rows()))

    def _with_margins(self, rows: Sequence[FeatureRow]) -> tuple[FeatureRow, ...]:
        if not self._margins:
            return tuple(rows)
        return tuple(replace(row, margin=self._margins.get(row.feature_id, nan)) for row in rows)

    def mark(self, feature: int) -> None:
        """Mark a feature's row, and keep the mark on it until another model is chosen."""
        self.hold(feature)
        self._mark(self.table.rows())

    def hold(self, feature: int | None) -> None:
        """Keep the mark on a feature wherever the next paths have it; None lets it be on row k again.

        Who pins a feature and thinks better of it presses the same key twice.
        """
        released = feature is None and self._held is not None
        self._held = feature
        if released:
            self._mark(self.table.rows())

    def show_test(
        self, measures: Mapping[str, float], convention: str = "", baseline: Baseline | None = None
    ) -> None:
        """Show the chosen model's measures on the test part; empty takes them away.

        Parameters
        ----------
        measures : mapping of str to float
        convention : str
            Label of the convention they follow.
        baseline : Baseline, optional
            The best single feature, to be told what the model gains.
        """
        self._covered.hide()
        text = _measured(measures)
        self._test.setText(tr("test: {text}").format(text=text) if text else "")
        self._test.setVisible(bool(text))
        by = f", {convention}" if convention else ""
        lines = [tr("The selected model on the test part{by}").format(by=by)]
        if baseline is not None and baseline.test:
            lines.append(
                tr("Best single feature, {name}: {test}").format(
                    name=baseline.name, test=_measured(baseline.test)
                )
            )
        self._test.setToolTip(plain("\n".join(lines)) if text else "")

    def say_untested(self, why: str) -> None:
        """Say in place of the test measures why there are none."""
        self._covered.hide()
        self._test.setText(why)
        self._test.setToolTip("")
        self._test.show()

    def cover_test(self) -> None:
        """Show that the model's measures on the test part are covered."""
        self.show_test({})
        self._covered.show()

    def explain(self, why: str) -> None:
        """Say in place of a path why there is none."""
        self.table.placeholder = why
        self.table.viewport().update()

    def clear(self, why: str = NO_PATH) -> None:
        """Show no path, but a sentence about how to come to one."""
        self.set_title(tr("Path"))
        self.table.placeholder = why
        self._k = 0
        self._held = None
        self.table.set_rows(())
        self.set_caption("")
        self.show_test({})
        self._update_tools()

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for what came while nobody looked: a page hides its path for methods without features."""
        super().showEvent(event)
        self.appeared.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave out what the names need the room of."""
        super().resizeEvent(event)
        self._make_room()

    def _show_columns(self) -> None:
        shown = columns(self._measure, self._with_margin)
        self.table.set_columns(shown if self._linear else [as_importance(column) for column in shown])

    def _lay_out(self) -> None:
        self._test.setContentsMargins(12, 5, 12, 3)
        self._test.setWordWrap(True)
        self._test.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._test.hide()
        self._note.setContentsMargins(12, 5, 12, 5)
        self._note.setWordWrap(True)
        self._note.hide()
        fill(self.body, (self.table, 1), self._note, self._test, spacing=0)
        self.body.addLayout(fill(QHBoxLayout(), self._covered, 1, margins=(6, 0, 6, 0)))
        self._update_tools()

    def _tool(self, name: str, state: str, key: str, text: str) -> QToolButton:
        button = named(self.add_tool(name, text), f"features-{name}")
        button.clicked.connect(lambda: self._toggle(state))
        # A shortcut and not a key event: the table would take letters for a search.
        shortcut = QShortcut(QKeySequence(key), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(lambda: self._toggle(state))
        return button

    def _mark(self, rows: Sequence[FeatureRow]) -> None:
        """Mark the held feature's row, else the last one of the chosen model."""
        held = next((row for row in rows if row.feature_id == self._held), None)
        rank = self._k if self._stepwise else 1
        row = held or next((row for row in rows if row.rank == rank), None)
        self.table.select(row, scroll=row is None or row.rank is not None)

    def _make_room(self) -> None:
        """Leave out columns without a value, and those that give way to the names."""
        columns, rows = self.table.rows_model.columns, self.table.rows_model.rows
        # Trees bring several features at once: a column of dashes would not say more than none.
        rounds = self._of is not None and self._of.step_kind is StepKind.ROUNDS
        out = {key for key in ("gain", "after") if not has_own_values(rows, key, most=rounds)}
        if self.width() < _ROOM_FOR_MARGIN:
            out.add("margin")
        widths = {column.key: scaled(column.width) for column in columns if not column.stretch}
        widths["weight"] = scaled(WEIGHT if self._linear else IMPORTANCE)
        widths["bars"] = WEIGHT_BAR + PAD
        room = self.width() - _EDGES - sum(width for key, width in widths.items() if key not in out)
        wanted = self._width_of_names()
        for key in _GIVING_WAY:
            if room < wanted and key not in out:
                out.add(key)
                room += widths[key]
        for number, column in enumerate(columns):
            self.table.setColumnHidden(number, column.key in out)
            if column.key == "weight":
                self.table.setColumnWidth(number, widths["weight"] + (0 if "bars" in out else widths["bars"]))

    def _width_of_names(self) -> int:
        """Return with which width no name is cut, or only very long ones are."""
        name = next(column for column in self.table.rows_model.columns if column.key == "name")
        metrics = self.table.fontMetrics()
        widest = max(
            (metrics.horizontalAdvance(name.text(row)) for row in self.table.rows_model.rows), default=0
        )
        return min(_MOST_FOR_NAMES, widest + 2 * PAD + 2)

    def _actions(self, row: FeatureRow) -> list[QAction]:
        """Return what the context menu offers for a row."""
        made = []
        for name, text, state in (
            ("pin", tr("Unpin") if row.pinned else tr("Pin"), "pinned"),
            ("ban", tr("Allow again") if row.banned else tr("Ban"), "banned"),
        ):
            action = QAction(icon(self._theme, name), text, self.table)
            action.triggered.connect(lambda _=False, state=state: self._toggle(state))
            action.setEnabled(self._pins)
            made.append(action)
        return made

    def _update_tools(self) -> None:
        for button in (self._pin, self._ban):
            button.setEnabled(self._pins and self.table.current() is not None)

    @Slot(object)
    def _on_chosen(self, row: FeatureRow) -> None:
        self._update_tools()
        self.inspected.emit(row.feature_id)
        if self._stepwise and row.rank is not None and row.rank != self._k:
            self._k = row.rank  # the row is where the user found it: it need not be brought into sight
            self.chosen.emit(row.rank)

    @Slot(object)
    def _on_clicked(self, row: FeatureRow) -> None:
        """Choose the row that is marked already, but not because it is the chosen one."""
        if row.rank != self._k:
            self._on_chosen(row)

    def _toggle(self, name: str) -> None:
        row = self.table.current()
        if row is not None and self._pins:
            self.toggled.emit(name, row.feature_id)


def _measured(measures: Mapping[str, float]) -> str:
    """Return measures in a line, in which a name stays beside its value where the line breaks."""
    return " · ".join(f"{name}\N{NO-BREAK SPACE}{value:.4f}" for name, value in measures.items())


def _caption(path: PathResult, position: int, measure: str) -> str:
    """Return size, place and measure of the chosen model: "k = 8 of 46 · MAP 0.4559"; of scores the last."""
    value = float(path.validation[measure][position]) if measure in path.validation else nan
    measured = "" if isnan(value) else f" · {measure} {value:.4f}"
    if not path.steps[position].learned:
        return measured.removeprefix(" · ")
    most = int(path.sizes.max())
    if path.step_kind is StepKind.ROUNDS:
        return tr("k = {sizes} · round {x_values}{measured}").format(
            sizes=int(path.sizes[position]), x_values=int(path.x_values[position]), measured=measured
        )
    return tr("k = {sizes} of {most}{measured}").format(
        sizes=int(path.sizes[position]), most=most, measured=measured
    )
