"""How the next run will go on large data, and how much memory it takes, while its plan is edited."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.results.memory_estimate import MemoryEstimate
from rankstudio.engine.support.shard import DOCUMENTS
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.execution import PROCESSES
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.widgets.layout import named, set_role


class MemoryForecast(QObject):
    """Says above the runs how the one that would begin now will go; nothing for data of one shard in memory.

    Parameters
    ----------
    models : Models
        What is run, by whom, and within how much memory. It is estimated on a worker: that needs the engine.
    """

    changed = Signal()

    def __init__(self, models: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        session, worker = models.session, models.task_worker
        backend, budget = models.backend, models.memory_budget
        self._session, self._backend, self._budget = session, backend, budget
        self._estimate: tuple[Plan, FoldedDataset, MemoryEstimate] | None = None
        self.label = named(PlainLabel(), "memory-forecast", tr("memory of the next run"), role="muted")
        self.label.setWordWrap(True)
        self.label.setContentsMargins(8, 0, 8, 0)
        self.label.hide()
        self._demand = OnDemand(
            worker,
            self._key,
            self._compute,
            slot="memory estimate",
            on=(session.datasetChanged, session.planChanged, backend.changed, budget.changed),
            clear=partial(self._show, None),
            parent=self,
        )
        self._demand.failed.connect(lambda _: self._show(None))

    @property
    def refusal(self) -> str:
        """Why the session's plan cannot be run, as a sentence; "" where it can, or nobody knows yet."""
        if self._estimate is None:
            return ""
        plan, dataset, found = self._estimate
        same = plan == self._session.plan and dataset is self._session.dataset
        return found.refusal if same and not found.runs else ""

    @property
    def _n_processes(self) -> int:
        return self._backend.n_processes if self._backend.choice == PROCESSES else 0

    def _key(self) -> Key | None:
        plan, dataset, there = self._session.plan, self._session.dataset, self._session.has_documents
        if dataset is None or not there or not _large(dataset) or not _divided(plan, dataset):
            return None
        return plan, dataset, self._n_processes, self._budget.asked

    def _compute(self) -> Computation | None:
        plan, dataset = self._session.plan, self._session.dataset
        if dataset is None:
            return None

        def show(found: MemoryEstimate) -> None:
            self._show((plan, dataset, found))

        return computation(tr("Estimating memory"), show, _estimated, plan, dataset, self._n_processes)

    def _show(self, estimate: tuple[Plan, FoldedDataset, MemoryEstimate] | None) -> None:
        self._estimate = estimate
        found = estimate[2] if estimate is not None else None
        self.label.setText(found.sentence if found is not None else "")
        set_role(self.label, "muted" if found is None or found.runs else "error")
        self.label.setVisible(found is not None)
        self.changed.emit()


def _large(dataset: FoldedDataset) -> bool:
    """Tell whether data are worth a word."""
    return dataset.from_disk or any(fold.train.n_documents > DOCUMENTS for fold in dataset.folds)


def _divided(plan: Plan, dataset: FoldedDataset) -> bool:
    """Tell whether data have the folds of a plan by now."""
    return dataset.divided_by == parse_protocol(plan.protocol).divided_by(plan.seed)


def _estimated(plan: Plan, dataset: FoldedDataset, n_processes: int) -> MemoryEstimate:
    from rankstudio.engine.experiment.units.estimated_memory import (  # noqa: PLC0415 - it brings numba
        ALONE,
        WorkersHere,
        memory_estimate,
    )

    folds = [fold for fold in dataset.folds if not plan.folds or fold.number in plan.folds]
    workers = WorkersHere(n_processes, share_shards=True) if n_processes else ALONE
    return memory_estimate(plan, folds, workers)
