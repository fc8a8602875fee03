"""The table of the runs that are compared: opens its dialog, and has the table made on the worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from rankstudio.engine.analysis.result_table.query import TableQuery
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.storage.run_index import RecordedData
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.compare.comparison_dialog import Offer
from rankstudio.ui.compare.comparison_scope import ComparisonScope
from rankstudio.ui.compare.table.dialog import TableDialog
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.session import Session
from rankstudio.ui.widgets.layout import named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.result_table.builder import Documents, TableRun
    from rankstudio.engine.analysis.result_table.query import TableQuery
    from rankstudio.engine.export.result_table.table import ResultTable

_USUAL = ("MAP", "NDCG@5", "NDCG@10", "P@10", "ERR", "RR")
"""Measures that papers print, offered whatever the plans measure."""


class TableController(QObject):
    """Offers the ticked finished runs as the table of a paper.

    Parameters
    ----------
    session : Session
        Says by which measure is looked, and whether the test part is sealed.
    runs : Runs
    scope : ComparisonScope
        Which runs are compared.
    worker : Worker
        Makes the tables.
    over : QWidget
        Over which the dialog opens.
    """

    def __init__(
        self,
        session: Session,
        runs: Runs,
        scope: ComparisonScope,
        worker: Worker,
        over: QWidget,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._runs, self._scope, self._over = session, runs, scope, over
        self._folder = Path.home()
        self._query: TableQuery | None = None
        self._made = OnDemand(worker, self._key, self._make, slot="result table", parent=self)
        self._made.failed.connect(self._refuse)
        self.dialog: TableDialog | None = None
        tip = tr("The ticked runs as a table for a paper: LaTeX, Markdown, HTML, Excel …")
        self.button = named(QPushButton(tr("Table…")), "export-table", tr("Export table"), tip)
        self.button.setFixedHeight(28)
        self.button.clicked.connect(self.open)

    @Slot()
    def open(self) -> None:
        """Open the dialog, and show the table of what is usual."""
        names = [run.data_name for run in self._scope.finished().values()]
        stem = "-".join(dict.fromkeys("".join(c if c.isalnum() else "-" for c in name) for name in names))
        stem = f"{stem.lower()}-table".lstrip("-")
        dialog = TableDialog(self._offers(), self._folder, stem, self._over)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.asked.connect(self._ask)
        dialog.saved.connect(self._remember)
        dialog.finished.connect(self._end)
        self.dialog = dialog
        dialog.open()
        dialog.ask()

    @Slot(object)
    def _ask(self, query: TableQuery) -> None:
        """Have a table made of what is ticked now."""
        self._query = query
        self._made.forget()
        self._made.update()

    def _key(self) -> Key | None:
        return (self._query,) if self.dialog is not None else None

    def _make(self) -> Computation | None:
        dialog, query, listed = self.dialog, self._query, self._listed()
        if dialog is None or query is None:
            return None
        if not listed:
            dialog.refuse(tr("No finished run is ticked."))
            return None
        given = listed, query, self._session.sealed
        return computation(tr("Creating the table"), dialog.show_table, table_of, *given)

    @Slot(str)
    def _refuse(self, why: str) -> None:
        if self.dialog is not None:
            self.dialog.refuse(why)

    def _listed(self) -> list[ListedResult]:
        found = []
        for key, result in self._scope.finished().items():
            record = self._runs.record(key)
            name = record.label.name
            found.append(ListedResult(result, name, record.dataset, record.plan, record.recorded))
        return found

    def _offers(self) -> tuple[Offer, ...]:
        """Return the measures to tick: that which is shown, those of the plans, those that papers have."""
        plans = [run.plan for run in self._scope.finished().values()]
        own = list(dict.fromkeys(name for plan in plans for name in plan.measures))
        shown = self._session.measure
        ticked = {shown, *(own[:3] if shown in own[:3] else own[:2])}
        offered = dict.fromkeys((shown, *own, *_USUAL))
        return tuple(Offer(name, name, name in ticked) for name in offered)

    @Slot(object)
    def _remember(self, path: Path) -> None:
        self._folder = path.parent

    @Slot()
    def _end(self) -> None:
        self._made.forget()
        self.dialog = None


@dataclass(frozen=True, eq=False)
class ListedResult:
    """A finished run that is compared.

    Attributes
    ----------
    result : RunResult
        As it is measured now.
    name : str
        What the user calls it.
    dataset : FoldedDataset
        Maybe without documents.
    plan : Plan
        Its own.
    recorded : RecordedData or None
        Where its data are, when the dataset has no documents.
    """

    result: RunResult
    name: str
    dataset: FoldedDataset
    plan: Plan
    recorded: RecordedData | None


def table_of(listed: Sequence[ListedResult], query: TableQuery, sealed: bool) -> ResultTable:
    """Return the table of runs; to be called on the worker, as it may read data and test for seconds."""
    from rankstudio.engine.analysis.report.source import DataOpener  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.analysis.result_table.builder import TableRun, result_table  # noqa: PLC0415

    opener = DataOpener()
    runs: list[TableRun] = [TableRun(one.result, one.name, _documents(one, opener), sealed) for one in listed]
    return result_table(runs, query)


def _documents(one: ListedResult, opener: object) -> Documents:
    """Return what reads the documents of a run where they are not at hand."""

    def read() -> FoldedDataset | None:
        if one.dataset.folds[0].train.n_documents:
            return one.dataset
        if one.recorded is None:
            return None
        plan = one.plan.changed(data=one.recorded.opened_by(one.plan))
        found: FoldedDataset | None = opener(plan, one.recorded)  # type: ignore[operator]
        return found

    return read
