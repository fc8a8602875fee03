"""The rankings of finished runs, made while nothing else is to be done: any measure is read off them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.ui.background.job import Job
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord

_MOMENT = 0.05  # seconds for which an answer waits at most


class RunRankings(QObject):
    """Has the documents of finished runs ranked on the task worker, while no run works.

    It does so for a moment at a time: whatever is asked for comes between.

    Parameters
    ----------
    runs : Runs
    worker : Worker
        For tasks.
    rank_models : callable
        Ranks by the models of a run, one after the other; called on the worker only.
    """

    def __init__(
        self,
        runs: Runs,
        worker: Worker,
        rank_models: Callable[[RunResult, FoldedDataset], Iterator[None]],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runs, self._worker, self._rank_models = runs, worker, rank_models
        self._begun: set[int] = set()
        self._rest: Iterator[None] | None = None
        self._job: Job | None = None
        for signal in (runs.added, runs.changed, runs.ended):
            signal.connect(self.go_on)
        runs.removed.connect(self._forget)
        runs.cleared.connect(self._forget_all)

    @Slot()
    def go_on(self) -> None:
        """Rank for a moment, where there is something to rank and nothing runs."""
        if self._job is not None or self._runs.busy:
            return
        if self._rest is None:
            record = next(filter(self._is_new, reversed(self._runs.records)), None)
            if record is None:
                return
            self._begun.add(record.key)
            self._rest = self._rankings(record)
        self._job = self._worker.task(
            tr("Ranking the documents"),
            _go_on,
            self._rest,
            on_done=self._take,
            on_error=lambda _: self._take(None),  # who asks for the measure is told
            slot="rankings",
        )

    def _is_new(self, record: RunRecord) -> bool:
        there = record.dataset.folds[0].train.n_documents > 0
        return there and record.result is not None and record.key not in self._begun

    def _rankings(self, record: RunRecord) -> Iterator[None]:
        assert record.result is not None  # a new one has a result
        return self._rank_models(record.result, record.dataset)

    def _take(self, rest: Iterator[None] | None) -> None:
        self._job, self._rest = None, rest
        self.go_on()

    @Slot(int)
    def _forget(self, key: int) -> None:
        self._begun.discard(key)

    @Slot()
    def _forget_all(self) -> None:
        if self._job is not None:
            self._job.abandon()
        self._begun.clear()
        self._job = self._rest = None


def _go_on(rankings: Iterator[None]) -> Iterator[None] | None:
    """Rank for a moment; return what is left, if anything is."""
    until = time.perf_counter() + _MOMENT
    for _ in rankings:
        if time.perf_counter() > until:
            return rankings
    return None
