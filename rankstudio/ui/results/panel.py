"""The Results panel: one of several views of the runs, chosen in its header."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from rankstudio.ui.results.view import View
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, Segmented


class ResultsPanel(Panel):
    """Runs, folds, tests and the like; which, is chosen at the right end of the header.

    Parameters
    ----------
    theme : Theme
    views : sequence of (str, str, View)
        Key, what is written on its button, and the view; the first is shown.
    parent : QWidget, optional

    Attributes
    ----------
    viewChosen : Signal(str)
        Key of the view that is shown now.
    """

    viewChosen = Signal(str)

    def __init__(
        self, theme: Theme, views: Sequence[tuple[str, str, View]], parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, "Results", padding=0, parent=parent)
        self.setObjectName("results-panel")
        self._views = {key: view for key, _, view in views}
        self._stack = QStackedWidget()
        self._choice = Segmented([(key, label) for key, label, _ in views], "view of the results")
        self._choice.setObjectName("results-views")
        self._choice.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        for view in self._views.values():
            self._stack.addWidget(view)
            view.captioned.connect(self._show_caption)
            for tool in view.tools:
                self.tools.addWidget(tool)
        self.tools.addSpacing(20)
        self.tools.addWidget(self._choice)
        self.set_content(self._stack)
        self._choice.chosen.connect(self.show_view)
        self.show_view(next(iter(self._views)))

    def view(self) -> View:
        """Return the view that is shown."""
        return self._views[self.key()]

    def key(self) -> str:
        """Return the key of the view that is shown."""
        return str(self._choice.value())

    def views(self) -> tuple[View, ...]:
        """Return all views."""
        return tuple(self._views.values())

    @Slot(object)
    def show_view(self, key: str) -> None:
        """Show another view."""
        self._choice.choose(key)
        for view in self._views.values():
            shown = view is self.view()
            # A view that is not shown asks for no room.
            policy = QSizePolicy.Policy.Preferred if shown else QSizePolicy.Policy.Ignored
            view.setSizePolicy(policy, policy)
            for tool in view.tools:
                tool.setVisible(shown)
        self._stack.setCurrentWidget(self.view())
        self._show_caption()
        self.viewChosen.emit(key)

    @Slot()
    def _show_caption(self) -> None:
        self.set_caption(self.view().caption())
