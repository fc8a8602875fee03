"""A run on its way in the terminal: what is finished stays, whatever happens."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankstudio.cli.interrupts import Stop
from rankstudio.cli.progress_bar import ProgressBar, Whole, preparation
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.execution.workers import ALONE, Workers
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import Event, FoldFinished
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.experiment.storage.study_contents import is_sealed

if TYPE_CHECKING:
    from rankstudio.cli.mlflow_log import MlflowLog
    from rankstudio.engine.experiment.storage.study import Study


@dataclass
class Going:
    """A run on its way: what is there should it be interrupted."""

    plan: Plan
    dataset: FoldedDataset
    grouped: dict[int, Any] = field(default_factory=dict)  # what other runs on the data found out, by fold
    study: Study | None = None  # where finished units go, and from where they come if they are there already
    folds: list[FoldResult] = field(default_factory=list)  # finished
    seconds: float = 0.0  # worked
    whole: Whole | None = None  # the runs of which this is one
    workers: Workers = ALONE
    log: MlflowLog | None = None  # hears of every event

    def result(self) -> RunResult:
        """Return what is finished."""
        from rankstudio.engine.experiment.runner import collect

        return collect(self.plan, self.dataset, self.folds, self.seconds)


def carry_on(going: Going, stop: Stop) -> bool:
    """Run to the end, or until somebody asks to stop, showing how far it is; tell whether it was stopped."""
    began = time.perf_counter()
    if going.log is not None and going.study is not None:
        going.log.sealed = is_sealed(going.study.seal_marks)
    try:
        with preparation(), ProgressBar(whole=going.whole) as progress:
            for event in _closing(_events(going)):
                if isinstance(event, FoldFinished):
                    going.folds.append(event.result)  # kept before it is shown: an interruption loses nothing
                if going.log is not None:
                    going.log.follow(event)
                progress.show(event)
                if stop.follow(event):
                    break
            else:
                return False
    except KeyboardInterrupt:
        pass  # asked twice
    finally:
        going.seconds = time.perf_counter() - began
    print(f"Stopped. Completed folds kept: {len(going.folds)}.", file=sys.stderr)
    return True


def _events(going: Going) -> Iterator[Event]:
    folds = going.dataset.folds
    n_units = len(going.plan.folds or folds) * len(going.plan.combinations)
    size = max(fold.train.n_documents * fold.train.n_features for fold in folds)
    executor = going.workers.serve(n_units, size)
    if going.study is None:
        from rankstudio.engine.experiment.runner import run

        return run(going.plan, going.dataset, going.grouped, executor=executor)
    from rankstudio.engine.experiment.resume import run_stored

    return run_stored(going.plan, going.dataset, going.study, going.grouped, executor=executor)


def _closing(events: Any) -> Iterator[Any]:
    """Close the generator at the end, and at Ctrl+C too: its threads end with it."""
    try:
        yield from events
    finally:
        events.close()
