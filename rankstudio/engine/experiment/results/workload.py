"""The work of several plans, and its duration, estimated by finished runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod, sqrt

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.methods.catalog.method import StepKind

SAMPLE_DOCUMENTS = 3400
SAMPLE_FEATURES = 46
"""Size of a training part of the bundled sample."""


@dataclass(frozen=True)
class Workload:
    """Amount of work that running several plans takes.

    Attributes
    ----------
    n_runs, n_units : int
        Number of runs, and of units: combinations of parameters' values
        on folds.
    seconds : float
        Approximate duration in seconds of all units, one after the other.
    n_guessed : int
        Number of runs that are estimated without a finished run on the same data.
    """

    n_runs: int
    n_units: int
    seconds: float
    n_guessed: int


def workload(
    plans: Sequence[tuple[Plan, int]],
    finished: Sequence[RunResult],
    n_documents: int = SAMPLE_DOCUMENTS,
    n_features: int = SAMPLE_FEATURES,
) -> Workload:
    """Return the work of running several plans, with its approximate duration.

    The typical seconds of a method are scaled by the ratio of its
    fastest run on the same data, because compilation and other programs
    only add time. Without finished runs the seconds are scaled by the
    number of documents. With runs of other methods alone, the scale is
    the geometric mean of both: a run that is drawn while it works takes
    several times as long as one in the background.

    Parameters
    ----------
    plans : sequence of (Plan, int)
        Plans, each with its number of folds.
    finished : sequence of RunResult
        Finished runs with their durations.
    n_documents, n_features : int
        Size of a training part of the data.
    """
    # The pace of a run is its duration divided by the typical one of its plan.
    paces = [
        (run.plan, _relative_seconds(run))
        for run in finished
        if run.folds and run.seconds > 0
    ]
    # Numbers of units, and of plans without any finished run on the same data.
    n_units = 0
    seconds = 0.0
    n_guessed = 0
    for plan, n_data_folds in plans:
        n_folds = len(plan.folds) or n_data_folds
        # Paces of finished runs on the same data, best of all with the same method.
        data_paces = [(other, pace) for other, pace in paces if other.data == plan.data]
        method_paces = [
            pace
            for other, pace in data_paces
            if (other.method, other.ranker) == (plan.method, plan.ranker)
        ]
        # The pace of other methods is averaged with the ratio of the
        # numbers of documents: the square root of the product is their
        # geometric mean.
        size_ratio = n_documents / SAMPLE_DOCUMENTS
        usable_paces = method_paces or [
            sqrt(pace * size_ratio) for _, pace in data_paces
        ]
        # A unit is one combination of parameters on one fold.
        n_units += len(plan.combinations) * n_folds
        n_guessed += not usable_paces
        # The fastest usable pace; without any, the number of documents decides.
        pace = min(usable_paces, default=size_ratio)
        seconds += pace * typical_seconds(plan, n_folds, n_features)
    return Workload(
        n_runs=len(plans), n_units=n_units, seconds=seconds, n_guessed=n_guessed
    )


def typical_seconds(
    plan: Plan, n_folds: int, n_features: int = SAMPLE_FEATURES
) -> float:
    """Return the approximate seconds to run a plan on data as large as the sample.

    The seconds are for one thread and `n_folds` folds. Only the number
    of features, `n_features`, may differ from that of the sample.
    """
    # `seconds` of an entry has the time of a fold that all fits share,
    # of a fit, and of the path of a final ranker; each combination has
    # a fit.
    method_seconds = plan.entry.seconds
    ranker = plan.ranker_entry
    n_fits = len(plan.combinations)
    # The parameter that limits the number of features, if there is one.
    limit = plan.parameters.get(StepKind.FEATURES.limit)
    max_size = min(n_features, limit) if isinstance(limit, int) else n_features
    # The time of a path is proportional to its number of features.
    relative_size = max_size / SAMPLE_FEATURES
    if ranker is None:
        return n_folds * (
            method_seconds.fold
            + n_fits
            * method_seconds.fit
            * (relative_size if plan.entry.selects else 1.0)
        )
    # The selector is trained once for all parameters of the ranker: for
    # each combination of its own parameters.
    n_selector_fits = prod(len(axis.values) for axis in plan.axes if not axis.ranker)
    selector_seconds = n_selector_fits * method_seconds.fit
    ranker_seconds = n_fits * ranker.seconds.path
    return n_folds * (
        method_seconds.fold + relative_size * (selector_seconds + ranker_seconds)
    )


def _relative_seconds(run: RunResult) -> float:
    """Return the seconds of a run divided by its typical seconds."""
    return run.seconds / typical_seconds(run.plan, len(run.folds), len(run.feature_ids))
