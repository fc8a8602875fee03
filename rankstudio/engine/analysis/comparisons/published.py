"""Numbers that papers and LETOR print for the known datasets, next to ours.

Plug-ins contain the numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

from rankstudio.engine.experiment.plan.difference import differences
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import GIVEN
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.methods.catalog import method
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.printed_results import printed_results

_N_FOLDS = 5  # folds of LETOR's datasets


@dataclass(frozen=True)
class Published:
    """A published number: the average of a measure over the test parts of five folds.

    Attributes
    ----------
    dataset : str
        Name of the dataset: "MQ2008".
    method, ranker : str
        Keys of the method and of the final ranker in the catalog.
    when : str
        Further conditions on parameters, such as "loss=hinge" or
        "lambda1>0, importance=none"; "" for none.
    label : str
        Name of the method in the source.
    measure : str
        Name of the measure.
    value : float
        Value with as many digits as printed.
    source : str
        Publication: "Lai et al. 2013, Table I".
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
        """Return whether the published number is one of a plan's method on a dataset.

        `dataset` is the name of the data: letter case does not matter,
        and it may have a suffix. The conditions of the number on
        parameters, if any, must hold.
        """
        return (
            dataset.lower().startswith(self.dataset.lower())
            and (self.method, self.ranker) == (plan.method, plan.ranker)
            and all(
                _is_fulfilled(condition, plan)
                for condition in self.when.split(", ")
                if condition
            )
        )


def _is_fulfilled(condition: str, plan: Plan) -> bool:
    """Return whether a parameter of a plan fulfils a condition of a published number.

    The condition is a value, as in "loss=hinge", or a number that a
    value exceeds: "lambda1>0".
    """
    # Without "=" in the condition, `equal` is "".
    name, equal, value = condition.partition("=")
    if not equal:
        name, _, value = condition.partition(">")
    parameter = plan.parameters.get(name)
    # One text, for which there are conditions of equality only; numbers
    # are a tuple of one or several values.
    if not isinstance(parameter, tuple):
        return str(parameter) == value
    if equal:
        return all(number == float(value) for number in parameter)
    # A grid often begins with 0, so one greater value is enough.
    return any(number > float(value) for number in parameter)


@dataclass(frozen=True)
class PublishedRow:
    """A published average of a measure next to that of a run.

    Attributes
    ----------
    key : int
        Number of the run.
    run : RunResult
        The run.
    measure : str
        Name of the measure.
    ours : float
        Average of the run.
    printed : Published
        The published average, with its source.
    """

    key: int
    run: RunResult
    measure: str
    ours: float
    printed: Published

    @property
    def difference(self) -> float:
        """Our value minus the published one."""
        return self.ours - self.printed.value

    @cached_property
    def set(self) -> str:
        """Settings of the run that differ from the defaults: pins, another grid."""
        return set_otherwise(self.run)


def set_otherwise(run: RunResult) -> str:
    """Return the settings of a run that differ from the defaults: "λ 1, 2 · pinned BM25"."""
    plan = run.plan
    names = dict(zip(run.feature_ids.tolist(), run.feature_names, strict=True))
    default = Plan(
        plan.data, plan.method, ranker=plan.ranker, convention=plan.convention
    )
    return " · ".join(differences(plan, default, names))


@cache
def all_published() -> tuple[Published, ...]:
    """Return all published numbers that plug-ins have."""
    return tuple(
        number for entry in printed_results() for number in imported(entry.numbers)()
    )


def published(plan: Plan, dataset: str, measure: str) -> tuple[Published, ...]:
    """Return the published numbers of a measure for a plan's method on a dataset.

    `dataset` is the name of the data. The best-known source comes
    first; the result is () without any.
    """
    return tuple(
        entry
        for entry in all_published()
        if entry.measure == measure and entry.fits(plan, dataset)
    )


def printed_of(run: RunResult) -> dict[str, tuple[Published, ...]]:
    """Return the published numbers that can be compared with a run, by measure.

    The result is {} unless the run is measured on the test parts of the
    five folds of LETOR.
    """
    plan = run.plan
    # Published numbers are averages over the test parts of LETOR's five folds.
    is_published = (
        len(run.folds) == _N_FOLDS and plan.protocol == GIVEN and run.part is Part.TEST
    )
    names = plan.measures if is_published else ()
    return {name: published(plan, run.data_name, name) for name in names}


def published_rows(runs: Iterable[tuple[int, RunResult]]) -> list[PublishedRow]:
    """Return a row for every published number that matches one of the numbered runs."""
    return [
        PublishedRow(
            key=key,
            run=run,
            measure=name,
            ours=run.average[name],
            printed=published_number,
        )
        for key, run in runs
        for name, printed in printed_of(run).items()
        for published_number in printed
    ]


def known_datasets() -> dict[str, tuple[str, ...]]:
    """Return the datasets with published numbers, each with the labels of the methods."""
    labels_of: dict[str, dict[str, None]] = {}
    for entry in all_published():
        ranker = f", then {method(entry.ranker).label}" if entry.ranker else ""
        labels_of.setdefault(entry.dataset, {})[method(entry.method).label + ranker] = (
            None
        )
    return {dataset: tuple(labels) for dataset, labels in labels_of.items()}
