"""Studies of small runs drawn at random: several datasets, labels, folds and conventions, sealed and shown.

What belongs together is written down when a run is drawn, not derived from it: the tests hold the program's
answer against it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isnan
from pathlib import Path
from random import Random

from letor_folder import save_folds

from rankstudio.engine import open_dataset
from rankstudio.engine.analysis.reported_runs import ReportedRun, ReportSource
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.fingerprint import fingerprint
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import open_data, run_plan
from rankstudio.engine.experiment.storage.study_contents import RecordedData, SealMark
from rankstudio.engine.support.frozen_mapping import FrozenMapping

METHODS = ("gas", "mutual-information", "single-feature", "rankrls")
MEASURES = ("MAP", "NDCG@3")
MOST_RUNS = 7
_SET = {
    "parameters": {"pinned": (1, 2, 3), "n_features_to_select": 1},
    "groups": {"set": (1, 2, 3)},
}
EARLIER = 0.1
SEALED = 0.5


@dataclass(frozen=True)
class Belonging:
    """What runs must share to stand side by side.

    Attributes
    ----------
    data, label, convention, folds : str
        Chosen when the run was drawn. Names of the data differ.
    finished : bool
    hand_chosen : {"", "own fold", "other folds"}
        Whether features were chosen by hand, on the only fold of the run or on others.
    """

    data: str
    label: str
    convention: str
    folds: str
    finished: bool
    hand_chosen: str = ""


@dataclass(frozen=True, eq=False)
class PooledRun:
    """A run that studies are drawn from."""

    belonging: Belonging
    dataset: FoldedDataset
    result: RunResult


@dataclass(frozen=True, eq=False)
class DrawnStudy:
    """A study drawn at random.

    Attributes
    ----------
    source : ReportSource
        Its runs with their data, before anything is sealed.
    belonging : Mapping of int to Belonging
        What each run was drawn with, by its number.
    is_sealed : Mapping of str to bool
        Whether the test part is sealed, by name of the data.
    results : Mapping of int to RunResult
        The runs before those of an earlier version lost what it did not compute.
    """

    source: ReportSource
    belonging: Mapping[int, Belonging]
    is_sealed: Mapping[str, bool]
    results: Mapping[int, RunResult]

    @property
    def with_data(self) -> DrawnStudy:
        """The study as outputs show it that compute what is missing from the data."""
        runs = tuple(
            replace(run, result=self.results[run.number]) for run in self.source.runs
        )
        return replace(self, source=replace(self.source, runs=runs))

    def part(self, number: int) -> Part:
        """Return the part that the measures of a run must be from."""
        run = self.source.runs[number - 1].result
        if not self.is_sealed[run.data_name]:
            return Part.TEST
        return (
            Part.CROSS_FITTED
            if all(fold.cross_fitted for fold in run.folds)
            else Part.CHOSEN_ON
        )

    def belong_together(self, numbers: Iterable[int]) -> bool:
        """Return whether runs may stand side by side."""
        return len({self.group(number) for number in numbers}) <= 1

    def group(self, number: int) -> tuple[Belonging, Part, bool]:
        """Return what a run shares with those that may stand beside it."""
        belonging = replace(self.belonging[number], hand_chosen="")
        return belonging, self.part(number), self.knew_queries(number)

    def knew_queries(self, number: int) -> bool:
        """Return whether features of a run were chosen by hand, knowing queries that measure them."""
        hand_chosen = self.belonging[number].hand_chosen
        return hand_chosen == "other folds" or (
            hand_chosen != "" and self.part(number) is not Part.TEST
        )

    def is_ranked(self, number: int) -> bool:
        """Return whether a run may be ranked with others."""
        is_estimate = self.part(number).is_estimate and self.belonging[number].finished
        return is_estimate and not self.knew_queries(number)

    def mean(self, number: int, name: str) -> float:
        """Return the mean over the folds that a run must be ranked by, computed plainly."""
        folds = self.source.runs[number - 1].result.folds
        if self.part(number) is Part.TEST:
            return sum(fold.test[name] for fold in folds) / len(folds)
        means = []
        for fold in folds:
            values = [
                value for value in fold.cross_fitted[name].tolist() if not isnan(value)
            ]
            means.append(sum(values) / len(values))
        return sum(means) / len(means)


def pooled_runs(folder: Path) -> tuple[PooledRun, ...]:
    """Write the data into a folder, and run every method on them in every way."""
    return tuple(
        PooledRun(belonging, dataset, run_plan(plan, dataset))
        for belonging, dataset, plan in _plans(folder)
    )


def _plans(folder: Path) -> Iterator[tuple[Belonging, FoldedDataset, Plan]]:
    made = {
        "n_informative": 2,
        "n_redundant": 2,
        "n_noise": 3,
        "n_constant": 0,
        "documents": (3, 6),
    }
    for name, seed in (("Alpha", 1), ("Beta", 2)):
        place = save_folds(folder / name, n_queries=40, seed=seed, **made)
        dataset = open_dataset(place)
        for key, convention in product(METHODS, ("letor4", "mslr")):
            plan = _plan(place, key, convention=convention)
            yield Belonging(name, "", convention, "given", True), dataset, plan
        for key in METHODS[:2]:
            yield (
                Belonging(name, "", "letor4", "given 2", True),
                dataset,
                _plan(place, key, folds=(2,)),
            )
        for folds, chosen_on in (((), 1), ((), 2), ((2,), 1), ((2,), 2)):
            plan = _plan(
                place,
                "greedy-rankrls",
                folds=folds,
                hand_chosen=f"given: {chosen_on}",
                **_SET,
            )
            hand_chosen = "own fold" if folds == (chosen_on,) else "other folds"
            origin = "given 2" if folds else "given"
            yield (
                Belonging(name, "", "letor4", origin, True, hand_chosen),
                dataset,
                plan,
            )
    for seed, key in product((0, 1), METHODS[:2]):
        plan = _plan(place, key, protocol="3-fold", seed=seed)
        yield (
            Belonging("Beta", "", "letor4", f"3-fold {seed}", True),
            open_data(plan),
            plan,
        )
    table = _write_table(folder / "Gamma.csv", Random(3))
    for label, key in product(("ann", "bob"), METHODS[:3]):
        columns = {"qid": "query", "labels": ("ann", "bob"), "label": label}
        plan = _plan(table, key, protocol="3-fold", columns=columns)
        dataset = open_data(plan)
        yield Belonging(dataset.name, label, "letor4", "3-fold 0", True), dataset, plan


def _plan(place: Path, method: str, **changes: object) -> Plan:
    values = {"data": str(place), "method": method, "measures": MEASURES, **changes}
    return Plan(**values)  # type: ignore[arg-type]


def _write_table(path: Path, rng: Random) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["query", "ann", "bob", "length", "clicks", "age"])
        for query, _ in product(range(30), range(5)):
            ann = rng.randint(0, 2)
            values = [ann + rng.random(), rng.random(), ann * rng.random()]
            writer.writerow(
                [query, ann, min(2, max(0, ann + rng.randint(-1, 1))), *values]
            )
    return path


def drawn_study(rng: Random, pool: Sequence[PooledRun]) -> DrawnStudy:
    """Draw some runs and seals; some runs are of an earlier version, without cross-fitted values."""
    some = rng.sample(pool, rng.randint(1, MOST_RUNS))
    runs = tuple(
        ReportedRun(
            number,
            _aged(pooled.result, rng.random() < EARLIER),
            recorded_data(pooled.dataset),
        )
        for number, pooled in enumerate(some, start=1)
    )
    recorded = {run.result.data_name: run.recorded for run in runs}
    is_sealed = {name: rng.random() < SEALED for name in recorded}
    marks = [
        SealMark.now(sealed=is_sealed[name], data=data)
        for name, data in recorded.items()
    ]
    belonging = {
        number: pooled.belonging for number, pooled in enumerate(some, start=1)
    }
    source = ReportSource("Drawn", runs, seal_marks=tuple(marks))
    results = {number: pooled.result for number, pooled in enumerate(some, start=1)}
    return DrawnStudy(source, belonging, is_sealed, results)


def _aged(run: RunResult, is_earlier: bool) -> RunResult:
    """Return a run as an earlier version stored it, or unchanged."""
    if not is_earlier:
        return run
    return replace(
        run,
        folds=tuple(
            replace(fold, cross_fitted=FrozenMapping({})) for fold in run.folds
        ),
    )


def recorded_data(dataset: FoldedDataset) -> RecordedData:
    """Return what a study records of data."""
    found = fingerprint(dataset)
    return RecordedData(
        dataset.name,
        str(dataset.path or ""),
        found.checksum,
        found.files,
        tuple(fold.number for fold in dataset.folds),
        tuple(dataset.feature_ids.tolist()),
        dataset.feature_names,
        first_file=dataset.origin.checksum,
    )
