"""A list of pipelines to compare: which are finished, which have to run, and about how long that takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.fold_files import name_of_folder
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.plan.difference import (
    changed_parameters,
    parameter_texts,
)
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.methods.catalog import method
from rankstudio.ui.compare.pipelines import OWN_MODEL, Pipeline, Pipelines
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.number_format import duration
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, TableView
from rankstudio.ui.widgets.choices import choice_box, set_notes
from rankstudio.ui.widgets.columns import ROW_ROLE, tick_column
from rankstudio.ui.widgets.layout import fill, named

_DIALOG_SIZE = (1000, 560)
_LEFT_COLUMN_WIDTH = 280  # pixels
_VISIBLE_DATA_ROWS = 4  # of the lists of data and of labels


@dataclass(frozen=True)
class Offer:
    """A method, ranker, dataset or label that the user can tick or choose in a dialog.

    Attributes
    ----------
    key : str
        Identifies the entry; the path for a dataset.
    label : str
    ticked : bool
        Whether the entry is ticked when the dialog opens.
    hint : str
        Tooltip; for a disabled entry the reason.
    enabled : bool
        Whether the user can tick or choose the entry.
    """

    key: str
    label: str
    ticked: bool = False
    hint: str = ""
    enabled: bool = True


@dataclass(frozen=True)
class Offers:
    """Methods, rankers, data and labels that a dialog offers."""

    methods: tuple[Offer, ...]
    rankers: tuple[Offer, ...]
    data: tuple[Offer, ...]
    labels: tuple[Offer, ...] = ()


class ComparisonDialog(QDialog):
    """A dialog in which the user composes a list of pipelines, and ticks the pipelines and data to compare.

    Finished runs are used as they are; the other pipelines are run
    after the dialog is accepted.

    Parameters
    ----------
    theme : Theme
    offers : Offers
        Methods, rankers, data and labels that can be chosen.
    pipelines : Pipelines
        Makes the pipelines, and knows the runs.
    file : str
        Path of the comparison that is listed first; "" for the finished
        runs and the current plan.
    parent : QWidget, optional

    Attributes
    ----------
    dataAsked : Signal()
        The user asks to add data that are not in the list.
    """

    dataAsked = Signal()

    def __init__(
        self,
        theme: Theme,
        offers: Offers,
        pipelines: Pipelines,
        file: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("comparison-dialog")
        self.setWindowTitle(tr("Run a comparison"))
        self._pipelines = pipelines
        # the pipelines of the list, and those of them that the user has unticked
        self._listed_plans: list[Plan] = []
        self._unticked_plans: list[Plan] = []
        # numbers of all runs that were in the list since the dialog opened
        self._listed_runs: set[int] = set()
        # whether the table has columns of data and of labels; None
        # before the first time
        self._has_data_and_label_columns: tuple[bool, bool] | None = None
        self.methods = tick_list("comparison-methods", tr("Methods"), offers.methods)
        self.ranker = named(
            choice_box(tuple((offer.key, offer.label) for offer in offers.rankers)),
            "comparison-ranker",
            tr("Final ranker"),
        )
        # rankers that cannot be used are disabled, with the reason as a note
        set_notes(
            self.ranker,
            {offer.key: offer.hint for offer in offers.rankers if not offer.enabled},
        )
        self.add = named(QPushButton(), "comparison-add")
        self.plan = named(choice_box(()), "comparison-plan", tr("Plan"))
        # Each entry has the path of a comparison's file as its data; ""
        # stands for the window's runs and plan. `files` has the
        # comparisons by path.
        self.plan.addItem(tr("Finished runs and current plan"), "")
        for key, plan in pipelines.files.items():
            self.plan.addItem(tr("Plan: {title}").format(title=plan.title), key)
        self.table = named(
            TableView(
                theme,
                (),
                "comparison-pipelines",
                # What identifies a row: the position of its pipeline in
                # the list, its data and its judge's labels.
                lambda row: (row.position, row.plan.data, _label_column(row)),
            ),
            accessible_name=tr("Pipelines"),
        )
        self.table.placeholder = tr("Select methods on the left and press Add.")
        self.remove = named(QPushButton(tr("Re&move")), "comparison-remove")
        self.data = tick_list("comparison-data", tr("Data"), offers.data)
        self.add_data = named(
            QPushButton(tr("Add data…")),
            "comparison-add-data",
            tip=tr("Add a data file or a folder of folds to the comparison"),
        )
        self.labels = tick_list("comparison-labels", tr("Labels"), offers.labels)
        self._work = named(PlainLabel(), "comparison-work", role="muted")
        self._run = named(QPushButton(), "comparison-run", role="primary")
        self._cancel = QPushButton(tr("Cancel"))
        self._lay_out()
        self._connect()
        # A file that is not in the list has the index -1: the first entry then.
        self.plan.setCurrentIndex(max(0, self.plan.findData(file)))
        self._begin()  # lists the pipelines of the chosen comparison

    def rows(self) -> tuple[Pipeline, ...]:
        """Return the ticked pipelines of the list, and those of the ticked methods, on all ticked data.

        A pipeline is a method of selection with a ranker, on one dataset.
        """
        plans = [*self._listed_plans, *self._new_plans()]
        rows = self._pipelines.rows(plans, ticked(self.data), ticked(self.labels))
        return tuple(row for row in rows if row.plan not in self._unticked_plans)

    def plans(self) -> tuple[Plan, ...]:
        """Return the plans of the pipelines without a run, or with an interrupted one."""
        return tuple(row.plan for row in self.rows() if not row.is_started)

    def ticks(self) -> dict[int, bool]:
        """Return whether each run that was in the list is ticked, by the run's number."""
        ticked_runs = {row.run for row in self.rows()}
        return {key: key in ticked_runs for key in sorted(self._listed_runs)}

    def tick_data(self, offer: Offer) -> None:
        """Tick an entry of the data, and scroll to it; one that is not in the list yet is added at its end."""
        keys = [
            self.data.item(row).data(Qt.ItemDataRole.UserRole)
            for row in range(self.data.count())
        ]
        if offer.key in keys:
            item = self.data.item(keys.index(offer.key))
            item.setCheckState(Qt.CheckState.Checked)
        else:
            item = _tick_item(offer, self.data)
            self._set_list_heights()
        self.data.setCurrentItem(item)
        self.data.scrollToItem(item)
        self._update()

    def show_problem(self, text: str) -> None:
        """Show a text in place of the amount of work, until the next change."""
        self._work.setText(text)

    def work(self) -> str:
        """Return the text on the amount of work."""
        return self._work.text()

    def _lay_out(self) -> None:
        """Lay out the lists of methods and pipelines, the choices of data and labels, and the buttons."""
        left_column = QVBoxLayout()
        right_column = QVBoxLayout()
        titles = (
            tr("Add pipelines"),
            tr("Final ranker after the selectors"),
            tr("Pipelines"),
        )
        adding, ranker, pipelines = (
            named(PlainLabel(text), role="title") for text in titles
        )
        data_and_labels = QHBoxLayout()
        for text, ticks, tool, stretch in (
            (tr("Data"), self.data, self.add_data, 3),
            (tr("Labels"), self.labels, None, 2),
        ):
            # The list of labels is empty, and left out, unless several
            # judges have labeled the data.
            if ticks.count():
                title = named(PlainLabel(text), role="title")
                header = fill(QHBoxLayout(), (title, 1), spacing=12)
                if tool is not None:
                    header.addWidget(tool)
                section = fill(QVBoxLayout(), header, ticks, spacing=6)
                fill(data_and_labels, (section, stretch), spacing=12)
        fill(
            left_column,
            adding,
            (self.methods, 1),
            ranker,
            self.ranker,
            self.add,
            spacing=6,
        )
        table_header = fill(
            QHBoxLayout(), pipelines, (self.plan, 1), self.remove, spacing=12
        )
        frame = named(QFrame(), role="panel")
        fill(QVBoxLayout(frame), self.table, margins=(1, 1, 1, 1))
        fill(right_column, table_header, (frame, 1), data_and_labels, spacing=6)
        for widget in (self.methods, self.ranker, self.add):
            widget.setFixedWidth(scaled(_LEFT_COLUMN_WIDTH))
        self._set_list_heights()
        self._work.setWordWrap(True)
        self._work.setMinimumHeight(40)  # pixels
        lists = fill(QHBoxLayout(), left_column, (right_column, 1), spacing=16)
        buttons = fill(
            QHBoxLayout(), (self._work, 1), self._cancel, self._run, spacing=8
        )
        fill(
            QVBoxLayout(self), (lists, 1), buttons, margins=(16, 16, 16, 16), spacing=12
        )
        self._run.setDefault(True)
        self.resize(*_DIALOG_SIZE)

    def _set_list_heights(self) -> None:
        """Give the lists of data and of labels one height: that of the longer list, at most a few rows."""
        n_rows = max(2, self.data.count(), self.labels.count())
        for ticks in (self.data, self.labels):
            ticks.setFixedHeight(min(_VISIBLE_DATA_ROWS, n_rows) * 28 + 2)

    def _connect(self) -> None:
        """Connect the widgets of the dialog to their actions; the Delete key removes pipelines in the list."""
        self.methods.itemChanged.connect(self._update)
        self.ranker.currentIndexChanged.connect(self._update)
        self.add.clicked.connect(self._add)
        self.plan.currentIndexChanged.connect(self._begin)
        self.data.itemChanged.connect(self._update)
        self.add_data.clicked.connect(self.dataAsked)
        self.labels.itemChanged.connect(self._update)
        self.table.toggled.connect(self._tick)
        self.table.failed.connect(self._work.setText)
        self.table.selectionModel().selectionChanged.connect(self._update_remove_button)
        self.remove.clicked.connect(self._remove)
        delete = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.table)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self._remove)
        self._run.clicked.connect(self.accept)
        self._cancel.clicked.connect(self.reject)

    @Slot()
    def _begin(self) -> None:
        """List the pipelines of the chosen file, or those of the finished runs and the current plan."""
        self._listed_plans = self._pipelines.listed(str(self.plan.currentData()))
        self._unticked_plans.clear()
        self._update()

    @Slot()
    def _add(self) -> None:
        """Add the pipelines of the ticked methods to the list, and untick the methods."""
        self._listed_plans += self._new_plans()
        for row in range(self.methods.count()):
            self.methods.item(row).setCheckState(Qt.CheckState.Unchecked)
        self._update()

    def _new_plans(self) -> list[Plan]:
        """Return the plans of the ticked methods, each with the chosen ranker, without plans in the list.

        A method that does not fit the ranker or the settings of the
        Select page is left out, and the reason is shown.
        """
        plans = []
        for key in ticked(self.methods):
            try:
                plans.append(self._pipelines.made(key, str(self.ranker.currentData())))
            except (PlanError, ParameterError) as error:
                self._work.setText(str(error))
        # `distinct` drops repeated plans. The listed ones are distinct
        # already, so what follows after them is new.
        return self._pipelines.distinct([*self._listed_plans, *plans])[
            len(self._listed_plans) :
        ]

    @Slot()
    def _update_add_button(self) -> None:
        """Show on the button how many pipelines it adds, and the name of the default ranker."""
        # The label of the model with which each selector ranks if no
        # ranker is chosen (None), each label once.
        selectors = [
            entry for entry in map(method, ticked(self.methods)) if entry.selects
        ]
        models = ", ".join(
            dict.fromkeys(entry.final_ranker(None) for entry in selectors)
        )
        text = (
            tr("Own model: {models}").format(models=models)
            if models
            else tr("Own model of the selector")
        )
        self.ranker.setItemText(self.ranker.findData(OWN_MODEL), text)
        n = len(self._new_plans())
        self.add.setEnabled(n > 0)
        self.add.setText(
            trn("&Add {n} pipeline", "&Add {n} pipelines", n).format(n=n)
            if n
            else tr("&Add")
        )
        if ticked(self.methods):
            reason = tr("These pipelines are already in the list.")
        else:
            reason = tr("Select at least one method.")
        self.add.setToolTip("" if n else plain(reason))

    @Slot()
    def _update_remove_button(self) -> None:
        self.remove.setEnabled(self.table.selectionModel().hasSelection())

    @Slot()
    def _remove(self) -> None:
        """Remove the selected pipelines from the list, on all data.

        The table has a row for a pipeline on each dataset; rows of one
        pipeline have one position in the list.
        """
        removed_positions = {
            index.data(ROW_ROLE).position
            for index in self.table.selectionModel().selectedRows()
        }
        self._listed_plans = [
            plan
            for position, plan in enumerate(self._listed_plans)
            if position not in removed_positions
        ]
        self._update()

    @Slot(object)
    def _tick(self, row: Pipeline) -> None:
        """Untick a pipeline of the list, or tick it again."""
        if row.plan in self._unticked_plans:
            self._unticked_plans.remove(row.plan)
        else:
            self._unticked_plans.append(row.plan)
        self._update()

    @Slot()
    def _update(self) -> None:
        """Show the pipelines on the ticked data, the amount of work, and which buttons can be used."""
        data = ticked(self.data)
        labels = ticked(self.labels)
        pipelines = self._pipelines.rows(self._listed_plans, data, labels)
        # When the dialog is accepted, it ticks or unticks every run
        # that was ever in its list, even if the pipeline has left the
        # list.
        self._listed_runs |= {row.run for row in pipelines if row.run is not None}
        several_data = len(data) > 1
        several_labels = len(labels) > 1
        if (several_data, several_labels) != self._has_data_and_label_columns:
            self._has_data_and_label_columns = several_data, several_labels
            columns = _columns(
                lambda row: row.plan not in self._unticked_plans,
                several_data,
                several_labels,
            )
            self.table.set_columns(columns)
        self.table.set_rows(pipelines)
        # `rows` are the ticked pipelines, and `plans` those that have
        # to run, as no run of theirs is done, works or waits (is
        # `is_started`). Without such plans, the button only compares.
        rows = self.rows()
        plans = [row.plan for row in rows if not row.is_started]
        self._run.setText(
            tr("&Run in the background") if plans or not rows else tr("&Compare")
        )
        self._run.setEnabled(bool(rows))
        # a note if plans ignore pinned and banned features, else ""
        left_out = self._pipelines.left_out([row.plan for row in rows])
        self._work.setText(
            " ".join(filter(None, (self._work_text(rows, plans), left_out)))
        )
        self._update_add_button()
        self._update_remove_button()

    def _work_text(self, rows: Sequence[Pipeline], plans: Sequence[Plan]) -> str:
        """Return the sentence on the work of the ticked pipelines: the runs, the fits and the time.

        ``plans`` are those of the pipelines ``rows`` that have no run yet.
        """
        if not rows:
            return tr("Nothing to compare: add a pipeline and select data.")
        if not plans:
            return tr("Every pipeline has a finished run, so nothing has to run.")
        # `n_units` are the fits of all runs; `n_guessed` counts the
        # plans whose time no finished run could tell.
        work = self._pipelines.work(plans)
        runs = trn("{n} run", "{n} runs", work.n_runs).format(n=work.n_runs)
        units = trn("{n:,} fit", "{n:,} fits", work.n_units).format(n=work.n_units)
        if work.n_guessed:
            text = tr(
                "{runs}, {units}: about {seconds}, a rough estimate before the first run."
            )
        else:
            text = tr("{runs}, {units}: about {seconds}, estimated from finished runs.")
        return text.format(runs=runs, units=units, seconds=duration(work.seconds))


def ticked(ticks: QListWidget) -> tuple[str, ...]:
    """Return the keys of the ticked entries of a list."""
    items = [ticks.item(row) for row in range(ticks.count())]
    ticked_items = [
        item for item in items if item.checkState() == Qt.CheckState.Checked
    ]
    return tuple(item.data(Qt.ItemDataRole.UserRole) for item in ticked_items)


class _Ticks(QListWidget):
    """A list whose entries are ticked by a click on the box or on the text beside it."""

    def __init__(self) -> None:
        super().__init__()
        self._state_at_press: Qt.CheckState | None = None
        self.itemPressed.connect(self._remember_state)
        self.itemClicked.connect(self._toggle)

    @Slot(QListWidgetItem)
    def _remember_state(self, item: QListWidgetItem) -> None:
        self._state_at_press = item.checkState()

    @Slot(QListWidgetItem)
    def _toggle(self, item: QListWidgetItem) -> None:
        """Tick or untick the clicked entry, unless Qt has already done so because its box was hit."""
        if item.checkState() is self._state_at_press:
            was_ticked = self._state_at_press is Qt.CheckState.Checked
            item.setCheckState(
                Qt.CheckState.Unchecked if was_ticked else Qt.CheckState.Checked
            )


def tick_list(name: str, accessible_name: str, offers: Sequence[Offer]) -> QListWidget:
    """Return a list in which the user ticks entries; an item has the key of its entry as its data.

    ``name`` is the object name of the widget, ``accessible_name`` its
    name for screen readers, and ``offers`` are the entries.
    """
    ticks = named(_Ticks(), name, accessible_name)
    for offer in offers:
        _tick_item(offer, ticks)
    ticks.setCurrentRow(0)
    return ticks


def _tick_item(offer: Offer, ticks: QListWidget) -> QListWidgetItem:
    """Add an entry to the end of a list, and return it."""
    item = QListWidgetItem(offer.label, ticks)
    item.setData(Qt.ItemDataRole.UserRole, offer.key)
    item.setToolTip(plain(offer.hint))
    item.setSizeHint(QSize(0, 28))  # 28 pixels high, as wide as the list
    flags = Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsSelectable
    item.setFlags(
        flags | Qt.ItemFlag.ItemIsEnabled if offer.enabled else Qt.ItemFlag.NoItemFlags
    )
    item.setCheckState(
        Qt.CheckState.Checked if offer.ticked else Qt.CheckState.Unchecked
    )
    return item


def _columns(
    is_ticked: Callable[[Pipeline], bool], several_data: bool, several_labels: bool
) -> list[Column]:
    """Return the columns of the list of pipelines.

    Each row of the list is a pipeline: a method of selection with a
    ranker, on one dataset. ``is_ticked`` returns whether a pipeline is
    ticked. Data have a column only if several datasets are ticked
    (``several_data``), and labels only if labels of several judges are
    (``several_labels``).
    """
    data = Column(
        "data",
        tr("data"),
        value=lambda row: data_name(row.plan.data),
        tone="muted",
        width=96,
    )
    label = Column("label", tr("label"), value=_label_column, tone="muted", width=96)
    return [
        tick_column(is_ticked, tr("Tick the pipelines to compare (Space)")),
        Column("title", tr("pipeline"), value=lambda row: row.plan.title, stretch=True),
        *([data] if several_data else []),
        *([label] if several_labels else []),
        *_COLUMNS,
    ]


def _label_column(row: Pipeline) -> str:
    """Return the label column of a pipeline's plan; "" without several judges."""
    columns = DataColumns.of(row.plan.columns)
    return columns.label if columns.judges else ""


def data_name(source: str) -> str:
    """Return the display name of data: the name of their folder, or "Sample"."""
    return tr("Sample") if source == SAMPLE else name_of_folder(Path(source))


def _changed_parameters_text(row: Pipeline) -> str:
    return " · ".join(
        f"{label} {text}" for label, text in changed_parameters(row.plan).items()
    )


def _all_parameters_text(row: Pipeline) -> str:
    return "\n".join(
        f"{label} {text}" for label, text in parameter_texts(row.plan).items()
    )


_RUN_STATE_TEXTS = {
    RunState.DONE: tr("run {key}, done"),
    RunState.RUNNING: tr("run {key}, running"),
    RunState.PAUSED: tr("run {key}, paused"),
    RunState.QUEUED: tr("run {key}, queued"),
}


def _state_text(row: Pipeline) -> str:
    """Return the state of a pipeline's run as a text.

    Without a run, the text is "not run". For an interrupted or a failed
    run, the text counts the finished folds.
    """
    if row.state is None:
        return tr("not run")
    interrupted = tr("interrupted at {done} of {n} folds")
    return _RUN_STATE_TEXTS.get(row.state, interrupted).format(
        key=row.run, done=row.folds_done, n=row.n_folds
    )


def _time_text(row: Pipeline) -> str:
    return (
        duration(row.seconds)
        if row.finished
        else tr("≈ {time}").format(time=duration(row.seconds))
    )


def _time_hint(row: Pipeline) -> str:
    if row.finished:
        return tr("Measured.")
    if row.guessed:
        return tr("A rough estimate: no run on these data is finished.")
    return tr("Estimated from the finished runs on these data.")


_COLUMNS = (
    Column(
        "parameters",
        tr("parameters"),
        value=lambda row: _changed_parameters_text(row) or tr("defaults"),
        tooltip=tr("Parameters that differ from their defaults"),
        hint=_all_parameters_text,
        tone="muted",
        width=132,
    ),
    Column(
        "seconds",
        tr("time"),
        "right",
        value=_time_text,
        tooltip=tr("Measured time of a finished run, or estimated time"),
        hint=_time_hint,
        sort=lambda row: row.seconds,
        tone="muted",
        width=76,
    ),
    Column(
        "state",
        tr("status"),
        value=_state_text,
        tooltip=tr(
            "Finished runs are used as they are; interrupted runs are resumed, others started"
        ),
        tone=lambda row: "ok" if row.finished else "muted",
        width=184,
    ),
)
