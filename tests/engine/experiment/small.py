"""For the tests of experiments: a small dataset, quick parameters, and what it is to have the same bits."""

from __future__ import annotations

import json
import pickle
import shlex
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future
from dataclasses import replace
from typing import Any

import numpy as np

from rankstudio.cli import command_line
from rankstudio.cli.run_options import plan_from
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.experiment.plan.as_code import as_command, as_python
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.reports import (
    features_table,
    metrics_table,
    results_as_dict,
)
from rankstudio.engine.experiment.results.events import Event, RunFinished
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.export.models import StoredStep
from rankstudio.engine.methods.catalog import Method, methods
from rankstudio.engine.methods.rankers.rankrls import RankRLS


def part(seed: int, queries: int = 12, n: int = 6) -> RankingDataset:
    """Queries of 4 to 9 documents; features 3 and 5 count, feature 2 is constant."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 10, queries)
    m = int(sizes.sum())
    X = rng.random((m, n))
    X[:, 1] = 0.5
    y = np.clip(np.round(2 * X[:, 2] + X[:, 4] + 0.3 * rng.normal(size=m) - 0.5), 0, 2)
    ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return RankingDataset(
        X,
        y,
        ptr,
        tuple(str(q) for q in range(queries)),
        np.arange(1, n + 1),
        tuple(f"feature {i}" for i in range(1, n + 1)),
    )


def dataset(folds: int = 2) -> FoldedDataset:
    """Folds with all three parts."""
    numbers = range(1, folds + 1)
    return FoldedDataset(
        "Small",
        None,
        tuple(Fold(f, part(3 * f), part(3 * f + 1), part(3 * f + 2)) for f in numbers),
    )


def unvalidated(queries: int = 12) -> FoldedDataset:
    """A fold without a validation part; some documents are there twice, with different labels."""
    data = part(5, queries)
    X = data.X.copy()
    X[1::5] = X[:-1:5][: len(X[1::5])]
    return FoldedDataset("One", None, (Fold(1, replace(data, X=X), None, part(6)),))


def partly_stored(result: RunResult) -> RunResult:
    """Return a run of one path as a study has it of trees: the first fold with its last model alone."""
    first, *others = result.folds
    (path,) = first.paths
    *before, last = path.steps
    lost = [
        StoredStep(
            one.number,
            one.selected,
            one.coef,
            one.criterion,
            one.candidates,
            beyond={},
            ids=(),
        )
        for one in before
    ]
    partly = replace(first, paths=(replace(path, steps=HeldSteps([*lost, last])),))
    return replace(result, folds=(partly, *others))


def relearned(
    train: RankingDataset, X: np.ndarray, regularization: float, **settings: Any
) -> np.ndarray:
    """Scores of each query by RankRLS that is learned without it."""
    scores = np.zeros(train.n_documents)
    for q in range(train.n_queries):
        own = train.query_index == q
        model = RankRLS(regularization, **settings).fit(
            X[~own], train.y[~own], qid=train.query_index[~own]
        )
        scores[own] = model.predict(X[own])
    return np.round(scores, 9)  # equal documents have equal scores


# MAP, because in the LETOR conventions NDCG@10 of so short queries is 0 for any ranking.
_FEW: dict[str, object] = {
    "measure": "MAP",
    "max_iter": 5,
    "n_rounds": 5,
    "n_restarts": 1,
    "subset_size": 2,
    "patience": 1,
    "min_data_in_leaf": 5,
}


def quick(entry: Method) -> dict[str, Any]:
    """Few iterations, and one value of every grid."""
    names = [p.name for p in entry.parameters]
    few = {name: value for name, value in _FEW.items() if name in names}
    return {**few, **{p.name: p.default[len(p.default) // 2] for p in entry.grids}}


def two_settings() -> dict[str, Plan]:
    """Every method with a grid, and every ranker, with two values of it."""
    searches = {
        "regularization": 0.5,
        "search": ("swap", "best"),
        "n_features_to_select": 3,
    }
    plans = {"sets of features": Plan("small", parameters=searches, folds=(1,))}
    for entry in (m for m in methods() if not m.lacking):
        values = quick(entry)
        for p in entry.grids[:1]:
            values[p.name] = p.default[len(p.default) // 2 :][:2]
        plans[entry.key] = Plan("small", entry.key, values, folds=(1,))
        if not entry.selects:
            plans[f"ranked by {entry.key}"] = Plan(
                "small", "gas", ranker=entry.key, ranker_parameters=values, folds=(1,)
            )
    return plans


def plan_of_command(plan: Plan) -> Plan:
    """Return the plan that the terminal makes of the command for one."""
    program, *arguments = shlex.split(as_command(plan))
    assert program == "rankstudio"
    return plan_from(command_line(names=("run",)).parse_args(arguments))


def plan_of_program(plan: Plan) -> Plan:
    """Return the plan that the program for one makes."""
    said: dict[str, Any] = {}
    exec(as_python(plan).split("result = run_plan")[0], said)
    found: Plan = said["plan"]
    return found


def ended(events: Iterator[Event]) -> RunResult:
    *_, last = events
    assert isinstance(last, RunFinished)
    return last.result


def assert_same(one: RunResult, other: RunResult) -> None:
    """All numbers of all paths have the same bits; texts, because NaN equals nothing."""
    assert json.dumps(results_as_dict(one)) == json.dumps(results_as_dict(other))
    assert repr(features_table(one)) == repr(features_table(other))
    assert repr(metrics_table(one)) == repr(metrics_table(other))
    for fold, again in zip(one.folds, other.folds, strict=True):
        for a, b in zip(fold.paths, again.paths, strict=True):
            assert a.unit == b.unit
            assert a.criterion.tobytes() == b.criterion.tobytes()
            assert [s.coef.tobytes() for s in a.steps] == [
                s.coef.tobytes() for s in b.steps
            ]
            assert {k: v.tobytes() for k, v in a.validation.items()} == {
                k: v.tobytes() for k, v in b.validation.items()
            }
            assert (a.choices is None) == (b.choices is None)
            if a.choices and b.choices:
                assert a.choices.positions.tobytes() == b.choices.positions.tobytes()
                assert a.choices.gains.tobytes() == b.choices.gains.tobytes()
                assert values_of(a.choices.per_query) == values_of(b.choices.per_query)
        assert values_of(fold.cross_fitted) == values_of(again.cross_fitted)


def values_of(measures: Mapping[str, np.ndarray]) -> dict[str, bytes]:
    return {name: values.tobytes() for name, values in measures.items()}


class AtOnce(Executor):
    """Carries units out as they come, with what a process would be sent."""

    def submit(self, fn, /, *args, **kwargs):
        future: Future = Future()
        future.set_result(fn(*pickle.loads(pickle.dumps(args)), **kwargs))
        return future
