"""The table of all runs, with their progress and their measures."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, isfinite, isnan
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QMenu, QPushButton, QToolButton

from rankstudio.engine.analysis.comparisons.significance import ComparedRun
from rankstudio.engine.analysis.result_table.fold_table import (
    MeasureSummary,
    best_of_several,
    measure_summary,
)
from rankstudio.engine.experiment.plan.difference import distinctions, parameter_texts
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import FoldResult, fold_notes
from rankstudio.engine.experiment.storage.study_contents import RunLabel
from rankstudio.engine.export.tables import range_text
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.metrics.short_queries import short_query_note
from rankstudio.engine.support.number_format import percentage, signed
from rankstudio.ui.compare.difference_cells import DifferenceCells, Scale, is_better
from rankstudio.ui.compare.groups import RunGroup
from rankstudio.ui.compare.view import RUN_DOT
from rankstudio.ui.language import together, tr, trn
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import Choice
from rankstudio.ui.style.number_format import combination_label, duration, time_text
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Heading, Panel, ProgressCell, TableView
from rankstudio.ui.widgets.columns import tick_column
from rankstudio.ui.widgets.layout import named
from rankstudio.ui.widgets.table import RowAction

_ACTIVE = ("queued", "running", "paused")
# pixels of the names of runs; other columns are hidden for narrower names
_NAME_WIDTH = 160
WARNING_MARK = "⚠"
"""Mark of a run with a note. A dagger would be read as a significant difference, as in tables of results."""
_STATE_TONES = {
    "done": "ok",
    "failed": "error",
    "cancelled": "warning",
    "unfinished": "warning",
    "queued": "muted",
}


@dataclass(frozen=True)
class RunRow:
    """A run as a row of the table.

    Attributes
    ----------
    key : int
        Number of the run, which also decides its color and marker in
        plots that compare runs.
    plan : Plan
    data : str
        Name and extent of the data: "MQ2008 · 5 folds".
    state : str
        Value of a `RunState`.
    progress : float
        Share of the work that is done, from 0 to 1.
    seconds_left : float or None
        Estimated time until the run is finished; None where it is not known.
    message : str
        Reason why the run failed, or another remark on its state.
    can_go_on : bool
        Whether the run is unfinished and can be resumed.
    label : RunLabel
        Name, note and tags that the user gave the run.
    summary : MeasureSummary
        Measures of the finished folds.
    measured_by : str
        Key of the convention that the summary follows; "" for the plan's.
    n_folds, folds_done : int
        Number of folds of the run, and of its finished folds.
    seconds : float
        Duration of a finished run.
    note : str
        Warning on the results of the run; "" for none.
    by_hand : str
        Model of the run that the user chose: "λ = 2³ · k = 10"; "" for none.
    is_measured : bool
        Whether the summary is up to date: False while the run has to be
        measured again.
    """

    key: int
    plan: Plan
    data: str
    state: str = "queued"
    progress: float = 0.0
    seconds_left: float | None = None
    message: str = ""
    can_go_on: bool = False
    label: RunLabel = field(default_factory=RunLabel)
    summary: MeasureSummary = field(default_factory=MeasureSummary)
    measured_by: str = ""
    note: str = ""
    by_hand: str = ""
    n_folds: int = 1
    folds_done: int = 0
    seconds: float = 0.0
    is_measured: bool = True

    @property
    def has_numbers(self) -> bool:
        """Whether the run is finished and measured."""
        return self.is_done and self.is_measured

    @property
    def is_done(self) -> bool:
        """Whether all folds of the run are finished.

        Until then its means are not final.
        """
        return self.state == "done"

    def mean(self, name: str) -> float | None:
        """Return the mean of a measure.

        The mean is that over the folds, and ``name`` is that of the
        measure. Return None for a run that is not finished or not
        measured.
        """
        return self.summary.means.get(name) if self.has_numbers else None

    @property
    def method(self) -> str:
        """Title of the plan: "Greedy RankRLS"."""
        return self.plan.title

    @property
    def name(self) -> str:
        """The user's name of the run, or else its method."""
        return self.label.name or self.method

    @property
    def searched(self) -> str:
        """Text in which the filter searches, in lower case."""
        parameters = (
            f"{label} {text}" for label, text in parameter_texts(self.plan).items()
        )
        texts = (self.name, self.method, self.data, tr(self.state), self.label.note)
        return " ".join((*texts, *self.label.tags, *parameters)).casefold()

    @property
    def convention(self) -> str:
        """Label of the convention that the measures follow."""
        return convention(self.measured_by or self.plan.convention).label


def run_row(record: RunRecord, measured: MeasuredRun, choice: Choice) -> RunRow:
    """Return the row of a run with its current state and measures, and the model chosen by hand.

    ``measured`` has the results by the measures and the convention in use.
    """
    folds = tuple(measured.folds.values())
    # A row has what is shown of a run, as numbers and texts.
    return RunRow(
        key=record.key,
        plan=record.plan,
        data=f"{record.dataset.name} · {folds_text(record)}",
        state=record.state.value,
        progress=record.progress,
        seconds_left=record.seconds_left,
        message=record.remark,
        can_go_on=record.can_go_on,
        label=record.label,
        summary=measure_summary(measured.plan, folds),
        measured_by=measured.plan.convention,
        note=" ".join(_run_notes(record, measured.plan, folds)),
        by_hand=_hand_choice_text(record.plan, choice),
        n_folds=record.n_folds,
        folds_done=len(record.folds),
        seconds=record.result.seconds if record.result is not None else 0.0,
    )


def _run_notes(
    record: RunRecord, plan: Plan, folds: tuple[FoldResult, ...]
) -> Iterator[str]:
    """Yield warnings on the results of a run, as sentences.

    The warnings are the notes of the method, notes on ``folds``, the
    finished folds of the run, and one on queries with fewer documents
    than the cut-off of a measure of ``plan``.
    """
    yield from (note.what for note in (*record.notes, *fold_notes(plan, folds)))
    short = short_query_note(record.dataset.query_sizes, plan.convention, plan.measures)
    if short:
        yield short


def _hand_choice_text(plan: Plan, choice: Choice) -> str:
    """Return the parameter values and the size of a chosen model as a text.

    Values that do not fit the plan are left out. The text is "" if
    nothing is chosen.
    """
    values_text = ""
    if choice.values is not None and len(choice.values) == len(plan.axes):
        values_text = combination_label(plan.axes, choice.values)
    # The coordinate on a path (`x_value`) is a size only if the steps
    # count features; other methods have rounds or iterations.
    size = choice.x_value if plan.step_kind is StepKind.FEATURES else None
    size_text = "" if size is None else f"k = {size}"
    return " · ".join(filter(None, (values_text, size_text)))


def _best_means(
    rows: Mapping[int, RunRow], groups: Sequence[RunGroup]
) -> dict[tuple[int, str], float]:
    """Return the best mean within the group for each run of a ranked group, by run and measure.

    ``rows`` has the runs by number. A run whose own mean equals the
    best mean is the best of its group.
    """
    best_means: dict[tuple[int, str], float] = {}
    for group in groups:
        members = [
            rows[key] for key in group.measured if group.is_ranked and key in rows
        ]
        for name in dict.fromkeys(
            name for row in members for name in row.summary.means
        ):
            means = {
                row.key: mean for row in members if (mean := row.mean(name)) is not None
            }
            # None if all means are equal, so that no run is better
            best_mean = best_of_several(means.values(), name)
            if best_mean is not None:
                best_means |= dict.fromkeys(((key, name) for key in means), best_mean)
    return best_means


class RunsPanel(Panel):
    """The table of all runs of the study, in groups of comparable runs.

    The user selects, ticks, names, filters, hides, stops, resumes and
    removes runs here. The panel only emits signals; it does not change
    runs.

    Attributes
    ----------
    selected : Signal(int)
        Number of the run that the user selected.
    ticked : Signal(int)
        Number of the run whose tick the user wants to change.
    removed : Signal(object)
        Numbers of the runs to remove: the highlighted ones after
        Delete, or the one of a context menu.
    written : Signal(int, str, str)
        Number of a run, the column that the user wrote into ("method"
        for the name, "note" or "tags"), and the text.
    hiddenAsked : Signal(int)
        Number of the run to hide, or to show again.
    referenceAsked : Signal(int)
        Number of the run with which the others are to be compared (R).
    several : QPushButton
        Opens the dialog that runs several pipelines.
    cancelRequested : Signal(int)
        Number of the run to stop.
    goOnRequested : Signal(int)
        Number of the run to resume.
    everyFoldAsked : Signal(object)
        Numbers of the runs on some folds to run on all folds (tuple of int).
    """

    selected = Signal(int)
    ticked = Signal(int)
    removed = Signal(object)
    written = Signal(int, str, str)
    hiddenAsked = Signal(int)
    referenceAsked = Signal(int)
    cancelRequested = Signal(int)
    goOnRequested = Signal(int)
    everyFoldAsked = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme, tr("Runs"), padding=0, name="runs-panel", keeps_title=True
        )
        self._rows: dict[int, RunRow] = {}
        self._ticked_keys: set[int] = set()
        self._marked_key: int | None = None
        # of a run to scroll to once it is listed
        self._key_to_reveal: int | None = None
        self._compared: dict[int, ComparedRun] = {}
        self._measure = ""
        # a measure whose column is scrolled into view once it is there
        self._measure_to_reveal = ""
        # whether the user shows or hides a column, by its key
        self._column_choices: dict[str, bool] = {}
        self._groups_by_method = False
        self._shows_hidden = False
        # of notes and tags, shown though they may be empty
        self._edited_columns: set[str] = set()
        self._columns_key: tuple[Any, ...] = ()  # see `_key_of_columns`
        self._plans: dict[int, Plan] = {}
        self._differences: dict[int, str] = {}
        self._best_means: dict[tuple[int, str], float] = {}
        self._groups: tuple[RunGroup, ...] = ()
        self._scales: dict[int, Scale] = {}
        self._sealed: Mapping[int, str] = {}
        # identities of the groups whose runs are not listed
        self._folded: set[Hashable] = set()
        self.table = TableView(
            theme,
            (),
            "runs-table",
            lambda row: row.key,
            accessible_name=tr("Runs"),
            placeholder=tr("Runs appear here. Press Run to start one."),
            shared=Shared(
                "runs",
                tr("Runs table"),
                tr("Every run with its measures."),
                always=True,
            ),
        )
        self.table.row_actions = self._actions
        self.table.set_spare(
            ("by_hand",), ("counts",), ("parameters",), ("p_holm",), names=_NAME_WIDTH
        )
        self.table.written_first = (DATA, PART)
        self.filter = named(
            QLineEdit(),
            "runs-filter",
            tr("Filter of the runs"),
            tr(
                "Show only runs that contain these words: name, method, data, parameters, tags, note"
            ),
        )
        self.filter.setPlaceholderText(tr("filter"))
        self.filter.setClearButtonEnabled(True)
        self.filter.setFixedWidth(170)
        self.filter.textChanged.connect(self._show)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        columns = named(
            QToolButton(),
            "runs-columns",
            tr("Columns of the runs"),
            tr("Columns, and runs by method"),
        )
        columns.setText(tr("Columns"))
        columns.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        columns.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        columns.setMenu(self._menu)
        self.tools.addWidget(self.filter)
        self.tools.addWidget(columns)
        self.several = named(
            QPushButton(tr("Run a comparison…")), "run-comparison", role="primary"
        )
        self.tools.addWidget(self.several)
        self.tools.setSpacing(6)
        self.set_content(self.table)
        self.table.chosen.connect(self._on_chosen)
        # Queued, as new rows or columns would close the editor whose
        # text is just being read.
        self.table.rows_model.written.connect(
            self._on_written, Qt.ConnectionType.QueuedConnection
        )
        self.table.toggled.connect(lambda row: self.ticked.emit(row.key))
        self.table.headingFolded.connect(self._fold)
        self.table.headingLinked.connect(self._ask_for_every_fold)
        keys = {
            QKeySequence(QKeySequence.StandardKey.Delete): self._remove_current,
            QKeySequence(Qt.Key.Key_R): self._refer_to_current,
        }
        for key, callback in keys.items():
            shortcut = QShortcut(key, self.table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(callback)
        self._show()

    def show_runs(
        self,
        rows: Iterable[RunRow],
        groups: Sequence[RunGroup] = (),
        *,
        sealed: Mapping[int, str] | None = None,
    ) -> None:
        """List runs in their groups; emits no signal.

        Without groups, every run counts as measured; with groups, only
        their measured runs.

        Parameters
        ----------
        rows : iterable of RunRow
            The runs as rows of the table.
        groups : sequence of RunGroup
            The groups of comparable runs, in their order in the table.
        sealed : Mapping of int to str, optional
            Name of the dataset of each run whose test part is sealed,
            by the run's number.
        """
        self._sealed = sealed or {}
        self._groups = tuple(groups)
        measured = {key for group in groups for key in group.measured}
        self._rows = {
            row.key: replace(row, is_measured=not groups or row.key in measured)
            for row in rows
        }
        self._show()

    def show_ticks(self, keys: set[int]) -> None:
        """Show which runs are ticked; emits no signal."""
        self._ticked_keys = keys
        self.table.viewport().update()

    def show_tests(self, compared: Sequence[ComparedRun], name: str) -> None:
        """Show the paired tests of runs by a measure.

        ``name`` is that of the measure, whose column comes first. If it
        is another measure than before, the table is scrolled to the
        column, which is shown even if the user has hidden it.
        """
        if name != self._measure:
            self._column_choices.pop(name, None)
            self._measure_to_reveal = name
        # A run alone in its group has nothing to be compared with.
        # Without any groups, all runs are compared.
        groups = [group for group in self._groups if len(group.measured) > 1]
        tested_keys = {key for group in groups for key in group.measured}
        self._compared = {
            run.key: run
            for run in compared
            if run.key in tested_keys or not self._groups
        }
        self._measure = name
        self._show()

    def comparison_of(self, key: int) -> ComparedRun | None:
        """Return the comparison of a run with the reference of its group.

        ``key`` is the number of the run. Return None for a run without
        a comparison.
        """
        return self._compared.get(key)

    def _scale_for(self, key: int) -> Scale | None:
        return self._scales.get(key)

    def group_of(self, key: int) -> RunGroup | None:
        """Return the group of a run."""
        return next((group for group in self._groups if key in group.keys), None)

    def mark(self, key: int | None) -> None:
        """Mark a run as shown, by its number, and scroll to a newly marked run; emits no signal.

        ``key`` is the number; None marks no run. The folded group of a
        newly marked run is unfolded.
        """
        is_new = key != self._marked_key
        self._marked_key = key
        group = self.group_of(key) if is_new and key is not None else None
        if group is not None and group.identity in self._folded:
            self._fold(group.identity)  # which unfolds a folded group
        self._highlight(scroll=is_new)

    @Slot(int)
    def reveal(self, key: int) -> None:
        """Scroll to a run, by its number ``key``, as soon as the run is listed.

        The highlighted run stays highlighted.
        """
        self._key_to_reveal = key
        self._scroll_to_run()

    def _scroll_to_run(self) -> None:
        """Scroll to the run that is to be revealed, if it is listed by now; otherwise wait."""
        row = (
            self._rows.get(self._key_to_reveal)
            if self._key_to_reveal is not None
            else None
        )
        if row is not None and self.isVisible() and self.table.reveal(row):
            self._key_to_reveal = None

    def rows(self) -> tuple[RunRow, ...]:
        """Return the runs in the order of their numbers."""
        return tuple(self._rows.values())

    def _show(self) -> None:
        """Show the runs that match the filter in their groups, with columns that fit their plans."""
        # The settings in which plans differ take a while, so they are
        # computed anew only for other plans.
        rows = self.rows()
        plans = {row.key: row.plan for row in rows}
        if plans != self._plans:
            self._plans = plans
            self._differences = distinctions(plans)
        self._best_means = _best_means(self._rows, self._groups)
        self._scales = {
            key: scale
            for group in self._groups
            for key, scale in self._scale_of(group).items()
        }
        self._set_columns(self._key_of_columns(rows))
        candidates = [row for row in rows if self._shows_hidden or not row.label.hidden]
        visible = ordered(candidates, self.filter.text(), self._groups_by_method)
        self.table.set_rows(self._rows_with_headings(visible))
        self._highlight(scroll=False)  # the marked run may be listed again by now
        self._scroll_to_measure()
        self._scroll_to_run()
        self.set_caption(self._caption_text(rows, len(visible)))

    def _highlight(self, *, scroll: bool) -> None:
        """Highlight the marked run; no row if the run is not listed."""
        row = self._rows.get(self._marked_key) if self._marked_key is not None else None
        self.table.select(row, scroll=scroll)

    def _rows_with_headings(self, rows: Sequence[RunRow]) -> list[RunRow | Heading]:
        """Return the rows below the headings of their groups.

        Rows without a group come first. Of a folded group, only the
        heading is listed, and of a group without rows (which the filter
        may leave out) not even that.
        """
        grouped_keys = {key for group in self._groups for key in group.keys}
        all_rows: list[RunRow | Heading] = [
            row for row in rows if row.key not in grouped_keys
        ]
        for group in self._groups:
            members = [row for row in rows if row.key in group.keys]
            if members:
                all_rows.append(self._heading(group))
            if group.identity not in self._folded:
                all_rows += self._by_mean(group, members)
        return all_rows

    def _by_mean(self, group: RunGroup, members: Sequence[RunRow]) -> list[RunRow]:
        """Return the rows of a group in the order of the list.

        In a ranked group, the runs with the best means of the current
        measure come first, unless the user groups runs by method.
        """
        if not group.is_ranked or self._groups_by_method:
            return list(members)
        # Without a measure, the order does not matter.
        higher_is_better = not self._measure or measure(self._measure).higher_is_better
        sign = -1.0 if higher_is_better else 1.0

        def sort_key(row: RunRow) -> float:
            # runs without a mean come last
            mean = row.mean(self._measure) if row.key in group.measured else None
            return inf if mean is None or isnan(mean) else sign * mean

        return sorted(members, key=sort_key)

    def _heading(self, group: RunGroup) -> Heading:
        """Return the heading above the runs of a group.

        It says on which data the runs were measured, how many runs
        there are, and in a sentence, how many of them are better than
        the reference. The reference is the run with which the others
        are compared; its name is bold. If some runs of the group have
        only some of the folds, a link runs their plans on all folds.
        """
        measured_parts = {
            measured_group.part
            for measured_group in self._groups
            if measured_group.measured
        }
        # The extent is a text that says which folds the runs have. The
        # part of the data (test, validation) is said only if groups
        # differ in it.
        extent = group.extent
        if len(measured_parts) > 1 and group.measured:
            extent = f"{group.part.label}, {extent}"
        runs_text = trn("{n} run", "{n} runs", len(group.keys)).format(
            n=len(group.keys)
        )
        # The sentence is split around the name of the reference, which
        # is bold. It may be "", or have no reference.
        sentence, reference = self._sentence(group)
        before, name, after = (
            sentence.partition(reference) if reference else (sentence, "", "")
        )
        lead = (
            " · ".join((extent, runs_text, before))
            if sentence
            else f"{extent} · {runs_text}"
        )
        # Text and tooltip of the link, "" without runs on only some folds.
        link, link_hint = _link_to_every_fold(group)
        return Heading(
            group.identity,
            group.data,
            # each part with whether it is bold
            parts=((lead, False), (name, True), (after, False)),
            is_folded=group.identity in self._folded,
            link=link,
            link_hint=link_hint,
        )

    def _sentence(self, group: RunGroup) -> tuple[str, str]:
        """Return the sentence on a group, and the name of the reference in the sentence or "".

        The sentence says why the runs are not ranked, or how many are
        significantly better than the reference. The sentence is "" if
        there is nothing to say.
        """
        # Runs that are done without measures are being measured at this time.
        all_are_done = all(
            self._rows[key].is_done for key in group.keys if key in self._rows
        )
        if not group.measured and all_are_done:
            return tr("measuring …"), ""
        if group.why_separate:
            return tr("not ranked with the runs above: {reason}").format(
                reason=group.why_separate
            ), ""
        if not group.is_ranked:
            if not group.unranked:
                return "", ""
            return tr("not ranked: {reason}").format(reason=group.unranked), ""
        # The comparisons of the group's runs with their reference;
        # `paired_test` is a paired test, None for the reference and for
        # runs that wait.
        compared = [
            self._compared[key] for key in group.measured if key in self._compared
        ]
        reference = next(
            (self._rows.get(run.key) for run in compared if run.role == "reference"),
            None,
        )
        tested = [run for run in compared if run.paired_test is not None]
        if reference is None or not tested:
            return "", ""
        if any(run.role == "waiting" for run in compared):
            return tr("comparing …"), ""
        n_better = sum(is_better(run, self._measure) for run in tested)
        text = tr("no run is significantly better than {reference}")
        if n_better:
            text = trn(
                "{n} run is significantly better than {reference}",
                "{n} runs are significantly better than {reference}",
                n_better,
            )
        return text.format(n=n_better, reference=reference.name), reference.name

    def _scale_of(self, group: RunGroup) -> dict[int, Scale]:
        """Return the common scale of the differences of a group, for each of its runs.

        The result has the range of the differences by the number of the
        run; it is {} without tests.
        """
        # `paired_test` is the paired test of a run, or None.
        tests = [
            self._compared[key].paired_test
            for key in group.measured
            if key in self._compared
        ]
        # The scale holds the intervals of all differences, and 0, the reference.
        ends = [
            end for test in tests if test is not None for end in (test.low, test.high)
        ]
        finite_ends = [end for end in ends if isfinite(end)]
        if not finite_ends:
            return {}
        return dict.fromkeys(
            group.keys, (min(0.0, *finite_ends), max(0.0, *finite_ends))
        )

    def _key_of_columns(self, rows: Sequence[RunRow]) -> tuple[Any, ...]:
        """Return the properties that determine the columns, in the order in which `_columns` unpacks them.

        The properties are: the names of the measures, the shown one
        first; the measure that chose models, if its deviation is known;
        whether plans differ in settings; whether there are tests; the
        columns that the user shows or hides; which of the columns
        "note" and "tags" have content; and whether a model was chosen
        by hand.
        """
        measures = list(
            dict.fromkeys(name for row in rows for name in row.summary.means)
        )
        # Until a run has measures, the two usual ones have columns.
        measures = measures or ["MAP", "NDCG@10"]
        if self._measure in measures:
            measures.insert(0, measures.pop(measures.index(self._measure)))
        # measures by which the plans select their models
        choosers = (
            row.plan.chosen_by
            for row in rows
            if row.plan.chosen_by in row.summary.deviations
        )
        written_columns = {
            key for row in rows for key in ("note", "tags") if getattr(row.label, key)
        }
        has_tests = any(
            run.role in ("compared", "waiting") for run in self._compared.values()
        )
        return (
            tuple(measures),
            next(choosers, ""),
            any(self._differences.values()),
            has_tests,
            tuple(self._column_choices.items()),
            frozenset(self._edited_columns | written_columns),
            any(row.by_hand for row in rows),
        )

    def _set_columns(self, key: tuple[Any, ...]) -> None:
        """Show other columns if ``key``, the properties that determine the columns, has changed.

        The column of the first measure and those before it do not
        scroll sideways.
        """
        if key != self._columns_key:
            self._columns_key = key  # which `_columns` reads
            measures, *_ = key
            self.table.set_columns(
                [column for column in self._columns() if self._is_shown(column)]
            )
            self.table.freeze(measures[0])

    def _scroll_to_measure(self) -> None:
        """Bring the column of the measure that was chosen last into view, scrolling sideways only."""
        # `_measure_to_reveal` is "" if no measure was chosen since the last call.
        keys = [column.key for column in self.table.rows_model.columns]
        if self._measure_to_reveal in keys and self.isVisible():
            # scrollTo needs a row, too: the one at the top, or 0 if there is none (-1)
            top_row = max(0, self.table.rowAt(0))
            bar = self.table.verticalScrollBar()
            value = bar.value()
            self.table.scrollTo(
                self.table.model().index(top_row, keys.index(self._measure_to_reveal))
            )
            bar.setValue(value)  # scrollTo may have moved a partly visible row
            self._measure_to_reveal = ""

    def _caption_text(self, rows: Sequence[RunRow], n_shown: int) -> str:
        """Return the caption: the measured part, the sealed data, and the number of listed runs."""
        # Groups on different parts of the data name their part in their own headings.
        parts = list(
            dict.fromkeys(group.part for group in self._groups if group.measured)
        )
        sentences = [_PART_NAMES[parts[0]]] if len(parts) == 1 else []
        if parts and self._sealed:
            names = together(sorted({*self._sealed.values()}))
            sealed_part = tr("test part of {data} sealed").format(data=names)
            # whether every run with measures is on data with a sealed test part
            is_all_sealed = {
                row.key for row in rows if row.summary.means
            } <= self._sealed.keys()
            sentences.append(tr("test part sealed") if is_all_sealed else sealed_part)
        if n_shown < len(rows):
            sentences.append(
                tr("{n_shown} of {n_rows} runs").format(
                    n_shown=n_shown, n_rows=len(rows)
                )
            )
        return " · ".join(sentences)

    def _columns(self) -> list[Column]:
        """Return all columns, beginning with those that a small window has to show.

        Columns without content, such as tests before there are any, are
        left out.
        """
        # The properties that determine the columns; `_` are the columns
        # that the user shows or hides, which the caller considers.
        (
            measures,
            chooser,
            plans_differ,
            has_tests,
            _,
            noted_columns,
            has_hand_choices,
        ) = self._columns_key
        # Both functions take the number of a run.
        tests = DifferenceCells(self.comparison_of, self._scale_for)
        settings = settings_column(lambda row: self._differences.get(row.key) or None)
        first_measure, *other_measures = [
            measure_column(name, self._is_best, self._is_ranked) for name in measures
        ]
        return [
            *first_columns(lambda row: row.key in self._ticked_keys),
            *([settings] if plans_differ else []),
            SIZES,
            first_measure,
            *(tests.columns(measures[0]) if has_tests else []),
            *([BY_HAND] if has_hand_choices else []),
            STATUS,
            *other_measures,
            *spread_columns(chooser, measures[0]),
            chosen_on_column(measures[0]),
            *label_columns(noted_columns),
        ]

    def _is_shown(self, column: Column) -> bool:
        """Return whether a column is shown: as the user chose, or else if it is not optional."""
        return self._column_choices.get(
            column.key, column.key not in self._optional_keys()
        )

    def _optional_keys(self) -> set[str]:
        """Return the keys of the columns that are hidden unless the user shows them."""
        measures, *_ = self._columns_key
        return {*measures[1:], "deviation", "over_single", "chosen_on"}

    def _is_best(self, row: RunRow, name: str) -> bool:
        """Return whether a finished run has the best mean of its group by the measure called ``name``."""
        mean = row.mean(name)
        return mean is not None and self._best_means.get((row.key, name)) == mean

    def _is_ranked(self, row: RunRow) -> bool:
        """Return whether the means of a run may be ranked."""
        return any(
            group.is_ranked and row.key in group.measured for group in self._groups
        )

    def _actions(self, row: RunRow) -> list[RowAction]:
        """Return the actions of the context menu for a run.

        Stop, resume and compare are offered only in states in which
        they are possible.
        """
        editable_columns = (
            ("method", tr("Rename")),
            ("tags", tr("Tags…")),
            ("note", tr("Note…")),
        )
        actions = [
            RowAction(text, partial(self._edit, key)) for key, text in editable_columns
        ]
        # each action with whether it is possible, its icon, text and signal
        for is_offered, icon, text, signal in (
            (row.state in _ACTIVE, "stop", tr("Stop"), self.cancelRequested),
            (row.can_go_on, "run", tr("Resume"), self.goOnRequested),
            (
                row.state == "done",
                "compare",
                tr("Compare the others with this run"),
                self.referenceAsked,
            ),
            (
                True,
                "minus",
                tr("Show again") if row.label.hidden else tr("Hide"),
                self.hiddenAsked,
            ),
        ):
            if is_offered:
                actions.append(RowAction(text, partial(signal.emit, row.key), icon))
        return [
            *actions,
            RowAction(tr("Remove"), partial(self.removed.emit, (row.key,)), "trash"),
        ]

    @Slot(object)
    def _on_chosen(self, row: RunRow) -> None:
        self._marked_key = row.key
        self.selected.emit(row.key)

    @Slot(object, str, str)
    def _on_written(self, row: RunRow, key: str, text: str) -> None:
        self.written.emit(row.key, key, text)

    @Slot(object)
    def _fold(self, identity: Hashable) -> None:
        """Collapse the runs of a group, or expand them."""
        self._folded ^= {identity}
        self._show()

    @Slot(object)
    def _ask_for_every_fold(self, identity: Hashable) -> None:
        """Ask to run on all folds those runs of a group that have only some folds."""
        group = next(
            (candidate for candidate in self._groups if candidate.identity == identity),
            None,
        )
        if group is not None and group.partial:
            self.everyFoldAsked.emit(group.partial)

    @Slot()
    def _refer_to_current(self) -> None:
        row = self.table.current()
        if row is not None and row.state == "done":
            self.referenceAsked.emit(row.key)

    @Slot()
    def _fill_menu(self) -> None:
        """Fill the menu: two options of the list, and all columns except those that identify a run."""
        self._menu.clear()
        self._add_entry(
            tr("Group runs by method"), self._groups_by_method, self._group_by_method
        )
        self._add_entry(tr("Show hidden runs"), self._shows_hidden, self._show_hidden)
        self._menu.addSeparator()
        # A column without a title holds marks only, such as the ticks.
        for column in self._columns():
            key = column.key
            if column.title and key not in ("key", "method"):
                change = partial(self._show_column, key)
                self._add_entry(column.title, self._is_shown(column), change)

    def _add_entry(self, text: str, on: bool, change: Callable[[bool], None]) -> None:
        """Add an entry to the menu that is on or off; ``change`` is called with its new state."""
        action = self._menu.addAction(text)
        action.setCheckable(True)
        action.setChecked(on)
        action.toggled.connect(change)

    def _group_by_method(self, on: bool) -> None:
        self._groups_by_method = on
        self._show()

    def _show_hidden(self, on: bool) -> None:
        self._shows_hidden = on
        self._show()

    def _edit(self, key: str) -> None:
        """Show the column of a key, and open the editor of its cell in the current row."""
        self._edited_columns.add(key)
        self._show()
        self.table.edit_cell(key)

    def _show_column(self, key: str, is_shown: bool) -> None:
        self._column_choices[key] = is_shown
        self._show()

    @Slot()
    def _remove_current(self) -> None:
        keys = tuple(row.key for row in self.table.selected())
        if keys:
            self.removed.emit(keys)


def _link_to_every_fold(group: RunGroup) -> tuple[str, str]:
    """Return the text and the tooltip of the link that runs a group's plans on all folds.

    A group whose runs are on all folds needs no link: then both are "".
    """
    # `partial` are the runs on some folds whose plan has no run on all folds.
    if not group.partial:
        return "", ""
    n_runs = len(group.partial)
    n_folds = group.n_folds
    hint = trn(
        "Run the same plan on all {n_folds} folds, to compare it with the other runs.",
        "Run the same {n} plans on all {n_folds} folds, to compare them with the other runs.",
        n_runs,
    )
    return tr("Run on {n} folds").format(n=n_folds), hint.format(
        n=n_runs, n_folds=n_folds
    )


def first_columns(is_ticked: Callable[[RunRow], bool]) -> list[Column]:
    """Return the columns that identify a run: tick, dot, number and name.

    ``is_ticked`` returns whether a run is ticked. The dot has the run's
    color in plots. A run with a note on its results has a mark after
    its name.
    """
    tick = tick_column(is_ticked, tr("Tick the runs to compare (Space)"))
    number = Column(
        "key",
        tr("run"),
        "right",
        tooltip=tr("Run number, as in the other views"),
        tone="muted",
        width=44,
    )
    method = Column(
        "method",
        tr("name"),
        value=lambda row: f"{row.name} {WARNING_MARK}" if row.note else row.name,
        tone=_name_tone,
        hint=lambda row: "\n".join(
            filter(None, (row.method if row.label.name else "", row.note))
        ),
        tooltip=tr("Method or name of the run (F2 or double-click to rename)"),
        editor_text=lambda row: row.name,
        stretch=True,
        least=_NAME_WIDTH,
    )
    return [tick, RUN_DOT, number, method]


def _name_tone(row: RunRow) -> str:
    return "text" if row.is_done else "muted"


def label_columns(keys: Collection[str]) -> list[Column]:
    """Return the columns of tags and notes, which can be edited, if their keys are among ``keys``.

    The keys are "tags" and "note".
    """
    tags = Column(
        "tags",
        tr("tags"),
        value=lambda row: ", ".join(row.label.tags) or None,
        editor_text=lambda row: ", ".join(row.label.tags),
        tooltip=tr("Tags, separated by commas (double-click to edit)"),
        tone="accent",
        width=110,
    )
    note = Column(
        "note",
        tr("note"),
        value=lambda row: row.label.note or None,
        editor_text=lambda row: row.label.note,
        tooltip=tr("Note on the run (double-click to edit)"),
        tone="muted",
        width=170,
    )
    return [column for column in (tags, note) if column.key in keys]


def settings_column(differences: Callable[[RunRow], str | None]) -> Column:
    """Return the column of the parameters in which runs of a method differ.

    ``differences`` returns the text of a row's cell, or None for an empty cell.
    """
    tooltip = tr("Only parameters in which the runs of a method differ")
    return Column(
        "parameters",
        tr("settings"),
        tooltip=tooltip,
        value=differences,
        tone="muted",
        stretch=True,
        least=90,
    )


def measure_column(
    name: str,
    is_best: Callable[[RunRow, str], bool],
    is_ranked: Callable[[RunRow], bool],
) -> Column:
    """Return the column of a measure's mean over the folds.

    ``name`` is that of the measure. The mean is bold where ``is_best``
    holds for a row and the measure's name, and muted unless
    ``is_ranked`` holds for the row.
    """
    return Column(
        name,
        name,
        "right",
        ".4f",
        value=lambda row: row.mean(name),
        tooltip=tr("Mean {name} over the folds").format(name=name),
        bold=lambda row: is_best(row, name),
        tone=lambda row: "text" if is_ranked(row) else "muted",
        width=76,
    )


def chosen_on_column(name: str) -> Column:
    """Return the column of a measure's mean on the part of the data that selected the models.

    ``name`` is that of the measure. A cell has the mean over the folds.

    Cells of runs that are not finished are empty.
    """
    return Column(
        "chosen_on",
        Part.CHOSEN_ON.label,
        "right",
        ".4f",
        value=lambda row: row.summary.chosen_on.get(name) if row.has_numbers else None,
        tooltip=tr(
            "Mean {name} of the models on the validation part that chose them. It is too high, the more so "
            "the more models a run tries, and ranks no runs."
        ).format(name=name),
        tone="muted",
        width=88,
    )


_PART_NAMES = {
    Part.TEST: tr("test"),
    Part.CROSS_FITTED: tr("validation, corrected for the choice of parameters and k"),
    Part.CHOSEN_ON: tr("validation, chosen on it: not ranked"),
    Part.NONE: tr("not measured"),
}
"""Caption of the numbers in the table."""


def spread_columns(chooser: str, name: str) -> list[Column]:
    """Return the columns of the deviation over the folds and of the gain over the best single feature.

    The deviation is that of the measure `chooser`, which chose the
    models (no column for ""); the gain is that of the measure `name`.
    Cells of runs that are not finished are empty.
    """
    deviation = Column(
        "deviation",
        tr("sd {chooser}").format(chooser=chooser),
        "right",
        lambda value: f"±{value:.3f}",
        value=lambda row: (
            row.summary.deviations.get(chooser) if row.has_numbers else None
        ),
        tooltip=tr("Standard deviation of {chooser} over the folds").format(
            chooser=chooser
        ),
        tone="muted",
        width=88,
    )
    over_single = Column(
        "over_single",
        tr("gain over best single"),
        "right",
        lambda value: signed(value, 4),
        value=lambda row: (
            row.summary.over_single.get(name) if row.has_numbers else None
        ),
        tooltip=tr(
            "Mean gain of {name} over the best single feature of each fold"
        ).format(name=name),
        tone="muted",
        width=88,
    )
    return [*([deviation] if chooser else []), over_single]


DATA = Column("data", tr("data"))
"""Column of a run's data and folds, only in exported files; in the table, headings contain these."""

SIZES = Column(
    "k",
    "k",
    "right",
    value=lambda row: range_text(row.summary.sizes) or None if row.is_done else None,
    tooltip=tr(
        "Number of features of the selected models, smallest and largest over the folds"
    ),
    sort=lambda row: min(row.summary.sizes, default=None),
    tone=_name_tone,
    width=64,
    parts=(
        Column(
            "least_k",
            tr("smallest k"),
            value=lambda row: min(row.summary.sizes, default=None),
        ),
        Column(
            "most_k",
            tr("largest k"),
            value=lambda row: max(row.summary.sizes, default=None),
        ),
    ),
)

BY_HAND = Column(
    "by_hand",
    tr("chosen by hand"),
    value=lambda row: row.by_hand or None,
    tooltip=tr(
        "Model of the run that you chose by hand. All measures are those of the models that the rule chose: "
        "a model chosen after seeing its results looks better than it is. To compare models with a given "
        "number of features, set features k before the run."
    ),
    hint=lambda row: _rule_sentence(row) if row.by_hand else "",
    tone="muted",
    width=120,
)


def _rule_sentence(row: RunRow) -> str:
    """Return a hint for a run of which the user chose a model: the measures are those of another model.

    They are those of the model that the plan's rule chose. `sizes` are
    the numbers of its features, which may differ between folds.
    """
    sizes = range_text(row.summary.sizes)
    return tr(
        "The measures are those of the model that the rule chose: k = {sizes}. By hand, {model} was chosen."
    ).format(model=row.by_hand, sizes=sizes)


PART = Column(
    "part",
    tr("part"),
    value=lambda row: row.summary.part.label if row.summary.means else None,
)
"""Column of the part on which a run is measured, only in exported files; the panel's caption contains it."""


_STATE_NAMES = {
    "queued": tr("queued"),
    "running": tr("running"),
    "paused": tr("paused"),
    "unfinished": tr("interrupted"),
    "done": tr("done"),
    "cancelled": tr("stopped"),
    "failed": tr("failed"),
}
"""Label of each state of a run."""


def _status_text(row: RunRow) -> ProgressCell | str:
    """Return the content of the status cell: a progress bar while the run works, else a text.

    The text in the bar counts the folds, or for a single fold tells the
    time that is left. The message of an interrupted run begins with how
    much of it is done.
    """
    folds = ""
    if row.n_folds > 1:
        folds = tr("{done} of {there} folds").format(
            done=row.folds_done, there=row.n_folds
        )
    if row.state == "running":
        return ProgressCell(row.progress, folds or time_text(row.seconds_left))
    if row.state == "paused":
        return ProgressCell(row.progress, folds or tr("paused"))
    if row.state == "unfinished":
        # The rest of the message is the reason, which the tooltip has.
        return row.message.partition(" · ")[0]
    # The duration of a finished run is 0 if it is not known.
    if row.is_done:
        return (
            f"✓ {duration(row.seconds)}" if row.seconds else f"✓ {_STATE_NAMES['done']}"
        )
    return _STATE_NAMES.get(row.state, row.state)


def _status_hint(row: RunRow) -> str:
    """Return the tooltip of the status: the progress and the time left, or a remark on the state."""
    # The cell shows a bar while the run works, so the tooltip has the numbers.
    if row.state == "running":
        running = tr("running, {progress} done").format(
            progress=percentage(row.progress)
        )
        return " · ".join(filter(None, (running, time_text(row.seconds_left))))
    if row.state == "paused":
        return tr("paused, {progress} done").format(progress=percentage(row.progress))
    return row.message or _STATE_NAMES.get(row.state, row.state)


STATUS = Column(
    "status",
    tr("status"),
    kind="progress",
    value=_status_text,
    tone=lambda row: _STATE_TONES.get(row.state, "muted"),
    hint=_status_hint,
    width=140,
    sort=lambda row: row.state,
    parts=(
        Column(
            "status",
            tr("status"),
            value=lambda row: _STATE_NAMES.get(row.state, row.state),
        ),
        Column("seconds", tr("seconds"), value=lambda row: row.seconds or None),
    ),
)


def ordered(rows: Sequence[RunRow], text: str, by_method: bool) -> list[RunRow]:
    """Return the rows that contain all words of the filter's text, in upper or lower case.

    `by_method` puts the rows of each method together; the methods are
    then in the order of their first rows.
    """
    words = text.casefold().split()
    # `searched` is the text of a row in which the filter searches, in lower case.
    matches = [row for row in rows if all(word in row.searched for word in words)]
    if not by_method:
        return matches
    methods = list(dict.fromkeys(row.method for row in matches))
    return sorted(matches, key=lambda row: methods.index(row.method))


def folds_text(record: RunRecord) -> str:
    """Return the number of folds of a run: "5 folds", or "2 of 5 folds" if the run was stopped early."""
    n_done = len(record.folds)
    n_folds = record.n_folds
    folds = record.plan.folds
    # A plan that lists no folds has all of them; the data may have one only.
    if n_folds == 1:
        return tr("fold {folds}").format(folds=folds[0]) if folds else tr("1 fold")
    was_stopped = record.state.value in ("unfinished", "cancelled", "failed")
    if was_stopped and n_done < n_folds:
        return tr("{done} of {there} folds").format(done=n_done, there=n_folds)
    return tr("{there} folds").format(there=n_folds)
