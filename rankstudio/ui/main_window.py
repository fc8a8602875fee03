"""The main window: puts the places together and wires them to study, runs and workers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QCloseEvent, QDesktopServices, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMainWindow, QMessageBox, QStackedWidget, QVBoxLayout, QWidget

import rankstudio
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.plan import SAMPLE, Plan, load_plan, save_plan
from rankstudio.engine.export.code import as_command, as_python
from rankstudio.ui.actions import Actions
from rankstudio.ui.crash import CrashReports, data_folder
from rankstudio.ui.current import Current
from rankstudio.ui.data.place import DataPlace
from rankstudio.ui.desk import Bench, warm_up
from rankstudio.ui.export.dialog import ExportDialog
from rankstudio.ui.exports import export_items
from rankstudio.ui.guide import GuideWindow
from rankstudio.ui.inspect.place import InspectPlace
from rankstudio.ui.jobs import Job
from rankstudio.ui.loader import Loader, LoadingBar
from rankstudio.ui.menus import Menus
from rankstudio.ui.method.place import MethodPlace
from rankstudio.ui.open_dialog import OpenDialog
from rankstudio.ui.record import RunRecord, RunState
from rankstudio.ui.results.place import ResultsPlace
from rankstudio.ui.run.place import RunPlace
from rankstudio.ui.runs import Runner, Runs, engine_run
from rankstudio.ui.settings import Settings
from rankstudio.ui.status import StatusBar
from rankstudio.ui.study import Study
from rankstudio.ui.theme import Theme
from rankstudio.ui.toolbar import MainToolBar
from rankstudio.ui.welcome import Welcome
from rankstudio.ui.widgets import Notice
from rankstudio.ui.worker import Worker
from rankstudio.ui.workspace import GAP, Workspace

_ASK_AFTER_SECONDS = 30.0  # of work on a run, before closing the window asks
_AUTOSAVE_MILLISECONDS = 400


class MainWindow(QMainWindow):
    """The window.

    Parameters
    ----------
    theme : Theme
    settings : Settings
    runner : callable
        What carries out a plan; the engine's unless a test gives another.
    """

    crashed = Signal(str)
    """Emitted from whatever thread with a sentence for the user."""

    def __init__(self, theme: Theme, settings: Settings, runner: Runner = engine_run) -> None:
        super().__init__()
        self.setObjectName("main-window")
        self.setAcceptDrops(True)
        self._theme, self._settings = theme, settings
        self._run_when_open = False
        self._make_models(runner)
        self._make_places()
        self._lay_out()
        self._connect()
        self._restore_layout()
        self._update()

    # Making

    def _make_models(self, runner: Runner) -> None:
        self.study = Study(self)
        self.desk = Worker("desk", interval=16, parent=self)
        self._run_worker = Worker("runs", parent=self)
        self.runs = Runs(self._run_worker, runner, self)
        self._bench = Bench()
        self.current = Current(self.study, self.runs, self.desk, self._bench, self)
        self.loader = Loader(self.desk, self)
        self._autosave = QTimer(self)
        self._autosave.setSingleShot(True)
        self._autosave.setInterval(_AUTOSAVE_MILLISECONDS)

    def _make_places(self) -> None:
        theme, study = self._theme, self.study
        self.data = DataPlace(theme, study, self.desk, self)
        self.method = MethodPlace(theme, study, self)
        self.run = RunPlace(theme, study, self.runs, self.current, self)
        self.inspect = InspectPlace(theme, study, self.current, self.desk, self._bench, self)
        self.results = ResultsPlace(theme, self.runs, self)
        self.notice = Notice(theme)
        self.loading = LoadingBar()
        self.welcome = Welcome(theme)
        self._guide: GuideWindow | None = None

    def _lay_out(self) -> None:
        self.commands = Actions(self, self._theme)
        self.toolbar = MainToolBar(self.commands, self._theme)
        self.addToolBar(self.toolbar)
        self.menus = Menus(self.commands, self.toolbar, self.study, self._theme, self._settings, self)
        self.status = StatusBar()
        self.setStatusBar(self.status)
        self.workspace = Workspace(
            (self.data.panel, self.method.form),
            self.run.curves,
            (self.run.candidates, self.run.heat),
            (self.inspect.features, self.inspect.inspector),
            self.results.panel,
        )
        self._pages = QStackedWidget()
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self.workspace)
        messages = QVBoxLayout()
        messages.setContentsMargins(GAP, 0, GAP, 0)
        messages.addWidget(self.notice)
        messages.addWidget(self.loading)
        centre = QWidget()
        centre.setProperty("role", "ground")
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(messages)
        column.addWidget(self._pages, 1)
        self.setCentralWidget(centre)

    def _connect(self) -> None:
        self.commands.connect(
            open=self.ask_open,
            sample=self.open_sample,
            cancel_load=self.loader.cancel,
            save_plan=self.ask_save_plan,
            export=self.show_export,
            copy_command=self.copy_command,
            copy_python=self.copy_python,
            quit=self.close,
            undo=self.study.undo.undo,
            redo=self.study.undo.redo,
            pin=lambda: self._toggle("pinned"),
            ban=lambda: self._toggle("banned"),
            best=lambda: self.study.choose(None, None),
            statistics=self.data.panel.open_details,
            next_fold=lambda: self._turn_fold(1),
            previous_fold=lambda: self._turn_fold(-1),
            run=self.start_run,
            pause=self.toggle_pause,
            step=self.step,
            stop=self.stop,
            stop_all=self.runs.stop_all,
            guide=self.show_guide,
            log=self._show_log,
            about=self._about,
        )
        self.welcome.openAsked.connect(self.ask_open)
        self.welcome.sampleAsked.connect(self.open_sample)
        self.welcome.recentChosen.connect(self.open_path)
        self.menus.recentChosen.connect(self.open_path)
        self.toolbar.valueMoved.connect(self._glide)
        self.toolbar.themeToggled.connect(self.menus.toggle_theme)
        self.loading.cancelled.connect(self.loader.cancel)
        self.loader.started.connect(self.loading.begin)
        self.loader.started.connect(self._update)
        self.loader.progressed.connect(self.loading.set_share)
        self.loader.ended.connect(self._end_loading)
        self.loader.opened.connect(self._show_dataset)
        self.data.foldChosen.connect(self._stop_following)
        self.run.candidates.picked.connect(self.inspect.inspect)
        self.run.grown.connect(self.inspect.show_growing)
        self.inspect.inspected.connect(self.run.candidates.choose)
        for failed in (self.loader.failed, self.current.failed, self.data.failed, self.inspect.failed):
            failed.connect(self.say_error)
        self.crashed.connect(self.say_error)
        self.study.datasetChanged.connect(self._update)
        self.study.planChanged.connect(self._autosave.start)
        self.study.undo.indexChanged.connect(self._update)
        self._autosave.timeout.connect(self._keep_plan)
        self.current.changed.connect(self._show_value)
        self.runs.added.connect(self._show_runs)
        self.runs.changed.connect(self._show_runs)
        self.runs.ended.connect(self._end_run)
        self.runs.shownChanged.connect(self._show_record)
        self._run_worker.drained.connect(self._refresh)
        self.desk.drained.connect(self._show_workers)

    # Opening

    @Slot()
    def ask_open(self) -> None:
        """Ask for a file or folder, and open it."""
        recent = self._settings.recent
        dialog = OpenDialog(self, str(Path(recent[0]).parent) if recent else str(Path.home()))
        if dialog.exec():
            self.open_path(dialog.path())
        dialog.deleteLater()

    @Slot()
    def open_sample(self) -> None:
        """Open the bundled sample."""
        self.loader.open(SAMPLE, self.study.plan)

    @Slot(str)
    def open_path(self, path: str, *, run: bool = False) -> None:
        """Open a LETOR file, a folder of folds, or a plan; with ``run`` run it then."""
        self._run_when_open = run
        if path == SAMPLE:
            self.open_sample()
        elif Path(path).suffix.lower() == ".toml":
            try:
                plan = load_plan(path)
            except RankStudioError as error:
                self.say_error(str(error))
                return
            self.loader.open(plan.data, plan, plan)
        else:
            self.loader.open(str(Path(path).absolute()), self.study.plan)

    def restore_study(self) -> None:
        """Open what was open at the end of the last time, with its plan."""
        plan = self._settings.plan
        data = self._settings.text("study/data")
        if plan is None or not data or plan.data != data:
            return
        if data == SAMPLE or Path(data).exists():
            self.loader.open(data, plan, plan)
        else:
            self.notice.say(f"{data} was open the last time and is no longer there.", "warning")

    @Slot(object, str, object)
    def _show_dataset(self, dataset: FoldedDataset, path: str, plan: Plan | None) -> None:
        self.notice.dismiss()
        self.study.open(dataset, path, plan)
        self.runs.show(None)
        self._pages.setCurrentWidget(self.workspace)
        self.workspace.setFocus()
        if path != SAMPLE:
            self._settings.add_recent(path)
            self.menus.show_recent()
        for warning in dataset.warnings[:1]:
            more = len(dataset.warnings) - 1
            self.notice.say(warning + (f" ({more} more such notes.)" if more else ""), "warning")
        self.status.say(f"{dataset.name} is open")
        if self._run_when_open:
            self._run_when_open = False
            self.start_run()

    @Slot()
    def _end_loading(self) -> None:
        self.loading.hide()
        self._update()

    # Running

    @Slot()
    def start_run(self) -> None:
        """Run the plan, behind the runs that are there."""
        self._start(paused=False)

    def _start(self, *, paused: bool) -> None:
        dataset = self.study.dataset
        if dataset is None or not self.method.form.commit():
            return
        self.study.choose(None, None)
        self.run.follow(self.study.fold is not None)
        self.runs.start(self.study.plan, dataset, paused=paused)

    @Slot()
    def toggle_pause(self) -> None:
        """Pause the run, or go on with it."""
        current = self.runs.current
        if current is not None and current.state is RunState.PAUSED:
            self.runs.resume()
        else:
            self.runs.pause()

    @Slot()
    def step(self) -> None:
        """Do one step of the paused run; start a paused one where there is none."""
        if self.runs.current is None:
            self._start(paused=True)
        self.runs.step()

    @Slot()
    def stop(self) -> None:
        """Stop the run, or loading."""
        if self.loader.busy:
            self.loader.cancel()
        else:
            self.runs.stop()

    @Slot()
    def _stop_following(self) -> None:
        self.run.follow(False)

    @Slot()
    def _refresh(self) -> None:
        """Draw what the run's worker has brought: once a delivery, not once an event."""
        self.run.refresh()
        self.results.refresh()
        self._show_runs()

    @Slot()
    def _show_runs(self) -> None:
        current = self.runs.current
        waiting = sum(record.state is RunState.QUEUED for record in self.runs.records)
        self.status.show_run(current, waiting)
        self._show_workers()
        self._update()

    @Slot(object)
    def _end_run(self, record: RunRecord) -> None:
        self.status.show_run(record, 0)
        if record.state is RunState.FAILED:
            self.say_error(record.failure)
        self._show_workers()
        self._update()

    @Slot()
    def _show_record(self) -> None:
        """Go back to the data of a run that is looked at again."""
        record = self.runs.shown
        if record is not None and record.dataset is not self.study.dataset:
            self.study.open(record.dataset, record.plan.data, record.plan)

    @Slot()
    def _show_workers(self) -> None:
        self.status.show_workers(bool(self.desk.jobs) + bool(self._run_worker.jobs))

    # The choice

    @Slot(float)
    def _glide(self, value: float) -> None:
        self.study.choose(value, self.study.choice.k, gliding=True)

    @Slot()
    def _show_value(self) -> None:
        grid = self.study.grid
        self.toolbar.set_grid(self.study.grid_values, grid.label if grid else "")
        self.toolbar.set_value(self.current.value)
        self._update()

    def _toggle(self, name: str) -> None:
        if self.inspect.feature is not None:
            self.study.toggle(name, self.inspect.feature)

    def _turn_fold(self, by: int) -> None:
        dataset = self.study.dataset
        if dataset is None:
            return
        numbers = [fold.number for fold in dataset.folds]
        position = numbers.index(self.study.fold) if self.study.fold in numbers else -1
        self.run.follow(False)
        self.study.look_at(numbers[(position + by) % len(numbers)])

    # Taking home

    @Slot()
    def show_export(self) -> None:
        """Open the export dialog."""
        places = self.run, self.inspect, self.results
        items = export_items(self.study, self.runs, self.current, *places)
        folder = self._settings.text("export/folder")
        dialog = ExportDialog(self._theme, items, Path(folder) if folder else None, self)
        dialog.exported.connect(lambda _, path: self._settings.set("export/folder", str(path.parent)))
        dialog.exec()
        dialog.deleteLater()

    @Slot()
    def ask_save_plan(self) -> None:
        """Ask where to, and save the plan."""
        path, _ = QFileDialog.getSaveFileName(self, "Save plan", "plan.toml", "Plans (*.toml)")
        if path:
            self._try(lambda: save_plan(self.study.plan, path), f"The plan is in {path}.")

    @Slot()
    def copy_command(self) -> None:
        """Copy the command that does the run in a terminal."""
        QGuiApplication.clipboard().setText(as_command(self.study.plan))
        self.status.say("The command is on the clipboard")

    @Slot()
    def copy_python(self) -> None:
        """Copy a program that does the run."""
        QGuiApplication.clipboard().setText(as_python(self.study.plan))
        self.status.say("The program is on the clipboard")

    @Slot()
    def _keep_plan(self) -> None:
        if self.study.dataset is not None:
            self._try(lambda: self._settings.save_plan(self.study.plan))
            self.status.show_saved()

    def _try(self, act: Callable[[], object], said: str = "") -> None:
        try:
            act()
        except RankStudioError as error:
            self.say_error(str(error))
        else:
            self.status.say(said) if said else None

    # Messages and help

    @Slot(str)
    def say_error(self, text: str) -> None:
        """Show what went wrong; everything else stays as it is."""
        self.notice.say(text, "error")

    def tell_of_crash(self, reports: CrashReports) -> None:
        """Say that the last time went wrong, and offer to read how."""
        self.notice.say("Something failed the last time RankStudio was open.", "info", "Copy report")

        def copy() -> None:
            QGuiApplication.clipboard().setText(reports.last())
            self.notice.dismiss()

        self.notice.acted.connect(copy, Qt.ConnectionType.SingleShotConnection)
        self.notice.closed.connect(reports.forget, Qt.ConnectionType.SingleShotConnection)

    @Slot()
    def show_guide(self) -> None:
        """Open the guide."""
        if self._guide is None:
            self._guide = GuideWindow(self._theme, self)
        self._guide.show()
        self._guide.raise_()

    @Slot()
    def _show_log(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(data_folder())))

    @Slot()
    def _about(self) -> None:
        QMessageBox.about(
            self,
            "About RankStudio",
            f"<b>RankStudio {rankstudio.__version__}</b><p>Feature selection in learning to rank: exact, fast, and "
            "in a window.</p><p>MIT licence.</p>",
        )

    # State

    def warm_up(self) -> None:
        """Load and compile what runs need, in the background."""
        self._run_worker.submit(Job("Preparing the engine", warm_up()))

    @Slot()
    def _update(self) -> None:
        """Enable what can be done now, and name the window after the data."""
        dataset, current = self.study.dataset, self.runs.current
        there, model = dataset is not None, self.current.model is not None
        working = current is not None
        paused = working and current is not None and current.state is RunState.PAUSED
        undo = self.study.undo
        self.commands.enable(
            run=there, step=there and (not working or paused), pause=working, stop=working or self.loader.busy,
            stop_all=self.runs.busy, export=there, save_plan=there, copy_command=there, copy_python=there,
            cancel_load=self.loader.busy, undo=undo.canUndo(), redo=undo.canRedo(), statistics=there,
            pin=model, ban=model, best=there, next_fold=there, previous_fold=there,
        )  # fmt: skip
        self.toolbar.slider.setEnabled(there and self.study.fold is not None and self.study.grid is not None)
        self.menus.show_pause(paused)
        self.menus.show_undo()
        self.setWindowTitle(f"{dataset.name} – RankStudio" if dataset else "RankStudio")

    def _restore_layout(self) -> None:
        self.setMinimumSize(960, 600)
        self.resize(1440, 900)
        geometry = self._settings.bytes("window/geometry")
        if geometry is not None:
            self.restoreGeometry(geometry)
        self.workspace.restore(self._settings)
        self.menus.show_recent()
        self.welcome.set_recent(self._settings.recent)

    def _save_state(self) -> None:
        settings, dataset = self._settings, self.study.dataset
        settings.set("window/geometry", self.saveGeometry())
        settings.set("window/theme", self._theme.mode)
        self.workspace.save(settings)
        settings.set("study/data", self.study.plan.data if dataset else None)
        if dataset is not None:
            self._keep_plan()
        settings.sync()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Keep the state, ask the workers to stop, and wait for them."""
        current = self.runs.current
        if current is not None and current.clock.seconds > _ASK_AFTER_SECONDS and not self._may_close():
            event.ignore()
            return
        self._autosave.stop()
        self._save_state()
        self.hide()
        self.status.close_down()
        self._run_worker.close()
        self.desk.close()
        super().closeEvent(event)

    def _may_close(self) -> bool:
        text = "A run is not finished. Close and lose what it has not written?"
        return QMessageBox.question(self, "Close RankStudio", text) == QMessageBox.StandardButton.Yes

    # Drag and drop

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files and folders."""
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the first file or folder dropped."""
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.open_path(paths[0])
