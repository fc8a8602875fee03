"""The views of the Results place, together with the panel that shows one of them."""

from __future__ import annotations

from rankstudio.ui.plots import Plot
from rankstudio.ui.results.folds_view import FoldsView
from rankstudio.ui.results.panel import ResultsPanel
from rankstudio.ui.results.pareto_view import FrontView
from rankstudio.ui.results.published_view import PublishedView
from rankstudio.ui.results.runs_panel import RunsPanel
from rankstudio.ui.results.stability_view import StabilityView
from rankstudio.ui.results.tests_view import TestsView
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Table


class Views:
    """Runs, folds, tests, stability, front and published results.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        self.runs = RunsPanel(theme)
        self.folds = FoldsView(theme)
        self.tests = TestsView(theme)
        self.stability = StabilityView(theme)
        self.front = FrontView(theme)
        self.published = PublishedView(theme)
        self.panel = ResultsPanel(
            theme,
            (
                ("runs", "Runs", self.runs),
                ("folds", "Folds", self.folds),
                ("tests", "Tests", self.tests),
                ("stability", "Stability", self.stability),
                ("front", "Front", self.front),
                ("published", "Published", self.published),
            ),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the tables of all views."""
        return tuple(table for view in self.panel.views() for *_, table in view.tables())

    def plots(self) -> tuple[Plot, ...]:
        """Return the plots of all views."""
        return tuple(plot for view in self.panel.views() for *_, plot in view.plots())

    def shown_tables(self) -> tuple[tuple[str, str, str, Table], ...]:
        """Return the table of runs and those of the view that is shown: key, label, a sentence, the table."""
        return tuple(t for view in dict.fromkeys((self.runs, self.panel.view())) for t in view.tables())

    def shown_plots(self) -> tuple[tuple[str, str, Plot], ...]:
        """Return the plots of the view that is shown: key, label and the plot."""
        return tuple(self.panel.view().plots())
