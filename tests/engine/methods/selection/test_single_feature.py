"""Features one at a time: the measures of ``evaluate``, and mutual information from its definition."""

import numpy as np
import pytest
from hypothesis import given
from ordering import check_conventions, ranking_problem
from scipy.stats import chi2_contingency
from sklearn.metrics import mutual_info_score
from strategies import Problem, problems

from rankstudio.engine import (
    ChiSquared,
    MutualInformation,
    SingleFeatureRanking,
    evaluate,
)
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.selection.base import TIE


@given(problems())
def test_scores_are_those_of_evaluate(problem: Problem) -> None:
    X, y, qid, _ = problem
    y = np.clip(np.round(y), 0, 2)
    for measure, sign in (("NDCG@3", 1), ("MAP", 1), ("Disagreement", -1)):
        found = SingleFeatureRanking(measure=measure).fit(X, y, qid=qid)
        for j, (score, direction) in enumerate(
            zip(found.scores_, found.directions_, strict=True)
        ):
            both = [
                evaluate(y, d * X[:, j], qid, measures=[measure])[measure]
                for d in (1, -1)
            ]
            np.testing.assert_allclose(
                score, sign * max(sign * b for b in both), rtol=1e-12
            )
            np.testing.assert_allclose(
                score, both[0 if direction > 0 else 1], rtol=1e-12
            )
        constant = [
            j
            for j in range(X.shape[1])
            if all(np.ptp(X[qid == q, j]) == 0 for q in qid)
        ]
        order = found.selection_order_.tolist()
        assert order[len(order) - len(constant) :] == constant
        gains = sign * found.scores_[order[: len(order) - len(constant)]]
        # Scores that differ by rounding only are equal, and ordered by column.
        rounding = TIE * np.abs(gains).max(initial=0.0)
        assert np.isnan(gains).all() or (np.diff(gains) <= rounding).all()


def test_a_feature_that_ranks_from_below_is_found_only_in_both_directions() -> None:
    X, y, qid = ranking_problem()
    X[:, 4] *= -1
    assert SingleFeatureRanking().fit(X, y, qid=qid).selection_order_[0] == 4
    found = SingleFeatureRanking(direction="descending").fit(X, y, qid=qid)
    assert found.selection_order_[0] != 4
    assert (found.directions_ == 1).all()


@given(problems())
def test_mutual_information_and_chi_squared_are_those_of_the_bins(
    problem: Problem,
) -> None:
    X, y, qid, _ = problem
    y = np.round(y)
    both = (
        kind(n_bins=4).fit(X, y, qid=qid).scores_
        for kind in (MutualInformation, ChiSquared)
    )
    for j, (information, chi) in enumerate(zip(*both, strict=True)):
        ordered = np.sort(X[:, j])
        edges = {
            ordered[int(np.ceil((len(ordered) - 1) * q))] for q in (0.25, 0.5, 0.75)
        }
        bins = np.array([sum(edge < value for edge in edges) for value in X[:, j]])
        assert information == pytest.approx(
            max(0.0, mutual_info_score(y, bins)), abs=1e-12
        )
        table = np.array(
            [
                [np.sum((bins == b) & (y == g)) for g in np.unique(y)]
                for b in np.unique(bins)
            ]
        )
        assert chi == pytest.approx(
            chi2_contingency(table, correction=False).statistic, abs=1e-9
        )


@pytest.mark.parametrize("selector", [SingleFeatureRanking, MutualInformation])
def test_conventions(selector: type) -> None:
    check_conventions(selector(n_features_to_select=2))


def test_an_unknown_convention_is_refused() -> None:
    X, y, qid = ranking_problem()
    with pytest.raises(ParameterError, match="convention: expected one of standard"):
        SingleFeatureRanking(convention="x").fit(X, y, qid=qid)


@pytest.mark.parametrize("measure", ["NDCG@10", "MAP", "Disagreement"])
def test_equal_scores_go_by_column_whatever_the_order_of_the_queries(
    measure: str,
) -> None:
    rng = np.random.default_rng(3)
    queries = []
    # two queries that differ in which of two features ranks how: their means are equal
    for _ in range(9):
        values, labels = rng.random((7, 2)), rng.integers(0, 3, 7).astype(float)
        queries += [(values, labels), (values[:, ::-1], labels)]
    for _ in range(30):
        order = rng.permutation(len(queries))
        X = np.concatenate([queries[q][0] for q in order])
        y = np.concatenate([queries[q][1] for q in order])
        selector = SingleFeatureRanking(measure=measure).fit(
            X, y, qid=np.repeat(order, 7)
        )
        assert selector.selection_order_.tolist() == [0, 1]
