"""The preferences that a plan learns from, on the Data page: how many, and how far they agree."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.engine.data.preferences.preferences import PreferenceSummary
from rankstudio.ui.language import tr, trn
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Fact, KeyValue, RemovableNote
from rankstudio.ui.widgets.layout import fill, named


class PreferencesView(QWidget):
    """The name of the file, what is counted of it, and a button that takes it off.

    Attributes
    ----------
    appeared : Signal()
        It has come to be seen: what it shows may be old.
    removed : Signal()
        The user wants to learn from labels again.
    """

    appeared = Signal()
    removed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        named(self, "preferences-view", tr("preferences between documents"))
        self._title = RemovableNote(theme, "preferences-name", tr("Use labels again"))
        self._title.removed.connect(self.removed)
        self._facts = KeyValue()
        self.rows: tuple[Fact, ...] = ()
        fill(QVBoxLayout(self), self._title, self._facts, margins=(0, 6, 0, 0), spacing=6)
        self.hide()

    def showEvent(self, event: QShowEvent) -> None:
        """Tell of it."""
        super().showEvent(event)
        self.appeared.emit()

    def show_file(self, name: str, where: str = "") -> None:
        """Show that a file is learned from, in words where; "" hides all."""
        title = tr("preferences: {file}").format(file=name)
        self._title.say(" · ".join(filter(None, (title, where))) if name else "")
        self.setVisible(bool(name))

    def show_summary(self, summary: PreferenceSummary | None) -> None:
        """Show what is counted; None while it is not known."""
        self.rows = () if summary is None else preference_facts(summary)
        self._facts.set_rows(self.rows)


def preference_facts(summary: PreferenceSummary) -> tuple[Fact, ...]:
    """Return what is counted of preferences, and what that means, as facts."""
    queries = trn("{n:,} query", "{n:,} queries", summary.n_queries).format(n=summary.n_queries)
    about = tr("Between {n:,} documents.").format(n=summary.n_documents)
    facts = [
        Fact(tr("preferences"), f"{summary.n_preferences:,}", queries, "muted", about),
        Fact(
            tr("pairs"),
            f"{summary.n_pairs:,}",
            tooltip=tr("Different pairs of documents, in either direction."),
        ),
        Fact(
            tr("contradictions"),
            f"{summary.n_contradictions:,}",
            tooltip=tr("Pairs with preferences in both directions: every ranking contradicts one of them."),
        ),
    ]
    cycles = tr("largest {n}").format(n=summary.largest) if summary.n_cycles else ""
    meaning = tr(
        "Preference cycles: no ranking can satisfy all {inside:,} preferences inside these "
        "groups of documents. All other preferences can be satisfied together."
    )
    inside = meaning.format(inside=summary.n_cyclic)
    return (*facts, Fact(tr("cycles"), f"{summary.n_cycles:,}", cycles, tooltip=inside))
