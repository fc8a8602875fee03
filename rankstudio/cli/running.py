"""A run on its way in the terminal: what is finished stays, whatever happens."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rankstudio.cli.progress import Progress
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.events import FoldFinished
from rankstudio.engine.experiment.plan import Plan
from rankstudio.engine.experiment.results import FoldResult, RunResult


@dataclass
class Going:
    """A run on its way: what is there should it be interrupted.

    Attributes
    ----------
    plan : Plan
    dataset : FoldedDataset
    grouped : dict
        What other runs on the same data found out, by fold.
    folds : list of FoldResult
        Finished.
    seconds : float
        Worked.
    """

    plan: Plan
    dataset: FoldedDataset
    grouped: dict[int, Any] = field(default_factory=dict)
    folds: list[FoldResult] = field(default_factory=list)
    seconds: float = 0.0

    def result(self) -> RunResult:
        """Return what is finished."""
        from rankstudio.engine.experiment.runner import collect

        return collect(self.plan, self.dataset, self.folds, self.seconds)


def carry_on(going: Going) -> bool:
    """Run to the end, showing how far it is; tell whether it was interrupted."""
    from rankstudio.engine.experiment.runner import run as events

    began = time.perf_counter()
    try:
        with Progress() as progress:
            for event in _closing(events(going.plan, going.dataset, going.grouped)):
                if isinstance(event, FoldFinished):
                    going.folds.append(event.result)  # kept before it is shown: an interruption loses nothing
                progress.show(event)
    except KeyboardInterrupt:
        print(f"Stopped; {len(going.folds)} finished folds are kept.", file=sys.stderr)
        return True
    finally:
        going.seconds = time.perf_counter() - began
    return False


def _closing(events: Any) -> Iterator[Any]:
    """Close the generator at the end, and at Ctrl+C too: its threads end with it."""
    try:
        yield from events
    finally:
        events.close()
