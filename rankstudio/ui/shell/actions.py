"""All commands of the window as data, the actions that menus and toolbar show, and which are enabled now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from rankstudio.engine.plugins.page_parts import PartCommand
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.shell.plugin_parts import PluginParts
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.plain_text import key_text
from rankstudio.ui.style.theme import Theme

_ON_DATA = (
    *("export", "figures", "save_plan", "copy_command", "copy_python"),
    *(
        "group",
        "import_feature_set",
        "import_costs",
        "best",
        "next_fold",
        "previous_fold",
        "seal",
    ),
)

_ON_DOCUMENTS = ("open_model", "add_scores", "add_order")


@dataclass(frozen=True)
class Command:
    """A command of the window.

    Attributes
    ----------
    key : str
        Name of the command in the code, and object name of its action.
    text : str
        Text in the menu, with ``&`` before the letter of the mnemonic.
    help : str
        Tooltip and status tip: what the command does, as a sentence.
    shortcuts : str
        Shortcuts, separated by ";"; the first one is shown.
    icon : str
        Name of an icon; "" for none.
    """

    key: str
    text: str
    help: str
    shortcuts: str = ""
    icon: str = ""


_FILE = (
    Command(
        "open",
        tr("&Open…"),
        tr("Open a data file, a folder of folds, a plan or a study."),
        "Ctrl+O",
        "open",
    ),
    Command(
        "sample",
        tr("Open &sample"),
        tr("Open the sample that comes with RankStudio."),
        "Ctrl+D",
        "sample",
    ),
    Command(
        "open_model",
        tr("Open model &as ranker…"),
        tr(
            "Rank the open data with a model file, or one per fold, and add the result as a run to compare."
        ),
        "Ctrl+M",
    ),
    Command(
        "import_feature_set",
        tr("Import feature set…"),
        tr(
            "Read what the features are in Elasticsearch, OpenSearch, Solr or Vespa. Exported models then "
            "have these definitions."
        ),
    ),
    Command(
        "import_costs",
        tr("Import costs…"),
        tr(
            "Read how many milliseconds each feature costs per document and per query, and select by them."
        ),
    ),
    Command(
        "sources",
        tr("&Where to get data…"),
        tr(
            "Show where to get the LETOR, MSLR, Yahoo and Istella data, and their terms of use."
        ),
    ),
    Command(
        "columns",
        tr("Co&lumns…"),
        tr("Choose the query, label and feature columns of the open table."),
    ),
    Command("recent", tr("Open &recent"), tr("Open recent data, plans and studies.")),
    Command(
        "missing",
        tr("&Missing values"),
        tr("Replacement for missing values (NULL, nan) when a file is read."),
    ),
    Command(
        "normalize",
        tr("Scalin&g"),
        tr("Scaling of features within each query when a file is read."),
    ),
    Command(
        "cancel_load", tr("&Cancel loading"), tr("Stop loading and keep the open data.")
    ),
    None,
    Command(
        "new_study",
        tr("&New study"),
        tr("Start a new list of runs in a new file."),
        "Ctrl+Shift+N",
    ),
    Command(
        "open_study",
        tr("Open st&udy…"),
        tr("Open a study with all its runs."),
        "Ctrl+Shift+O",
    ),
    Command(
        "save",
        tr("Save s&tudy"),
        tr("Save the study. A study without a name asks for a file."),
        "Ctrl+S",
    ),
    Command(
        "save_study",
        tr("Sa&ve study as…"),
        tr("Copy all runs to a file and store new runs there."),
        "Ctrl+Shift+S",
    ),
    None,
    Command(
        "save_plan",
        tr("Save &plan…"),
        tr("Save data, method and protocol as a TOML file."),
    ),
    Command(
        "export",
        tr("&Export…"),
        tr("Save the model, tables, plots or the plan."),
        "Ctrl+E",
        "export",
    ),
    Command(
        "export_table",
        tr("Export ta&ble…"),
        tr("Copy or save the ticked runs as a table for a paper, with a preview."),
        "Ctrl+Shift+E",
    ),
    Command(
        "figures",
        tr("F&igures for print…"),
        tr("Copy or save the current plot, or all figures of the study, for print."),
        "Ctrl+Shift+G",
    ),
    Command(
        "copy_command",
        tr("Copy run as comman&d"),
        tr("Copy the terminal command that repeats this run."),
        "Ctrl+Shift+C",
        "copy",
    ),
    Command(
        "copy_python",
        tr("Copy run as P&ython"),
        tr("Copy a Python program that repeats this run."),
        "Ctrl+Shift+P",
    ),
    None,
    Command(
        "quit",
        tr("&Quit"),
        tr(
            "Close RankStudio. Data, plan, runs and layout are restored at the next start."
        ),
        "Ctrl+Q",
    ),
)


_EDIT = (
    Command(
        "undo",
        tr("&Undo"),
        tr("Undo the last change of the plan or the selection."),
        "Ctrl+Z",
        "undo",
    ),
    Command(
        "redo",
        tr("&Redo"),
        tr("Redo the last undone change."),
        "Ctrl+Shift+Z; Ctrl+Y",
        "redo",
    ),
    None,
    Command(
        "pin",
        tr("&Pin or unpin feature"),
        tr("Keep the selected feature in every model, or undo that."),
        "Ctrl+Shift+I",
        "pin",
    ),
    Command(
        "ban",
        tr("&Ban or allow feature"),
        tr("Never select the selected feature, or allow it again."),
        "Ctrl+Shift+B",
        "ban",
    ),
    Command(
        "group",
        tr("&Group features…"),
        tr(
            "Group the features selected on the Data page; selectors select a group as a whole."
        ),
        "Ctrl+G",
    ),
    None,
    Command(
        "best",
        tr("Choose the best by &validation"),
        tr("Go back to the model selected by validation."),
        "Ctrl+B",
        "reset",
    ),
)


_VIEW = (
    *(
        Command(
            f"page_{page.key}",
            page.label,
            f"{page.summary}.",
            f"Ctrl+{number}",
            page.icon,
        )
        for number, page in enumerate(PAGES, start=1)
    ),
    Command(
        "pages",
        tr("&Pages"),
        tr("Show or hide the buttons of further pages in the rail."),
    ),
    Command(
        "palette",
        tr("Fin&d anything…"),
        tr("Find a command, page, method, feature or run by its name."),
        "Ctrl+K",
        "search",
    ),
    None,
    Command("measure", tr("&Measure"), tr("Measure shown in plots and tables.")),
    Command(
        "convention",
        tr("&Convention"),
        tr("Convention by which the measures are computed."),
    ),
    Command(
        "choose_by",
        tr("C&hoose model by this measure"),
        tr(
            "Choose the model of every run by the validation value of the current measure and convention."
        ),
    ),
    Command(
        "seal",
        tr("&Seal test part"),
        tr(
            "Hide all results of the test part of the open data. Each dataset has its own seal; the study "
            "counts how often it is broken."
        ),
        "Ctrl+Shift+L",
    ),
    Command("theme", tr("&Theme"), tr("Light, dark, or the system's theme.")),
    Command(
        "language",
        tr("Lan&guage"),
        tr("Language of the window; takes effect at the next start."),
    ),
    Command(
        "whole_page",
        tr("Ma&ximise panel"),
        tr("Show the focused panel on the whole page, or restore it."),
        "Ctrl+Shift+F",
    ),
    Command(
        "pop_out",
        tr("Pop out pa&nel"),
        tr("Show the focused panel in its own window; press Esc to bring it back."),
        "Ctrl+Shift+W",
    ),
    Command(
        "larger", tr("&Larger text"), tr("Increase the text size."), "Ctrl++; Ctrl+="
    ),
    Command("smaller", tr("Sm&aller text"), tr("Decrease the text size."), "Ctrl+-"),
    Command("usual_size", tr("&Usual text"), tr("Reset the text size."), "Ctrl+0"),
    None,
    Command("next_fold", tr("Next &fold"), tr("Show the next fold."), "Ctrl+Right"),
    Command(
        "previous_fold",
        tr("Pre&vious fold"),
        tr("Show the previous fold."),
        "Ctrl+Left",
    ),
)


_RUN = (
    Command(
        "run",
        tr("&Run"),
        tr(
            "Run the plan, or resume its interrupted run. If another run is in progress, this one waits."
        ),
        "Ctrl+R; F5",
        "run",
    ),
    Command(
        "comparison",
        tr("Run a co&mparison…"),
        tr(
            "Run several methods, rankers and datasets in the background and compare them."
        ),
        "Ctrl+Shift+M",
        "compare",
    ),
    Command(
        "add_scores",
        tr("Add scores o&f another program…"),
        tr("Measure the scores of another program and add them as a run to compare."),
    ),
    Command(
        "add_order",
        tr("Add &baseline: original document order"),
        tr("Measure the original order of the documents as a baseline."),
    ),
    Command(
        "add_method",
        tr("A&dd a method…"),
        tr(
            "Add the methods and measures of a Python file: a class with fit(X, y), a function "
            "scores(X, y, qid), or a function of the labels of a query, half(labels)."
        ),
    ),
    Command(
        "analyses",
        tr("Anal&yses…"),
        tr(
            "Carry out an analysis of the open data, of the plan or of the current run."
        ),
    ),
    Command(
        "left_out",
        tr("&Left-out queries"),
        tr(
            "Show the leave-query-out measure next to the validation measure. Choose again to hide it."
        ),
    ),
    Command(
        "follow",
        tr("Foll&ow the run"),
        tr(
            "Show the run and fold that are being computed. Ends when you choose another run or fold."
        ),
        "Ctrl+Shift+J",
    ),
    Command("pause", tr("&Pause"), tr("Pause or resume the run."), "Ctrl+P", "pause"),
    Command(
        "step",
        tr("S&tep"),
        tr("Select one more feature, then wait; starts a paused run otherwise."),
        "Ctrl+T; F10",
        "step",
    ),
    Command(
        "go_on",
        tr("Resume &interrupted run"),
        tr("Resume the current run where it was interrupted."),
        "Ctrl+Shift+R",
        "run",
    ),
    Command(
        "stop",
        tr("&Stop"),
        tr("Stop the run and keep its finished folds and paths."),
        "Esc",
        "stop",
    ),
    Command(
        "stop_all",
        tr("Stop &all"),
        tr("Stop the run and all waiting runs."),
        "Shift+Esc",
    ),
    None,
    Command(
        "backend",
        tr("&Workers"),
        tr(
            "Where the next runs are computed: in this window, in processes on this computer, or "
            "on a cluster."
        ),
    ),
)


_HELP = (
    Command("guide", tr("&Guide"), tr("Open the guide."), "F1", "help"),
    Command(
        "log",
        tr("Show the &log"),
        tr("Open the folder of the log and the crash reports."),
    ),
    Command(
        "plugins",
        tr("&Plug-ins…"),
        tr("List the plug-ins of this installation and what they add."),
    ),
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


SUBMENUS = (
    "recent",
    "pages",
    "missing",
    "normalize",
    "measure",
    "convention",
    "theme",
    "language",
    "backend",
)


class Actions:
    """Builds the menu bar of the window, and has the actions of its commands by their keys.

    Parameters
    ----------
    window : QMainWindow
        Window that gets the menu bar and owns the actions.
    theme : Theme
    parts : PluginParts, optional
        Pages and panels of plug-ins, whose commands follow the pages in
        the menu *View*.
    contributed : iterable of PartCommand
        Other commands of plug-ins, each with its menu and position.

    Attributes
    ----------
    submenus : dict of str to QMenu
        Submenus by the keys in `SUBMENUS`.
    menus : Mapping of str to sequence of Command
        Commands of each menu, as in `MENUS`, with those of plug-ins.
    plugin_commands : tuple of Command
        Commands that show the pages and panels of plug-ins.
    """

    def __init__(
        self,
        window: QMainWindow,
        theme: Theme,
        parts: PluginParts | None = None,
        contributed: Iterable[PartCommand] = (),
    ) -> None:
        self._actions: dict[str, QAction] = {}

        # Actions and submenus are by the keys of their commands. A
        # submenu has no action.
        self.submenus: dict[str, QMenu] = {}
        self.plugin_commands = () if parts is None else tuple(_plugin_commands(parts))
        self.menus = menus_with(contributed)

        # None among the commands of a menu is a line between two of them.
        for name, commands in self.menus.items():
            menu = window.menuBar().addMenu(_TITLES[name])
            menu.setObjectName(f"menu-{name.lower()}")
            for command in commands:
                # The commands of plug-ins' pages follow those of the
                # window's own pages, which are directly before the
                # submenu "pages".
                if command is not None and command.key == "pages":
                    for part_command in self.plugin_commands:
                        self._add_action(part_command, menu, window, theme)
                if command is None:
                    menu.addSeparator()
                elif command.key in SUBMENUS:
                    self._add_submenu(command, menu)
                else:
                    self._add_action(command, menu, window, theme)

    def __getitem__(self, key: str) -> QAction:
        return self._actions[key]

    def connect(self, **calls: Callable[[], object]) -> None:
        """Connect commands, by their keys, to functions without arguments."""
        for key, call in calls.items():
            # `triggered` passes a bool; the default argument binds the
            # function of this iteration.
            self._actions[key].triggered.connect(lambda _=False, call=call: call())

    def enable(self, **enabled: bool) -> None:
        """Enable and disable commands, by their keys."""
        for key, is_enabled in enabled.items():
            self._actions[key].setEnabled(is_enabled)

    def rename(self, key: str, text: str) -> None:
        """Give a command another text, with ``&`` before the letter of its mnemonic.

        ``key`` is the key of the command.
        """
        if self._actions[key].text() != text:
            self._actions[key].setText(text)
            self._actions[key].setIconText(text.replace("&", ""))

    def _add_submenu(self, command: Command, menu: QMenu) -> None:
        """Add the empty submenu of a command to a menu; others fill it."""
        submenu = menu.addMenu(command.text)
        submenu.setObjectName(f"menu-{command.key}")
        submenu.setToolTipsVisible(True)
        submenu.menuAction().setStatusTip(command.help)
        self.submenus[command.key] = submenu

    def _add_action(
        self, command: Command, menu: QMenu, window: QMainWindow, theme: Theme
    ) -> None:
        """Make the action of a command, and add it to a menu.

        The window owns the action, whose icon has the colors of the theme.
        """
        action = QAction(command.text, window)
        action.setObjectName(command.key)
        if command.shortcuts:
            action.setShortcuts(QKeySequence.listFromString(command.shortcuts))

        # The shortcut works wherever the focus is in the window.
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.setStatusTip(command.help)
        keys = f" ({key_text(command.shortcuts)})" if command.shortcuts else ""
        action.setToolTip(f"{command.help.rstrip('.')}{keys}")

        # Buttons show the text without the & that marks the letter of the mnemonic.
        action.setIconText(command.text.replace("&", ""))
        if command.icon:
            set_icon(action, theme, command.icon)
        menu.addAction(action)
        self._actions[command.key] = action


def menus_with(
    contributed: Iterable[PartCommand],
) -> Mapping[str, Sequence[Command | None]]:
    """Return the window's menus, with the commands of plug-ins put in.

    The result maps the name of each menu, such as "Run", to its
    commands; None stands for a line between two commands. Each
    contributed command is in the menu that it names (else in *Run*),
    after the command that it names or at the end.
    """
    menus = {name: list(commands) for name, commands in MENUS.items()}
    for part_command in contributed:
        menu = menus.get(part_command.menu, menus["Run"])
        keys = [None if command is None else command.key for command in menu]

        # The place is after the command that it names, which may not exist.
        index = (
            keys.index(part_command.after) + 1
            if part_command.after in keys
            else len(menu)
        )
        menu.insert(
            index,
            Command(part_command.key, tr(part_command.text), tr(part_command.help)),
        )
    return menus


def _plugin_commands(parts: PluginParts) -> Iterator[Command]:
    """Yield a command for each page of a plug-in, which shows the page, and for each panel, which shows or hides it."""
    for page in parts.entries:
        # Without the & that marks the letter of a mnemonic.
        text = _without_mnemonic(page.label)
        yield Command(
            f"page_{page.key}", text, f"{page.summary}.", page.shortcut, page.icon
        )
    for key, title in parts.titles().items():
        text = tr("Panel {title}").format(title=_without_mnemonic(title))
        yield Command(f"panel_{key}", text, tr("Show or hide the panel of a plug-in."))


def _without_mnemonic(label: str) -> str:
    """Return a plug-in's label for a menu, in which "&" does not mark a mnemonic."""
    return label.replace("&", "&&")


def enabled_commands(models: Models) -> dict[str, bool]:
    """Return for the key of each command whether the command is enabled now.

    Commands that are always enabled are left out: only those that
    depend on data and runs are in the result.
    """
    dataset = models.session.dataset
    has_data = dataset is not None

    # Only a table says which of its columns is the label; the user can change it.
    is_table_with_columns = dataset is not None and bool(dataset.origin.read_as.label)
    has_model = models.current.model is not None

    # Pinned and banned features are parameters of selectors only.
    can_pin = has_model and "pinned" in models.session.plan.parameters

    # Documents may be missing if only the results of a study are open,
    # and the plan may want other folds or other values than those that
    # were read.
    is_ready = models.session.has_documents and models.session.data_match_plan
    shown_run = models.runs.shown
    current_run = models.runs.current
    is_loading = models.loader.busy
    undo = models.session.undo
    is_paused = current_run is not None and current_run.state is RunState.PAUSED

    # A step begins a run, or continues a paused one. The command
    # "left_out" shows measures on queries that are left out of
    # training. It cannot be switched off while the plan selects by such
    # a measure (`is_in_plan`).
    return {
        **dict.fromkeys(_ON_DATA, has_data),
        "export_table": any(
            record.result is not None for record in models.runs.records
        ),
        **dict.fromkeys(("run", *_ON_DOCUMENTS), is_ready),
        "columns": is_table_with_columns,
        **{f"page_{page.key}": has_data for page in PAGES},
        "step": (not models.runs.busy and is_ready) or is_paused,
        "go_on": shown_run is not None and shown_run.can_go_on,
        "pause": models.runs.busy,
        "follow": current_run is not None,
        "stop": models.runs.busy or is_loading,
        "analyses": is_ready,
        "left_out": models.left_out.possible and not models.left_out.is_in_plan,
        "stop_all": models.runs.busy,
        "cancel_load": is_loading,
        "undo": undo.canUndo(),
        "redo": undo.canRedo(),
        "pin": can_pin,
        "ban": can_pin,
    }
