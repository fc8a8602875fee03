"""The controllers of all sections of the window, and the signals between them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from rankstudio.ui.compare.controller import CompareController
from rankstudio.ui.data.controller import DataController
from rankstudio.ui.evidence.controller import EvidenceController
from rankstudio.ui.evidence.set_tray import SetTrayController
from rankstudio.ui.features.alone_panel import AloneController
from rankstudio.ui.features.controller import FeaturesController
from rankstudio.ui.features.substitutes_panel import SubstitutesController
from rankstudio.ui.features.why_panel import WhyController
from rankstudio.ui.lab.controller import LabController, SimulationTab
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.page.page import Page, column, row
from rankstudio.ui.page.tabs import PageTabs, Tab
from rankstudio.ui.queries.controller import QueriesController
from rankstudio.ui.report.controller import ReportController
from rankstudio.ui.select.curve_controllers import ChanceController
from rankstudio.ui.select.method_controller import FoldHint, MethodController
from rankstudio.ui.select.run_commands import MemoryForecast
from rankstudio.ui.select.run_controller import RunController
from rankstudio.ui.select.run_strip import RunStrip
from rankstudio.ui.shell.workspace import ESTIMATES, Workspace
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill

_LEAST_RIGHT = 300  # pixels, with which the names of features can be read


class Sections(QObject):
    """What the pages show, and what connects them.

    Parameters
    ----------
    theme : Theme
    models : Models
        What they show.
    """

    def __init__(self, theme: Theme, models: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme, self._runs, self._measured = theme, models.runs, models.measured
        self._current = models.current
        session, runs, current = models.session, models.runs, models.current
        self._session = session
        self.data = DataController(theme, models, self)
        self.method = MethodController(theme, session, self)
        self.select = RunController(theme, models, self)
        self.chance = ChanceController(current, models.permutations, self.select.curves, self)
        self.features = FeaturesController(theme, models, self)
        self.why = WhyController(theme, models, self.features, self)
        self.alone = AloneController(theme, models, self.features, self)
        self.substitutes = SubstitutesController(theme, models, self)
        self.evidence = EvidenceController(theme, models, self)
        self.tray = SetTrayController(theme, models, self.evidence)
        self.compare = CompareController(theme, models, self)
        self.queries = QueriesController(theme, models, self)
        tested = self.compare.views.tests.hint, self.compare.views.folds.hint
        self.fold_hint = FoldHint(session, {"validation": (self.select.curves.hint,), "test": tested}, self)
        self.report = ReportController(theme, models, self)
        self.lab = LabController(theme, models, self)
        self.strip = RunStrip()
        self.forecast = MemoryForecast(models, self)
        self.strip.selected.connect(lambda key: look_at(session, runs, runs.record(key)))
        paths = self.features.features, self.features.path
        for shows in (self.strip, *paths, self.compare, self.report.preview):
            shows.unsealAsked.connect(session.unsealAsked)
        self.strip.followAsked.connect(self.select.follow)
        self.select.followingChanged.connect(lambda: self.strip.follow.setChecked(self.select.following))
        session.measureChanged.connect(self.show_runs)
        runs.shownChanged.connect(self.show_runs)
        models.measured.changed.connect(self.show_runs)
        self.select.candidates.picked.connect(self.features.inspect)
        self.select.grown.connect(self.features.show_growing)
        self.features.inspected.connect(self.select.candidates.select)
        self.features.inspected.connect(self.substitutes.mark)
        self.evidence.inspected.connect(self.features.inspect)
        self.features.inspected.connect(self.evidence.mark)
        self.features.inspected.connect(self.tray.look_at)
        self.tray.inspected.connect(self.features.inspect)
        for path in (self.features.features, self.features.path):
            path.offered = self.tray.actions
            self.tray.serve(path.table, lambda row: int(row.feature_id))
        judged = self.evidence.panel.table
        judged.row_actions = lambda row: [
            *self.evidence.actions(row.feature),
            *self.tray.actions(row.feature),
        ]
        self.tray.serve(judged, lambda row: int(row.feature))
        self.substitutes.panel.inspected.connect(self.features.inspect)
        self.evidence.queriesAsked.connect(self._list_queries)
        self.data.foldChosen.connect(self.select.stop_following)
        self.compare.foldChosen.connect(self.select.stop_following)
        self.compare.inspected.connect(self.features.inspect)
        self.queries.inspected.connect(self.features.inspect)
        self.workspace = self._lay_out()

    @Slot(int, object)
    def _list_queries(self, fold: int, positions: tuple[int, ...]) -> None:
        """List some queries of a fold's training part on their page."""
        self.workspace.show_page("queries")
        self.queries.list_training(fold, positions)

    def _lay_out(self) -> Workspace:
        """Return the pages with their panels."""
        about = column("data-left", (self.data.panel, self.alone.panel), (0, 1), (270, 400))
        data = row("data-page", (about, self.data.statistics), (0, 1), (330, 900))
        self.features.inspector.add_candidates(self.select.candidates)
        self.select.compared.connect(self.features.inspector.offer_candidates)
        right = column("right", (self.features.features, self.features.inspector), (3, 2), (400, 320))
        right.setMinimumWidth(_LEAST_RIGHT)
        shown = self._current.changed
        shown.connect(lambda: self._hide_without_features(right))
        form = self.method.form.wished_width
        columns = row("columns", (self.method.form, self.select.curves, right), (0, 5, 1), (form, 634, 400))
        explanations = column("explanations", (self.why.panel, self.substitutes.panel), (1, 1), (380, 340))
        self.why.offered.connect(lambda _: _hide_where_empty(explanations))
        explained = (self.features.path, explanations, self.features.profile)
        features = row("features", explained, (3, 4, 1), (485, 415, 310))
        beside = row("curves-views", (self.compare.curves, self.compare.views), (1, 1), (640, 640))
        compare = column("compare", (self.compare.panel, beside), (2, 3), (280, 460))
        above = row("queries-above", (self.queries.comparison, self.queries.list), (2, 3), (480, 840))
        low = row("queries-below", (self.queries.ablation, self.queries.documents), (2, 3), (480, 840))
        queries = column("queries", (above, low), (1, 1), (345, 395))
        outline = column("report-outline", (self.report.words, self.report.outline), (2, 3), (290, 450))
        report = row("report", (outline, self.report.preview), (0, 1), (320, 940))
        lab_auc, lab_own = _lab_tab("lab-auc", self.lab.auc), _lab_tab("lab-selection", self.lab.selection)
        lab_own.hide()
        lab = column("lab-page", (lab_auc, lab_own), (1, 1), (600, 600))
        own = self.evidence.lay_out()
        tabs = {
            "evidence": Tab(tr("Evidence"), own),
            ESTIMATES: Tab(tr("Estimates"), lab, self.lab.tabs),
        }
        evidence_tabs = PageTabs("evidence-tabs", tr("parts of the page"), tabs)
        evidence = column("evidence-and-estimates", (own, lab), (1, 1), (650, 650))
        head = QWidget()
        fill(QHBoxLayout(head), evidence_tabs, (self.tray.trays[1], 1), margins=(0, 0, 0, 0), spacing=8)
        foot = QWidget()
        fill(QVBoxLayout(foot), self.forecast.label, self.strip, margins=(0, 0, 0, 0), spacing=4)
        self.pages = pages = {
            "data": Page("data", data, [self.data, self.alone]),
            "select": Page("select", columns, [self.select], foot),
            "features": Page(
                "features",
                features,
                [self.features, self.why, self.substitutes, self.tray],
                head=self.tray.trays[0],
            ),
            "evidence": Page("evidence", evidence, [self.evidence, self.lab], head=head),
            "compare": Page("compare", compare, [self.compare]),
            "queries": Page("queries", queries, [self.queries], head=self.queries.head),
            "report": Page("report", report, [self.report]),
        }
        made = Workspace(self._theme, pages, {"evidence": evidence_tabs})
        evidence_tabs.left.connect(pages["evidence"].restore_panels)
        for controller in (self.evidence, self.lab):
            evidence_tabs.chosen.connect(controller.update)
        evidence_tabs.chosen.connect(self.tray.show_tab)
        self.queries.emptied.connect(queries.setHidden)

        def show_tab(number: int) -> None:
            pages["evidence"].restore_panels()
            lab_auc.setVisible(not number)
            lab_own.setVisible(bool(number))

        self.lab.tabChosen.connect(show_tab)
        self.queries.empty.pageAsked.connect(made.show_page)
        self.strip.featuresAsked.connect(lambda: made.show_page("features"))
        self.strip.evidenceAsked.connect(lambda: made.show_page("evidence"))

        def show_chance() -> None:
            made.show_page("evidence")
            self.evidence.show_chance()

        self.select.curves.chance.asked.connect(show_chance)

        self.evidence.comparisonShown.connect(self.select.stop_following)
        self.evidence.comparisonShown.connect(lambda: made.show_page("compare"))
        for asked in (self.strip.compareAsked, self.strip.comparisonAsked):
            asked.connect(lambda: made.show_page("compare"))

        def show_folds() -> None:
            made.show_page("select")
            self.method.form.go_to("protocol")

        self.fold_hint.asked.connect(show_folds)
        return made

    def _hide_without_features(self, column: QSplitter) -> None:
        """Hide path and inspector of a ranking that was given: there are no features behind it."""
        sized = not self._current.shown.plan.entry.featureless
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
        runs, sealed = self._runs, self._session.sealed
        self.strip.show_runs(runs.records, runs.shown, self._measured.view, sealed=sealed)


def _hide_where_empty(column: QSplitter) -> None:
    """Leave no gap where all panels of a column are hidden."""
    panels = (column.widget(position) for position in range(column.count()))
    column.setVisible(any(panel is not None and not panel.isHidden() for panel in panels))


def _lab_tab(name: str, tab: SimulationTab) -> QSplitter:
    """Lay a tab of the Lab page out."""
    measured = column(f"{name}-measured", (tab.deviations, tab.variation), (3, 2), (375, 255))
    return row(name, (tab.form, measured), (0, 1), (260, 920))
