"""Every command of the window, as data, and which can be carried out now. Menus and toolbar show them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.shell.workspace import PAGES
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.key_text import key_text
from rankstudio.ui.style.theme import Theme

_ON_DATA = (
    *("export", "figures", "save_plan", "copy_command", "copy_python"),
    *("group", "best", "next_fold", "previous_fold"),
)


@dataclass(frozen=True)
class Command:
    """One command.

    Attributes
    ----------
    key : str
        Its name in the code, and the action's objectName.
    text : str
        In the menu, with ``&`` before the letter of its mnemonic.
    help : str
        What it does, as a sentence: tooltip and status tip.
    shortcuts : str
        Separated by ";"; the first is shown.
    icon : str
        Name of an icon, or "".
    """

    key: str
    text: str
    help: str
    shortcuts: str = ""
    icon: str = ""


_FILE = (
    Command(
        "open", tr("&Open…"), tr("Open a data file, a folder of folds, a plan or a study."), "Ctrl+O", "open"
    ),
    Command(
        "sample", tr("Open &sample"), tr("Open the sample that comes with RankStudio."), "Ctrl+D", "sample"
    ),
    Command(
        "open_model",
        tr("Open model as &ranker…"),
        tr("Measure a model of a file, or one for each fold, on the open data, as a run to compare with."),
        "Ctrl+M",
    ),
    Command(
        "open_preferences",
        tr("Open pre&ferences…"),
        tr("Learn from preferences between documents, a table of qid, winner and loser, in place of labels."),
    ),
    Command(
        "sources",
        tr("&Where to get data…"),
        tr("Say where LETOR, MSLR, Yahoo's and Istella's data are to be had, and on which terms."),
    ),
    Command(
        "columns",
        tr("Co&lumns…"),
        tr("Say which columns of the open table are query, label and features."),
    ),
    Command("recent", tr("Open &again"), tr("Open what was open lately.")),
    Command(
        "missing", tr("&Missing values"), tr("What a missing value (NULL, nan) becomes when a file is read.")
    ),
    Command(
        "normalize", tr("Scalin&g"), tr("Whether features are scaled within each query when a file is read.")
    ),
    Command("cancel_load", tr("&Cancel loading"), tr("Stop loading; what is open stays open.")),
    None,
    Command(
        "new_study",
        tr("&New study"),
        tr("List no runs, and keep the next ones in a file of their own."),
        "Ctrl+Shift+N",
    ),
    Command("open_study", tr("Open st&udy…"), tr("Open a study with all its runs."), "Ctrl+Shift+O"),
    Command(
        "save_study",
        tr("Sa&ve study as…"),
        tr("Copy all runs to a file, and keep the next ones there too."),
        "Ctrl+Shift+S",
    ),
    None,
    Command("save_plan", tr("Save &plan…"), tr("Save data, method and protocol as a TOML file."), "Ctrl+S"),
    Command("export", tr("&Export…"), tr("Save the model, tables, plots or the plan."), "Ctrl+E", "export"),
    Command(
        "export_table",
        tr("Export &table…"),
        tr("Copy or save the ticked runs as the table of a paper, with a preview."),
        "Ctrl+Shift+E",
    ),
    Command(
        "figures",
        tr("F&igures for print…"),
        tr("Copy or save what is shown as a paper prints it, or all figures of the study."),
        "Ctrl+Shift+G",
    ),
    Command(
        "copy_command",
        tr("Copy run as comman&d"),
        tr("Copy the command that does this run in a terminal."),
        "Ctrl+Shift+C",
        "copy",
    ),
    Command(
        "copy_python",
        tr("Copy run as P&ython"),
        tr("Copy a Python program that does this run."),
        "Ctrl+Shift+P",
    ),
    None,
    Command(
        "quit",
        tr("&Quit"),
        tr("Close RankStudio; data, plan, runs and layout come back at the next start."),
        "Ctrl+Q",
    ),
)


_EDIT = (
    Command("undo", tr("&Undo"), tr("Take back the last change of plan or choice."), "Ctrl+Z", "undo"),
    Command("redo", tr("&Redo"), tr("Do again what was taken back."), "Ctrl+Shift+Z; Ctrl+Y", "redo"),
    None,
    Command(
        "pin",
        tr("&Pin or unpin feature"),
        tr("Keep the marked feature in every model, or stop that."),
        "Ctrl+Shift+I",
        "pin",
    ),
    Command(
        "ban",
        tr("&Ban or allow feature"),
        tr("Never select the marked feature, or allow it again."),
        "Ctrl+Shift+B",
        "ban",
    ),
    Command(
        "group",
        tr("&Group features…"),
        tr(
            "Put the features selected on the Data page into a group, which selectors take or "
            "leave as a whole."
        ),
        "Ctrl+G",
    ),
    None,
    Command(
        "best",
        tr("Choose the best by &validation"),
        tr("Go back to the model that the validation chose."),
        "Ctrl+B",
        "reset",
    ),
)


_VIEW = (
    *(
        Command(f"page_{page.key}", page.label, f"{page.help}.", f"Ctrl+{number}", page.icon)
        for number, page in enumerate(PAGES, start=1)
    ),
    Command(
        "palette",
        tr("Fin&d anything…"),
        tr("Find a command, page, method, feature or run by its name."),
        "Ctrl+K",
        "search",
    ),
    None,
    Command("measure", tr("&Measure"), tr("Which measure the plots and tables show.")),
    Command("convention", tr("&Convention"), tr("How the measures are computed.")),
    Command(
        "choose_by",
        tr("C&hoose the model by this measure"),
        tr("Let the measure and convention that are shown choose the model of every run by its validation."),
    ),
    Command(
        "seal",
        tr("&Seal the test part"),
        tr("Cover what was measured on the test part; the study counts how often the seal is broken."),
        "Ctrl+Shift+L",
    ),
    Command("theme", tr("&Theme"), tr("Light, dark, or as the system has it.")),
    Command("language", tr("Lan&guage"), tr("Which language the window speaks from its next start on.")),
    Command(
        "whole_page",
        tr("&Panel on the whole page"),
        tr("Give the panel where the keyboard is the whole page, or put it back in its place."),
        "Ctrl+Shift+F",
    ),
    Command(
        "pop_out",
        tr("Panel in a &window"),
        tr("Give the panel where the keyboard is a window of its own; Esc brings it back."),
        "Ctrl+Shift+W",
    ),
    Command("larger", tr("&Larger text"), tr("Make all text larger."), "Ctrl++; Ctrl+="),
    Command("smaller", tr("Sm&aller text"), tr("Make all text smaller."), "Ctrl+-"),
    Command("usual_size", tr("&Usual text"), tr("Give all text its usual size."), "Ctrl+0"),
    None,
    Command("next_fold", tr("Next &fold"), tr("Look at the next fold."), "Ctrl+Right"),
    Command("previous_fold", tr("Pre&vious fold"), tr("Look at the fold before."), "Ctrl+Left"),
)


_RUN = (
    Command(
        "run",
        tr("&Run"),
        tr("Run the plan on all folds; behind a run that works it waits."),
        "Ctrl+R; F5",
        "run",
    ),
    Command(
        "comparison",
        tr("Run a co&mparison…"),
        tr("Run several methods, rankers and datasets in the background, and compare them."),
        "Ctrl+Shift+M",
        "compare",
    ),
    Command(
        "add_scores",
        tr("Add scores o&f another program…"),
        tr("Measure scores that another program gave to the documents, as a run to compare with."),
    ),
    Command(
        "add_order",
        tr("Add the &order of the file"),
        tr("Measure the order in which the documents stand in the file, as a run to compare with."),
    ),
    Command(
        "chance",
        tr("More than c&hance?"),
        tr(
            "Repeat the selection with labels, or the documents of preferences, permuted within their "
            "queries: how often is it as good? Again: stop that."
        ),
    ),
    Command(
        "left_out",
        tr("&Left-out queries"),
        tr(
            "Measure the shown run on the training queries too, each ranked by the model learned without it, "
            "beside the validation. Again: no longer."
        ),
    ),
    Command("pause", tr("&Pause"), tr("Pause the run, or go on with it."), "Ctrl+P", "pause"),
    Command(
        "step",
        tr("S&tep"),
        tr("Select one more feature, then wait; starts a paused run where none is."),
        "Ctrl+T; F10",
        "step",
    ),
    Command(
        "go_on",
        tr("&Continue"),
        tr("Go on with the run that is shown where it was left."),
        "Ctrl+Shift+R",
        "run",
    ),
    Command(
        "stop", tr("&Stop"), tr("Stop the run; the folds and paths it has finished stay."), "Esc", "stop"
    ),
    Command("stop_all", tr("Stop &all"), tr("Stop the run and all that wait behind it."), "Shift+Esc"),
    None,
    Command(
        "backend",
        tr("&Workers"),
        tr("Who carries out the next runs: this window, processes of this machine, or a cluster."),
    ),
)


_HELP = (
    Command("guide", tr("&Guide"), tr("Open the guide."), "F1", "help"),
    Command("log", tr("Show the &log"), tr("Open the folder of the log and the crash reports.")),
    Command("about", tr("&About RankStudio"), tr("Version and licence.")),
)


MENUS: dict[str, tuple[Command | None, ...]] = {
    "File": _FILE,
    "Edit": _EDIT,
    "View": _VIEW,
    "Run": _RUN,
    "Help": _HELP,
}
"""The commands of each menu from top to bottom; None for a line between two of them."""


_TITLES = {
    "File": tr("&File", "menu"),
    "Edit": tr("&Edit", "menu"),
    "View": tr("&View", "menu"),
    "Run": tr("&Run", "menu"),
    "Help": tr("&Help", "menu"),
}


SUBMENUS = ("recent", "missing", "normalize", "measure", "convention", "theme", "language", "backend")


class Actions:
    """The window's actions, by the keys in `MENUS`; its submenus, by the keys of `SUBMENUS`.

    Parameters
    ----------
    window : QMainWindow
        Gets the menu bar and owns the actions.
    theme : Theme
    """

    def __init__(self, window: QMainWindow, theme: Theme) -> None:
        self._actions: dict[str, QAction] = {}
        self.submenus: dict[str, QMenu] = {}
        for name, commands in MENUS.items():
            menu = window.menuBar().addMenu(_TITLES[name])
            menu.setObjectName(f"menu-{name.lower()}")
            for command in commands:
                if command is None:
                    menu.addSeparator()
                elif command.key in SUBMENUS:
                    self._add_submenu(command, menu)
                else:
                    self._add_action(command, menu, window, theme)

    def __getitem__(self, key: str) -> QAction:
        return self._actions[key]

    def connect(self, **calls: Callable[[], object]) -> None:
        """Say what commands do, by their keys."""
        for key, call in calls.items():
            self._actions[key].triggered.connect(lambda _=False, call=call: call())

    def enable(self, **enabled: bool) -> None:
        """Enable and disable commands, by their keys."""
        for key, value in enabled.items():
            self._actions[key].setEnabled(value)

    def _add_submenu(self, command: Command, menu: QMenu) -> None:
        submenu = menu.addMenu(command.text)
        submenu.setObjectName(f"menu-{command.key}")
        submenu.setToolTipsVisible(True)
        submenu.menuAction().setStatusTip(command.help)
        self.submenus[command.key] = submenu

    def _add_action(self, command: Command, menu: QMenu, window: QMainWindow, theme: Theme) -> None:
        action = QAction(command.text, window)
        action.setObjectName(command.key)
        if command.shortcuts:
            action.setShortcuts(QKeySequence.listFromString(command.shortcuts))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.setStatusTip(command.help)
        keys = f" ({key_text(command.shortcuts)})" if command.shortcuts else ""
        action.setToolTip(f"{command.help.rstrip('.')}{keys}")
        action.setIconText(command.text.replace("&", ""))
        if command.icon:
            set_icon(action, theme, command.icon, "on_accent" if command.key == "run" else "text")
        menu.addAction(action)
        self._actions[command.key] = action


def enabled_commands(models: Models) -> dict[str, bool]:
    """Return for each command that depends on what is open and what works whether it can be carried out."""
    there, model = models.session.dataset is not None, models.current.model is not None
    pins = model and "pinned" in models.session.plan.parameters
    ready = models.session.has_documents and models.session.read_as_planned
    shown = models.runs.shown
    current, loading, undo = models.runs.current, models.loader.busy, models.session.undo
    paused = current is not None and current.state is RunState.PAUSED
    return {
        **dict.fromkeys(_ON_DATA, there),
        "export_table": any(record.result is not None for record in models.runs.records),
        **dict.fromkeys(("run", "open_model", "open_preferences", "add_scores", "add_order"), ready),
        "columns": there and bool(models.session.dataset and models.session.dataset.read_as.label),
        **{f"page_{page.key}": there for page in PAGES},
        "step": (not models.runs.busy and ready) or paused,
        "go_on": shown is not None and shown.can_go_on,
        "pause": current is not None,
        "stop": current is not None or loading or models.permutations.busy,
        "chance": models.permutations.possible,
        "left_out": models.left_out.possible and not models.left_out.brought,
        "stop_all": models.runs.busy,
        "cancel_load": loading,
        "undo": undo.canUndo(),
        "redo": undo.canRedo(),
        "pin": pins,
        "ban": pins,
    }
