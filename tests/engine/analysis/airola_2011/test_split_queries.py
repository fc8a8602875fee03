"""Section 5.5: folds of queries and of documents beside the truth."""

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.analysis.airola_2011.split_queries import (
    folds_of_queries_in_fifths,
    learners,
    split_queries,
)
from rankstudio.engine.analysis.simulation.learners import (
    SelectedRankRLS,
    folds_of_documents,
    folds_of_queries,
)
from rankstudio.engine.analysis.simulation.selection_simulation import simulate_selection
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.support.work import finish


def of_their_query(n_queries: int = 40, size: int = 10) -> FoldedDataset:
    """Documents whose relevance another feature tells in each query: what one query says no other needs."""
    rng = np.random.default_rng(0)
    query = np.repeat(np.arange(n_queries), size)
    X = np.zeros((query.size, n_queries))
    X[np.arange(query.size), query] = rng.standard_normal(query.size)
    return FoldedDataset.of(RankingDataset.from_arrays(X, (X.sum(axis=1) > 0).astype(float), query))


def test_splitting_queries_is_optimistic_where_a_query_tells_of_itself_alone() -> None:
    data = of_their_query()
    found = split_queries(data, n_queries=8, repetitions=3)
    assert [row[0] for row in found.rows] == list(learners())
    linear = found.rows[0]
    assert linear[1] == pytest.approx(0.5, abs=0.05)
    assert linear[2] == pytest.approx(0.5, abs=0.05)
    assert linear[3] == pytest.approx(0.5, abs=0.1)
    assert linear[4] > 0.9
    assert linear[5] == pytest.approx(linear[4] - linear[3])
    assert naming("0 queries").search(found.said[1])


def test_rows_are_those_of_the_simulation() -> None:
    data = of_their_query(20)
    row = split_queries(data, n_queries=6, repetitions=2).rows[0]
    ways = {"query": folds_of_queries, "fifths": folds_of_queries_in_fifths, "document": folds_of_documents}
    same = finish(
        simulate_selection(
            data, 6, measure="AUC", repetitions=2, learner=SelectedRankRLS(None), estimators=ways
        )
    )
    assert row[1] == same.truth.mean()
    np.testing.assert_allclose(row[2:5], same.estimates.mean(axis=0))


def test_fifths_are_ranked_by_the_scores_of_folds_of_queries() -> None:
    first = of_their_query(20).folds[0].train
    data = group(first.X, first.y, first.qid)
    rng = [np.random.default_rng(0) for _ in range(2)]
    found = finish(folds_of_queries_in_fifths(SelectedRankRLS(None), data, rng[0]))
    same = finish(folds_of_queries(SelectedRankRLS(None), data, rng[1]))
    np.testing.assert_array_equal(found.scores, same.scores)
    assert found.fold is not None
    assert np.bincount(found.fold).tolist() == [40] * 5
