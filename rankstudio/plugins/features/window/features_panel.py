"""The path as a table with pins and bans: its rows, its columns and the panel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import nlargest
from math import isnan, nan
from operator import attrgetter

import numpy as np
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QToolButton

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.feature_groups import Groups, group_names, with_their_groups
from rankstudio.engine.experiment.results.results import Baseline, PathResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step
from rankstudio.engine.support.number_format import MINUS, fixed, percent, significant
from rankstudio.plugins.features.choice_explanation import TOSS_UP
from rankstudio.ui.language import tr
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, CoveredNumber, Panel, TableView
from rankstudio.ui.widgets.columns import PAD
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel
from rankstudio.ui.widgets.table import WEIGHT_BAR, RowAction

WEIGHT = 70
"""Pixels of a number with its sign."""
IMPORTANCE = 84
"""Pixels of the header "importance"."""
_N_MEASURED_NAMES = 200  # names whose width is measured: the longest ones
_DIGIT_WIDTH = 9  # pixels of a digit
_MIN_NAME_WIDTH = 56  # pixels of names; if there are fewer, the ids are hidden, too
# pixels of names for which other columns are hidden; longer names are cut
_MAX_NAME_WIDTH = 320
_SCROLL_BAR_WIDTH = 12  # pixels of the scroll bar and the frame
_GIVING_WAY = ("gain", "bars", "weight")  # hidden in this order if names need the room
# the same for a list of weights without a path
_GIVING_WAY_TO_WEIGHTS = ("gain", "bars", "after")
_MARGIN_ROOM = 300  # pixels of the panel below which margins are hidden

_MAX_FEATURES_OF_STEP = 1000  # rows of a single step

NO_PATH = tr("Run a method to see the selected features.")
_GIVEN_SCORES_TEXT = tr("Given scores have no features and no path.")


@dataclass(frozen=True)
class FeatureRow:
    """A row of the table: a feature of the path, or a banned one.

    Attributes
    ----------
    rank : int or None
        Number of features k at which the feature enters the model; None
        for a banned feature.
    feature_id : int
        1-based.
    name : str
    weight : float
        Weight in the shown model; NaN if the model does not have the feature.
    gain : float
        Reduction of the criterion per document when the feature was
        selected; NaN if several features were selected at once.
    after : float
        Measure on the validation part after the feature was selected;
        NaN if it is unknown.
    chosen : bool
        Whether the feature is in the shown model.
    pinned, banned : bool
    margin : float
        Lead over the next candidate, as a share of the score; NaN if it is unknown.
    group : str
        Name of the group with which the feature is selected; "" without a group.
    is_choice : bool
        Whether the chosen model ends with this feature, while another
        model is inspected.
    """

    rank: int | None
    feature_id: int
    name: str
    weight: float
    gain: float
    after: float
    chosen: bool
    pinned: bool = False
    banned: bool = False
    margin: float = nan
    group: str = ""
    is_choice: bool = False


def path_rows(
    path: PathResult,
    feature_ids: Sequence[int] | Ints,
    names: Sequence[str],
    measure: str,
    position: int,
    arrivals: Arrivals | None = None,
    groups: Groups | None = None,
) -> tuple[FeatureRow, ...]:
    """Return the features of a path in the order of selection, followed by the banned features.

    Parameters
    ----------
    path : PathResult
    feature_ids, names : sequence of length n
        Ids and names of the dataset's n columns.
    measure : str
        Validation measure to show.
    position : int
        Position of the shown model among the path's steps.
    arrivals : Arrivals, optional
        Arrivals of the same path from an earlier call, when the path was shorter.
    groups : Mapping of str to tuple of int, optional
        Groups of features of the path, given by ids; they are pinned
        and banned as a whole.

    Returns
    -------
    tuple of FeatureRow
        Features that are selected by one step are sorted by absolute
        weight, and only the last of them has a gain and a measure. At
        most the first thousand features of a step are returned.
    """
    parameters = path.unit.parameters
    groups = groups or {}
    group_of = group_names(groups)
    pinned = set(with_their_groups(parameters.get("pinned", ()), groups))
    banned = with_their_groups(parameters.get("banned", ()), groups)
    model = path.steps[position]
    weights = model.coef
    values_after_steps = path.validation.get(measure)
    chosen = set(model.selected)

    # A row for each column that a step of the path adds. Gain and
    # measure are those of the whole step, and stand in the row of its
    # last feature.
    rows: list[FeatureRow] = []
    for index, new_columns in (arrivals or Arrivals()).of(path):
        if len(new_columns) > 1:
            sizes = np.abs(path.steps[index].coef[list(new_columns)])
            order = np.argsort(-sizes, kind="stable")[:_MAX_FEATURES_OF_STEP]
            new_columns = np.array(new_columns)[order].tolist()  # noqa: PLW2901
        for column in new_columns:
            is_last = column == new_columns[-1]
            rank = len(rows) + 1
            is_in_model = column in chosen
            rows.append(
                FeatureRow(
                    rank=rank,
                    feature_id=int(feature_ids[column]),
                    name=names[column],
                    weight=float(weights[column]) if is_in_model else nan,
                    gain=path.steps.gains[index] / path.divisor if is_last else nan,
                    after=float(values_after_steps[index])
                    if values_after_steps is not None and is_last
                    else nan,
                    chosen=is_in_model,
                    pinned=int(feature_ids[column]) in pinned,
                    group=group_of.get(int(feature_ids[column]), ""),
                )
            )

    # Banned features come last; the data may not have all of them.
    banned_columns = (
        np.flatnonzero(np.isin(feature_ids, list(banned))).tolist() if banned else ()
    )
    name_of = {int(feature_ids[column]): names[column] for column in banned_columns}
    rows += [
        FeatureRow(
            rank=None,
            feature_id=i,
            name=name_of.get(i, tr("feature {i}").format(i=i)),
            weight=nan,
            gain=nan,
            after=nan,
            chosen=False,
            banned=True,
            group=group_of.get(i, ""),
        )
        for i in banned
    ]
    return tuple(rows)


def has_own_values(
    rows: Sequence[FeatureRow], key: str, *, by_majority: bool = False
) -> bool:
    """Return whether at least two rows have a value: a single value is that of the whole model.

    Parameters
    ----------
    rows : sequence of FeatureRow
    key : {"gain", "after"}
    by_majority : bool
        Whether more than half of the rows must have a value.
    """
    n_known = sum(not isnan(value) for value in map(attrgetter(key), rows))
    n_ranked = sum(row.rank is not None for row in rows)
    return n_known >= min(2, n_ranked) and (not by_majority or 2 * n_known > n_ranked)


class Arrivals:
    """The columns that each step of a path adds, remembered while the path grows.

    Only the steps since the last call are examined: examining all
    columns of all steps took a second for two thousand steps, each time
    one was added.
    """

    def __init__(self) -> None:
        self._last_step: Step | None = None
        self._forget()

    def of(self, path: PathResult) -> list[tuple[int, list[int]]]:
        """Return the columns that each model of a path adds.

        The list has, for each such model, the position of the model
        among the steps, and the columns that no earlier model has.
        """
        # Of iterations, only the last one is a model; `models` is the
        # slice of the steps that are models.
        if path.step_kind is StepKind.ITERATIONS:
            return [
                (position, [*path.steps[position].selected])
                for position in range(len(path.steps))[path.models]
            ]

        # The steps of the last call are known. A path that does not
        # continue that one starts from nothing.
        n_known = len(self._arrivals)
        is_other_path = n_known > len(path.steps) or (
            n_known > 0 and path.steps[n_known - 1] is not self._last_step
        )
        if is_other_path:
            n_known = 0
            self._forget()
        for index in range(n_known, len(path.steps)):
            new_columns = [
                column
                for column in path.steps.added(index)
                if column not in self._seen_columns
            ]
            self._seen_columns.update(new_columns)
            self._arrivals.append((index, new_columns))
        self._last_step = path.steps[-1] if path.steps else None
        return self._arrivals

    def _forget(self) -> None:
        self._arrivals: list[tuple[int, list[int]]] = []
        self._seen_columns: set[int] = set()


def _row_tone(row: FeatureRow) -> str:
    """Return the role of the color of a row's text.

    Features that are not in the model are fainter, and banned ones faintest.
    """
    if row.banned:
        return "faint"
    return "text" if row.chosen else "muted"


def _row_hint(row: FeatureRow, weight: str = tr("weight")) -> str:
    """Return the tooltip of a row of the table, about its feature.

    The tooltip has id and name, weight, group, and whether the feature
    is pinned or banned. ``weight`` is the word for the weight, such as
    "importance". Lines without a value are left out.
    """
    state = ""
    if row.pinned:
        state = tr("pinned: in every model")
    elif row.banned:
        state = tr("banned: never selected")
    weight_text = "" if isnan(row.weight) else f"{weight} {significant(row.weight, 4)}"
    group = ""
    if row.group:
        group = tr("part of the group {group}, which is selected as a whole").format(
            group=row.group
        )
    return "\n".join(
        filter(None, (f"{row.feature_id} {row.name}", weight_text, group, state))
    )


def _row_name(row: FeatureRow) -> str:
    name = f"{row.group} › {row.name}" if row.group else row.name
    return tr("{name} (banned)").format(name=name) if row.banned else name


_COLUMNS = (
    Column(
        "rank",
        "#",
        "right",
        tooltip=tr("Number of features at which it enters the model"),
        width=36,
        tone=lambda row: "accent" if row.is_choice else _row_tone(row),
        bold=attrgetter("is_choice"),
    ),
    Column(
        "feature_id",
        tr("id"),
        "right",
        tooltip=tr("Id in the data files, from 1"),
        width=46,
        tone="muted",
    ),
    Column(
        "name",
        tr("feature"),
        value=_row_name,
        tooltip=tr(
            "◆ marks pinned features. Features of a group appear as “group › feature”."
        ),
        stretch=True,
        least=_MIN_NAME_WIDTH,
        tone=_row_tone,
        mark=lambda row: row.pinned,
        hint=_row_hint,
    ),
    Column(
        "weight",
        tr("weight"),
        "right",
        tooltip=tr("Weight in the selected model; negative bars go to the left"),
        kind="weight",
        width=WEIGHT + WEIGHT_BAR + PAD,
        tone=_row_tone,
        sort=lambda row: abs(row.weight),
    ),
    Column(
        "gain",
        tr("gain"),
        "right",
        partial(fixed, decimals=5),
        tooltip=tr("Reduction of the criterion per document when it was selected"),
        width=84,
        tone=_row_tone,
    ),
)


def as_importance(column: Column) -> Column:
    """Return a column of the table as it is for a model without weights, such as trees.

    There, the importance of a feature takes the place of its weight; other columns stay.
    """
    if column.key == "name":
        return replace(column, hint=partial(_row_hint, weight=tr("importance")))
    if column.key != "weight":
        return column
    tooltip = tr("Importance in the selected model; the bar is relative to the largest")
    return replace(
        column,
        title=tr("importance"),
        tooltip=tooltip,
        format=partial(significant, digits=3),
    )


def _margin_text(share: float) -> str:
    """Return a margin in percent; one that would be rounded to 0 is given as a bound."""
    if 0 < abs(share) < 0.0001:
        return f"> {MINUS}0.01 %" if share < 0 else "< 0.01 %"
    return (MINUS if share < 0 else "") + percent(abs(share))


_MARGIN_COLUMN = Column(
    "margin",
    tr("margin"),
    "right",
    _margin_text,
    tooltip=tr("Lead over the next candidate, as a share of the score"),
    width=86,
    tone=lambda row: "error" if row.margin < TOSS_UP else "muted",
)


def columns(
    measure: str, with_margin: bool = False, digits: int = 2
) -> tuple[Column, ...]:
    """Return the columns of the table of a path's features.

    Parameters
    ----------
    measure : str
        Validation measure to show.
    with_margin : bool
        Whether there is a column of margins.
    digits : int
        Number of digits of the greatest id.
    """
    # Pixels for a value or for the name of the measure in the header.
    width = 62 if len(measure) < 6 else 82
    tooltip = tr("Validation {measure} after it was selected").format(measure=measure)
    after = Column(
        "after",
        measure,
        "right",
        ".4f",
        tooltip=tooltip,
        width=width,
        tone=_row_tone,
    )
    number_width = digits * _DIGIT_WIDTH + 2 * PAD + 2

    # The first two columns are the rank and the id.
    numbers = (
        replace(column, width=max(column.width, number_width))
        for column in _COLUMNS[:2]
    )
    visible = (*numbers, *_COLUMNS[2:], after)
    return (*visible, _MARGIN_COLUMN) if with_margin else visible


class FeaturesPanel(Panel):
    """A table of the features of one path in the order of selection; features beyond the shown k are muted.

    A click or the arrow keys inspect the model that ends with a row,
    and a double click or Enter chooses it. P pins and B bans the
    feature of the row, or frees it again.

    Attributes
    ----------
    picked : Signal(int)
        The user moved to another row: number of features k of the model
        that ends with it.
    confirmed : Signal()
        The user chooses the model that was picked last.
    inspected : Signal(int)
        The user moved to another row: id of its feature.
    toggled : Signal(str, int)
        "pinned" or "banned", and the id of the feature that the user
        pins, bans or frees.
    offered : callable
        Returns further actions for the menu of a row, by the id of its feature.
    """

    picked = Signal(int)
    confirmed = Signal()
    inspected = Signal(int)
    toggled = Signal(str, int)

    def __init__(self, theme: Theme, name: str = "features") -> None:
        super().__init__(theme, tr("Path"), padding=0, name=f"{name}-panel")

        # The table's columns depend on the measure, on whether features
        # have weights rather than importances, and on the number of
        # digits of the greatest id.
        self._measure = "MAP"
        self._linear = True
        self._digits = 2

        # Size of the shown model, ids of the features in the shown
        # order, and the columns that each step of the path adds.
        self._k = 0
        self._order: list[int] = []
        self._arrivals = Arrivals()

        # id of the feature whose row stays marked
        self._held_feature: int | None = None
        self._margins: Mapping[int, float] = {}  # by the id of the feature
        self._with_margin = False  # whether there is a column of margins
        self._shown_path: PathResult | None = None
        self._rows_are_models = True  # whether a model ends with each row
        self.table = TableView(
            theme,
            columns(self._measure),
            f"{name}-table",
            lambda row: row.feature_id,
            accessible_name=tr("Features of the path"),
            placeholder=NO_PATH,
            feature_of=lambda row: int(row.feature_id),
        )
        self.table.row_actions = self._actions

        # further actions for a feature, by its id, of other pages
        self.offered: Callable[[int], Sequence[RowAction]] = lambda _: ()
        self._test = named(WrappedLabel(), "features-test", role="caption")
        self._test.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._covered = CoveredNumber()  # a link to the sealed test part
        self._note = named(PlainLabel(wraps=True), "margin-note", role="caption")
        self._pin = self._tool(
            "pin", "pinned", "P", tr("Pin the selected feature, or unpin it (P)")
        )
        self._ban = self._tool(
            "ban", "banned", "B", tr("Ban the selected feature, or allow it again (B)")
        )

        # whether the path's method supports pinned and banned features
        self._pins = False
        self._lay_out()
        self.table.chosen.connect(self._on_chosen)
        self.table.cellClicked.connect(self._on_clicked)
        self.table.confirmed.connect(self._on_confirmed)

    def show_path(
        self,
        path: PathResult,
        feature_ids: Sequence[int] | Ints,
        names: Sequence[str],
        measure: str,
        position: int,
        groups: Groups | None = None,
        choice: int | None = None,
    ) -> None:
        """Show a path at one of its models.

        Parameters
        ----------
        path : PathResult
        feature_ids, names : sequence of length n
            Ids and names of the dataset's n columns.
        measure : str
            Validation measure to show.
        position : int
            Position of the shown model among the path's steps.
        groups : Mapping of str to tuple of int, optional
            Groups of features of the path, given by ids.
        choice : int, optional
            Size of the chosen model, if another model of this path is shown.
        """
        # Models that are not linear have importances, not weights.
        linear = path.steps[position].linear

        # For 200,000 ids, np.max takes a tenth of the time of max.
        digits = len(str(int(np.max(feature_ids, initial=0))))
        if (measure, linear, digits) != (self._measure, self._linear, self._digits):
            self._measure = measure
            self._linear = linear
            self._digits = digits
            self._show_columns()
            self._make_room()
        self._rows_are_models = (
            len(path.steps) > 1 and path.step_kind is StepKind.FEATURES
        )

        # Margins of this path are set later.
        if path is not self._shown_path:
            self._shown_path = path
            self._margins = {}
        path_features = path_rows(
            path, feature_ids, names, measure, position, self._arrivals, groups
        )
        path_features = tuple(
            replace(row, is_choice=True)
            if row.rank == choice and choice is not None
            else row
            for row in path_features
        )
        rows = self._with_margins(path_features)
        self.table.placeholder = (
            NO_PATH if path.steps[position].learned else _GIVEN_SCORES_TEXT
        )
        order = [row.feature_id for row in rows]
        self.table.set_rows(rows)
        self._make_room()
        size = int(path.sizes[position])
        self._pins = "pinned" in path.unit.parameters

        # The user's row stays marked while model and features are the same.
        if (size, order) != (self._k, self._order) or self.table.current() is None:
            self._k = size
            self._order = order
            self._mark(rows)
        self.set_caption(_path_caption(path, position, measure))
        self._update_tools()

    def show_margins(
        self, path: PathResult, margins: Mapping[int, float], note: str
    ) -> None:
        """Show the lead of each feature over the next candidate.

        Parameters
        ----------
        path : PathResult
            Path of the margins. Margins of a path that is no longer shown are ignored.
        margins : mapping of int to float
            Share of the score by the id of the feature; empty for a
            method that compares no candidates.
        note : str
            A sentence that defines the margins.
        """
        if path is not self._shown_path:
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
        """Return rows with the margins of their features; NaN for a feature without one."""
        if not self._margins:
            return tuple(rows)
        return tuple(
            replace(row, margin=self._margins.get(row.feature_id, nan)) for row in rows
        )

    def mark(self, feature: int) -> None:
        """Mark a feature's row, and keep the mark on it until another model is chosen."""
        self.hold(feature)
        self._mark(self.table.rows())

    def hold(self, feature: int | None) -> None:
        """Keep the mark on a feature when the path changes; None moves the mark back to row k.

        A user can then take a pin back by the same key, although the path has changed.
        """
        is_released = feature is None and self._held_feature is not None
        self._held_feature = feature
        if is_released:
            self._mark(self.table.rows())

    def show_test(
        self,
        measures: Mapping[str, float],
        convention: str = "",
        baseline: Baseline | None = None,
    ) -> None:
        """Show the chosen model's measures on the test part; an empty mapping removes them.

        Parameters
        ----------
        measures : mapping of str to float
            Values by the names of measures.
        convention : str
            Label of the measures' convention, for the tooltip.
        baseline : Baseline, optional
            The best single feature, to compare the model with.
        """
        self._covered.hide()
        text = _measures_text(measures)
        self._test.setText(tr("test: {text}").format(text=text) if text else "")
        self._test.setVisible(bool(text))
        template = tr("The selected model on the test part")
        if convention:
            template = tr(
                "The selected model on the test part, convention {convention}"
            )
        lines = [template.format(convention=convention)]
        if baseline is not None and baseline.test:
            lines.append(
                tr("Best single feature, {name}: {test}").format(
                    name=baseline.name, test=_measures_text(baseline.test)
                )
            )
        self._test.setToolTip(plain("\n".join(lines)) if text else "")

    def say_untested(self, reason: str) -> None:
        """Show a reason in place of missing test measures."""
        self._covered.hide()
        self._test.setText(reason)
        self._test.setToolTip("")
        self._test.show()

    def cover_test(self) -> None:
        """Show that the model's measures on the test part are covered."""
        self.show_test({})
        self._covered.show()

    def explain(self, reason: str) -> None:
        """Show the reason why there is no path."""
        self.table.placeholder = reason
        self.table.viewport().update()

    def set_title(self, title: str) -> None:
        """Show a title, and link its word "Weights" or "Path" to the glossary."""
        super().set_title(title)
        weights = tr("Weights")
        self.link_title(
            *(("weight", weights) if weights in title else ("path", tr("Path")))
        )

    def clear(self, reason: str = NO_PATH, title: str = "", measure: str = "") -> None:
        """Show a sentence instead of a path.

        Parameters
        ----------
        reason : str
            The sentence.
        title : str
            Title of the panel; "" for *Path*.
        measure : str
            Measure in the header of the table; "" keeps the present one.
        """
        self.set_title(title or tr("Path"))
        if measure not in ("", self._measure):
            self._measure = measure
            self._show_columns()
        self.table.placeholder = reason
        self._k = 0
        self._held_feature = None
        self.table.set_rows(())
        self.set_caption("")
        self.show_test({})
        self._update_tools()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide columns whose room the names need."""
        super().resizeEvent(event)
        self._make_room()

    def _show_columns(self) -> None:
        """Show the columns for the present measure, with weights or importances."""
        visible = columns(self._measure, self._with_margin, self._digits)
        self.table.set_columns(
            visible if self._linear else [as_importance(column) for column in visible]
        )

    def _lay_out(self) -> None:
        """Lay out the table and what is below it.

        Below the table are the note on margins, the test measures, and
        the link to sealed test measures.
        """
        self._test.setContentsMargins(12, 5, 12, 3)
        self._test.hide()
        self._note.setContentsMargins(12, 5, 12, 5)
        self._note.hide()
        fill(self.body, (self.table, 1), self._note, self._test, spacing=0)
        self.body.addLayout(fill(QHBoxLayout(), self._covered, 1, margins=(6, 0, 6, 0)))
        self._update_tools()

    def _tool(self, name: str, state: str, key: str, text: str) -> QToolButton:
        """Add a button and a shortcut that pin or ban the marked feature, and return the button.

        ``name`` is that of the icon, ``state`` is "pinned" or "banned",
        ``key`` the letter of the shortcut, and ``text`` the tooltip.
        """
        button = named(self.add_tool(name, text), f"features-{name}")
        button.clicked.connect(lambda: self._toggle(state))

        # A shortcut and not a key event: the table would take letters for a search.
        shortcut = QShortcut(QKeySequence(key), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(lambda: self._toggle(state))
        return button

    def _mark(self, rows: Sequence[FeatureRow]) -> None:
        """Mark the row of the held feature; without a held feature, mark the last row of the shown model.

        If the rows are not models, the first row is marked instead.
        """
        held_row = next(
            (row for row in rows if row.feature_id == self._held_feature), None
        )

        # The row of rank k is the last one of the model with k
        # features. Banned features have no rank and are far below, so
        # that the table does not scroll to them.
        rank = self._k if self._rows_are_models else 1
        row = held_row or next((row for row in rows if row.rank == rank), None)
        self.table.select(row, scroll=row is None or row.rank is not None)

    def _make_room(self) -> None:
        """Hide columns without a value, and columns whose width the names need."""
        columns = self.table.rows_model.columns
        rows = self.table.rows_model.rows

        # A tree adds several features at once, so that most rows of
        # these columns would be empty.
        has_rounds = (
            self._shown_path is not None
            and self._shown_path.step_kind is StepKind.ROUNDS
        )
        hidden = {
            key
            for key in ("gain", "after")
            if not has_own_values(rows, key, by_majority=has_rounds)
        }
        if self.width() < scaled(_MARGIN_ROOM):
            hidden.add("margin")
        widths = {
            column.key: scaled(column.width) for column in columns if not column.stretch
        }

        # The bars of the weights are hidden apart from the numbers, as
        # if they were a column: the column of weights is then narrower.
        widths["weight"] = scaled(WEIGHT if self._linear else IMPORTANCE)
        widths["bars"] = WEIGHT_BAR + PAD
        longest_id = str(max((row.feature_id for row in rows), default=0))
        id_width = self.table.fontMetrics().horizontalAdvance(longest_id) + 2 * PAD + 2
        widths["feature_id"] = max(widths["feature_id"], id_width)
        visible_width = sum(width for key, width in widths.items() if key not in hidden)

        # Pixels that are left to the names. Until that is enough,
        # columns are hidden one after the other, in this order.
        free_width = self.width() - _SCROLL_BAR_WIDTH - visible_width
        names_width = self._width_of_names()
        for key in _GIVING_WAY if self._rows_are_models else _GIVING_WAY_TO_WEIGHTS:
            if free_width < names_width and key not in hidden and key in widths:
                hidden.add(key)
                free_width += widths[key]
        if free_width < scaled(_MIN_NAME_WIDTH):
            hidden.add("feature_id")
        for number, column in enumerate(columns):
            self.table.setColumnHidden(number, column.key in hidden)
            if column.key == "feature_id":
                self.table.setColumnWidth(number, widths["feature_id"])
            if column.key == "weight":
                bars_width = 0 if "bars" in hidden else widths["bars"]
                self.table.setColumnWidth(number, widths["weight"] + bars_width)

    def _width_of_names(self) -> int:
        """Return the width at which neither the header nor a name is cut, except very long names."""
        model = self.table.rows_model
        metrics = self.table.fontMetrics()
        number = next(
            n for n, column in enumerate(model.columns) if column.key == "name"
        )

        # Measuring a name takes 10 µs, and there may be thousands: only
        # the longest names are measured.
        longest = nlargest(_N_MEASURED_NAMES, set(map(_row_name, model.rows)), key=len)
        widest = max(map(metrics.horizontalAdvance, longest), default=0)
        header = self.table.horizontalHeader().sectionSizeHint(number)
        return max(header, min(_MAX_NAME_WIDTH, widest + 2 * PAD + 2))

    def _actions(self, row: FeatureRow) -> list[RowAction]:
        """Return the actions of the context menu for a row.

        The actions are to pin the row's feature, to ban it, and those
        that other parts of the window offer.
        """
        pin = tr("Unpin") if row.pinned else tr("Pin")
        ban = tr("Allow again") if row.banned else tr("Ban")
        return [
            RowAction(pin, partial(self._toggle, "pinned"), "pin", self._pins),
            RowAction(ban, partial(self._toggle, "banned"), "ban", self._pins),
            *self.offered(row.feature_id),
        ]

    def _update_tools(self) -> None:
        for button in (self._pin, self._ban):
            button.setEnabled(self._pins and self.table.current() is not None)

    @Slot(object)
    def _on_chosen(self, row: FeatureRow) -> None:
        """Inspect the feature of the row to which the user moved.

        The model that ends with the row is inspected, too.
        """
        self._update_tools()
        self.inspected.emit(row.feature_id)
        if self._rows_are_models and row.rank is not None and row.rank != self._k:
            # Noted before the model is shown, so that showing it does
            # not mark its row anew, which would scroll the table.
            self._k = row.rank
            self.picked.emit(row.rank)

    @Slot(object)
    def _on_confirmed(self, row: FeatureRow) -> None:
        """Choose the model that ends with a row."""
        if self._rows_are_models and row.rank is not None:
            self._on_clicked(row)
            self.confirmed.emit()

    @Slot(object)
    def _on_clicked(self, row: FeatureRow) -> None:
        """Inspect the model of a clicked row.

        This matters for a row that was marked already, but is not the
        last row of the shown model.
        """
        if row.rank != self._k:
            self._on_chosen(row)

    def _toggle(self, name: str) -> None:
        """Ask to pin or ban the feature of the current row; ``name`` is "pinned" or "banned"."""
        row = self.table.current()
        if row is not None and self._pins:
            self.toggled.emit(name, row.feature_id)


def _measures_text(measures: Mapping[str, float]) -> str:
    """Return measures as a line of text that does not break between a name and its value."""
    return " · ".join(
        f"{name}\N{NO-BREAK SPACE}{value:.4f}" for name, value in measures.items()
    )


def _path_caption(path: PathResult, position: int, measure: str) -> str:
    """Return size and measure of the model at a position of a path: "k = 8 of 46 · MAP 0.4559".

    Scores from a file have no size, and a path may have no such measure.
    """
    value = (
        float(path.validation[measure][position]) if measure in path.validation else nan
    )
    measure_text = "" if isnan(value) else f"{measure} {value:.4f}"
    if not path.steps[position].learned:
        return measure_text
    has_rounds = path.step_kind is StepKind.ROUNDS
    template = (
        tr("k = {sizes} · round {x_values}")
        if has_rounds
        else tr("k = {sizes} of {most}")
    )
    size_text = template.format(
        sizes=int(path.sizes[position]),
        x_values=int(path.x_values[position]),
        most=int(path.sizes.max()),
    )
    return " · ".join(filter(None, (size_text, measure_text)))
