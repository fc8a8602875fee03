"""What papers and LETOR print for the known datasets, to stand beside our numbers."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

from rankstudio.engine.experiment.plan.difference import differences
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import GIVEN
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.methods.catalog import method
from rankstudio.engine.support.resources import resource


@dataclass(frozen=True)
class Published:
    """One printed number: an average over the five folds of the test parts.

    Attributes
    ----------
    dataset : str
        "MQ2008".
    method, ranker : str
        The keys in our catalog of what was run.
    when : str
        What else has to be so, "loss=hinge"; "" for nothing.
    label : str
        How the source calls the method.
    measure : str
    value : float
        With as many digits as were printed.
    source : str
        "Lai et al. 2013, Table I".
    """

    dataset: str
    method: str
    ranker: str
    when: str
    label: str
    measure: str
    value: float
    source: str

    def fits(self, plan: Plan, dataset: str) -> bool:
        """Tell whether this is what a plan runs, on data of this name."""
        name, _, value = self.when.partition("=")
        return (
            dataset.lower().startswith(self.dataset.lower())
            and (self.method, self.ranker) == (plan.method, plan.ranker)
            and (not name or str(plan.parameters.get(name)) == value)
        )


@dataclass(frozen=True)
class PublishedRow:
    """A printed average beside ours.

    Attributes
    ----------
    key : int
        The run's number.
    run : RunResult
    measure : str
    ours : float
    printed : Published
    """

    key: int
    run: RunResult
    measure: str
    ours: float
    printed: Published

    @property
    def difference(self) -> float:
        """Ours less the printed one."""
        return self.ours - self.printed.value

    @cached_property
    def set(self) -> str:
        """What the run has otherwise than by default: pins, another grid."""
        plan = self.run.plan
        names = dict(zip(self.run.feature_ids.tolist(), self.run.feature_names, strict=True))
        default = Plan(plan.data, plan.method, ranker=plan.ranker, convention=plan.convention)
        return " · ".join(differences(plan, default, names))


@cache
def everything() -> tuple[Published, ...]:
    """Return all published numbers, in the order of their table."""
    with resource("published", "results.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Published(**{**row, "value": float(row["value"])})  # type: ignore[arg-type]
            for row in csv.DictReader(file)
        )


def published(plan: Plan, dataset: str, measure: str) -> tuple[Published, ...]:
    """Return what was printed of a plan's method on data of this name, the best known source first."""
    return tuple(p for p in everything() if p.measure == measure and p.fits(plan, dataset))


def printed_of(run: RunResult) -> dict[str, tuple[Published, ...]]:
    """Return what was printed of a run's method, by measure; nothing unless it has all five given folds."""
    plan = run.plan
    names = plan.measures if len(run.folds) == 5 and plan.protocol == GIVEN else ()
    return {name: published(plan, run.data_name, name) for name in names}


def published_rows(runs: Iterable[tuple[int, RunResult]]) -> list[PublishedRow]:
    """Return a row for every number printed for what runs, each with its number, have done."""
    return [
        PublishedRow(key, run, name, run.average[name], one)
        for key, run in runs
        for name, printed in printed_of(run).items()
        for one in printed
    ]


def known_datasets() -> dict[str, tuple[str, ...]]:
    """Return the datasets of which numbers were printed, each with the labels of the methods."""
    found: dict[str, dict[str, None]] = {}
    for p in everything():
        ranker = f", then {method(p.ranker).label}" if p.ranker else ""
        found.setdefault(p.dataset, {})[method(p.method).label + ranker] = None
    return {dataset: tuple(labels) for dataset, labels in found.items()}
