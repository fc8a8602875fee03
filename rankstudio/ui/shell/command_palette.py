"""One field that finds everything by its name: commands, settings, pages, methods, features and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from rankstudio.engine.methods.catalog import methods
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.feature_search import MOST_LISTED, asked_for
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.shell.actions import SUBMENUS, Actions
from rankstudio.ui.shell.sections import Sections
from rankstudio.ui.shell.workspace import Workspace
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.plain_text import key_text, plain
from rankstudio.ui.widgets.layout import fill, named

_MOST = 60  # entries in the list at once
_WIDTH, _HEIGHT, _FROM_TOP = 560, 380, 90
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


@dataclass(frozen=True)
class Entry:
    """Something that can be found.

    Attributes
    ----------
    kind : str
        What it is, as it is shown: "command", "setting", "page", "method", "feature", "run", "query".
    text : str
    act : callable
        Called without arguments when it is chosen.
    note : str
        Shown behind the text: a key, an id.
    """

    kind: str
    text: str
    act: Callable[[], object]
    note: str = ""


def matching(entries: Sequence[Entry], typed: str) -> list[Entry]:
    """Return the entries that have every word that was typed.

    Those with the words themselves come before those with longer ones ("Theme › Light" before "LightGBM"), of
    each those first that begin with what was typed. The entries keep their order otherwise; nothing typed
    matches everything.
    """
    words = typed.lower().split()

    def rank(entry: Entry) -> tuple[int, bool]:
        text = entry.text.lower()
        parts = text.split()
        begins = text.startswith(" ".join(words))
        if all(word in parts for word in words):
            return 0, not begins
        starts = {part[: len(word)] for word in words for part in parts}
        return 1 if begins or all(word in starts for word in words) else 2, not begins

    found = [e for e in entries if all(w in f"{e.text} {e.kind} {e.note}".lower() for w in words)]
    return sorted(found, key=rank)


class CommandPalette(QDialog):
    """The field and what it finds, over the upper part of the window.

    Parameters
    ----------
    entries : sequence of Entry
    parent : QWidget
        The window.
    asked : callable, optional
        Returns what else the typed text names.
    """

    def __init__(
        self, entries: Sequence[Entry], parent: QWidget, asked: Callable[[str], list[Entry]] = lambda _: []
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        named(self, "command-palette", tr("find anything"), role="palette")
        self._entries, self._asked = entries, asked
        self._found: list[Entry] = []
        self.field = named(
            QLineEdit(), "palette-field", tr("find a command, setting, page, method, feature, run or query")
        )
        self.field.setPlaceholderText(tr("Find a command, setting, page, method, feature, run or query"))
        self.list = named(QListWidget(), "palette-list", tr("Matches"))
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        fill(QVBoxLayout(self), self.field, (self.list, 1), margins=(10, 10, 10, 10), spacing=8)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self._find)
        self.field.returnPressed.connect(self._choose)
        self.list.itemClicked.connect(self._choose)
        self.resize(min(scaled(_WIDTH), parent.width() - 40), _HEIGHT)
        corner = parent.mapToGlobal(parent.rect().topLeft())
        self.move(corner.x() + (parent.width() - self.width()) // 2, corner.y() + _FROM_TOP)
        self._find("")
        self.field.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the arrow keys move in the list while the field has the focus."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() in _LIST_KEYS
        ):
            self.list.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)

    @Slot(str)
    def _find(self, typed: str) -> None:
        self._found = [*self._asked(typed), *matching(self._entries, typed)][:_MOST]
        self.list.clear()
        for entry in self._found:
            note = f" · {entry.note}" if entry.note else ""
            item = QListWidgetItem(f"{entry.text}   ({entry.kind}{note})")
            item.setToolTip(plain(item.text()))
            self.list.addItem(item)
        if self._found:
            self.list.setCurrentRow(0)
        else:
            nothing = QListWidgetItem(tr("Nothing matches “{typed}”.").format(typed=typed))
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(nothing)

    @Slot()
    def _choose(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._found):
            self.close()
            self._found[row].act()


_MOST_QUERIES = 5000


def palette_entries(
    models: Models, sections: Sections, actions: Actions, workspace: Workspace
) -> tuple[Entry, ...]:
    """Return all that can be chosen: enabled commands, settings, pages, methods, runs, features, queries."""
    session, runs = models.session, models.runs
    entries = [*_commands(actions), *_choices(actions)]
    if session.dataset is not None:
        entries += [
            Entry(tr("page"), page.label, partial(workspace.show_page, page.key))
            for page in workspace.entries
        ]
        entries += _parameters(models, sections, workspace)
        entries += _methods(models, workspace)
        for run in runs.records:
            show = partial(look_at, session, runs, run)
            entries.append(
                Entry(
                    tr("run"),
                    tr("run {key} {title}").format(key=run.key, title=run.title),
                    show,
                    run.dataset.name,
                )
            )
            delete = tr("Remove run {key} {title}").format(key=run.key, title=run.title)
            remove = partial(sections.compare.removalAsked.emit, (run,))
            entries.append(Entry(tr("command"), delete, remove, run.dataset.name))
        listed = range(min(session.dataset.n_features, MOST_LISTED))
        entries += _features(models, sections, workspace, listed)
        entries += _queries(sections, workspace)
    return tuple(entries)


def _commands(actions: Actions) -> Iterator[Entry]:
    for commands in actions.menus.values():
        for command in commands:
            known = command is not None and command.key not in SUBMENUS
            if command is None or not known or command.key.startswith("page_") or command.key == "palette":
                continue
            action = actions[command.key]
            if action.isEnabled():
                yield Entry(tr("command"), action.iconText(), action.trigger, key_text(command.shortcuts))


def _choices(actions: Actions) -> Iterator[Entry]:
    """Yield the entries of submenus: themes, languages, measures, scalings, recent files."""
    for key, menu in actions.submenus.items():
        if key == "pages":  # which are found as pages
            continue
        title = menu.title().replace("&", "")
        for action in menu.actions():
            if action.text() and action.isEnabled() and action.menu() is None:
                text = f"{title} › {action.text().replace('&', '')}"
                yield Entry(tr("setting"), text, action.trigger, action.whatsThis())


def _parameters(models: Models, sections: Sections, workspace: Workspace) -> Iterator[Entry]:
    """Yield the fields of the form."""
    form, plan = sections.select.method.form, models.session.plan
    names = ["method", *plan.parameters, "protocol"]
    names += [] if plan.entry.given else ["select_by", "rule"]
    names += ["ranked_by"] if plan.entry.selects else []

    def go(name: str) -> None:
        workspace.show_page("select")
        form.go_to(name)

    for name in names:
        yield Entry(tr("setting"), form.field(name).label.text(), partial(go, name))


def _methods(models: Models, workspace: Workspace) -> Iterator[Entry]:
    def use(key: str, label: str) -> None:
        models.session.change(tr("the method {label}").format(label=label), method=key, parameters={})
        workspace.show_page("select")

    for method in methods():
        if not method.lacking:
            yield Entry(
                tr("method"),
                method.label,
                partial(use, method.key, method.label),
                method.description.citation,
            )


def _features(
    models: Models, sections: Sections, workspace: Workspace, places: Sequence[int]
) -> Iterator[Entry]:
    """Yield the features at some places."""

    def inspect(feature: int) -> None:
        workspace.show_page("features")
        sections.features.inspect(feature)

    dataset = models.session.dataset
    if dataset is not None:
        ids = dataset.feature_ids[places].tolist()
        for place, feature in zip(places, ids, strict=True):
            yield Entry(tr("feature"), dataset.feature_names[place], partial(inspect, feature), str(feature))


def feature_asked_for(models: Models, sections: Sections, workspace: Workspace, typed: str) -> list[Entry]:
    """Return the feature with the id or the name that was typed, of those that are too many to be listed."""
    dataset = models.session.dataset
    found = [] if dataset is None else asked_for(dataset.feature_ids, dataset.feature_names, typed)
    return list(_features(models, sections, workspace, found))


def _queries(sections: Sections, workspace: Workspace) -> Iterator[Entry]:
    """Yield the queries that are compared, where they are not too many to look through."""
    queries = sections.queries.queries
    if len(queries) > _MOST_QUERIES:
        return

    def show(fold: int, position: int) -> None:
        workspace.show_page("queries")
        sections.queries.show_query(fold, position)

    for query in queries:
        beside = trn("{n_documents} document", "{n_documents} documents", query.n_documents)
        beside = beside.format(n_documents=query.n_documents)
        yield Entry(
            tr("query"),
            tr("query {query_id}").format(query_id=query.query_id),
            partial(show, query.fold, query.position),
            beside,
        )
