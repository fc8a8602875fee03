"""Opens data and other files: by dialog, drop, command line, recent list or plan, and those of last time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from rankstudio.engine.analysis.comparisons.batch import is_comparison
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.cost_files import holds_costs
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_sets import holds_feature_set
from rankstudio.engine.data.fold_files import path_to_open
from rankstudio.engine.data.formats.joined_files import holds_logs
from rankstudio.engine.data.table_preview import TablePreview, preview_table
from rankstudio.engine.errors import (
    ColumnValueError,
    DatasetError,
    NoJudgmentsError,
    NoQueriesError,
    ParameterError,
    RankStudioError,
    SeveralDatasetsError,
    UnknownColumnsError,
)
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.plan.toml import load_plan, with_data_beside
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.pair_sources import pair_source
from rankstudio.engine.support.files import is_there
from rankstudio.ui.background.worker import Outcome
from rankstudio.ui.data.panel import read_as_sentence
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.study_store import READING_SAMPLE, is_study, read_sample_run
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.study.dialogs import ColumnsDialog, OpenDialog, kind_of
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.notice import Question

_JUDGMENT_FILTER = tr("Judgments (*.txt *.csv *.tsv *.json *.qrels);;All files (*)")
# more datasets of a folder are offered by a dialog, not by buttons
_MAX_OFFERED_DATASETS = 4
_DROP_EVENTS = (QEvent.Type.DragEnter, QEvent.Type.Drop)


class OpenController(Controller):
    """Has the loader open data in every way that the user can ask for, and shows the data in the session.

    Files of other kinds, such as studies and models, are passed to the functions of :meth:`hand_over`.

    Parameters
    ----------
    theme, models, settings
    parent : QWidget
        Window over which dialogs open, and on which files can be dropped.
    """

    opened = Signal(object)
    """Other data are open (FoldedDataset)."""
    dataAsked = Signal()
    """Data are open that the user has asked for; the Data page is to be shown."""
    runAsked = Signal()
    """Data are open whose plan is to be run at once."""
    offered = Signal(str, str, object)
    """A message: text, level, and the actions of its buttons by their labels."""
    warned = Signal(str)
    noted = Signal(str)
    """A note that data are read from disk, which can be hidden when the user does something else."""

    def __init__(
        self, theme: Theme, models: Models, settings: Settings, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._settings = settings
        self._session = models.session
        self._runs = models.runs
        self._loader = models.loader
        self._window = parent

        # What follows once the data are open: a run of the plan, the Data page.
        self._run_when_open = False
        self._shows_data_when_open = False

        # Functions for files of other kinds, which `hand_over` sets.
        self._openers: Mapping[str, Callable[[Any], object]] = {}
        models.loader.opened.connect(self._show)
        models.loader.refused.connect(self._ask_again)
        self._worker = models.task_worker

        # The columns that the user has chosen, by the paths of tables.
        self._columns: dict[str, DataColumns] = {}
        parent.setAcceptDrops(True)
        parent.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Open the paths that the user drops on the window.

        The paths are a file, a folder, or the parts of a fold. Return
        True for events of dropping, which are not handled further.
        """
        # When paths enter the window, they have to be accepted to be dropped later.
        if (
            isinstance(event, QDragEnterEvent | QDropEvent)
            and event.type() in _DROP_EVENTS
        ):
            paths = [
                url.toLocalFile()
                for url in event.mimeData().urls()
                if url.isLocalFile()
            ]
            if paths:
                event.acceptProposedAction()
                if event.type() == QEvent.Type.Drop:
                    self.open_paths(paths)
            return True
        return super().eventFilter(watched, event)

    def hand_over(self, **takers: Callable[[Any], object]) -> None:
        """Set the functions that open files other than data, by their kinds.

        ``takers`` has a function for each kind, such as "study". Each
        function takes a path. But that of "models" takes a list of
        paths, and that of "code" the path of a plan and the function to
        call once the methods of the plan are known.
        """
        self._openers = takers

    @Slot()
    def ask(self) -> None:
        """Ask for a file or folder, and open it."""
        self._ask_in(self._folder())

    def _ask_in(self, folder: str) -> None:
        """Ask for data in a dialog that begins in a folder, and open them."""
        paths = self._choose(self._window, folder)
        if paths:
            self.open_paths(paths)

    def choose_data(self, parent: QWidget) -> tuple[list[str], str]:
        """Ask for data without opening them.

        Returns
        -------
        paths : list of str
            The chosen folders with folds and files of documents.
        problem : str
            Why the other chosen paths are not data, as a sentence; "" if all are.
        """
        paths = self._choose(parent, self._folder())
        kinds = {path: kind_of(Path(path)) for path in paths}
        refused_paths = [path for path in paths if kinds[path] in ("", "study", "plan")]
        text = tr("{file} is not a data file. Choose a data file or a folder of folds.")
        problem = text.format(file=Path(refused_paths[0]).name) if refused_paths else ""
        return [path for path in paths if path not in refused_paths], problem

    def _folder(self) -> str:
        """Return the folder of the data that were opened last, or the home folder."""
        recent = [path for path in self._settings.recent if not is_study(path)]
        return str(Path(recent[0]).parent if recent else Path.home())

    def _choose(self, parent: QWidget, folder: str) -> list[str]:
        """Return the paths that the user chooses; empty if the dialog is cancelled.

        The dialog opens over ``parent``, and begins in ``folder``.
        """
        dialog = OpenDialog(self._theme, parent, folder)
        paths = dialog.paths() if dialog.exec() else []
        dialog.deleteLater()
        return paths

    @property
    def commands(self) -> dict[str, Callable[[], object]]:
        """Functions of the commands of opening, by their keys."""
        return {
            "open": self.ask,
            "sample": self.load_sample,
            "columns": self.ask_columns,
        }

    @Slot()
    def ask_columns(self) -> None:
        """Ask for the columns of the open table, and read the table again with these."""
        # The user wants to be asked, so there is no problem: "".
        plan = self._session.plan
        self._ask_columns(plan.data, plan, "")

    @Slot(str, object, object)
    def _ask_again(self, path: str, reading_plan: Plan, outcome: Outcome) -> None:
        """Ask for the information that is missing to open the data at ``path``, or report why they were not opened.

        ``reading_plan`` is the plan that says how the data are read;
        ``outcome`` has the error, and its text.
        """
        match outcome.error:
            case SeveralDatasetsError():
                self._offer_datasets(outcome.error.folder, outcome.error.found)
            case UnknownColumnsError():
                self._ask_columns(path, reading_plan, outcome.error.problem)
            case ColumnValueError():
                self._ask_columns(path, reading_plan, outcome.text, outcome.error.cell)
            case NoJudgmentsError():
                self._ask_judgments(path, reading_plan, outcome.text)
            case NoQueriesError():
                self._ask_queries(path, reading_plan, outcome.text)
            case _:
                self.failed.emit(outcome.text)

    def _offer_datasets(self, folder: Path, paths: Sequence[Path]) -> None:
        """Offer the datasets at some paths in a folder: each by a button, or by a dialog if they are many."""
        text = tr("{folder} holds {n} datasets. Choose one.").format(
            folder=folder.name, n=len(paths)
        )
        actions = {path.name: partial(self.open_path, str(path)) for path in paths}
        if len(paths) > _MAX_OFFERED_DATASETS:
            actions = {tr("Open…"): partial(self._ask_in, str(folder))}
        self.offered.emit(text, "info", actions)

    def _ask_columns(
        self, path: str, reading_plan: Plan, problem: str, cell: str = ""
    ) -> None:
        """Read the first rows of a table, ask for its columns, and open it with these.

        Parameters
        ----------
        path : str
        reading_plan : Plan
            The plan that says how the data are read.
        problem : str
            Why the program asks, as a sentence; "" if the user wants to be asked.
        cell : str
            A text in a column of numbers, which may stand for a missing
            value; "" for none.
        """
        table_columns = DataColumns.of(reading_plan.columns)

        def show(preview: TablePreview) -> None:
            """Ask for the columns in a dialog that shows the first rows.

            ``preview`` has the columns and the first rows of the table.
            The path of the table, and the reason for asking, are
            parameters of the enclosing method.
            """
            dialog = ColumnsDialog(
                self._theme, preview, table_columns, problem, self._window, cell=cell
            )

            def accept() -> None:
                """Open the table with the columns that the user has chosen in the dialog.

                The dialog, the path of the table and the plan for
                reading it are those of the enclosing function.
                """
                # The dialog does not ask for these properties, which stay.
                kept_properties = {
                    name: getattr(table_columns, name)
                    for name in ("judgments", "feature_set", "format")
                }
                self._open_with(
                    path, reading_plan, replace(dialog.columns(), **kept_properties)
                )

            dialog.accepted.connect(accept)

            # Without an answer, the reason for the question remains as
            # an error.
            dialog.rejected.connect(
                lambda: self.failed.emit(problem) if problem else None
            )
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

        def fail(text: str) -> None:
            """Report `problem`, which explains more than a failure to read the rows."""
            self.failed.emit(problem or text)

        label = tr("Reading the columns")
        self._worker.task(
            label,
            preview_table,
            Path(path),
            table_columns.format,
            on_done=show,
            on_error=fail,
            slot="columns",
        )

    def _ask_queries(self, path: str, reading_plan: Plan, problem: str) -> None:
        """Ask whether to read the documents of a file without queries as one ranking.

        With the user's consent the file is opened so. Otherwise a
        message says that it was not opened. ``path`` is that of the
        file; ``reading_plan`` says all else about the reading.
        ``problem``, the error, is not needed, as the question says it.
        """
        text = tr(
            "{name} gives no queries. Its documents can be read as one ranking, which is divided into folds "
            "by documents."
        ).format(name=Path(path).name)
        title = tr("No queries")
        do = tr("Open as one ranking")
        if Question.ask(self._window, title, text, do):
            columns = replace(DataColumns.of(reading_plan.columns), no_queries=True)
            self._open_with(path, reading_plan, columns)
        else:
            self.said.emit(tr("{name} was not opened.").format(name=Path(path).name))

    def _ask_judgments(self, path: str, reading_plan: Plan, problem: str) -> None:
        """Ask for files of judgments (relevance labels), and open the feature logs with these.

        Without an answer, report ``problem``: why the logs could not be
        opened without judgments. ``path`` is that of the logs;
        ``reading_plan`` says all else about their reading.
        """
        title = tr("Judgments for {name}").format(name=Path(path).name)

        # The dialog begins in the folder of the logs.
        folder = str(Path(path) if Path(path).is_dir() else Path(path).parent)
        names, _ = QFileDialog.getOpenFileNames(
            self._window, title, folder, _JUDGMENT_FILTER
        )
        if names:
            self._open_judged(path, reading_plan, names)
        else:
            self.failed.emit(problem)

    def _open_judged(
        self, path: str, reading_plan: Plan, judgments: Sequence[str]
    ) -> None:
        """Open feature logs with files of judgments; several files are those of several judges.

        Report an error if these files cannot be used together. ``path``
        is that of the logs; ``reading_plan`` says all else about their
        reading.
        """
        # The label column that was chosen before is not used: it has
        # the labels of one judge, who may not be the author of any of
        # these files.
        settings = {
            **DataColumns.of(reading_plan.columns).as_dict(),
            "judgments": list(judgments),
            "label": "",
        }
        try:
            columns = DataColumns.of(settings)
        except ParameterError as error:
            self.failed.emit(str(error))
            return
        self._open_with(path, reading_plan, columns)

    def _open_with(self, path: str, reading_plan: Plan, columns: DataColumns) -> None:
        """Open the data at a path, with the given roles of columns.

        ``reading_plan`` says all else about the reading, such as the
        scaling. The columns are remembered, for the next time that the
        data are opened.
        """
        self._columns[path] = columns
        is_same_path = path == self._session.plan.data

        # Data with queries and a single ranking have different measures
        # and selection criteria: the plan is kept only for data of the
        # same kind.
        keeps_plan = (
            is_same_path and columns.no_queries == self._session.plan.one_ranking
        )

        # The loader gets the plan that says how to read, and the plan
        # to show afterwards: None for a new one.
        plan = reading_plan.changed(columns=columns.as_dict())
        self._shows_data_when_open = not is_same_path
        self._loader.open(path, plan, plan if keeps_plan else None)

    @Slot()
    def load_sample(self) -> None:
        """Open the bundled sample, with its finished run if no data, run or plan were open or chosen."""
        has_data_or_runs = self._session.dataset is not None or bool(self._runs.records)
        if has_data_or_runs or not self._session.plan.agrees(Plan(SAMPLE)):
            self.open_path(SAMPLE)
        else:
            self._open_sample_run(None)  # with the plan of its run

    def show_sample_run(self) -> None:
        """Show the finished run of the sample at once, before the window is visible.

        The data of the sample are opened later. If the run cannot be
        read, nothing is shown; `load_sample` then opens the data.
        """
        with suppress(RankStudioError):
            self._show_run(read_sample_run())

    def _show_run(self, record: RunRecord) -> None:
        """Add a run to the list, show it, and have its data opened."""
        self._runs.add_renumbered(record)

        # `RunRestorer` then opens the data of the run
        look_at(self._session, self._runs, record)
        self.opened.emit(record.dataset)

    def _open_sample_run(self, plan: Plan | None) -> None:
        """Show the finished run of the sample, and open its data.

        If ``plan`` differs from the plan of the run, open the data
        only; None stands for the plan of the run. The run is read on a
        worker thread.
        """

        def show(record: RunRecord) -> None:
            """Show the run of the sample, unless something else was opened meanwhile.

            ``record`` is the finished run of the sample. If the
            enclosing method was given another plan than that of the
            run, only open the data.
            """
            if (
                self._session.dataset is not None
                or self._loader.busy
                or self._runs.records
            ):
                return
            if plan is not None and not plan.agrees(record.plan):
                self._loader.open(SAMPLE, plan, plan)
                return
            self._show_run(record)

        def fail(_: str) -> None:
            """Open the data with `plan`; they are of use without the finished run."""
            self._loader.open(SAMPLE, plan or self._session.plan, plan)

        self._worker.task(
            READING_SAMPLE, read_sample_run, on_done=show, on_error=fail, slot="sample"
        )

    @property
    def is_first_start(self) -> bool:
        """Whether the settings contain nothing of an earlier session."""
        settings = self._settings
        return (
            settings.plan is None
            and not settings.recent
            and not settings.text("study/file")
        )

    def open_paths(self, paths: Sequence[str]) -> None:
        """Open the paths that the user has chosen together.

        The paths may be one file or folder, models, feature logs with
        judgments, or the files of one fold. Files that are not data are
        passed to the functions set by `hand_over`.
        """
        # Files of a search engine's feature set are no data, but name the features.
        if len(paths) == 1 and holds_feature_set(Path(paths[0])):
            self._openers["feature_set"](paths[0])
            return
        if paths and all(_holds_models(Path(path)) for path in paths):
            self._openers["models"](list(paths))
            return
        logs = [path for path in paths if holds_logs(Path(path))]
        other_paths = [path for path in paths if path not in logs]

        # A single file of judgments in the folder of the log is found
        # when the log is opened. Others have to be passed on: one in
        # another folder, or several ones.
        is_elsewhere = any(
            Path(other).parent != Path(log).parent
            for other in other_paths
            for log in logs
        )
        needs_judgments = is_elsewhere or len(other_paths) > 1
        if len(logs) == 1 and other_paths and needs_judgments:
            plan = self._session.plan.changed(columns={})
            self._open_judged(str(Path(logs[0]).absolute()), plan, other_paths)
            return

        # The files of one fold are opened by one of them, or by their folder.
        try:
            self.open_path(path_to_open(paths))
        except DatasetError as error:
            self.failed.emit(str(error))

    @Slot(str)
    def open_path(self, path: str, *, run: bool = False) -> None:
        """Open data, a plan, a model, preferences, a study or ``"sample"``.

        With ``run``, the plan is run once the data are open.
        """
        # The kind of a file that another part of the window opens, such
        # as a study; None for data and plans, which are opened here.
        kind = next(
            (
                kind
                for kind, is_of_kind in _TESTS_BY_KIND.items()
                if is_of_kind(Path(path))
            ),
            None,
        )
        if kind is not None:
            self._openers[kind]([path] if kind == "models" else path)
            return

        # Methods whose code a plan names are added before the plan is
        # read: the function for "code" gets the path of the plan, and
        # what to call afterwards.
        if Path(path).suffix.lower() == ".toml":
            self._openers["code"]((path, partial(self._open_plan, path, run=run)))
        else:
            self._open_data(path, None, run=run)

    def _open_plan(self, path: str, *, run: bool) -> None:
        """Open the data of a plan, by the path of its file; the methods of the plan were added before.

        With ``run``, the plan is run once the data are open.
        """
        # A relative path of data is that from the folder of the plan.
        try:
            plan = with_data_beside(load_plan(path), path)
        except RankStudioError as error:
            self.failed.emit(str(error))
            return
        self._open_data(plan.data, plan, run=run)

    def _open_data(self, path: str, plan: Plan | None, *, run: bool) -> None:
        """Open the data at a path.

        The data are read as ``plan`` says. Without a plan, they are
        read as the session's plan says, with the columns that the user
        has chosen for them before. With ``run``, the plan is run once
        the data are open.
        """
        self._run_when_open = run
        absolute_path = path if path == SAMPLE else str(Path(path).absolute())
        columns = self._columns.get(absolute_path, DataColumns())
        reading_plan = plan or self._session.plan.changed(columns=columns.as_dict())

        # The data of a plan do not need the Data page.
        self._shows_data_when_open = plan is None and not run

        # The last plan is the one to show; None for a new one.
        self._loader.open(absolute_path, reading_plan, plan)

    @Slot(str, str)
    def read_again(self, name: str, value: str) -> None:
        """Read the open data again with another policy for missing values or scaling.

        ``name`` is the field of the plan that has the policy, ``value``
        its new value. Without open data, only the plan is changed.
        """
        if self._session.dataset is None:
            self._session.change(tr("how files are read"), **{name: value})
            return
        self._run_when_open = False
        self._shows_data_when_open = False
        plan = self._session.plan.changed(**{name: value})
        self._loader.open(plan.data, plan, plan)

    @Slot(str)
    def use_label(self, name: str) -> None:
        """Read the open data again with the label of another judge."""
        self._run_when_open = False
        plan = self._session.plan
        self._open_with(
            plan.data, plan, replace(DataColumns.of(plan.columns), label=name)
        )

    def restore(self) -> None:
        """Open the data that were open at the end of the last session, with their plan.

        Data that do not exist any more are reported.
        """
        plan = self._settings.plan
        data = self._settings.text("study/data")
        if plan is None or not data or plan.data != data:
            return
        if data == SAMPLE or is_there(Path(data)):
            self._shows_data_when_open = False

            # The finished run of the sample is in no study: a study
            # that is opened again has its own runs.
            if data == SAMPLE and not self._settings.text("study/file"):
                self._open_sample_run(plan)
            else:
                self._loader.open(data, plan, plan)
        else:
            self.warned.emit(
                tr("{data} was open last time but no longer exists.").format(data=data)
            )

    @Slot(object, str, object)
    def _show(self, dataset: FoldedDataset, path: str, plan: Plan | None) -> None:
        """Show newly opened data in the session, with notes on them, and run the plan if asked for.

        ``path`` is that of the data; ``plan`` is the plan to show, None
        for a new one.
        """
        self._runs.show(None)  # the shown run was on other data
        self._session.open(dataset, path, plan)
        if path != SAMPLE:
            self._settings.add_recent(path)
        self.opened.emit(dataset)

        # Before the notes, as a change of the page hides some of them.
        if self._shows_data_when_open:
            self._shows_data_when_open = False
            self.dataAsked.emit()

        # Say how a table was read: it has a column of the query, or was read without.
        if dataset.origin.read_as.qid or dataset.origin.columns.no_queries:
            self.said.emit(read_as_sentence(dataset))
        if dataset.warnings:
            # Only the first note is shown, with the number of the
            # others. That the data stay on disk is no warning.
            n_more = len(dataset.warnings) - 1
            text = tr("{note} ({more} more notes.)") if n_more else "{note}"
            is_only_about_disk = dataset.from_disk and not n_more
            signal = self.noted if is_only_about_disk else self.warned
            signal.emit(text.format(note=dataset.warnings[0], more=n_more))
        if self._run_when_open:
            self._run_when_open = False
            self.runAsked.emit()


def _holds_models(path: Path) -> bool:
    """Return whether a file or a folder contains models, and not feature logs, which are JSON, too."""
    from rankstudio.engine.export.model_files import holds_models  # noqa: PLC0415 - not needed at the start

    return holds_models(path) and not holds_logs(path)


def _holds_preferences(path: Path) -> bool:
    """Return whether a file contains preferences or clicks that a plug-in reads."""
    source = pair_source()
    return source is not None and bool(imported(source.recognise)(path))


_TESTS_BY_KIND: dict[str, Callable[[Path], bool]] = {
    "study": is_study,
    "feature_set": holds_feature_set,
    "costs": holds_costs,
    "method": lambda path: path.suffix.lower() == ".py",
    "models": _holds_models,
    "preferences": _holds_preferences,
    "comparison": lambda path: path.suffix.lower() == ".toml" and is_comparison(path),
}
"""Kinds of files other than data, each with a function that recognizes the kind."""
