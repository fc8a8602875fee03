"""Methods that optimise or select by a measure learn from queries with fewer documents than its cut-off."""

from __future__ import annotations

import numpy as np
import pytest
from abilities import estimator_class
from slow_measures import letor_discount, log_discount, ndcg, plain_gain, power_gain

from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.selection.expected_divergence import ExpectedDivergence
from rankstudio.engine.methods.selection.fs_bfs import FSBFS
from rankstudio.engine.methods.selection.fsmrank import weighing_features
from rankstudio.engine.methods.selection.gas import GAS
from rankstudio.engine.methods.selection.single_feature import SingleFeatureRanking
from rankstudio.engine.methods.shards.training_data import training_data
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.engine.support.work import finish

AdaRank = estimator_class("adarank")
CoordinateAscent = estimator_class("coordinate-ascent")

KEYS = list(CONVENTIONS)
GOOD = 4  # the column that ranks well


def short_queries(
    n_queries: int = 30, n_documents: int = 8, seed: int = 0
) -> RankingDataset:
    """Draw queries that are all shorter than ten documents; one feature of six ranks well."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), n_documents)
    y = rng.integers(0, 3, qid.size).astype(np.float64)
    X = rng.random((qid.size, 6))
    X[:, GOOD] = 0.2 * y + 0.1 * X[:, GOOD]
    return RankingDataset.from_arrays(X, y, qid)


DATA = short_queries()


def mean_precision(scores: np.ndarray) -> float:
    return evaluate(DATA.y, scores, DATA.qid, measures=["MAP"])["MAP"]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "ranker", [AdaRank(n_rounds=10), CoordinateAscent(n_restarts=1, max_iter=3)]
)
def test_rankers_learn(ranker: LinearRanker, key: str) -> None:
    best = max(mean_precision(column) for column in DATA.X.T)
    ranker = type(ranker)(**{**ranker.get_params(), "convention": key})
    assert (
        mean_precision(ranker.fit(DATA.X, DATA.y, qid=DATA.qid).predict(DATA.X))
        > best - 0.01
    )


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "selector",
    [
        SingleFeatureRanking(1),
        FSBFS(1, subset_size=1),
        GAS(n_features_to_select=1, importance="ndcg@10"),
    ],
)
def test_selectors_select_by_the_measure_not_by_the_order_of_columns(
    selector: GAS, key: str
) -> None:
    selector = type(selector)(**{**selector.get_params(), "convention": key})
    selector.fit(DATA.X, DATA.y, qid=DATA.qid)
    first = (
        selector.subsets_[0][0]
        if isinstance(selector, FSBFS)
        else selector.selection_order_[0]
    )
    assert first == GOOD


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("key", KEYS)
def test_the_score_of_single_features_is_the_plain_measure_with_k_at_most_the_documents(
    key: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 13, 6)
    qid, y = (
        np.repeat(np.arange(6), sizes),
        rng.integers(0, 3, sizes.sum()).astype(np.float64),
    )
    # no ties, whose order is another
    X = rng.permutation(sizes.sum() * 3).reshape(-1, 3).astype(np.float64)
    fitted = SingleFeatureRanking(1, direction="descending", convention=key).fit(
        X, y, qid=qid
    )
    importance = ExpectedDivergence(1, convention=key).fit(X, y, qid=qid).importance_
    rules = CONVENTIONS[key]
    gain = power_gain if rules.gain.name == "EXPONENTIAL" else plain_gain
    discount = letor_discount if rules.discount.name == "LETOR" else log_discount
    for column, score, other in zip(X.T, fitted.scores_, importance, strict=True):
        values = []
        for query in range(6):
            rows = qid == query
            ranked = y[rows][np.argsort(-column[rows])].tolist()
            empty = max(ranked) == 0
            values.append(
                rules.empty_query
                if empty
                else ndcg(ranked, min(10, len(ranked)), gain, discount)
            )
        assert score == pytest.approx(np.mean(values), abs=1e-12)
        assert other == pytest.approx(score, abs=1e-12)


def test_fsmrank_weighs_features_of_short_queries_by_ndcg() -> None:
    data = training_data(SingleFeatureRanking()._group(DATA.X, DATA.y, DATA.qid))
    weights = finish(weighing_features(data, "ndcg"))
    assert np.argmax(weights) == GOOD and weights.min() > 0.0


@pytest.mark.ability("baselines")
def test_every_method_that_takes_a_convention_is_tested_here() -> None:
    taking = {entry.key for entry in methods() if "convention" in entry.takes}
    assert taking == {
        "adarank",
        "coordinate-ascent",
        "gas",
        "expected-divergence",
        "fs-bfs",
        "single-feature",
    }


@pytest.mark.parametrize("key", ["letor4", "standard"])
def test_the_note_on_equal_measures_names_the_measure_and_its_cause(key: str) -> None:
    data = FoldedDataset("Short", None, (Fold(1, DATA, vali=DATA, test=DATA),))
    plan = Plan("Short", "single-feature", select_by="NDCG@10", convention=key)
    (result, *_) = (run_plan(plan, data),)
    notes = [
        note.what
        for note in result.notes
        if "NDCG@10" in note.what and "10 documents" in note.what
    ]
    assert len(notes) == (key == "letor4")
    if notes:
        assert CONVENTIONS[key].label in notes[0]
