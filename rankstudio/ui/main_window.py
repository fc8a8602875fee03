"""The main window: toolbar, menus, places and messages, wired to the models behind them."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMainWindow, QMessageBox, QStackedWidget, QVBoxLayout, QWidget

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.ui.background.loader import LoadingBar
from rankstudio.ui.controllers.action_state import enabled_commands
from rankstudio.ui.controllers.export import TakingHome
from rankstudio.ui.controllers.lambda_slider import Sliding
from rankstudio.ui.controllers.open import Opening
from rankstudio.ui.controllers.resplit import Dividing
from rankstudio.ui.controllers.restore_runs import Reopening
from rankstudio.ui.controllers.run import RunControl
from rankstudio.ui.controllers.study_files import Studies
from rankstudio.ui.controllers.window_state import Remembering
from rankstudio.ui.export.items import export_items
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import Runner, engine_run
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.run_removal import RunRemoval
from rankstudio.ui.shell.actions import Actions
from rankstudio.ui.shell.backend_menu import CrewMenu
from rankstudio.ui.shell.help import Help
from rankstudio.ui.shell.menus import Menus
from rankstudio.ui.shell.sections import Places
from rankstudio.ui.shell.status_bar import StatusBar
from rankstudio.ui.shell.toolbar import MainToolBar
from rankstudio.ui.shell.welcome import Welcome
from rankstudio.ui.shell.workspace import GAP
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Notice

_ASK_AFTER_SECONDS = 30.0  # of work on a run, before closing the window asks
_REFRESH_MILLISECONDS = 120  # for tables and bars; the curves grow with every delivery of the worker


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
    closing = Signal()
    """The window is going to close: everything is kept, and the workers are asked to stop."""

    def __init__(self, theme: Theme, settings: Settings, runner: Runner = engine_run) -> None:
        super().__init__()
        self.setObjectName("main-window")
        self.setAcceptDrops(True)
        self._theme, self._settings = theme, settings
        self._asks = True
        self.models = models = Models(settings, runner, self)
        self.study, self.runs, self.current = models.study, models.runs, models.current
        self.places = places = Places(theme, models, self)
        self.opening = Opening(self.study, self.runs, models.loader, settings, self)
        self.control = RunControl(self.study, self.runs, models.loader, places.run, places.method.form, self)
        self.taking_home = TakingHome(
            theme, self.study, settings, partial(export_items, models, places), self
        )
        self._refreshing = QTimer(self)
        self._refreshing.setSingleShot(True)
        self._refreshing.setInterval(_REFRESH_MILLISECONDS)
        self._refreshing.timeout.connect(self._refresh)
        self._lay_out()
        self._connect_commands()
        self._connect_messages()
        self._connect_models()
        self.remembering.restore()
        self.menus.show_recent()
        self.welcome.set_recent(settings.recent)
        self._update()

    # Making

    def _lay_out(self) -> None:
        self.commands = Actions(self, self._theme)
        self.toolbar = MainToolBar(self.commands, self._theme)
        self.addToolBar(self.toolbar)
        self.menus = Menus(self.commands, self.toolbar, self.study, self._theme, self._settings, self)
        CrewMenu(self.commands.submenus["crew"], self.models.crew, self)
        self.status = StatusBar()
        self.setStatusBar(self.status)
        self.notice = Notice(self._theme)
        self.reopening = Reopening(self.study, self.runs, self.models.loader, self.models.desk, self)
        self.studies = Studies(self.models, self.reopening, self._settings, self)
        self.dividing = Dividing(self.study, self.runs, self.models.loader, self)
        self.removal = RunRemoval(self.models, self.notice, self)
        self.help = Help(self._theme, self.notice, self)
        self.loading = LoadingBar()
        self.welcome = Welcome(self._theme)
        self.workspace = self.places.workspace()
        self.remembering = Remembering(
            self, self.workspace, self.study, self.runs, self._theme, self._settings
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
        self.welcome.setFocus()

    def _connect_commands(self) -> None:
        study, control, taking_home = self.study, self.control, self.taking_home
        data, inspect = self.places.data, self.places.inspect
        self.commands.connect(
            open=self.opening.ask,
            sample=self.opening.open_sample,
            cancel_load=self.models.loader.cancel,
            new_study=self.studies.new,
            open_study=self.studies.ask_open,
            save_study=self.studies.ask_save_as,
            save_plan=taking_home.ask_save_plan,
            export=taking_home.show_dialog,
            copy_command=taking_home.copy_command,
            copy_python=taking_home.copy_python,
            quit=self.close,
            undo=study.undo.undo,
            redo=study.undo.redo,
            pin=partial(inspect.toggle, "pinned"),
            ban=partial(inspect.toggle, "banned"),
            best=partial(study.choose, None, None),
            statistics=data.panel.open_details,
            next_fold=partial(data.turn, 1),
            previous_fold=partial(data.turn, -1),
            run=control.run,
            pause=control.toggle_pause,
            step=control.step,
            go_on=lambda: self.reopening.go_on(self.runs.shown),
            stop=control.stop,
            stop_all=self.runs.stop_all,
            guide=self.help.show_guide,
            log=self.help.show_log,
            about=self.help.about,
        )
        Sliding(self.study, self.current, self.toolbar, self)
        self.toolbar.themeToggled.connect(self.menus.toggle_theme)
        self.welcome.openAsked.connect(self.opening.ask)
        self.welcome.sampleAsked.connect(self.opening.open_sample)
        self.welcome.recentChosen.connect(self.opening.open_path)
        self.menus.recentChosen.connect(self.opening.open_path)
        self.menus.readingChosen.connect(self.opening.read_again)
        self.loading.cancelled.connect(self.models.loader.cancel)

    def _connect_messages(self) -> None:
        places = self.places
        failing = (
            self.opening,
            self.reopening,
            self.studies,
            self.dividing,
            self.removal,
            self.remembering,
            self.taking_home,
            self.current,
            places.data,
            places.inspect,
            places.results,
        )
        for part in failing:
            part.failed.connect(self.say_error)
        for table in (places.inspect.features.table, *places.results.views.tables()):
            table.failed.connect(self.say_error)
        plots = (*places.run.plots(), places.inspect.inspector.plot, *places.results.views.plots())
        for plot in plots:
            plot.failed.connect(self.say_error)
        self.crashed.connect(self.say_error)
        self.remembering.saved.connect(self.status.show_saved)
        for part in (self.opening, self.studies):
            part.warned.connect(self.say_warning)
        for part in (self.taking_home, self.studies):
            part.said.connect(self.status.say)

    def _connect_models(self) -> None:
        loader = self.models.loader
        loader.started.connect(self.loading.begin)
        loader.started.connect(self._update)
        loader.progressed.connect(self.loading.set_share)
        loader.ended.connect(self.loading.hide)
        loader.ended.connect(self._update)
        self.opening.opened.connect(self._show_data)
        self.opening.studyAsked.connect(self.studies.open)
        self.studies.changed.connect(self._show_study)
        self.studies.left.connect(self._offer)
        self.dividing.failed.connect(self.places.method.refuse_division)
        self.dividing.divided.connect(self.notice.dismiss)
        self.places.results.goOnAsked.connect(self.reopening.go_on)
        self.places.results.removalAsked.connect(self.removal.ask)
        self.runs.shownChanged.connect(self._update)
        self.runs.shownChanged.connect(self._show_workspace)
        self.opening.runAsked.connect(self.control.run)
        self.study.datasetChanged.connect(self._update)
        self.study.planChanged.connect(self._update)
        self.study.undo.indexChanged.connect(self._update)
        self.current.changed.connect(self._update)
        self.runs.added.connect(self._show_runs)
        self.runs.changed.connect(self._show_runs)
        self.runs.ended.connect(self._end_run)
        self.models.run_worker.drained.connect(self._ask_refresh)
        self.models.desk.drained.connect(self._show_workers)

    # Data and runs

    def open_path(self, path: str, *, run: bool = False) -> None:
        """Open a file, a folder, a plan, a study or ``"sample"``; with ``run`` run it when it is there."""
        self.opening.open_path(path, run=run)

    def restore(self) -> None:
        """Open the study and the data of the last time."""
        self.opening.restore()
        self.studies.restore()

    @Slot(object)
    def _show_data(self, dataset: FoldedDataset) -> None:
        self.reopening.recognise()
        self.notice.dismiss()
        self._show_workspace()
        self.menus.show_recent()
        self.status.say(f"{dataset.name} is open")

    @Slot()
    def _show_workspace(self) -> None:
        """Leave the welcome page when there is something to see."""
        if self.study.dataset is not None and self._pages.currentWidget() is not self.workspace:
            self._pages.setCurrentWidget(self.workspace)
            self.workspace.setFocus()

    @Slot()
    def _show_study(self) -> None:
        self.menus.show_recent()
        self._update()

    @Slot()
    def _ask_refresh(self) -> None:
        if not self._refreshing.isActive():
            self._refreshing.start()

    @Slot()
    def _refresh(self) -> None:
        """Draw what the run's worker has brought: some times a second, not once an event."""
        self.places.refresh()
        self._show_runs()

    @Slot()
    def _show_runs(self) -> None:
        waiting = sum(record.state is RunState.QUEUED for record in self.runs.records)
        self.status.show_run(self.runs.current, waiting)
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
    def _show_workers(self) -> None:
        self.status.show_workers(self.models.n_busy)

    # Messages

    @Slot(str)
    def say_error(self, text: str) -> None:
        """Show what went wrong; everything else stays as it is."""
        self.notice.say(text, "error")

    @Slot(str)
    def say_warning(self, text: str) -> None:
        """Show what the user should know."""
        self.notice.say(text, "warning")

    @Slot(object)
    def _offer(self, record: RunRecord) -> None:
        """Say that a run was left unfinished, with a button that goes on with it."""

        def go_on() -> None:
            self.notice.dismiss()
            self.reopening.go_on(record)

        text = f"{record.plan.title} on {record.dataset.name} was left at {record.units_text}."
        self.notice.say(text, "info", "Continue", go_on)

    # State

    @Slot()
    def _update(self) -> None:
        """Enable what can be done now, and name the window after the data."""
        study, current = self.study, self.runs.current
        self.commands.enable(**enabled_commands(self.models))
        self.toolbar.slider.setEnabled(study.watched is not None and study.axis is not None)
        self.menus.show_pause(current is not None and current.state is RunState.PAUSED)
        self.menus.show_undo()
        names = (study.dataset.name if study.dataset else "", self.studies.name, "RankStudio")
        self.setWindowTitle(" – ".join(name for name in names if name))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Keep the state, ask the workers to stop, and wait for them."""
        current = self.runs.current
        long_run = current is not None and current.clock.seconds > _ASK_AFTER_SECONDS
        long_run = long_run and current is not None and current.stored is None
        if self._asks and long_run and not self._may_close():
            event.ignore()
            return
        self._refreshing.stop()
        self.remembering.save()
        self.hide()
        self.closing.emit()
        self.status.close_down()
        self.models.close()
        super().closeEvent(event)

    def close_unasked(self) -> None:
        """Close even where a run is not finished: the process was asked to end."""
        self._asks = False
        self.close()

    def _may_close(self) -> bool:
        text = "A run is not finished, and no study keeps it. Close, and lose what it has found?"
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
