"""The panel with the views of the runs' results, one of which is chosen in the header."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedWidget, QWidget

from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.printed_results import printed_results
from rankstudio.engine.plugins.run_views import RunView, run_views
from rankstudio.ui.compare.folds_view import FoldsView
from rankstudio.ui.compare.literature_views import ConventionsView, PublishedView
from rankstudio.ui.compare.pareto_view import ParetoView
from rankstudio.ui.compare.stability_view import StabilityView
from rankstudio.ui.compare.tests_view import TestsView
from rankstudio.ui.compare.view import ContributedComparison, ContributedView, View
from rankstudio.ui.language import tr
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel, Segmented
from rankstudio.ui.widgets.layout import fill, named

_TITLES = {
    "pareto": tr("front"),
    "tests": tr("paired tests"),
    "folds": tr("models"),
    "stability": tr("stability"),
    "published": tr("published results"),
    "conventions": tr("conventions"),
}
_PANEL_TITLES = {
    "pareto": tr("Size and quality"),
    "tests": tr("Tests"),
    "folds": tr("Folds"),
    "stability": tr("Stability"),
    "published": tr("Published results"),
    "conventions": tr("Conventions"),
}
"""Title of the panel for each view."""

_TABS = {
    "pareto": (tr("Pareto"), ("pareto",)),
    "tests": (tr("Tests"), ("tests",)),
    "folds": (tr("Folds"), ("folds", "stability")),
    "literature": (tr("Literature"), ("published", "conventions")),
}
"""Title and views of each tab, before the views of plug-ins.

The models that folds chose share a tab with their stability, and published results with conventions."""

# pixels that the header needs for all but the tabs and the tools of the view
_BESIDE_TOOLS = 460


class ResultsPanel(Panel):
    """A panel with several views of the runs' results.

    Tabs at the right end of its header switch the view.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    viewChosen : Signal(str)
        Key of the view that is shown now.
    pareto, tests, folds, stability, conventions, published : View
        The views of the program itself; the Pareto front is shown first.
    contributed : dict of str to ContributedView
        Views of the shown run by plug-ins, by their keys.
    comparisons : dict of str to ContributedComparison
        Views of the compared runs by plug-ins, by their keys.
    """

    viewChosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Views"), padding=0, name="results-panel")
        self.folds = FoldsView(theme)
        self.tests = TestsView(theme)
        self.stability = StabilityView(theme)
        self.pareto = ParetoView(theme)
        # Plug-ins contribute views of one run and comparisons of several runs.
        entries = run_views()
        contributed: dict[str, View] = {
            entry.key: imported(entry.view)(theme) for entry in entries
        }
        self.contributed = {
            key: view
            for key, view in contributed.items()
            if isinstance(view, ContributedView)
        }
        self.comparisons = {
            key: view
            for key, view in contributed.items()
            if isinstance(view, ContributedComparison)
        }
        self._titles = _TITLES | {entry.key: tr(entry.label) for entry in entries}
        self._panel_titles = _PANEL_TITLES | {
            entry.key: tr(entry.title) for entry in entries
        }
        self._tabs = _views_of_tabs(entries)
        self._absent = {*contributed}  # keys of the views without content
        if not printed_results():  # no plug-in has values from papers
            self._absent.add("published")
        self.conventions = ConventionsView(theme)
        self.published = PublishedView(theme)
        self._key = ""  # of the shown view
        # The view that each tab shows when it is opened: the one shown
        # last, at first the first one with content.
        self._last_keys = {
            tab: self._offered(parts)[0] for tab, parts in self._tabs.items()
        }
        keys = [key for parts in self._tabs.values() for key in parts]
        # A view of the program is the attribute of its key, such as `self.folds`.
        self._views: dict[str, View] = {
            key: contributed[key] if key in contributed else getattr(self, key)
            for key in keys
        }
        self._stack = QStackedWidget()
        # `_TABS` has the title and the views of each tab.
        tabs = [(tab, title) for tab, (title, _) in _TABS.items()]
        self._choice = named(
            Segmented(tabs, tr("view of the results")), "results-views"
        )
        self._part = named(Segmented((), tr("part of the view")), "results-part")
        for view in self._views.values():
            self._stack.addWidget(view)
            view.captioned.connect(self._show_caption)
        # Holds the tools of the views; `_place_tools` moves it below
        # the header where the panel is narrow.
        self._view_tools = QWidget()
        self._tools_are_in_header = True
        self._add_tools()
        self.set_content(self._stack)
        self._choice.chosen.connect(self._show_tab)
        self._part.chosen.connect(self.show_view)
        self.show_view("pareto")

    def _add_tools(self) -> None:
        """Put the choice of the view and the tools of all views into the panel's header."""
        # `_choice` chooses a tab, `_part` one of the views in it.
        layout = fill(
            QHBoxLayout(self._view_tools), self._part, margins=(0, 0, 0, 0), spacing=16
        )
        for view in self._views.values():
            for tool in view.tools:
                layout.addWidget(tool)
        self.tools.addWidget(self._view_tools)
        self.tools.addSpacing(8)
        self.tools.addWidget(self._choice)

    def view(self) -> View:
        """Return the view that is shown."""
        return self._views[self.key()]

    def key(self) -> str:
        """Return the key of the view that is shown."""
        return self._key

    @Slot(object)
    def show_view(self, key: str) -> None:
        """Show the view of a key in its tab, with its tools and title, and report it by `viewChosen`."""
        # A tab has one or several views, its parts. Those with content
        # are offered, by buttons that are hidden for a single part.
        tab, all_parts = next(
            (tab, parts) for tab, parts in self._tabs.items() if key in parts
        )
        parts = self._offered(all_parts)
        self._key = self._last_keys[tab] = key
        self._choice.select(tab)
        if len(parts) > 1:
            if [part for part, _ in self._part.options()] != parts:
                self._part.set_options([(part, self._titles[part]) for part in parts])
            self._part.select(key)
        self._part.setVisible(len(parts) > 1)
        for view in self._views.values():
            is_shown = view is self.view()
            # A hidden view must not demand room of the panel.
            policy = (
                QSizePolicy.Policy.Preferred if is_shown else QSizePolicy.Policy.Ignored
            )
            view.setSizePolicy(policy, policy)
            for tool in view.tools:
                tool.setVisible(is_shown)
        self._view_tools.setVisible(len(parts) > 1 or bool(self.view().tools))
        self._stack.setCurrentWidget(self.view())
        self.set_title(self._panel_titles[key])
        self._show_caption()
        self.viewChosen.emit(key)

    def _offered(self, parts: Sequence[str]) -> list[str]:
        """Return the parts of a tab that have content."""
        return [part for part in parts if part not in self._absent]

    def offer(self, key: str, is_there: bool) -> None:
        """Offer a view as a part of its tab if it has content (``is_there``), else withdraw it.

        ``key`` is the key of the view. If the withdrawn view was the
        last one shown in its tab, the first part of the tab replaces
        the view.
        """
        # `_absent` has the keys of the views without content. It
        # changes if it contains the key of a view that has content, or
        # lacks that of one without.
        has_changed = is_there is (key in self._absent)
        if has_changed:
            self._absent ^= {key}  # adds the key, or removes it if it is in the set
            parts = next(parts for parts in self._tabs.values() if key in parts)
            self._last_keys = {
                tab: parts[0] if last_key == key else last_key
                for tab, last_key in self._last_keys.items()
            }
            # The tab that is open shows its remaining parts at once.
            if self.key() in parts:
                self.show_view(parts[0] if self.key() == key else self.key())

    @Slot(object)
    def _show_tab(self, tab: str) -> None:
        """Open a tab, with the view that it showed last."""
        self.show_view(self._last_keys[tab])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the tools of a view a row of their own where the header has no room for them."""
        super().resizeEvent(event)
        self._place_tools()

    def _place_tools(self) -> None:
        """Put the tools of the views into the header, or into a row below it where the panel is narrow."""
        tool_widths = [
            sum(tool.sizeHint().width() for tool in view.tools)
            for view in self._views.values()
        ]
        header_width = (
            max(tool_widths) + self._choice.sizeHint().width() + scaled(_BESIDE_TOOLS)
        )
        # The room suffices for the widest view, so that tools do not
        # jump between views.
        has_room = self.width() >= header_width
        if has_room is not self._tools_are_in_header:
            self._tools_are_in_header = has_room
            if has_room:
                self.tools.insertWidget(0, self._view_tools)
                self._view_tools.setContentsMargins(0, 0, 0, 0)
            else:  # a row of its own, with margins in pixels
                self.body.insertWidget(
                    0, self._view_tools, 0, Qt.AlignmentFlag.AlignLeft
                )
                self._view_tools.setContentsMargins(12, 8, 8, 0)

    @Slot()
    def _show_caption(self) -> None:
        self.set_caption(self.view().caption())


def _views_of_tabs(entries: Sequence[RunView]) -> dict[str, tuple[str, ...]]:
    """Return the keys of the views of each tab, those of plug-ins last."""
    return {
        tab: (*views, *(entry.key for entry in entries if entry.tab == tab))
        for tab, (_, views) in _TABS.items()
    }
