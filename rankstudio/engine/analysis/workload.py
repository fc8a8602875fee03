"""How much work some plans are, and about how long it will be, by the runs there are or a rule of thumb."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult

THUMB = 1.0
"""Seconds that a unit takes where nobody has run its method yet: it may be off by a factor of a hundred."""


@dataclass(frozen=True)
class Workload:
    """What plans ask for.

    Attributes
    ----------
    n_runs, n_units : int
    seconds : float
        About how long the units will take, one after the other.
    n_guessed : int
        For how many of the runs the seconds are a rule of thumb.
    """

    n_runs: int
    n_units: int
    seconds: float
    n_guessed: int


def workload(plans: Sequence[tuple[Plan, int]], finished: Sequence[RunResult]) -> Workload:
    """Return how much work plans are.

    Parameters
    ----------
    plans : sequence of (Plan, int)
        Each with the number of its folds.
    finished : sequence of RunResult
        Whose seconds a unit, the median over runs of a method and ranker, are those of a plan with these.
    """
    pace: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for run in finished:
        units = len(run.plan.combinations) * len(run.folds)
        if units and run.seconds > 0:
            pace[run.plan.method, run.plan.ranker].append(run.seconds / units)
    n_units, seconds, n_guessed = 0, 0.0, 0
    for plan, n_folds in plans:
        units = len(plan.combinations) * (len(plan.folds) or n_folds)
        known = pace.get((plan.method, plan.ranker))
        n_units += units
        n_guessed += known is None
        seconds += units * (median(known) if known else THUMB)
    return Workload(len(plans), n_units, seconds, n_guessed)
