"""Thresholds against trying every one, and the decisions of a run against its models' scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.origin import DatasetOrigin
from rankstudio.engine.data.splitting.splits import k_fold
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.statistics.auc import auc_interval, mean_auc_interval
from rankstudio.plugins.papers.decision_thresholds import (
    best_threshold,
    decide,
    decision_rows,
    run_decisions,
    share_threshold,
)

documents = st.integers(1, 12).flatmap(
    lambda m: st.tuples(
        st.lists(st.integers(-3, 3), min_size=m, max_size=m),
        st.lists(st.booleans(), min_size=m, max_size=m),
    )
)


def f_of(taken: list[bool], relevant: list[bool]) -> float:
    right = sum(a and b for a, b in zip(taken, relevant, strict=True))
    if not right:
        return 0.0
    precision, recall = right / sum(taken), right / sum(relevant)
    return 2 * precision * recall / (precision + recall)


@given(documents)
def test_the_best_threshold_is_the_best_of_all(
    drawn: tuple[list[int], list[bool]],
) -> None:
    scores, relevant = drawn
    tried = {
        t: f_of([s >= t for s in scores], relevant) for t in (*set(scores), np.inf)
    }
    found = best_threshold(np.array(scores, dtype=float), np.array(relevant))
    assert found.f == pytest.approx(max(tried.values()), abs=1e-12)
    assert found.f == pytest.approx(tried[found.threshold], abs=1e-12)


@given(documents)
def test_a_share_takes_as_many_as_are_relevant_and_parts_no_tie(
    drawn: tuple[list[int], list[bool]],
) -> None:
    scores, relevant = drawn
    sizes = [sum(s >= t for s in scores) for t in (*set(scores), np.inf)]
    found = share_threshold(np.array(scores, dtype=float), np.array(relevant))
    assert sum(s >= found.threshold for s in scores) == max(
        n for n in sizes if n <= sum(relevant)
    )


def test_a_run_is_judged_by_thresholds_of_its_training_parts() -> None:
    data = make_ranking(n_queries=20, seed=3)
    wanted = {"regularization": (1.0,), "n_features_to_select": 3}
    run = run_plan(Plan("made", measures=("MAP",), parameters=wanted), data)
    found = run_decisions(run, data)
    assert found.part == "test"
    for fold, one, kept in zip(data.folds, found.folds, run.folds, strict=True):
        assert fold.test is not None
        train = kept.chosen.step.scores(np.ascontiguousarray(fold.train.X.T))
        test = kept.chosen.step.scores(np.ascontiguousarray(fold.test.X.T))
        for decision, choose in (
            (one.best, best_threshold),
            (one.share, share_threshold),
        ):
            assert decision == decide(
                test, fold.test.y >= 1, choose(train, fold.train.y >= 1).threshold
            )
            assert decision.f <= one.greatest.f + 1e-12
    assert np.isnan(found.mean_auc_interval).all()  # queries are no single ranking
    assert run_decisions(run, data, sealed=True).part == "validation"
    rows = decision_rows(found)
    assert [row.rule for row in rows[-2:]] == ["best F", "class share"]
    assert rows[-2].decision.f == pytest.approx(
        np.mean([one.best.f for one in found.folds])
    )
    assert rows[-1].difference == pytest.approx(
        np.mean([one.share.f - one.greatest.f for one in found.folds])
    )


def test_the_mean_area_of_folds_of_one_ranking_has_delongs_interval() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(float)
    whole = FoldedDataset.of(RankingDataset.from_arrays(X, y, ["1"] * 80))
    data = k_fold(
        replace(whole, origin=DatasetOrigin(columns=DataColumns(no_queries=True))), 4, 0
    )
    wanted = {"regularization": (1.0,), "n_features_to_select": 2}
    plan = Plan(
        "made",
        measures=("AUC",),
        parameters=wanted,
        select_by="criterion",
        protocol="4-fold",
    )
    plan = plan.changed(columns={"no_queries": True})
    run = run_plan(plan, data)
    found = run_decisions(run, data)
    parts = [
        (f.test or f.vali, one.chosen.step)
        for f, one in zip(data.folds, run.folds, strict=True)
    ]
    rankings = [
        (step.scores(np.ascontiguousarray(p.X.T)), p.y >= 1)
        for p, step in parts
        if p is not None
    ]
    assert found.mean_auc == pytest.approx(
        np.mean([one.test["AUC"] for one in run.folds])
    )
    assert found.mean_auc_interval == mean_auc_interval(rankings)
    assert [one.auc_interval for one in found.folds] == [
        auc_interval(*one) for one in rankings
    ]
