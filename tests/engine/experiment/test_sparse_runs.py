"""Runs on sparse data against the same runs on dense data: paths, choices, measures, models, and studies."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.splitting.splits import k_fold, single_split
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.experiment.execution.executors import on_processes
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.reports import chosen_model
from rankstudio.engine.experiment.results.events import FoldFinished
from rankstudio.engine.experiment.results.results import FoldResult
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run, run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.export.model_files import model_scores
from rankstudio.engine.support import memory
from rankstudio.engine.support.sparse_rows import SparseRows

N, QUERIES = 12, 24


def part(seed: int) -> RankingDataset:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 9, QUERIES)
    X = np.round(rng.random((int(sizes.sum()), N)), 2) * (
        rng.random((int(sizes.sum()), N)) < 0.35
    )
    X[:, 3] = 1.5
    y = np.clip(
        np.round(3 * X[:, 1] + 2 * X[:, 5] - X[:, 8] + 0.4 * rng.normal(size=len(X))),
        0,
        2,
    )
    return RankingDataset.from_arrays(
        X, y, np.repeat(np.arange(QUERIES), sizes) + 100 * seed
    )


def datasets() -> tuple[FoldedDataset, FoldedDataset]:
    """Return the same fold with dense and with sparse features."""
    parts = {
        name: part(seed) for seed, name in enumerate(("train", "vali", "test"), start=1)
    }
    sparse = {
        name: one.changed(X=SparseRows.of_array(np.array(one.X)))
        for name, one in parts.items()
    }
    return tuple(
        FoldedDataset("small", None, (Fold(1, **own),)) for own in (parts, sparse)
    )  # type: ignore[return-value]


def results(plan: Plan, data: FoldedDataset, **options: Any) -> list[FoldResult]:
    return [
        told.result
        for told in run(plan, data, **options)
        if isinstance(told, FoldFinished)
    ]


def assert_alike(
    found: list[FoldResult], expected: list[FoldResult], tolerance: float = 1e-8
) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.selected == other.selected
        assert one.chosen.unit.parameters == other.chosen.unit.parameters
        assert (one.baseline.feature, one.baseline.descending) == (
            other.baseline.feature,
            other.baseline.descending,
        )
        of_baselines = one.baseline.test, other.baseline.test
        for mine, theirs in (
            (one.validation, other.validation),
            (one.test, other.test),
            of_baselines,
        ):
            assert mine.keys() == theirs.keys()
            np.testing.assert_allclose(
                [*mine.values()], [*theirs.values()], rtol=0, atol=1e-12
            )
        if one.chosen.step.linear:
            weights = other.chosen.step.coef
            np.testing.assert_allclose(
                one.chosen.step.coef,
                weights,
                rtol=0,
                atol=tolerance * np.abs(weights).max(),
            )


PLANS: dict[str, dict[str, Any]] = {
    "greedy": {"parameters": {"n_features_to_select": (4,), "regularization": (0.5, 4.0)}},
    "greedy, κ": {"parameters": {"n_features_to_select": (4,), "n_candidates": (3,)}},
    "greedy, back-fitting": {"parameters": {"n_features_to_select": (4,), "fitting": ("back",)}},
    "greedy, floating": {"parameters": {"n_features_to_select": (4,), "search": ("floating",)}},
    "greedy by its criterion": {"parameters": {"n_features_to_select": (4,)}, "select_by": CRITERION},
    "greedy by left-out queries": {
        "parameters": {"n_features_to_select": (3,)}, "select_by": "leave-query-out MAP"
    },
    "greedy, then RankSVM": {"parameters": {"n_features_to_select": (3,)}, "ranker": "ranksvm"},
    "greedy, then LambdaMART": {
        "parameters": {"n_features_to_select": (2,)},
        "ranker": "lambdamart",
        "ranker_parameters": {"n_rounds": 5},
    },
    "RankRLS": {"method": "rankrls", "parameters": {"regularization": (0.5, 4.0)}},
    "RankSVM": {"method": "ranksvm", "parameters": {"C": (0.1,), "tol": (1e-9,)}},
    "RankSVM, hinge": {"method": "ranksvm", "parameters": {"C": (0.01,), "loss": ("hinge",), "tol": (1e-9,)}},
    "single features": {"method": "single-feature", "parameters": {"n_features_to_select": (4,)}},
    "mutual information": {"method": "mutual-information", "parameters": {"n_features_to_select": (4,)}},
    "nested": {"parameters": {"n_features_to_select": (4,)}, "protocol": "nested 3-fold"},
    "a method of arrays": {"method": "fsmrank", "parameters": {"max_iter": (30,)}},
    "trees of arrays": {"method": "rankboost", "parameters": {"n_rounds": (5,)}},
}  # fmt: skip


@pytest.mark.parametrize("name", PLANS)
def test_a_run_is_that_on_dense_data(name: str) -> None:
    plan = Plan("small", **PLANS[name])
    dense, sparse = datasets()
    # Newton steps end within their tolerance of the minimum.
    assert_alike(
        results(plan, sparse),
        results(plan, dense),
        1e-4 if plan.method == "ranksvm" else 1e-8,
    )


def test_workers_of_other_processes_find_the_same() -> None:
    _, sparse = datasets()
    parameters = {"n_features_to_select": (3,), "regularization": (0.5, 4.0)}
    plan = Plan("small", parameters=parameters, protocol="3-fold")
    with on_processes(2) as executor:
        found = results(plan, k_fold(sparse, 3), executor=executor)
    expected = results(plan, k_fold(sparse, 3))
    assert [fold.selected for fold in found] == [fold.selected for fold in expected]
    assert [dict(fold.test) for fold in found] == [dict(fold.test) for fold in expected]


def test_a_study_keeps_a_run_and_its_models_score_sparse_data(tmp_path: Path) -> None:
    _, sparse = datasets()
    plan = Plan("small", parameters={"n_features_to_select": (3,)})
    with Study.create(tmp_path / "a.rankstudio") as study:
        first = [
            e.result
            for e in run_stored(plan, sparse, study)
            if isinstance(e, FoldFinished)
        ]
        again = [
            e.result
            for e in run_stored(plan, sparse, study)
            if isinstance(e, FoldFinished)
        ]
    assert_alike(again, first, 0.0)
    test = sparse.folds[0].test
    assert test is not None
    model = chosen_model(run_plan(plan, sparse), first[0])
    step = first[0].chosen.step
    np.testing.assert_allclose(
        model_scores(model, test), test.X[:, range(N)] @ step.coef, rtol=1e-12
    )


def wide(
    documents: int, features: int, entries: int = 30, size: int = 20
) -> FoldedDataset:
    """Return documents with entries of which those of the first 50 features tell the labels."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(50, features, (documents, entries)), axis=1).astype(
        np.int32
    )
    columns[:, 0] = rng.integers(0, 50, documents)
    values, starts = rng.random(columns.size), np.arange(0, columns.size + 1, entries)
    X = SparseRows.of_parts(values, columns.ravel(), starts, features)
    X.csr.sum_duplicates()
    y, qid = columns[:, 0] % 3.0, np.repeat(np.arange(documents // size), size)
    whole = RankingDataset.from_arrays(np.zeros((documents, 1)), y, qid)
    ids = np.arange(1, features + 1)
    return FoldedDataset.of(
        whole.changed(X=X, feature_ids=ids, feature_names=tuple(map(str, ids.tolist())))
    )


def test_a_method_of_arrays_is_refused_where_memory_has_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = wide(400, 60_000)
    monkeypatch.setattr(memory, "available", lambda: 1e8)
    with pytest.raises(
        OutOfMemoryError,
        match=r"FSMRank needs .* takes sparse data, such as Greedy RankRLS",
    ):
        results(
            Plan("wide", method="fsmrank", protocol="split 60/20/20"),
            single_split(data, (60, 20, 20)),
        )
    ranked = Plan(
        "wide", "single-feature", {"n_features_to_select": 2}, ranker="ranksvm"
    )
    results(ranked.changed(protocol="split 60/20/20"), single_split(data, (60, 20, 20)))


@pytest.mark.thorough
def test_no_dense_matrix_is_made_in_a_run() -> None:
    """From the folds to the results: one column of all documents is the largest array."""
    data = single_split(wide(4_000, 60_000), (60, 20, 20))
    parameters = {"n_features_to_select": (4,), "n_candidates": (1000,)}
    plan = Plan("wide", parameters=parameters, protocol="split 60/20/20")
    # what is loaded once
    results(Plan("small", parameters={"n_features_to_select": (2,)}), datasets()[1])
    tracemalloc.start()
    (found,) = results(plan, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found.paths[0].steps[-1].selected) == 4
    # All features take 1.9 GB, 240 MB as booleans; what is measured side by side takes 32 MB at a time.
    assert peak < 240e6
