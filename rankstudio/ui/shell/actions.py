"""Every command of the window, as data. Menus and toolbar are views of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.theme import Theme


@dataclass(frozen=True)
class Command:
    """One command.

    Attributes
    ----------
    key : str
        Its name in the code, and the action's objectName.
    menu : str
        In which menu it stands.
    text : str
        In the menu, with ``&`` before the letter of its mnemonic.
    help : str
        What it does, as a sentence: tooltip and status tip.
    shortcuts : tuple of str
        The first is shown.
    icon : str
        Name of an icon, or "".
    separated : bool
        Whether a line stands above it.
    """

    key: str
    menu: str
    text: str
    help: str
    shortcuts: tuple[str, ...] = ()
    icon: str = ""
    separated: bool = False


MENUS = ("File", "Edit", "View", "Run", "Help")

COMMANDS = (
    Command(
        "open",
        "File",
        "&Open…",
        "Open a LETOR file, a folder of folds, a plan or a study.",
        ("Ctrl+O",),
        "open",
    ),
    Command(
        "sample", "File", "Open &sample", "Open the sample that comes with RankStudio.", ("Ctrl+D",), "sample"
    ),
    Command("recent", "File", "Open &again", "Open what was open lately."),
    Command(
        "missing", "File", "&Missing values", "What a missing value (NULL, nan) becomes when a file is read."
    ),
    Command(
        "normalize", "File", "Scalin&g", "Whether features are scaled within each query when a file is read."
    ),
    Command("cancel_load", "File", "&Cancel loading", "Stop loading; what is open stays open."),
    Command(
        "new_study",
        "File",
        "&New study",
        "List no runs, and keep the next ones in a file of their own.",
        ("Ctrl+Shift+N",),
        separated=True,
    ),
    Command("open_study", "File", "Open st&udy…", "Open a study with all its runs.", ("Ctrl+Shift+O",)),
    Command(
        "save_study",
        "File",
        "Sa&ve study as…",
        "Copy all runs to a file, and keep the next ones there too.",
        ("Ctrl+Shift+S",),
    ),
    Command(
        "save_plan",
        "File",
        "Save &plan…",
        "Save data, method and protocol as a TOML file.",
        ("Ctrl+S",),
        "",
        separated=True,
    ),
    Command(
        "export", "File", "&Export…", "Save the model, tables, plots or the plan.", ("Ctrl+E",), "export"
    ),
    Command(
        "copy_command",
        "File",
        "Copy run as &command",
        "Copy the command that does this run in a terminal.",
        ("Ctrl+Shift+C",),
        "copy",
    ),
    Command(
        "copy_python",
        "File",
        "Copy run as P&ython",
        "Copy a Python program that does this run.",
        ("Ctrl+Shift+P",),
    ),
    Command(
        "quit",
        "File",
        "&Quit",
        "Close RankStudio; data, plan, runs and layout come back at the next start.",
        ("Ctrl+Q",),
        separated=True,
    ),
    Command("undo", "Edit", "&Undo", "Take back the last change of plan or choice.", ("Ctrl+Z",), "undo"),
    Command("redo", "Edit", "&Redo", "Do again what was taken back.", ("Ctrl+Shift+Z", "Ctrl+Y"), "redo"),
    Command(
        "pin",
        "Edit",
        "&Pin or unpin feature",
        "Keep the marked feature in every model, or stop that.",
        ("Ctrl+Shift+I",),
        "pin",
        separated=True,
    ),
    Command(
        "ban",
        "Edit",
        "&Ban or allow feature",
        "Never select the marked feature, or allow it again.",
        ("Ctrl+Shift+B",),
        "ban",
    ),
    Command(
        "best",
        "Edit",
        "Choose the best by &validation",
        "Go back to the model that the validation chose.",
        ("Ctrl+B",),
        "reset",
        separated=True,
    ),
    Command(
        "statistics",
        "View",
        "&Statistics of the data…",
        "Show every feature's statistics and the documents.",
        ("Ctrl+I",),
    ),
    Command("measure", "View", "&Measure", "Which measure the plots and tables show."),
    Command("convention", "View", "&Convention", "How the measures are computed."),
    Command("theme", "View", "&Theme", "Light, dark, or as the system has it."),
    Command("next_fold", "View", "Next &fold", "Look at the next fold.", ("Ctrl+Right",), separated=True),
    Command("previous_fold", "View", "Pre&vious fold", "Look at the fold before.", ("Ctrl+Left",)),
    Command(
        "run",
        "Run",
        "&Run",
        "Run the plan on all folds; behind a run that works it waits.",
        ("Ctrl+R", "F5"),
        "run",
    ),
    Command("pause", "Run", "&Pause", "Pause the run, or go on with it.", ("Ctrl+P",), "pause"),
    Command(
        "step",
        "Run",
        "S&tep",
        "Select one more feature, then wait; starts a paused run where none is.",
        ("Ctrl+T", "F10"),
        "step",
    ),
    Command(
        "go_on",
        "Run",
        "&Continue",
        "Go on with the run that is shown where it was left.",
        ("Ctrl+Shift+R",),
        "run",
    ),
    Command(
        "stop", "Run", "&Stop", "Stop the run; the folds and paths it has finished stay.", ("Esc",), "stop"
    ),
    Command("stop_all", "Run", "Stop &all", "Stop the run and all that wait behind it.", ("Shift+Esc",)),
    Command(
        "backend",
        "Run",
        "&Workers",
        "Who carries out the next runs: this window, processes of this machine, or a cluster.",
        separated=True,
    ),
    Command("guide", "Help", "&Guide", "Open the guide.", ("F1",), "help"),
    Command("log", "Help", "Show the &log", "Open the folder of the log and the crash reports."),
    Command("about", "Help", "&About RankStudio", "Version and licence."),
)

SUBMENUS = ("recent", "missing", "normalize", "measure", "convention", "theme", "backend")


class Actions:
    """The window's actions, by the keys of `COMMANDS`; its submenus, by the keys of `SUBMENUS`.

    Parameters
    ----------
    window : QMainWindow
        Gets the menu bar and owns the actions.
    theme : Theme
    """

    def __init__(self, window: QMainWindow, theme: Theme) -> None:
        self._actions: dict[str, QAction] = {}
        self.submenus: dict[str, QMenu] = {}
        menus = {name: window.menuBar().addMenu(f"&{name}") for name in MENUS}
        for name, menu in menus.items():
            menu.setObjectName(f"menu-{name.lower()}")
        for command in COMMANDS:
            menu = menus[command.menu]
            if command.separated:
                menu.addSeparator()
            if command.key in SUBMENUS:
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
        action.setShortcuts([QKeySequence(text) for text in command.shortcuts])
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.setStatusTip(command.help)
        keys = f" ({command.shortcuts[0]})" if command.shortcuts else ""
        action.setToolTip(f"{command.help.rstrip('.')}{keys}")
        action.setIconText(command.text.replace("&", ""))
        if command.icon:
            set_icon(action, theme, command.icon, "on_accent" if command.key == "run" else "text")
        menu.addAction(action)
        self._actions[command.key] = action
