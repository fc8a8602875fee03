"""Validity and completeness against pairs that are counted one by one, with masks written out."""

import math
from itertools import combinations

import numpy as np
import pytest

from rankstudio.engine import GreedyRankRLS, ranking_validity
from rankstudio.engine.errors import ParameterError
from rankstudio.plugins.evidence import ranking_validity as module


def slow_tau(scores, other):
    """Return τ_b by its pairs: NaN if ``scores`` has no pair, 0 if ``other`` has none."""
    balance = n_ordered = n_other = 0
    for i, j in combinations(range(len(scores)), 2):
        sign = np.sign(scores[i] - scores[j])
        other_sign = np.sign(other[i] - other[j])
        balance += sign * other_sign
        n_ordered += sign != 0
        n_other += other_sign != 0
    if not n_ordered:
        return math.nan
    return balance / math.sqrt(n_ordered * n_other) if n_other else 0.0


def slow_validity(score, X, qid, columns, base):
    """Return validity and completeness of each query, with a copy of each masked document."""
    result = []
    for query in dict.fromkeys(qid):
        documents = [x for x, of in zip(X.tolist(), qid, strict=True) if of == query]
        n = X.shape[1]
        single_scores = [
            [x[j] if j in columns else base[j] for j in range(n)] for x in documents
        ]
        without = [
            [base[j] if j in columns else x[j] for j in range(n)] for x in documents
        ]
        full = score(np.array(documents))
        result.append(
            (
                slow_tau(full, score(np.array(single_scores))),
                -slow_tau(full, score(np.array(without))),
            )
        )
    return np.array(result).T


def stumps(X):
    """Score by a sum of steps and a product: nothing that is linear, and with many ties."""
    return (X[:, 0] > 1) * 2.0 + (X[:, 1] > 0) * (X[:, 2] > 1) - 0.5 * (X[:, 3] > 1)


def linear(X):
    return X @ np.array([1.0, -0.5, 0.25, 0.0])


@pytest.mark.parametrize("score", [stumps, linear])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_that_of_the_definition(score, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (60, 4)).astype(float)
    qid = rng.integers(0, 9, 60)  # scattered, and of any size
    base = X.mean(axis=0)
    kept_columns = [(), (0,), (1, 2), (3,), (0, 1, 2, 3)]
    result = ranking_validity(score, X, qid=qid, feature_sets=kept_columns, base=base)
    assert result.sets == tuple(kept_columns)
    for index, columns in enumerate(kept_columns):
        validity, completeness = slow_validity(score, X, qid.tolist(), columns, base)
        assert result.validity[index] == pytest.approx(validity, nan_ok=True)
        assert result.completeness[index] == pytest.approx(completeness, nan_ok=True)


def test_all_features_are_valid_and_none_are_not():
    rng = np.random.default_rng(1)
    X = rng.random((30, 4))
    qid = np.repeat(np.arange(3), 10)
    result = ranking_validity(linear, X, qid=qid, feature_sets=[(0, 1, 2), ()])
    assert result.validity.tolist() == [[1, 1, 1], [0, 0, 0]]
    assert result.completeness.tolist() == [[0, 0, 0], [-1, -1, -1]]


def test_the_base_value_does_not_matter_to_a_linear_model():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 9, (40, 4)) / 8  # exact in binary, so that ties stay ties
    qid = np.repeat(np.arange(4), 10)
    zero, other = (
        ranking_validity(linear, X, qid=qid, feature_sets=[(0,), (1,)], base=base)
        for base in (0.0, [0.5, 0.25, 2.0, 1.0])
    )
    assert (zero.validity == other.validity).all()
    assert (zero.completeness == other.completeness).all()


def test_queries_that_the_model_does_not_order_are_undefined():
    X = np.array(
        [[1.0, 0, 0, 5], [1, 0, 0, 6], [2, 0, 0, 0], [1, 0, 0, 0], [7, 0, 0, 0]]
    )
    result = ranking_validity(linear, X, qid=[1, 1, 2, 2, 3], feature_sets=[(0,), (1,)])
    assert result.n_undefined == 2  # equal scores, and a single document
    assert np.isnan(result.validity[:, [0, 2]]).all()
    assert result.validity[:, 1].tolist() == [1, 0]
    assert result.completeness[:, 1].tolist() == [0, -1]
    assert result.validity_means.mean.tolist() == [1, 0]


def test_data_in_several_blocks_give_the_same(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.random((80, 4))
    qid = np.repeat(np.arange(8), 10)
    full_validity = ranking_validity(
        stumps, X * 3, qid=qid, feature_sets=[(0,), (1, 2)], base=0.5
    )
    monkeypatch.setattr(module, "VALUES_PER_BLOCK", 90)
    parts = ranking_validity(
        stumps, X * 3, qid=qid, feature_sets=[(0,), (1, 2)], base=0.5
    )
    assert np.array_equal(full_validity.validity, parts.validity, equal_nan=True)
    assert np.array_equal(
        full_validity.completeness, parts.completeness, equal_nan=True
    )


def test_a_fitted_ranker_is_explained_by_its_features():
    rng = np.random.default_rng(4)
    X = rng.random((60, 5))
    qid = np.repeat(np.arange(6), 10)
    model = GreedyRankRLS(n_features_to_select=2).fit(X, np.round(2 * X[:, 3]), qid=qid)
    chosen = np.flatnonzero(model.coef_).tolist()
    masked_columns = [column for column in range(5) if column not in chosen]
    result = ranking_validity(model, X, qid=qid, feature_sets=[chosen, masked_columns])
    assert result.validity.tolist() == [[1] * 6, [0] * 6]


@pytest.mark.parametrize("kept_columns", [[], [(4,)], [(-1,)]])
def test_unknown_columns_are_refused(kept_columns):
    with pytest.raises(ParameterError, match="feature_sets"):
        ranking_validity(
            linear, np.ones((3, 4)), qid=[1, 1, 1], feature_sets=kept_columns
        )


def test_a_base_that_is_no_number_is_refused():
    with pytest.raises(ParameterError, match="base"):
        ranking_validity(
            linear, np.ones((3, 4)), qid=[1, 1, 1], feature_sets=[(0,)], base=math.nan
        )
