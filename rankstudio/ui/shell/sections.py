"""The controllers of all sections of the window, and the signals between them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from rankstudio.ui.compare.controller import CompareController
from rankstudio.ui.data.controller import DataController
from rankstudio.ui.evidence.controller import EvidenceController
from rankstudio.ui.evidence.set_tray import SetTrayController
from rankstudio.ui.features.alone_panel import AloneController
from rankstudio.ui.features.controller import FeaturesController
from rankstudio.ui.features.substitutes_panel import SubstitutesController
from rankstudio.ui.features.why_panel import WhyController
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.page.model_chips import ChooseButtons
from rankstudio.ui.page.page import Page, column, row
from rankstudio.ui.queries.controller import QueriesController
from rankstudio.ui.report.controller import ReportController
from rankstudio.ui.select.curve_controllers import ChanceController
from rankstudio.ui.select.method_controller import FoldHint, MethodController
from rankstudio.ui.select.run_commands import MemoryForecast
from rankstudio.ui.select.run_controller import RunController
from rankstudio.ui.select.run_strip import NO_RUN, RunStrip
from rankstudio.ui.shell.contributed_parts import ContributedParts
from rankstudio.ui.shell.plugin_parts import PluginParts
from rankstudio.ui.shell.workspace import Workspace
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import CoveredNumber
from rankstudio.ui.widgets.layout import fill

_LEAST_RIGHT = 300  # pixels, with which the names of features can be read


class Sections(QObject):
    """What the pages show, and what connects them.

    Parameters
    ----------
    theme : Theme
    models : Models
        What they show.
    window : QWidget
    """

    def __init__(self, theme: Theme, models: Models, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._models = theme, models
        session, runs, current = models.session, models.runs, models.current
        self.data = DataController(theme, models, self)
        self.method = MethodController(theme, session, self)
        self.select = RunController(theme, models, self)
        self.chance = ChanceController(current, models.permutations, self.select.curves, self)
        self.features = FeaturesController(theme, models, self)
        self.why = WhyController(theme, models, self.features, self)
        self.alone = AloneController(theme, models, self.features, self)
        self.substitutes = SubstitutesController(theme, models, self)
        self.evidence = EvidenceController(theme, models, self)
        self.tray = SetTrayController(theme, models, self.evidence, self)
        self.compare = CompareController(theme, models, self)
        self.queries = QueriesController(theme, models, self)
        tested = self.compare.views.tests.hint, self.compare.views.folds.hint
        self.fold_hint = FoldHint(session, {"validation": (self.select.curves.hint,), "test": tested}, self)
        self.report = ReportController(theme, models, self)
        self.contributed = ContributedParts(theme, models, self, window)
        self.plugin_parts = PluginParts(theme, models, self)
        self.strip = RunStrip()
        self.forecast = MemoryForecast(models, self)
        self.strip.selected.connect(lambda key: look_at(session, runs, runs.record(key)))
        self.strip.follow.clicked.connect(self.select.follow)
        self.select.followingChanged.connect(lambda: self.strip.follow.setChecked(self.select.following))
        session.measureChanged.connect(self.show_runs)
        runs.shownChanged.connect(self.show_runs)
        models.measured.changed.connect(self.show_runs)
        models.absence.changed.connect(self.show_runs)
        self.select.grown.connect(self.features.show_growing)
        for path in (self.features.features, self.features.path):
            path.offered = self.tray.actions
        judged = self.evidence.panel.table
        judged.row_actions = lambda row: [
            *self.evidence.actions(row.feature),
            *self.tray.actions(row.feature),
        ]
        self.evidence.queriesAsked.connect(self._list_queries)
        models_shown = self.select.curves, self.features.features, self.features.path, self.compare.curves
        self.choose_buttons = ChooseButtons(current, session, models_shown, self)
        views = self.compare.views
        self.choose_buttons.add(views, lambda: views.key() == "pareto")
        views.viewChosen.connect(self.choose_buttons.show)
        self.workspace = self._lay_out()
        self.tray.surround(self.workspace)
        for page in self.pages.values():
            self._serve(page)
        self.workspace.pageMade.connect(self._serve)

    @Slot(object)
    def _serve(self, page: Page) -> None:
        """Connect what may be on any page: numbers that are sealed, and features for the set."""
        for number in page.findChildren(CoveredNumber):
            number.clicked.connect(self._models.session.unsealAsked)
        self.tray.serve(page)

    def _plugin_page(self, key: str) -> Page:
        """Make the page of a plug-in."""
        return self.plugin_parts.page(key, self.contributed, self._own_controllers())

    def _own_controllers(self) -> list[Controller]:
        return self.findChildren(Controller, options=Qt.FindChildOption.FindDirectChildrenOnly)

    @Slot(int, object)
    def _list_queries(self, fold: int, positions: tuple[int, ...]) -> None:
        """List some queries of a fold's training part on their page."""
        self.workspace.show_page("queries")
        self.queries.list_training(fold, positions)

    def _lay_out(self) -> Workspace:
        """Return the pages with their panels."""
        about = column("data-left", (self.data.panel, 0, 270), (self.alone.panel, 1, 400))
        contributed = self.contributed.panels_of
        described = column("data-right", (self.data.statistics, 1, 330), *contributed("data-right"))
        data = row("data-page", (about, 0, 330), (described, 1, 900))
        self.features.inspector.add_candidates(self.select.candidates)
        self.select.compared.connect(self.features.inspector.offer_candidates)
        right = column("right", (self.features.features, 3, 400), (self.features.inspector, 2, 320))
        right.setMinimumWidth(_LEAST_RIGHT)
        shown = self._models.current.changed
        shown.connect(lambda: self._hide_without_features(right))
        form = self.method.form.wished_width
        columns = row("columns", (self.method.form, 0, form), (self.select.curves, 5, 634), (right, 1, 400))
        explanations = column("explanations", (self.why.panel, 1, 380), (self.substitutes.panel, 1, 340))
        self.why.offered.connect(lambda _: _hide_where_empty(explanations))
        features = row(
            "features", (self.features.path, 3, 485), (explanations, 4, 415), (self.features.profile, 1, 310)
        )
        beside = row("curves-views", (self.compare.curves, 1, 640), (self.compare.views, 1, 640))
        compare = column("compare", (self.compare.panel, 1, 320), (beside, 1, 320))
        above = row("queries-above", (self.queries.comparison, 2, 480), (self.queries.list, 3, 840))
        low = row("queries-below", (self.queries.ablation, 2, 480), (self.queries.documents, 3, 840))
        queries = column("queries", (above, 1, 380), (low, 1, 360))
        outline = column("report-outline", (self.report.words, 2, 290), (self.report.outline, 3, 450))
        report = row("report", (outline, 0, 320), (self.report.preview, 1, 940))
        evidence = self.evidence.lay_out()
        foot = QWidget()
        fill(QVBoxLayout(foot), self.forecast.label, self.strip, margins=(0, 0, 0, 0), spacing=4)
        own = self._own_controllers()
        contents = {
            "data": data,
            "select": columns,
            "features": features,
            "evidence": evidence,
            "compare": compare,
            "queries": queries,
            "report": report,
        }
        for key, content in contents.items():
            self.plugin_parts.add_panels(key, content)
        self.pages = {
            "data": Page("data", data, own),
            "select": Page("select", columns, own, foot=foot),
            "features": Page("features", features, own, head=self.tray.trays[0]),
            "evidence": Page("evidence", evidence, own, head=self.tray.trays[1]),
            "compare": Page("compare", compare, own),
            "queries": Page("queries", queries, own, head=self.queries.head),
            "report": Page("report", report, own),
            **{
                entry.key: self._plugin_page(entry.key)
                for entry in self.plugin_parts.entries
                if entry.on_rail
            },
        }
        made = Workspace(self._theme, self.pages, self.plugin_parts, self._plugin_page)
        self.queries.emptied.connect(queries.setHidden)
        self.queries.empty.pageAsked.connect(made.show_page)
        self.strip.why.clicked.connect(lambda: made.show_page("features"))
        self.strip.sure.clicked.connect(lambda: made.show_page("evidence"))

        def show_chance() -> None:
            made.show_page("evidence")
            self.evidence.show_chance()

        self.select.curves.chance.button.clicked.connect(show_chance)
        self.evidence.comparisonShown.connect(self.select.stop_following)
        self.evidence.comparisonShown.connect(lambda: made.show_page("compare"))
        self.evidence.comparisonShown.connect(self.compare.panel.reveal)
        for asked in (self.strip.every, self.strip.another):
            asked.clicked.connect(lambda: made.show_page("compare"))

        def show_folds() -> None:
            made.show_page("select")
            self.method.form.offer_folds()

        self.fold_hint.asked.connect(show_folds)
        return made

    def _hide_without_features(self, column: QSplitter) -> None:
        """Hide path and inspector of a ranking that was given: there are no features behind it."""
        sized = not self._models.current.shown.plan.entry.featureless
        for panel in (self.features.features, self.features.inspector, self.features.profile):
            panel.setVisible(sized)
        self.substitutes.panel.setVisible(sized)
        _hide_where_empty(column)

    @property
    def parts(self) -> tuple[Callable[[], None], ...]:
        """What shows what a run has brought since the last time, a section each."""
        return self.select.refresh, self.compare.update, self.substitutes.refresh, self.queries.update

    @Slot()
    def show_runs(self) -> None:
        """Show how far the runs are."""
        runs, session = self._models.runs, self._models.session
        self.strip.show_runs(
            runs.records,
            runs.shown,
            self._models.measured.view,
            dataset=session.dataset,
            sealed=lambda record: record.dataset is session.dataset and session.sealed,
            nothing=self._models.absence.any_run(NO_RUN),
        )


def _hide_where_empty(column: QSplitter) -> None:
    """Leave no gap where all panels of a column are hidden."""
    panels = (column.widget(position) for position in range(column.count()))
    column.setVisible(any(panel is not None and not panel.isHidden() for panel in panels))
