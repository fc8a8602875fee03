"""Menus whose entries change: recent files, reading options, measures, themes, languages and backends."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QLocale, QObject, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.metrics.conventions import CONVENTIONS, convention
from rankstudio.engine.metrics.names import measure, offered
from rankstudio.engine.support import memory
from rankstudio.ui.language import LANGUAGES, SYSTEM, tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.execution import LIVE, PROCESSES
from rankstudio.ui.model.session import Session
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.shell.actions import Actions
from rankstudio.ui.shell.toolbar import MainToolBar
from rankstudio.ui.shell.workspace import Workspace
from rankstudio.ui.style.fonts import BASE
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.theme import Theme

READING: dict[str, tuple[tuple[str, str, str], ...]] = {
    "missing": (
        (
            "query_min",
            tr("Smallest value in the query"),
            tr("As in LETOR's own versions; 0 if the query has no other value."),
        ),
        ("zero", tr("Zero"), tr("The same for all.")),
        (
            "refuse",
            tr("Refuse the file"),
            tr("Stop with an error that names the first missing value."),
        ),
    ),
    "normalize": (
        ("none", tr("As in the file"), tr("No scaling.")),
        (
            "query_minmax",
            tr("0 … 1 within each query"),
            tr("Scaled like LETOR's QueryLevelNorm versions."),
        ),
    ),
}
"""Choices of each field of the plan that says how files are read: key, label and explanation."""

_MODES = {"system": tr("Same as system"), "light": tr("Light"), "dark": tr("Dark")}
_OTHER_MEASURE = (
    "",
    tr("Another cut-off k…"),
    tr(
        "Any measure by name, with any k: NDCG@20, P@3, Recall@50. Or a Python file with a measure."
    ),
)


def add_choice(
    menu: QMenu, group: QActionGroup, key: str, label: str, text: str
) -> QAction:
    """Add one of several exclusive choices to a menu, and return its action.

    The action has the key as its data. ``label`` is its text, ``text``
    its tooltip, and ``group`` has the actions of all choices of the
    menu.
    """
    action = menu.addAction(label)
    action.setData(key)
    action.setCheckable(True)
    action.setToolTip(plain(text))
    group.addAction(action)
    return action


def _definition_of(name: str) -> str:
    """Return the text that defines a measure, by the measure's name, such as "NDCG@10".

    For a measure of a plug-in, the text also says which convention it
    follows, and from where it comes.
    """
    # The cut of NDCG@10 is 10; measures of all documents have None.
    named_measure = measure(name)
    cut = named_measure.cut
    documents = (
        trn("the first document", "the first {cut} documents", cut)
        if cut
        else tr("all documents")
    )
    text = tr(named_measure.family.help).format(first=documents.format(cut=cut))

    # Only a measure of a plug-in has an entry, which describes it.
    # RankStudio's own measures follow the convention in use.
    entry = named_measure.family.entry
    if entry is None:
        return text
    follows = (
        tr("Follows {convention}.").format(convention=entry.convention)
        if entry.convention
        else ""
    )
    origin = "" if entry.origin is None else f"({entry.origin.text})"
    return " ".join(filter(None, (text or entry.label, follows, origin)))


class Menus(QObject):
    """Keeps the menus with changing entries up to date, and carries out the user's choices in them.

    Parameters
    ----------
    actions, toolbar
        Contain the menus.
    session, theme, settings
        The state that the menus show and change.
    """

    recentChosen = Signal(str)
    measureAsked = Signal()
    """The user wants a measure with a cut-off that the menu does not list."""
    conventionChosen = Signal(str)
    """The user picked a convention (its key)."""
    told = Signal(str)
    """A message to the user."""
    readingChosen = Signal(str, str)
    """The user chose how files are read: a field of the plan, and its new value."""

    def __init__(
        self,
        actions: Actions,
        toolbar: MainToolBar,
        session: Session,
        theme: Theme,
        settings: Settings,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._actions = actions
        self._toolbar = toolbar
        self._session = session
        self._theme = theme
        self._settings = settings
        self._paused: bool | None = None  # None before the action is first set

        # What a choice in a menu does, by the name of the menu; the
        # function takes the key of the chosen entry. The key "" asks
        # for another measure.
        self._choice_functions: dict[str, Callable[[str], object]] = {
            "measure": lambda key: (
                session.show_measure(key) if key else self.measureAsked.emit()
            ),
            "convention": self.conventionChosen.emit,
            "theme": theme.set_mode,  # type: ignore[dict-item] # its keys are the modes
            "language": self._choose_language,
            **{name: partial(self.readingChosen.emit, name) for name in READING},
        }
        self._groups = {name: QActionGroup(self) for name in self._choice_functions}
        actions.connect(
            larger=lambda: theme.set_text_size(theme.text_size + 1),
            smaller=lambda: theme.set_text_size(theme.text_size - 1),
            usual_size=lambda: theme.set_text_size(BASE),
        )
        session.planChanged.connect(self._fill)
        session.measureChanged.connect(self._fill)
        theme.changed.connect(self._fill)
        self._fill()

    def show_recent(self) -> None:
        """Fill the menu of recently opened paths."""
        menu = self._actions.submenus["recent"]
        menu.clear()
        for path in self._settings.recent:
            # The root folder has no name.
            action = menu.addAction(Path(path).name or path)
            action.setToolTip(plain(path))

            # `triggered` passes whether the action is checked, which is
            # ignored; the default value binds the path of this entry.
            action.triggered.connect(
                lambda _=False, path=path: self.recentChosen.emit(path)
            )
        menu.setEnabled(bool(self._settings.recent))
        if self._settings.recent:
            menu.addSeparator()
            menu.addAction(tr("Clear this list")).triggered.connect(self._clear_recent)

    def show_pause(self, paused: bool) -> None:
        """Show "Resume" on the action if the run is paused, else "Pause"; nothing is done without a change."""
        if paused == self._paused:
            return
        self._paused = paused
        action = self._actions["pause"]
        action.setText(tr("&Resume") if paused else tr("&Pause"))
        action.setIconText(tr("Resume") if paused else tr("Pause"))
        action.setToolTip(
            tr("{paused} the run (Ctrl+P)").format(
                paused=tr("Resume") if paused else tr("Pause")
            )
        )
        set_icon(action, self._theme, "run" if paused else "pause")

    def show_undo(self) -> None:
        """Show in the menu the names of the changes that undo and redo would make."""
        # Without a change there is no name, and rstrip removes the space before it.
        undo = self._session.undo
        self._actions["undo"].setText(
            tr("&Undo {undoText}").format(undoText=undo.undoText()).rstrip()
        )
        self._actions["redo"].setText(
            tr("&Redo {redoText}").format(redoText=undo.redoText()).rstrip()
        )

    @Slot()
    def toggle_theme(self) -> None:
        """Change from the light to the dark theme, or back."""
        self._theme.set_mode("light" if self._theme.dark else "dark")

        # The theme does not emit `changed` if the system's theme is the
        # same as the chosen one.
        self._fill()

    @Slot()
    def _fill(self) -> None:
        """Fill the menus of choices, and mark the current measure, theme, language and convention."""
        # The measures of the plan come first, then those of the catalog
        # (`offered`), each once.
        plan = self._session.plan
        measure_name = self._session.measure
        names = dict.fromkeys((*plan.evaluated, *offered(), measure_name))
        entries = [(name, name, _definition_of(name)) for name in names]
        self._fill_choice("measure", [*entries, _OTHER_MEASURE], measure_name)
        self._toolbar.measure_button.setText(self._session.measure)
        current = tr("Current measure: {measure}").format(
            measure=_definition_of(self._session.measure)
        )
        self._toolbar.measure_button.setToolTip(plain(current))

        # How data are read: missing values and scaling. The names of
        # these menus are attributes of the plan.
        for name, choices in READING.items():
            self._fill_choice(name, list(choices), getattr(plan, name))
        self._fill_choice(
            "theme",
            [(mode, label, "") for mode, label in _MODES.items()],
            self._theme.mode,
        )
        languages = {SYSTEM: tr("Same as system"), **LANGUAGES}
        language_entries = [(key, label, "") for key, label in languages.items()]
        self._fill_choice("language", language_entries, self._settings.language)
        conventions = [
            (key, rules.label, tr(rules.summary)) for key, rules in CONVENTIONS.items()
        ]
        self._fill_choice("convention", conventions, self._session.convention)
        current_rules = convention(self._session.convention)
        self._toolbar.convention_button.setText(current_rules.label)
        tooltip = tr("Convention of the measures: {summary}").format(
            summary=tr(current_rules.summary)
        )
        entry = measure(measure_name).family.entry
        if entry is not None and entry.convention:
            tooltip = f"{tooltip}\n{entry.key}: {entry.convention}"
        self._toolbar.convention_button.setToolTip(plain(tooltip))

    def _fill_choice(
        self, name: str, entries: list[tuple[str, str, str]], chosen: str
    ) -> None:
        """Fill the menu of a choice, by its name, and mark the chosen entry.

        An entry is a key, a label and a tooltip; ``chosen`` is a key. A
        menu that already has these entries is not filled again.
        """
        menu = self._actions.submenus[name]
        group = self._groups[name]
        present_keys = [action.data() for action in group.actions()]
        if present_keys != [key for key, _, _ in entries]:
            for action in group.actions():
                group.removeAction(action)
                action.deleteLater()
            menu.clear()
            for key, label, text in entries:
                action = add_choice(menu, group, key, label, text)
                action.triggered.connect(
                    lambda _=False, key=key: self._choose(name, key)
                )
                if name == "language" and key in LANGUAGES:
                    # The palette also finds a language by its English name.
                    action.setWhatsThis(
                        QLocale.languageToString(QLocale(key).language())
                    )
        for action in group.actions():
            action.setChecked(action.data() == chosen)

    def _choose(self, name: str, key: str) -> None:
        """Carry out the choice of an entry, by its key, in the menu of a name."""
        # Qt has marked the chosen entry, but a choice may be canceled,
        # or take effect later only.
        self._fill()
        self._choice_functions[name](key)
        self._fill()

    def _choose_language(self, key: str) -> None:
        """Store the chosen language, and say that it changes at the next start."""
        self._settings.set("window/language", key)
        self.told.emit(tr("The language changes at the next start of RankStudio."))

    @Slot()
    def _clear_recent(self) -> None:
        """Forget the recently opened paths, and empty their menu."""
        self._settings.clear_recent()
        self.show_recent()


_ADDRESS_QUESTION = tr(
    "Address of a running dask scheduler whose workers have the same version of RankStudio.\n"
    "For example: tcp://10.0.0.1:8786"
)

_MEMORY_HELP = tr(
    "Memory limit for data and runs from now on. Larger data are read from disk as needed."
)
_MEMORY_QUESTION = tr(
    "Memory limit for data and runs, for example 2GB or 500MB.\nLeave empty to use half of the "
    "free memory ({free} now).\nLarger data are read from disk as needed; the results are "
    "identical."
)


class PagesMenu(QObject):
    """A menu that shows and hides the rail's buttons of pages that have none by default.

    Parameters
    ----------
    menu : QMenu
        An empty menu; it is hidden if there are no such pages.
    workspace : Workspace
    """

    def __init__(self, menu: QMenu, workspace: Workspace, parent: QObject) -> None:
        super().__init__(parent)
        self._actions: dict[str, QAction] = {}  # by the keys of the pages

        # A page is optional if it has no button by default.
        for page in workspace.optional:
            action = menu.addAction(page.label)
            action.setObjectName(f"rail_{page.key}")
            action.setCheckable(True)
            action.setChecked(workspace.rail.has_button(page.key))
            action.setStatusTip(f"{page.summary}.")
            action.triggered.connect(
                lambda on, key=page.key: workspace.show_on_rail(key, is_shown=on)
            )
            self._actions[page.key] = action
        menu.menuAction().setVisible(bool(self._actions))

        # The rail may also change otherwise: a page that is shown gets
        # its button.
        workspace.railChanged.connect(
            lambda key, is_shown: self._actions[key].setChecked(is_shown)
        )


class BackendMenu(QObject):
    """A menu that shows and changes where runs are computed, and the memory limit.

    Parameters
    ----------
    menu : QMenu
        An empty menu.
    models : Models
        Contains the execution backend and the memory budget.
    parent : QWidget
        Widget over which the dialogs open.
    """

    def __init__(self, menu: QMenu, models: Models, parent: QWidget) -> None:
        super().__init__(parent)
        self._backend = models.backend
        self._memory = models.memory_budget
        self._window = parent
        backend = self._backend
        self._group = QActionGroup(self)
        count = backend.n_processes
        processes_label = (
            tr("&{count} processes on this computer").format(count=count)
            if count > 1
            else tr("A separate &process")
        )
        live_help = tr("The curves grow with every selected feature.")
        many_help = tr(
            "Several combinations and folds at a time; each curve appears when it is complete."
        )
        cluster_help = tr("Compute on a Dask cluster. The results are identical.")

        # The keys are those of the backends.
        self._live = add_choice(
            menu, self._group, LIVE, tr("This &window, step by step"), live_help
        )
        self._processes = add_choice(
            menu, self._group, PROCESSES, processes_label, many_help
        )

        # The key of a cluster is its address, which is not known yet.
        self._cluster = add_choice(
            menu, self._group, "", tr("A &cluster…"), cluster_help
        )
        for action in self._group.actions():
            action.setStatusTip(action.toolTip())
        self._live.triggered.connect(lambda: backend.select(LIVE))
        self._processes.triggered.connect(lambda: backend.select(PROCESSES))
        self._cluster.triggered.connect(self._ask_cluster)
        backend.changed.connect(self._show)
        menu.addSeparator()

        # Its text, with the present limit, is set by `_show`.
        self._budget = menu.addAction("")
        self._budget.setObjectName("memory-budget")
        self._budget.setToolTip(_MEMORY_HELP)
        self._budget.setStatusTip(_MEMORY_HELP)
        self._budget.triggered.connect(lambda _=False: self._ask_memory())
        self._memory.changed.connect(self._show)
        self._show()

    @Slot()
    def _ask_cluster(self) -> None:
        """Ask for the address of a cluster's scheduler, and compute runs on that cluster.

        Without an answer, the place of computation is not changed.
        """
        answer = self._answer(
            "cluster-dialog",
            tr("Run on a cluster"),
            _ADDRESS_QUESTION,
            self._backend.address,
        )
        if answer:
            self._backend.select(answer)

        # Qt has checked the cluster's entry at the click, even without an answer.
        self._show()

    def _ask_memory(self, problem: str = "", text: str | None = None) -> None:
        """Ask the user for the memory limit, until the answer is valid or the dialog is cancelled.

        ``problem`` says why the last answer was invalid, and ``text``
        is that answer, which can be corrected. Without a last answer,
        the present limit is shown.
        """
        question = _MEMORY_QUESTION.format(free=memory.size(memory.available()))
        label = f"{question}\n{problem}" if problem else question
        initial = self._memory.asked if text is None else text
        answer = self._answer("memory-dialog", tr("Memory limit"), label, initial)
        if answer is None:
            return
        try:
            self._memory.ask(answer)
        except ParameterError as error:
            message = tr("Expected {expected}, got {got}.").format(
                expected=error.expected, got=answer
            )
            self._ask_memory(message, answer)

    def _answer(self, name: str, title: str, label: str, text: str) -> str | None:
        """Ask for a line of text, and return it; return None if the user cancels the dialog.

        ``label`` is the question, ``text`` the answer that is proposed,
        ``title`` the title of the dialog, and ``name`` its object name.
        """
        dialog = QInputDialog(self._window)
        dialog.setObjectName(name)
        dialog.setWindowTitle(title)
        dialog.setLabelText(label)
        dialog.setTextValue(text)
        return dialog.textValue().strip() if dialog.exec() else None

    @Slot()
    def _show(self) -> None:
        """Show in the menu the memory limit, where runs are computed, and the cluster's address."""
        size = self._memory.asked or tr("half of the free memory")
        self._budget.setText(tr("&Memory limit: {size}…").format(size=size))

        # Any other choice is the address of a cluster.
        choice = self._backend.choice
        chosen = {LIVE: self._live, PROCESSES: self._processes}.get(
            choice, self._cluster
        )
        chosen.setChecked(True)
        cluster_text = (
            tr("The &cluster at {address}…").format(address=self._backend.address)
            if self._backend.address
            else tr("A &cluster…")
        )
        self._cluster.setText(cluster_text)
