"""What the Results place has computed on the desk's worker: each function makes a job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.ui.background.job import CancelFlag, JobFunction

if TYPE_CHECKING:
    from rankstudio.engine.analysis.pareto import Tradeoff
    from rankstudio.engine.analysis.selection_stability import Agreement
    from rankstudio.engine.statistics.paired import PairedComparison


@dataclass(frozen=True)
class Pair:
    """Two runs by their numbers and a measure: what a comparison is kept under."""

    run: int
    reference: int
    measure: str


@dataclass(frozen=True)
class Compared:
    """What the queries say about a pair."""

    pair: Pair
    found: PairedComparison


def compared(pair: Pair, run: RunResult, reference: RunResult) -> JobFunction:
    """Make the job that compares two runs query by query (Compared)."""

    def work(_: CancelFlag) -> Iterator[Compared]:
        from rankstudio.engine.analysis.pairing import compare_with  # noqa: PLC0415 - on the worker only

        yield Compared(pair, compare_with(run, reference, pair.measure))

    return work


def agreed(folds: Sequence[FoldResult], dataset: FoldedDataset) -> JobFunction:
    """Make the job that holds the features of folds side by side (Agreement)."""

    def work(_: CancelFlag) -> Iterator[Agreement]:
        from rankstudio.engine.analysis.selection_stability import agreement  # noqa: PLC0415 - on the worker only

        yield agreement(folds, dataset.feature_ids, dataset.feature_names)

    return work


def traded(runs: Sequence[RunResult], name: str) -> JobFunction:
    """Make the job that holds size against measure (Tradeoff or None)."""

    def work(_: CancelFlag) -> Iterator[Tradeoff | None]:
        from rankstudio.engine.analysis.pareto import tradeoff  # noqa: PLC0415 - on the worker only

        yield tradeoff(runs, name)

    return work
