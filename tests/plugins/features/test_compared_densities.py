"""The densities that are shown are those that the method itself compared."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.experiment.units.fold_context import make_fold_context
from rankstudio.engine.methods.selection.expected_divergence import divergences
from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.plugins.features.compared_densities import (
    compared_densities,
    neighbour_on_path,
)


def learned(**parameters: object) -> tuple[Plan, Fold, PathResult, QueryData]:
    fold = make_ranking(
        30, n_informative=3, n_redundant=2, n_noise=2, n_constant=1, seed=3
    ).folds[0]
    plan = Plan("x", "expected-divergence", {"regularization": (1.0,), **parameters})
    context = make_fold_context(plan, fold)
    return plan, fold, context.path(Unit(1, 0, plan.combinations[0])), context.train


def kernel_sums(train: np.ndarray, at: np.ndarray, shrinks: bool) -> np.ndarray:
    h = 1.06 * np.std(train, ddof=1) * (len(train) ** -0.2 if shrinks else 1.0)
    return np.exp(-0.5 * ((at[:, None] - train[None, :]) / h) ** 2).sum(axis=1) / (
        len(train) * h * np.sqrt(2 * np.pi)
    )


@pytest.mark.parametrize("density", ["normalised", "released"])
@pytest.mark.parametrize("kde", ["fast", "exact"])
def test_densities_are_the_sums_of_kernels_that_were_compared(
    density: str, kde: str
) -> None:
    plan, fold, path, train = learned(density=density, kde=kde)
    column = path.steps[-1].selected[0]
    (found,) = compared_densities(plan, path, train, fold.train.feature_ids, [column])
    at = np.sort(fold.vali.X[:, column])
    assert np.isin(found.grid, at).all()
    for shown, grade in zip(found.classes, np.unique(fold.train.y), strict=True):
        inside = fold.train.X[fold.train.y == grade, column]
        normalised = density == "normalised"
        raw = kernel_sums(inside, at, normalised)
        wanted = raw / raw.sum() if normalised else raw
        np.testing.assert_allclose(
            shown.density, np.interp(found.grid, at, wanted), rtol=1e-6, atol=1e-12
        )
        assert shown.n_documents == inside.size


@pytest.mark.parametrize("density", ["normalised", "released"])
def test_divergence_and_score_are_those_of_the_method(density: str) -> None:
    plan, fold, path, train = learned(density=density)
    columns = range(fold.train.X.shape[1])
    found = compared_densities(plan, path, train, fold.train.feature_ids, columns)
    d = divergences(
        fold.train.X, fold.train.y, fold.vali.X, normalised=density == "normalised"
    )
    np.testing.assert_array_equal([each.divergence for each in found], d)
    np.testing.assert_array_equal(
        [each.score for each in found], path.steps[0].candidates
    )
    for each in found:
        scores = fold.train.X[:, each.column]
        alone = evaluate(
            fold.train.y, scores, qid=fold.train.qid, measures=["NDCG@10"]
        )["NDCG@10"]
        assert each.importance == pytest.approx(alone, abs=1e-12)
        order = path.steps[-1].selected
        assert each.rank == (
            order.index(each.column) + 1 if each.column in order else 0
        )


def test_many_zeros_are_a_share_and_not_part_of_the_curve() -> None:
    plan, fold, path, train = learned()
    column = path.steps[-1].selected[0]
    X, at = train.X.copy(), train.validation.copy()
    X[X[:, column] < np.median(X[:, column]), column] = 0.0
    at[at[:, column] < np.median(at[:, column]), column] = 0.0
    zeroed = QueryData(X, train.y, train.ptr, validation=at)
    (found,) = compared_densities(plan, path, zeroed, fold.train.feature_ids, [column])
    assert 0.0 not in found.grid
    places, counts = np.unique(at[:, column], return_counts=True)
    for shown in found.classes:
        rest = float((shown.density * counts[np.isin(places, found.grid)]).sum())
        # normalised: one over the validation documents
        assert shown.zeros + rest == pytest.approx(1.0)


def test_a_feature_with_one_value_has_nothing_to_draw() -> None:
    plan, fold, path, train = learned()
    constant = int(np.flatnonzero(np.ptp(train.X, axis=0) == 0)[0])
    (found,) = compared_densities(plan, path, train, fold.train.feature_ids, [constant])
    assert found.grid.size == 0
    assert found.classes == ()
    assert found.divergence == pytest.approx(0.0, abs=1e-12)


def test_a_grade_without_a_density_says_so() -> None:
    plan, fold, path, train = learned(density="released")
    column = path.steps[-1].selected[0]
    X = train.X.copy()
    X[train.y == train.y.max(), column] = 0.5
    flat = QueryData(X, train.y, train.ptr, validation=train.validation)
    (found,) = compared_densities(plan, path, flat, fold.train.feature_ids, [column])
    assert found.classes[-1].label.endswith("(no density: one value)")
    assert not found.classes[-1].density.any()


def test_the_next_best_is_the_one_that_came_next() -> None:
    _, _, path, _ = learned(n_features_to_select=4)
    order = path.steps[-1].selected
    assert [neighbour_on_path(path, column) for column in order] == [
        *order[1:],
        order[2],
    ]
    out = next(column for column in range(8) if column not in order)
    assert neighbour_on_path(path, out) == order[-1]
    assert all(a != b for a, b in combinations(order, 2))
