"""Left-out measures of every setting that a plan can have: equal to learning anew without each query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiment.small import relearned, unvalidated
from kernel_oracles import features_of, kernel_matrix, spanned
from scipy.sparse import csr_array
from wording import naming

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.preferences import Preferences, sample_preferences
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.left_out_names import left_out_name
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.units.fold_context import make_fold_context
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.metrics.evaluation import evaluate

NAMES = ("MAP", "NDCG@5", "Disagreement")
MAP = left_out_name("MAP")
LAMBDA = 0.5
COSTS = [
    {"cost": cost, "ties": ties, "weighting": weighting}
    for cost, weighting in product(
        ("magnitude", "unit", "inverse"), ("size", "pairs", "none")
    )
    for ties in ((True, False) if cost == "magnitude" else (None,))
]


SOME = (COSTS[0], COSTS[3], COSTS[8], COSTS[9])
"""Every cost, every weighting, ties and none of them; all combinations are tried in the thorough run."""


def given(loss: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a plan: those that count."""
    return {name: value for name, value in loss.items() if value is not None}


def named(loss: dict[str, Any]) -> str:
    return " ".join(map(str, loss.values()))


def cases(
    losses: Sequence[dict[str, Any]], some: Sequence[dict[str, Any]]
) -> pytest.MarkDecorator:
    """Parametrise by losses; only some of them are in the default run."""
    marks = [() if loss in some else pytest.mark.thorough for loss in losses]
    found = [
        pytest.param(loss, marks=m, id=named(loss))
        for loss, m in zip(losses, marks, strict=True)
    ]
    return pytest.mark.parametrize("loss", found)


EVERY_COST = cases(COSTS, SOME)


def one_label() -> FoldedDataset:
    """A fold without a validation part; one query has a single label, and some documents are there twice."""
    fold = unvalidated(10).folds[0]
    y = fold.train.y.copy()
    y[: fold.train.query_ptr[1]] = 1.0
    return FoldedDataset("One", None, (replace(fold, train=replace(fold.train, y=y)),))


def ran(
    method: str, parameters: dict[str, Any], **changes: Any
) -> tuple[FoldedDataset, PathResult]:
    data = one_label()
    grid = {} if changes.get("ranker") else {"regularization": LAMBDA}
    plan = Plan(
        "small",
        method,
        {**grid, **parameters},
        MAP,
        NAMES,
        convention="letor4",
        **changes,
    )
    path = run_plan(plan, data).folds[0].paths[0]
    # The same numbers are there for a run that nothing of it has chosen.
    plain = plan.changed(select_by="criterion")
    result = run_plan(plain, data).folds[0].paths[0]
    fold = make_fold_context(plain, data.folds[0])
    rows = list(fold.measure_left_out(result, NAMES, plan.convention))
    for name in map(left_out_name, NAMES):
        assert [row[name] for row in rows] == path.validation[name].tolist()
    return data, path


def assert_measured(
    data: FoldedDataset, path: PathResult, k: int, scores: np.ndarray
) -> None:
    train = data.folds[0].train
    expected = evaluate(
        train.y, scores, train.query_index, measures=NAMES, convention="letor4"
    )
    found = {name: float(path.validation[left_out_name(name)][k]) for name in NAMES}
    assert found == pytest.approx(dict(expected), abs=1e-12)


@EVERY_COST
@pytest.mark.parametrize("pairs", ["query", "all"])
def test_rankrls(loss: dict[str, Any], pairs: str) -> None:
    data, path = ran("rankrls", {**given(loss), "pairs": pairs})
    train = data.folds[0].train
    assert_measured(
        data, path, 0, relearned(train, train.X, LAMBDA, pairs=pairs, **loss)
    )


def test_rankrls_on_documents_alone() -> None:
    data, path = ran("rankrls", {"pairs": "pointwise"})
    train = data.folds[0].train
    assert_measured(data, path, 0, relearned(train, train.X, LAMBDA, pairs="pointwise"))


@EVERY_COST
def test_greedy_rankrls(loss: dict[str, Any]) -> None:
    data, path = ran("greedy-rankrls", {**given(loss), "n_features_to_select": 4})
    assert_every_step(data, path, loss)


def assert_every_step(
    data: FoldedDataset, path: PathResult, loss: dict[str, Any] | None = None
) -> None:
    train = data.folds[0].train
    for k, step in enumerate(path.steps):
        columns = sorted(step.selected)
        assert_measured(
            data, path, k, relearned(train, train.X[:, columns], LAMBDA, **(loss or {}))
        )


@pytest.mark.parametrize(
    "parameters",
    [
        {"pinned": (6, 1)},
        {"banned": (3,)},
        {"pinned": (2,), "banned": (5,)},
        {"fitting": "back"},
        {"search": "floating"},
        {"search": "swap"},
        {"search": "best"},
        {"search": "floating", "pinned": (1,)},
        {"size_penalty": 0.01},
        {"n_candidates": 2},
        {"costs": ((1, 2.0), (3, 0.5)), "budget": 3.0},
        *(
            {"algorithm": algorithm}
            for algorithm in ("algorithm1", "rows", "statistics", "columns")
        ),
    ],
    ids=str,
)
@cases([COSTS[0], COSTS[5]], [COSTS[0]])
def test_ways_to_select(parameters: dict[str, Any], loss: dict[str, Any]) -> None:
    data, path = ran("greedy-rankrls", {**parameters, **given(loss)})
    assert_every_step(data, path, loss)


@pytest.mark.parametrize("search", ["forward", "floating", "swap", "best"])
def test_groups_of_features(search: str) -> None:
    data, path = ran(
        "greedy-rankrls", {"search": search}, groups={"a": (1, 4), "b": (3, 5, 6)}
    )
    assert [len(step.selected) for step in path.steps][-1] == 5
    assert_every_step(data, path)


@pytest.mark.parametrize("pairs", ["query", "all", "pointwise"])
def test_rankrls_with_selected_features(pairs: str) -> None:
    ranker = {"regularization": LAMBDA, "pairs": pairs}
    data, path = ran("gas", {}, ranker="rankrls", ranker_parameters=ranker)
    train = data.folds[0].train
    for k, step in enumerate(path.steps):
        X = train.X[:, sorted(step.selected)]
        assert_measured(data, path, k, relearned(train, X, LAMBDA, pairs=pairs))


@cases(COSTS, (COSTS[0], COSTS[8]))
@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "rbf", "gamma": 2.0},
        {"kernel": "rbf", "gamma": 2.0, "n_basis": 12},
        {"kernel": "rbf", "gamma": 2.0, "n_basis": 20, "basis": "per_query"},
    ],
    ids=["all", "12", "2 a query"],
)
def test_kernels(loss: dict[str, Any], settings: dict[str, Any]) -> None:
    data, path = ran("kernel-rankrls", {**given(loss), **settings})
    assert_kernel(data, path, settings, loss)


@pytest.mark.parametrize("function", ["poly", "linear"])
@pytest.mark.parametrize("n_basis", [None, 5])
def test_other_kernels(function: str, n_basis: int | None) -> None:
    settings = {"kernel": function, "n_basis": n_basis}
    settings |= {"gamma": 0.5, "degree": 2, "coef0": 1.0} if function == "poly" else {}
    data, path = ran("kernel-rankrls", settings)
    assert_kernel(data, path, {"gamma": 1.0, **settings}, COSTS[0])


def assert_kernel(
    data: FoldedDataset,
    path: PathResult,
    settings: dict[str, Any],
    loss: dict[str, Any],
) -> None:
    train, step = data.folds[0].train, path.steps[0]
    shape = {
        name: settings[name]
        for name in ("kernel", "gamma", "degree", "coef0")
        if name in settings
    }
    features = features_of(kernel_matrix(train.X, shape))
    basis: np.ndarray = step.basis  # type: ignore[attr-defined]
    if settings.get("n_basis") is None:
        scores = relearned(train, features, LAMBDA, **loss)
    else:
        scores = np.zeros(train.n_documents)
        for q in range(train.n_queries):
            own = train.query_index == q
            X = spanned(features, basis[~own[basis]])
            model = RankRLS(LAMBDA, **loss).fit(
                X[~own], train.y[~own], qid=train.query_index[~own]
            )
            scores[own] = model.predict(X[own])
    assert_measured(data, path, 0, np.round(scores, 8))


@pytest.mark.ability("preferences")
@pytest.mark.parametrize("method", ["rankrls", "kernel-rankrls"])
@pytest.mark.parametrize("cost", ["magnitude", "unit"])
def test_preferences(method: str, cost: str, tmp_path: Path) -> None:
    train = one_label().folds[0].train
    sampled = sample_preferences(train, share=0.5, noise=0.2, seed=0)
    path = tmp_path / "preferences.csv"
    place = np.arange(train.n_documents) - np.repeat(
        train.query_ptr[:-1], np.diff(train.query_ptr)
    )
    rows = zip(
        sampled.winner, sampled.loser, sampled.magnitude, sampled.weight, strict=True
    )
    names = np.repeat(train.query_ids, np.diff(train.query_ptr))
    path.write_text(
        "".join(
            f"{names[w]},{place[w] + 1},{place[o] + 1},{g!r},{v!r}\n"
            for w, o, g, v in (
                (int(w), int(o), float(g), float(v)) for w, o, g, v in rows
            )
        )
    )
    settings = {"kernel": "linear"} if method == "kernel-rankrls" else {}
    named = {"path": str(path)}
    data, found = ran(method, {"cost": cost, **settings}, preferences=named)
    scores = np.zeros(train.n_documents)
    for q in range(train.n_queries):
        own = train.query_index == q
        place = np.cumsum(~own) - 1
        kept = ~own[sampled.winner]
        others = Preferences(
            place[sampled.winner[kept]],
            place[sampled.loser[kept]],
            sampled.magnitude[kept],
            sampled.weight[kept],
        )
        model = RankRLS(LAMBDA, cost=cost)
        model.fit(train.X[~own], preferences=others, qid=train.query_index[~own])
        scores[own] = model.predict(train.X[own])
    assert_measured(data, found, 0, np.round(scores, 9))


def test_conjugate_gradients_and_sparse_features() -> None:
    train = one_label().folds[0].train
    by_gradients = RankRLS(LAMBDA, solver="cg", tol=1e-14)
    found = by_gradients.leave_query_out(train.X, train.y, qid=train.query_index)
    for q in range(train.n_queries):
        own = train.query_index == q
        expected = by_gradients.fit(
            train.X[~own], train.y[~own], qid=train.query_index[~own]
        ).predict(train.X[own])
        np.testing.assert_allclose(found[own], expected - expected.mean(), atol=1e-8)
    with pytest.raises(ParameterError, match=naming("X dense")):
        by_gradients.leave_query_out(csr_array(train.X), train.y, qid=train.query_index)
