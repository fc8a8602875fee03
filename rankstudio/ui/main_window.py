"""The main window: toolbar, menus, pages and messages, connected to the models."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.given_files import GivenRanking
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.methods.catalog.analysis import analyses
from rankstudio.ui.compare.comparison_runs import ComparisonRuns
from rankstudio.ui.data.data_sources import DataSources
from rankstudio.ui.data.resplit import ResplitController
from rankstudio.ui.export.controller import ExportController
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import Runner, engine_run
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.page.model_chips import ChoiceChip, FormChip
from rankstudio.ui.page.page import GAP, Page
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.process.turns import RefreshTimer
from rankstudio.ui.select.given_runs import GivenModelsController, GivenScoresController
from rankstudio.ui.select.run_strip import HEIGHT as STRIP_HEIGHT
from rankstudio.ui.shell.actions import Actions, enabled_commands
from rankstudio.ui.shell.analysis_dialog import AnalysisDialog
from rankstudio.ui.shell.chip_bar import add_chips
from rankstudio.ui.shell.command_palette import CommandPalette, palette_entries
from rankstudio.ui.shell.help import Help
from rankstudio.ui.shell.measurement import MeasurementController
from rankstudio.ui.shell.menus import BackendMenu, Menus, PagesMenu
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.shell.run_messages import RunMessages
from rankstudio.ui.shell.sections import Sections
from rankstudio.ui.shell.selection_line import SelectionController
from rankstudio.ui.shell.status_bar import LoadingBar, StatusBar
from rankstudio.ui.shell.toolbar import MainToolBar
from rankstudio.ui.shell.welcome import Welcome
from rankstudio.ui.shell.window_state import WindowState
from rankstudio.ui.study.method_files import MethodFiles
from rankstudio.ui.study.open import OpenController
from rankstudio.ui.study.restore_runs import RunRestorer, WaitingRuns
from rankstudio.ui.study.study_files import StudyFiles
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Notices, Overlay, Question
from rankstudio.ui.widgets.layout import fill, named

# closing the window asks for confirmation if an unstored run has worked this long
_ASK_AFTER_SECONDS = 30.0


class MainWindow(QMainWindow):
    """The main window: creates the models, the pages and the controllers, and connects them.

    Parameters
    ----------
    theme : Theme
    settings : Settings
    runner : callable
        Carries out a plan; the engine's function unless a test gives another.
    """

    crashed = Signal(str)
    """An unexpected error was raised (a sentence); emitted on any thread."""
    closing = Signal()
    """The window is going to close: its state is stored, and the workers are about to be stopped."""

    def __init__(
        self, theme: Theme, settings: Settings, runner: Runner = engine_run
    ) -> None:
        super().__init__()
        self.setObjectName("main-window")
        self._theme = theme
        self._settings = settings

        # Whether the user is asked before the window is closed while a run works
        self._asks = True
        self.models = models = Models(settings, runner, self)
        self.session = models.session
        self.runs = models.runs
        self.current = models.current
        self.sections = sections = Sections(theme, models, self)
        self.open_controller = OpenController(theme, models, settings, self)
        self.export_controller = ExportController(
            theme, models, sections, settings, self
        )

        # Each page is brought up to date in its own turn of the event loop.
        self.refresh_timer = RefreshTimer(
            *(page.refresh for page in sections.controllers.values()),
            self._show_runs,
            parent=self,
        )
        self._make_bars()
        self._make_controllers()
        self._lay_out()
        self._connect_commands()
        self._connect_messages()
        self._connect_models()
        settings.write_aside()  # from now on, on another thread
        self.window_state.restore()
        self.menus.show_recent()
        self.welcome.set_recent(settings.recent)
        self._update()

    # Making

    def _make_bars(self) -> None:
        """Make the commands with their menus and toolbar, the chips, the status bar and the notices."""
        plugin_commands = self.sections.contributed.commands()
        self.commands = Actions(
            self, self._theme, self.sections.plugin_parts, plugin_commands
        )
        self.toolbar = MainToolBar(self.commands, self._theme)
        self.addToolBar(self.toolbar)
        self.menus = Menus(
            self.commands, self.toolbar, self.session, self._theme, self._settings, self
        )
        self.chips = add_chips(self)

        # These four need no attribute, as the window is their parent:
        # they fill the chips and two submenus.
        ChoiceChip(self.current, self.session, self.chips.choice, self)
        FormChip(self.models, self.chips.form, self)
        BackendMenu(self.commands.submenus["backend"], self.models, self)
        PagesMenu(self.commands.submenus["pages"], self.sections.workspace, self)
        self.status = StatusBar(lambda: self.models.study_store.written)
        self.setStatusBar(self.status)
        self.notice = Notices(self._theme)

    def _make_controllers(self) -> None:
        """Make the controllers that do not belong to a page: of studies, measures, runs, and models of others."""
        self.restorer = RunRestorer(self.models, self)
        self.study_files = StudyFiles(self.models, self.restorer, self._settings, self)
        self.measurement = MeasurementController(
            self.models, self.menus, self.commands, self.status, self
        )

        # A study has notes on which test parts are sealed.
        self.study_files.sealRead.connect(self.measurement.seal.show_marks)
        self.resplit = ResplitController(
            self.session, self.runs, self.models.loader, self
        )
        self.comparison = ComparisonRuns(
            self.models,
            self._settings,
            self._theme,
            self.open_controller.choose_data,
            self,
        )
        self.waiting = WaitingRuns(
            self.runs, self.comparison, self._settings, self.notice, self
        )
        self.given_scores = GivenScoresController(self.models, self)
        self.method_files = MethodFiles(self.models, self)
        self.given_models = GivenModelsController(self.models, self)
        self.help = Help(self._theme, self.notice, self.sections.places, self)

    def _lay_out(self) -> None:
        """Put the welcome page and the workspace (all pages) into the window, with notices over them.

        Notices and the bar of loading are over the pages, but leave the
        strip at the foot free. Esc closes the newest notice.
        """
        self.loading = LoadingBar()
        self.welcome = Welcome(self._theme)
        self.workspace = self.sections.workspace
        self.messages = RunMessages(self.runs, self.workspace, self.notice, self)
        self.window_state = WindowState(
            self, self.workspace, self.models, self._theme, self._settings
        )
        self._pages = QStackedWidget()
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self.workspace)
        centre = named(QWidget(), role="ground")
        fill(QVBoxLayout(centre), (self._pages, 1), margins=(0, 0, 0, 0), spacing=0)
        self.setCentralWidget(centre)
        Overlay(centre, self.notice, self.loading, foot=STRIP_HEIGHT + 2 * GAP)
        self._close_notice = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        self._close_notice.activated.connect(self.notice.close_newest)
        self.notice.keptChanged.connect(self.status.show_messages)
        self.status.messages.clicked.connect(self.notice.show_kept)
        self.toolbar.order_tabs()
        self.welcome.setFocus()

    def _connect_commands(self) -> None:
        """Connect the commands of the menus and the toolbar to their actions."""
        # The names of the arguments are the keys of the commands.
        # `select(None, None)` chooses the best model.
        session = self.session
        export_controller = self.export_controller
        self.commands.connect(
            **self.open_controller.commands,
            sources=self._show_sources,
            cancel_load=self.models.loader.cancel,
            new_study=self.study_files.new,
            open_study=self.study_files.ask_open,
            save=self.study_files.save,
            save_study=self.study_files.ask_save_as,
            save_plan=export_controller.ask_save_plan,
            export=export_controller.show_dialog,
            figures=export_controller.show_figures,
            copy_command=export_controller.copy_command,
            copy_python=export_controller.copy_python,
            quit=self.close,
            undo=session.undo.undo,
            redo=session.undo.redo,
            best=partial(session.select, None, None),
            **{
                f"page_{page.key}": partial(self._show_page, page.key) for page in PAGES
            },
            palette=self._open_palette,
            whole_page=self.workspace.toggle_whole_page,
            pop_out=self.workspace.pop_out,
            comparison=self.comparison.ask,
            add_scores=self.given_scores.ask,
            open_model=self.given_models.ask,
            add_order=self.given_scores.run_order,
            add_method=self.method_files.ask,
            analyses=self._show_analyses,
            go_on=lambda: self.restorer.go_on(self.runs.shown),
            stop_all=self.runs.stop_all,
            guide=self.help.show_guide,
            log=self.help.show_log,
            plugins=self.help.show_plugins,
            about=self.help.about,
        )
        self.commands.connect(**self.sections.commands())
        self._connect_plugin_parts()
        self.commands["follow"].setCheckable(True)
        self.commands["analyses"].setVisible(bool(analyses()))

        # These two act on a feature that is selected on a page that may be absent.
        for key in ("pin", "ban"):
            self.commands[key].setVisible(key in self.sections.commands())
        self.selection = SelectionController(
            self.models, self._settings, self.toolbar.line, self
        )
        self.selection.openAsked.connect(self.open_controller.ask)
        self.selection.pathChosen.connect(self.open_controller.open_path)
        self.toolbar.theme_button.clicked.connect(self.menus.toggle_theme)
        self.welcome.open.clicked.connect(self.open_controller.ask)
        self.welcome.sample.clicked.connect(self.open_controller.load_sample)
        self.welcome.sources.clicked.connect(self._show_sources)
        self.welcome.recentChosen.connect(self.open_controller.open_path)
        self.menus.recentChosen.connect(self.open_controller.open_path)
        self.menus.readingChosen.connect(self.open_controller.read_again)
        self.loading.cancel.clicked.connect(self.models.loader.cancel)

    def _connect_plugin_parts(self) -> None:
        """Connect the commands of plug-ins: of their pages, panels and controllers."""
        self.commands.connect(**self.sections.contributed.calls(self._show_page))
        parts = self.sections.plugin_parts
        self.commands.connect(
            **{
                f"page_{page.key}": partial(self._show_page, page.key)
                for page in parts.entries
            }
        )

        # The panels of plug-ins are shown and hidden by commands, which are checked.
        for key, panel in parts.panels.items():
            action = self.commands[f"panel_{key}"]
            action.setCheckable(True)
            action.setChecked(True)
            action.toggled.connect(panel.setVisible)

        # A panel may have been hidden in the last session.
        parts.restored.connect(
            lambda key, is_shown: self.commands[f"panel_{key}"].setChecked(is_shown)
        )

    def _connect_messages(self) -> None:
        """Show the messages of controllers, pages and models in the status bar, and their errors as notices."""
        # Controllers of pages are not direct children of the window;
        # their page emits their messages.
        direct_children = Qt.FindChildOption.FindDirectChildrenOnly
        for controller in self.findChildren(Controller, options=direct_children):
            controller.failed.connect(self.say_error)
            controller.said.connect(self.status.say)
        for page in self.sections.pages.values():
            self._connect_page(page)
        self.workspace.pageMade.connect(self._connect_page)
        for model in (self.current, self.models.left_out):
            model.failed.connect(self.say_error)
        self.current.recovered.connect(self.notice.withdraw)
        self.crashed.connect(self.say_error)
        self.window_state.saved.connect(self.status.show_saved)
        self.open_controller.noted.connect(self.messages.note)
        self.open_controller.offered.connect(self.notice.say)
        self.menus.told.connect(self.notice.say)
        for teller in (self.open_controller, self.study_files):
            teller.warned.connect(self.say_warning)
        for controller in self.sections.contributed.command_controllers:
            controller.warned.connect(self.say_warning)

    @Slot(object)
    def _connect_page(self, page: Page) -> None:
        """Connect the signals of a page, and warn of plug-ins that failed.

        The page's errors and messages are shown by this window: errors
        as messages, other texts in the status bar. Its requests for
        figures and pictures of plots go to the controller of exports. A
        plug-in may add controllers to pages; those that could not be
        made, which happens before or when a page is made, are reported
        as warnings, each only once.
        """
        page.failed.connect(self.say_error)
        page.said.connect(self.status.say)
        page.figureAsked.connect(self.export_controller.show_figures)
        page.paintAsked.connect(self.export_controller.paint)

        # Error messages on controllers of plug-ins. Each is removed
        # when it is shown, because this method is called for several
        # pages.
        problems = self.sections.contributed.problems
        while problems:
            self.say_warning(problems.pop(0))

    def _connect_models(self) -> None:
        """Connect the signals of loader, session and runs to the window and its pages."""
        loader = self.models.loader
        self.models.preparing.connect(self._show_preparation)
        loader.started.connect(self.loading.begin)
        loader.started.connect(self._update)
        loader.progressed.connect(self.loading.set_share)
        loader.ended.connect(self.loading.hide)
        loader.ended.connect(self._update)
        self.open_controller.opened.connect(self._show_data)
        self.open_controller.dataAsked.connect(partial(self._show_page, "data"))
        self.open_controller.hand_over(
            study=self.study_files.open,
            comparison=self.comparison.open,
            models=self.given_models.open,
            **self.sections.openers(),
            method=self.method_files.open,
            # A pair: a plan that names code of others, and the function to go on with
            code=lambda named: self.method_files.add_methods_of_plan(*named),
        )
        self.method_files.added.connect(self.session.methodsAdded)
        self.method_files.added.connect(lambda _: self._show_page("select"))
        self.measurement.fileNamed.connect(self.method_files.open)
        self.method_files.offered.connect(self.notice.say)
        self.session.labelAsked.connect(self.open_controller.use_label)
        self.session.labelsAsked.connect(self.comparison.ask_labels)
        self.comparison.goOnAsked.connect(self.restorer.go_on)
        self.comparison.composed.connect(lambda: self.workspace.show_page("compare"))
        for controller in self.sections.contributed.command_controllers:
            controller.pageAsked.connect(self.workspace.show_page)
        self.study_files.changed.connect(self.menus.show_recent)
        self.study_files.changed.connect(self._update)
        self.study_files.changed.connect(self.measurement.seal.write)
        self.study_files.left.connect(self._offer)
        self.resplit.failed.connect(self.session.protocolRefused)
        self.resplit.divided.connect(self.notice.dismiss)
        services = {"comparison": self.comparison.ask, "sources": self._show_sources}
        for page in self.sections.controllers.values():
            page.commandAsked.connect(lambda key: services[key]())
            page.goOnAsked.connect(self.restorer.go_on)
            page.runsAsked.connect(self.comparison.start)
            page.warned.connect(self.say_warning)
            page.offered.connect(self.notice.say)
            page.withdrawn.connect(self.notice.withdraw)
            page.stateChanged.connect(self._update)
            page.progressShown.connect(self._show_progress)
            page.hinted.connect(self.status.hint)
        self.runs.shownChanged.connect(self._update)
        self.runs.shownChanged.connect(self._show_workspace)
        self.open_controller.runAsked.connect(self.sections.commands()["run"])
        self.session.datasetChanged.connect(self._update)
        self.session.planChanged.connect(self._update)
        self.session.undo.indexChanged.connect(self._update)
        self.current.changed.connect(self._update)
        for controller in self.sections.contributed.command_controllers:
            controller.stateChanged.connect(self._update)
            self.commands["stop"].triggered.connect(controller.stop)
        self.commands["stop"].triggered.connect(self.method_files.stop)
        self.method_files.busyChanged.connect(self._update)
        self.runs.added.connect(self._show_runs)
        self.runs.changed.connect(self._show_runs)

        # A paused run delivers nothing that would refresh.
        self.runs.changed.connect(self.refresh_timer.ask)
        self.runs.ended.connect(self._end_run)
        self.runs.removed.connect(self._show_removal)
        self.runs.restored.connect(self._show_return)
        self.models.run_worker.drained.connect(self.refresh_timer.ask)
        self.models.task_worker.drained.connect(self._show_workers)

    # Data and runs

    def open_path(self, path: str, *, run: bool = False) -> None:
        """Open a file, a folder, a plan, a study or ``"sample"``; with ``run``, then start a run."""
        self.open_controller.open_path(path, run=run)

    def open_guide(self, address: str) -> None:
        """Show the guide at a place: "glossary.md#fold"."""
        self.help.open_guide(address)

    def restore(self) -> None:
        """Open the study and the data that were open when the program was closed, and the waiting runs."""
        self.open_controller.restore()
        self.study_files.restore()
        self.waiting.restore()

    @Slot(object)
    def _show_data(self, dataset: FoldedDataset) -> None:
        """Show that a dataset was opened: list its runs, and let runs start that wait for it.

        Notices on earlier data are closed.
        """
        # Runs of the study on these data get the documents.
        self.restorer.recognise()
        self.notice.dismiss()
        self._show_workspace()
        self.waiting.offer()
        self.menus.show_recent()
        self.status.say(tr("{name} is open").format(name=dataset.name))

    @Slot()
    def _show_workspace(self) -> None:
        """Show the pages instead of the welcome page, once data are open."""
        if (
            self.session.dataset is not None
            and self._pages.currentWidget() is not self.workspace
        ):
            self._pages.setCurrentWidget(self.workspace)

            # Panels that had windows of their own in the last session get them again.
            self.workspace.reopen_windows()
            self.setFocus()  # so that the key Tab leads to the Run button first

    def _show_page(self, key: str) -> None:
        """Show a page, as a command asks for."""
        self._show_workspace()
        self.workspace.show_page(key)

    def _open_palette(self) -> None:
        """Open the command palette: a list of commands, pages, runs and others, searched by typing."""
        entries = palette_entries(
            self.models, self.sections, self.commands, self.workspace
        )

        # `matches_of_text` returns further entries for a typed text,
        # such as queries, which are too many to be listed without it.
        self.palette_dialog = CommandPalette(
            entries, self, self.sections.matches_of_text
        )
        self.palette_dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.palette_dialog.open()

    @Slot()
    def _show_analyses(self) -> None:
        """Open the dialog of analyses."""
        self.analysis_dialog = AnalysisDialog(
            self._theme, self.models, analyses(), self
        )
        self.analysis_dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.analysis_dialog.show()

    @Slot()
    def _show_sources(self) -> None:
        """Open the dialog on sources of data; when it is accepted, ask for the data to open."""
        self.sources = DataSources(self._theme, self)
        self.sources.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.sources.accepted.connect(self.open_controller.ask)
        self.sources.open()

    @Slot(int)
    def _show_removal(self, key: int) -> None:
        """Show that a run was removed from the list; it may have been the one that worked."""
        self.status.say(tr("Run {key} is removed").format(key=key))
        self._show_runs()

    @Slot(int)
    def _show_return(self, key: int) -> None:
        self.status.say(tr("Run {key} is listed again").format(key=key))

    @Slot()
    def _show_runs(self) -> None:
        self.sections.show_runs()
        self._show_workers()
        self._update()

    @Slot()
    def _show_progress(self) -> None:
        """Show the progress of the run that works in the status bar."""
        waiting = sum(record.state is RunState.QUEUED for record in self.runs.records)
        self.status.show_run(self.runs.current, waiting)

    @Slot(object)
    def _end_run(self, record: RunRecord) -> None:
        """Show everywhere that a run has ended, and report how; the status bar names no waiting runs then."""
        self.status.show_run(record, 0)
        self.sections.show_runs()
        self.messages.show_outcome(record)
        self._show_workers()
        self._update()

    @Slot()
    def _show_workers(self) -> None:
        self.status.show_workers(self.models.n_busy)

    # Messages

    @Slot(str)
    def say_error(self, text: str) -> None:
        """Show an error; everything else stays as it is."""
        self.notice.say(text, "error")

    @Slot(str)
    def say_warning(self, text: str) -> None:
        """Show a warning."""
        self.notice.say(text, "warning")

    @Slot(object)
    def _offer(self, record: RunRecord) -> None:
        """Show a notice that a run was left unfinished, with a button that resumes it and starts the waiting runs."""
        # Where the run was interrupted, and how many others wait.
        text = " ".join(filter(None, (record.interrupted_text, self.waiting.text)))

        def go_on() -> None:
            """Remove the notice `text`, resume `record` and start the waiting runs."""
            self.notice.withdraw(text)
            self.restorer.go_on(record)
            self.waiting.run()

        self.notice.say(text, "info", {tr("Resume"): go_on})

    @Slot(str)
    def _show_preparation(self, sentence: str) -> None:
        """Show in the status bar that code is being compiled or, for "", the runs again."""
        self.status.show_preparation(sentence)
        if not sentence:
            self._show_runs()

    @Slot()
    def _update(self) -> None:
        """Enable the commands that are possible now, and show data and study in the title of the window."""
        # Both mappings say for the key of each command whether it is
        # possible now: for the window's commands, and for those of
        # plug-ins.
        session = self.session
        current = self.runs.current
        self.commands.enable(
            **enabled_commands(self.models), **self.sections.contributed.possible()
        )
        command_controllers = self.sections.contributed.command_controllers
        if self.method_files.busy or any(
            controller.busy for controller in command_controllers
        ):
            # Code of plug-ins or of added methods can be stopped, too.
            self.commands.enable(stop=True)

        # Commands of plug-ins' pages and panels need data.
        has_data = session.dataset is not None
        self.commands.enable(
            **{command.key: has_data for command in self.commands.plugin_commands}
        )
        for page in self.sections.controllers.values():
            for key, name in page.command_names().items():
                self.commands.rename(key, name)
            for key, checked in page.checked_commands().items():
                self.commands[key].setChecked(checked)

        # Esc is the shortcut of Stop; it closes notices only while
        # there is nothing to stop.
        self._close_notice.setEnabled(not self.commands["stop"].isEnabled())
        self.menus.show_pause(current is not None and current.state is RunState.PAUSED)
        self.menus.show_undo()
        names = (
            session.dataset.name if session.dataset else "",
            self.study_files.name,
            "RankStudio",
        )
        self.setWindowTitle(" – ".join(name for name in names if name))

    def files_read(self) -> list[Path]:
        """Return the files that exports must not replace: those of the data, those of the plan, and the study."""
        dataset = self.session.dataset
        plan = self.session.plan
        study = self.models.study_store.path
        parts = (
            [part for fold in dataset.folds for part in fold.parts.values()]
            if dataset
            else []
        )

        # Parts that were made in memory have no file.
        sources = (part.source.path for part in parts if part.source is not None)

        # A plan may name scores of others, and preferences, in files.
        ranking = plan.extension(GivenRanking)
        plan_paths = (
            ranking.path if ranking is not None else "",
            preferences_of(plan).get("path", ""),
        )
        return [
            *dict.fromkeys(sources),
            *(Path(path) for path in plan_paths if path),
            *([study] if study else []),
        ]

    def closeEvent(self, event: QCloseEvent) -> None:
        """Store the state, stop the workers and wait for them.

        The user is asked first if a long run would be lost. A run that
        a study stores is not lost: it can be resumed.
        """
        run = self.runs.current
        would_lose_run = (
            run is not None
            and run.clock.seconds > _ASK_AFTER_SECONDS
            and run.stored is None
        )

        # `_asks` is False if the process is asked to end.
        if self._asks and would_lose_run and not self._may_close():
            event.ignore()
            return
        self.refresh_timer.stop()
        self.window_state.save()
        for page in self.sections.controllers.values():
            page.close_down()
        self.waiting.close()

        # Panels in windows of their own return to their pages.
        self.workspace.bring_back()
        self.hide()
        self.closing.emit()
        self.status.close_down()
        self.models.close()
        self._settings.close()
        super().closeEvent(event)

    def close_unasked(self) -> None:
        """Close without asking, as the process was asked to end."""
        self._asks = False
        self.close()

    def _may_close(self) -> bool:
        """Ask the user whether to close the window while a run that no study stores is in progress."""
        text = tr(
            "A run is still in progress and is not saved in a study. Close anyway and discard its results?"
        )
        return Question.ask(
            self,
            tr("Close RankStudio"),
            text,
            tr("&Discard results"),
            tr("&Keep running"),
        )
