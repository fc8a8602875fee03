"""Runs that are one and the same: run twice, or in two studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from rankstudio.engine.experiment.plan.plan import Plan, counting_plan
from rankstudio.engine.experiment.results.results import FoldResult, RunResult

_NOT_COMPARED = ("data", "folds", "measures")  # where the data lie, and what else is reported


def first_equals(runs: Sequence[RunResult]) -> list[int]:
    """Return for each run the position of the first one that it repeats: its own where it repeats none.

    A run repeats another one of the same plan on data of the same name whose models have the same features
    and measured the same, bit for bit; wherever the data lie, whichever measures are reported, and whatever
    the parameters that do not count, such as the λ of a model that another method's takes the place of.
    """
    firsts: list[int] = []
    for position, run in enumerate(runs):
        earlier = (at for at in dict.fromkeys(firsts) if repeats(run, runs[at]))
        firsts.append(next(earlier, position))
    return firsts


def repeats(run: RunResult, other: RunResult) -> bool:
    """Tell whether two runs are one and the same; see :func:`first_equals`."""
    return run is other or (
        run.data_name == other.data_name
        and len(run.folds) == len(other.folds)
        and _asked(run.plan) == _asked(other.plan)
        and all(_same(*pair) for pair in zip(run.folds, other.folds, strict=True))
    )


def _asked(plan: Plan) -> list[Any]:
    counting = counting_plan(plan)
    return [getattr(counting, field.name) for field in fields(plan) if field.name not in _NOT_COMPARED]


def _same(fold: FoldResult, other: FoldResult) -> bool:
    """Tell whether the models of two folds are the same, by what both have been measured by."""
    queries = fold.per_query.keys() & other.per_query.keys()
    return (
        (fold.fold, fold.selected) == (other.fold, other.selected)
        and np.array_equal(fold.chosen.step.coef, other.chosen.step.coef, equal_nan=True)
        and _same_measures(fold.validation, other.validation)
        and _same_measures(fold.test, other.test)
        and all(
            np.array_equal(fold.per_query[name], other.per_query[name], equal_nan=True) for name in queries
        )
    )


def _same_measures(values: Mapping[str, float], others: Mapping[str, float]) -> bool:
    shared = sorted(values.keys() & others.keys())
    own, theirs = (np.array([one[name] for name in shared]) for one in (values, others))
    return np.array_equal(own, theirs, equal_nan=True)
