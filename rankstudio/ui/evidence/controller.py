"""The Evidence page's controller: how sure the shown selection is, computed while the page is seen."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.ui.evidence.evidence_panel import NOTHING, EvidencePanel
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.evidence import Package
from rankstudio.ui.page.controller import Controller, ShownTable
from rankstudio.ui.page.page import Splitter, column
from rankstudio.ui.process.turns import turns
from rankstudio.ui.style.theme import Theme

_EVERY_FOLD = tr("Each fold has its own features. Choose a single fold to see how sure they are.")
_NO_DOCUMENTS = tr("Open the data to see how sure the selection is.")
_ALL = tr("This method uses all features, so there is no selection to judge.")


class EvidenceController(Controller):
    """Feeds the panels of the Evidence page.

    Parameters
    ----------
    theme : Theme
    models : Models
    """

    inspected = Signal(int)
    """Another feature is looked at (its id)."""

    def __init__(self, theme: Theme, models: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._current, self._absence = models.session, models.current, models.absence
        self.evidence = models.evidence
        self.panel = EvidencePanel(theme)
        self.panel.inspected.connect(self.inspected)
        self.panel.table.thresholdMoved.connect(self.evidence.set_threshold)
        self._rows = {Package.FEATURES: self.panel.work}
        for package, row in self._rows.items():
            row.started.connect(lambda package=package: self.evidence.start(package))
            row.stopped.connect(self.evidence.stop)
        self.evidence.changed.connect(self._ask)
        self.evidence.grew.connect(self._ask)
        self.evidence.failed.connect(self.failed)
        models.absence.changed.connect(self._ask)

    def lay_out(self) -> Splitter:
        """Return the panels, laid out."""
        return column("evidence", (self.panel,), (1,), (650,))

    @Slot()
    def update(self) -> None:
        """Show what is known of the selection that is looked at, and have it computed where it is seen."""
        self.evidence.watch(self.panel.isVisible())
        self._ask()

    def leave(self) -> None:
        """Begin nothing more."""
        self.evidence.watch(False)

    def tables(self) -> tuple[ShownTable, ...]:
        """Return the evidence."""
        about = tr("How sure each selected feature is, with its verdict.")
        return (ShownTable("evidence", tr("Evidence"), about, self.panel.table),)

    @Slot()
    def _ask(self) -> None:
        turns().ask(self._show)

    @Slot()
    def _show(self) -> None:
        """Show what is known by now."""
        if not self.panel.isVisible():
            return
        evidence, dataset = self.evidence, self._session.dataset
        for package, row in self._rows.items():
            row.show_state(evidence, package)
        found = evidence.found
        if evidence.model is None or dataset is None:
            self.panel.clear(self._why_none())
        elif found is None:
            self.panel.clear("")
        else:
            ids, names = dataset.feature_ids.tolist(), dataset.feature_names
            self.panel.show_evidence(found, ids, names, self._session.measure)

    def _why_none(self) -> str:
        model = self._current.model
        if model is None:
            return self._absence.fold_model(_EVERY_FOLD, NOTHING)
        if not model.plan.entry.selects:
            return _ALL
        return self._absence.documents(_NO_DOCUMENTS)
