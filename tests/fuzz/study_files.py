"""Studies for the fuzz suite: made once, on tiny data, with every run known to the last bit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from experiment.small import ended

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.reports import (
    features_table,
    metrics_table,
    results_as_dict,
)
from rankstudio.engine.experiment.results.events import UnitFinished
from rankstudio.engine.experiment.results.results import PathResult, RunResult
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import open_data, run
from rankstudio.engine.experiment.storage.study import RunKey, RunLabel, Study
from rankstudio.engine.experiment.storage.study_contents import ReportSettings, SealMark

N_RUNS = 5
UNFINISHED, REMOVED = 4, 5
LABELS = {
    1: RunLabel("The first", "<b>see</b>\n\nthere", ("a", "b")),
    2: RunLabel(hidden=True),
}
REPORT = ReportSettings(
    "Which features?", "One.\n\nTwo.", (("results", True), ("data", False))
)
SEALS = (
    SealMark(True, "2026-11-22T02:30:00+00:00"),
    SealMark(False, "2026-11-22T02:31:00+00:00", ("sha256:1 some",)),
)


@dataclass(frozen=True)
class Original:
    """A study as it was written, and what each of its runs shows.

    Attributes
    ----------
    content : bytes
        Of the file.
    base, log : bytes
        Of the file and the log beside it, as they are where the process ends before it closes the study.
    other : Path
        A study of the same runs by other measures.
    plans : dict of int to Plan
        By the number of the run.
    units : dict of int to dict
        Of each run, what each of its units shows.
    results : dict of int to str
        What each run shows when it is finished.
    data : dict of int to FoldedDataset
        What each run is on.
    """

    content: bytes
    base: bytes
    log: bytes
    other: Path
    plans: dict[int, Plan]
    units: dict[int, dict[tuple[int, int], str]]
    results: dict[int, str]
    data: dict[int, FoldedDataset]


def write_data(folder: Path, seed: int, queries: int = 5, n: int = 4) -> Path:
    """Write two folds with all three parts."""
    for fold in (1, 2):
        place = folder / f"Fold{fold}"
        place.mkdir(parents=True)
        for number, name in enumerate(("train", "vali", "test")):
            save_letor(
                _part(100 * seed + 10 * fold + number, queries, n),
                place / f"{name}.txt",
            )
    return folder


def _part(seed: int, queries: int, n: int) -> RankingDataset:
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(1, queries + 1), 5)
    X = np.round(rng.random((len(qid), n)), 3)
    y = np.clip(
        np.round(2 * X[:, 2] + X[:, 1] + 0.3 * rng.normal(size=len(qid)) - 0.5), 0, 2
    )
    return RankingDataset.from_arrays(X, y, qid)


def plans(data: Path, other: Path) -> list[Plan]:
    """Return what the runs of the study are: of several methods, on two datasets."""
    few = ("MAP", "NDCG@5")
    first = Plan(
        str(data),
        parameters={"regularization": (0.5, 1.0)},
        rule="one-se",
        measures=few,
    )
    return [
        first,
        Plan(str(data), "rankboost", {"n_rounds": 3}, measures=few),
        Plan(str(other), "single-feature", {"regularization": (1.0,)}, measures=few),
        first.changed(parameters={"regularization": (2.0, 4.0)}),
        first.changed(parameters={"regularization": (8.0,)}),
    ]


def make_study(path: Path, wanted: Sequence[Plan]) -> Original:
    """Write a study with finished runs, one that was stopped and one that was removed."""
    other = path.with_name("other.rankstudio")
    with Study.create(other) as study:
        for plan in (plan.changed(convention="mslr") for plan in wanted):
            fill(study, plan, open_data(plan))
    numbered = dict(enumerate(wanted, start=1))
    data = {number: open_data(plan) for number, plan in numbered.items()}
    with Study.create(path, "Fuzzed") as study:
        for number, plan in numbered.items():
            fill(study, plan, data[number], stopped=number == UNFINISHED)
        units = {
            summary.key.id: units_shown(study, summary.key) for summary in study.runs()
        }
        keys = [summary.key for summary in study.runs()]
        for number, label in LABELS.items():
            study.set_label(keys[number - 1], label)
        for mark in SEALS:
            study.note_seal(mark)
        study.set_report_settings(REPORT)
        study.remove(keys[REMOVED - 1])
        base, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    results = {
        number: result_shown(ended(run(plan, data[number])))
        for number, plan in numbered.items()
    }
    return Original(path.read_bytes(), base, log, other, numbered, units, results, data)


def fill(study: Study, plan: Plan, data: FoldedDataset, stopped: bool = False) -> None:
    """Run a plan to its end, or until its first unit is finished."""
    with closing(run_stored(plan, data, study)) as events:
        for event in events:
            if stopped and isinstance(event, UnitFinished):
                return


def units_shown(study: Study, key: RunKey) -> dict[tuple[int, int], str]:
    """Return what the finished units of a run show, to the last bit."""
    return {at: _path_shown(path) for at, path in study.finished_units(key).items()}


def result_shown(result: RunResult) -> str:
    """Return what the tables and files of a run show, its time aside."""
    values = results_as_dict(result)
    queries = {
        f"{fold.fold} {name}": row.tolist()
        for fold in result.folds
        for name, row in fold.per_query.items()
    }
    tables = repr(features_table(result)), repr(metrics_table(result))
    return _digest(json.dumps(values), json.dumps(queries), *tables)


def _path_shown(path: PathResult) -> str:
    arrays = [path.criterion, *path.validation.values(), *path.standard_errors.values()]
    arrays += [array for step in path.steps for array in (step.coef, step.candidates)]
    beyond = [
        dict(step.beyond_weights([])) if step.whole else None for step in path.steps
    ]
    words = repr((path.unit, [step.selected for step in path.steps], beyond))
    return _digest(words, *(array.tobytes().hex() for array in arrays))


def _digest(*texts: str) -> str:
    return sha256("\n".join(texts).encode()).hexdigest()
