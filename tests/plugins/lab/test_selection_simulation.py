"""The simulation on real data against learning by hand, and what selecting outside of the folds does."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from wording import naming

from rankstudio.engine import GreedyRankRLS, RankRLS, evaluate
from rankstudio.engine.arithmetic.kernel_functions import Kernel
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.support.work import finish
from rankstudio.plugins.lab.simulation.learners import (
    BASIS_ESTIMATORS,
    ESTIMATORS,
    BasisRankRLS,
    Estimating,
    HeldOutScores,
    Scorer,
    SelectedRankRLS,
    folds_of_documents,
    folds_of_queries,
    leave_query_out,
)
from rankstudio.plugins.lab.simulation.selection_simulation import simulate_selection


def noise(n_queries: int = 60, n_features: int = 25) -> RankingDataset:
    """Documents of which the features say nothing."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(n_queries), 8)
    return RankingDataset.from_arrays(
        rng.random((qid.size, n_features)), rng.integers(0, 3, qid.size), qid
    )


def problem() -> tuple[QueryData, np.ndarray]:
    data = noise(12, 8)
    return group(data.X, data.y, data.qid), np.asarray(data.qid)


@pytest.mark.parametrize("again", [True, False])
def test_leaving_queries_out_is_learning_without_each(again: bool) -> None:
    data, qid = problem()
    name = "leave-query-out" if again else "leave-query-out, selected once"
    found = finish(
        ESTIMATORS[name](SelectedRankRLS(3, 0.5), data, np.random.default_rng(0))
    ).scores
    whole = GreedyRankRLS(3, 0.5).fit(data.X, data.y, qid=qid).selection_order_
    for query in np.unique(qid):
        held = qid == query
        X, y, others = data.X[~held], data.y[~held], qid[~held]
        columns = (
            GreedyRankRLS(3, 0.5).fit(X, y, qid=others).selection_order_
            if again
            else whole
        )
        coef = RankRLS(0.5).fit(X[:, columns], y, qid=others).coef_
        np.testing.assert_allclose(
            found[held], data.X[held][:, columns] @ coef, rtol=1e-8, atol=1e-10
        )


@dataclass
class Recorder:
    """A learner that notes what it learned from, and scores documents by their number in its notes."""

    seen: list[np.ndarray] = field(default_factory=list)
    fixed_from: list[int] = field(default_factory=list)

    def learn(self, data: QueryData) -> Scorer:
        self.seen.append(data.X[:, 0])
        assert data.ptr[-1] == data.y.size
        assert (np.diff(data.ptr) > 0).all()
        number = float(len(self.seen))
        return lambda X: np.full(X.shape[0], number)

    def fixed(self, data: QueryData) -> "Recorder":
        self.fixed_from.append(data.y.size)
        return self


def numbered() -> QueryData:
    sizes = np.array([3, 1, 4, 2, 6, 5])
    ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    X = np.arange(21, dtype=float)[:, None]
    return QueryData(X, np.zeros(21), ptr)


def test_folds_are_disjoint_and_nothing_is_scored_by_what_has_seen_it() -> None:
    data = numbered()
    query = np.repeat(np.arange(6), np.diff(data.ptr))
    for estimator, of_queries in (
        (folds_of_queries, True),
        (folds_of_documents, False),
        (leave_query_out, True),
    ):
        learner = Recorder()
        scores, fold = finish(estimator(learner, data, np.random.default_rng(1)))
        assert (fold is None) == of_queries
        assert len(learner.seen) == (6 if estimator is leave_query_out else 5)
        for number, seen in enumerate(learner.seen, start=1):
            held = np.flatnonzero(scores == number)
            assert sorted([*held.tolist(), *seen.astype(int).tolist()]) == list(
                range(21)
            )
            split = set(query[held]) & set(query[seen.astype(int)])
            assert not split if of_queries else len(split) > 0
    learner = Recorder()
    for name, estimator in ESTIMATORS.items():
        finish(estimator(learner, data, np.random.default_rng(0)))
        assert len(learner.fixed_from) == sum(
            "selected once" in n
            for n in list(ESTIMATORS)[: list(ESTIMATORS).index(name) + 1]
        )
    assert set(learner.fixed_from) == {21}


def test_averaged_folds_are_measured_query_by_query_and_fold_by_fold() -> None:
    data = noise(20, 4)
    folds = np.arange(40) % 3

    def fixed_scores(
        learner: object, data: QueryData, rng: np.random.Generator
    ) -> Estimating:
        yield
        return HeldOutScores(data.X[:, 0], folds)

    def noted(learner: object, data: QueryData, rng: np.random.Generator) -> Estimating:
        yield
        groups = np.repeat(np.arange(5), 8) * 3 + folds
        expected.append(evaluate(data.y, data.X[:, 0], groups, measures=["AUC"])["AUC"])
        return HeldOutScores(data.X[:, 0])

    expected: list[float] = []
    ways = {"noted": noted, "averaged": fixed_scores}
    found = finish(
        simulate_selection(
            data, 5, n_features=2, measure="AUC", repetitions=2, estimators=ways
        )
    )
    np.testing.assert_allclose(found.estimates[:, 1], expected)


def test_the_truth_is_measured_on_all_other_queries() -> None:
    data = noise(20, 6)
    drawn: list[np.ndarray] = []

    class Noted(SelectedRankRLS):
        def learn(self, data: QueryData) -> Scorer:
            drawn.append(data.X)
            return super().learn(data)

    found = finish(
        simulate_selection(
            data,
            5,
            measure="NDCG@5",
            repetitions=1,
            learner=Noted(2, 1.0),
            estimators={},
        )
    )
    inside = (data.X[:, None] == drawn[0][None]).all(axis=2).any(axis=1)
    assert np.unique(data.query_index[inside]).size == 5
    X, y, qid = data.X, data.y, np.asarray(data.qid)
    columns = (
        GreedyRankRLS(2).fit(X[inside], y[inside], qid=qid[inside]).selection_order_
    )
    coef = RankRLS().fit(X[inside][:, columns], y[inside], qid=qid[inside]).coef_
    told = evaluate(
        y[~inside], X[~inside][:, columns] @ coef, qid[~inside], measures=["NDCG@5"]
    )
    assert found.truth[0] == pytest.approx(told["NDCG@5"])
    assert found.estimates.shape == (1, 0)


def test_selecting_outside_of_the_folds_is_optimistic() -> None:
    found = finish(
        simulate_selection(noise(), 15, n_features=4, measure="AUC", repetitions=12)
    )
    bias = dict(zip(found.estimators, found.bias.tolist(), strict=True))
    assert bias["leave-query-out, selected once"] > 0.1 > abs(bias["leave-query-out"])
    assert bias["5-fold by query, selected once"] > 0.1 > abs(bias["5-fold by query"])


def test_steps_grow_and_a_seed_gives_the_same_bits() -> None:
    data = make_ranking(n_queries=30, seed=1)
    steps = list(filter(None, simulate_selection(data, 6, n_features=2, repetitions=3)))
    assert [step.truth.size for step in steps] == [1, 2, 3]
    assert steps[0].estimators == tuple(ESTIMATORS)
    again = finish(simulate_selection(data, 6, n_features=2, repetitions=3))
    np.testing.assert_array_equal(again.estimates, steps[-1].estimates)
    np.testing.assert_array_equal(again.truth, steps[-1].truth)
    without = finish(
        simulate_selection(
            FoldedDataset.of(noise(10, 3)), 4, n_features=None, repetitions=1
        )
    )
    assert np.isfinite(without.estimates).all()


def test_between_two_models_there_is_a_moment_to_stop() -> None:
    data = noise(20, 4)
    steps = list(simulate_selection(data, 6, n_features=2, repetitions=2))
    assert steps.count(None) > 2 * 2 * (1 + 6 + 5 + 5 + 5)
    whole = [step for step in steps if step is not None]
    assert [step.truth.size for step in whole] == [1, 2]
    assert steps[-1] is whole[-1]


def test_a_kernel_learns_in_place_of_the_selection() -> None:
    data = make_ranking(n_queries=30, seed=1)
    settings = {
        "n_queries": 6,
        "regularization": 0.1,
        "repetitions": 2,
        "measure": "AUC",
    }
    found = finish(
        simulate_selection(data, **settings, kernel="rbf", gamma=0.5, per_query=3)
    )
    by_hand = finish(
        simulate_selection(
            data,
            **settings,
            learner=BasisRankRLS(Kernel("rbf", 0.5), 3, 0.1),
            estimators=BASIS_ESTIMATORS,
        )
    )
    assert found.estimators == tuple(BASIS_ESTIMATORS)
    np.testing.assert_array_equal(found.estimates, by_hand.estimates)
    with pytest.raises(ParameterError, match="kernel"):
        finish(simulate_selection(data, **settings, kernel="sinc"))


def test_what_makes_no_sense_is_refused() -> None:
    data = noise(10, 3)
    with pytest.raises(DatasetError, match=naming("10 data queries")):
        finish(simulate_selection(data, 10))
    with pytest.raises(ParameterError, match="n_features"):
        finish(simulate_selection(data, 5, n_features=4))
    with pytest.raises(ParameterError, match="n_queries"):
        finish(simulate_selection(data, 2))
    with pytest.raises(ParameterError, match="regularization"):
        finish(simulate_selection(data, 5, n_features=2, regularization=0.0))
    with pytest.raises(ParameterError, match="measure"):
        finish(simulate_selection(data, 5, n_features=2, measure="fast"))
