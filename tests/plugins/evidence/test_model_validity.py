"""Validity of the first features of a model: values, packed, tabulated, drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rankstudio.engine import (
    GreedyRankRLS,
    RankingDataset,
    RankRLS,
    permutation_importance,
    ranking_validity,
)
from rankstudio.engine.errors import PlanError, StoreError
from rankstudio.engine.steps import Step
from rankstudio.engine.support.sparse_rows import SparseRows
from rankstudio.engine.support.work import finish
from rankstudio.plugins.evidence.evidence_codec import (
    pack_evidence,
    unpack_importance,
    unpack_validity,
)
from rankstudio.plugins.evidence.evidence_figures import validity_figure
from rankstudio.plugins.evidence.evidence_table import validity_text
from rankstudio.plugins.evidence.model_importance import MeasuredImportance
from rankstudio.plugins.evidence.model_validity import (
    MeasuredValidity,
    kept_sizes,
    step_validity,
)

N_FEATURES = 5


def made_data(seed: int) -> RankingDataset:
    """Return documents of 20 queries; half of the values are 0."""
    rng = np.random.default_rng(seed)
    X = rng.random((120, N_FEATURES))
    X[X < 0.5] = 0.0
    y = np.round(2 * X[:, 3] + X[:, 1] + 0.5 * rng.random(120))
    return RankingDataset.from_arrays(X, y, np.repeat(np.arange(20), 6))


def last_step(method: Any, data: RankingDataset) -> Step:
    *_, step = method.steps(data.X, data.y, qid=data.qid)
    return step


TRAIN = made_data(0)
DOCUMENTS = made_data(1)


@pytest.fixture(scope="module")
def step() -> Step:
    return last_step(GreedyRankRLS(n_features_to_select=4), TRAIN)


@pytest.fixture(scope="module")
def measured(step: Step) -> MeasuredValidity:
    return finish(step_validity(step, DOCUMENTS, TRAIN, "validation", selects=True))


def test_the_first_features_of_the_selection_are_kept(
    step: Step, measured: MeasuredValidity
) -> None:
    assert measured.found.sets == tuple(step.selected[:size] for size in (1, 2, 3, 4))
    assert measured.columns == step.selected and measured.sizes == (1, 2, 3, 4)
    coef = np.zeros(N_FEATURES)
    coef[list(step.selected)] = step.coef[list(step.selected)]
    expected = ranking_validity(
        lambda X: X @ coef,
        DOCUMENTS.X,
        qid=DOCUMENTS.qid,
        feature_sets=measured.found.sets,
        base=TRAIN.X.mean(axis=0),
    )
    # The same comparisons of the same products: only their order of summation differs,
    # and no two scores of a query are as close as its rounding.
    np.testing.assert_array_equal(measured.found.validity, expected.validity)
    # Without its features the model gives all documents one score.
    np.testing.assert_array_equal(
        measured.found.completeness[:3], expected.completeness[:3]
    )
    np.testing.assert_array_equal(measured.found.completeness[3], 0.0)
    # τ_b divides by a product of two roots, each rounded.
    np.testing.assert_allclose(measured.found.validity[3], 1.0, rtol=4e-16)


def test_features_of_a_ranker_come_by_their_effect() -> None:
    step = last_step(RankRLS(), TRAIN)
    work = step_validity(step, DOCUMENTS, TRAIN, "training", selects=False)
    shares = [progress.share for progress in work]
    assert shares == sorted(shares) and shares[-1] == 1.0
    measured = finish(step_validity(step, DOCUMENTS, TRAIN, "training", selects=False))
    alone = ranking_validity(
        lambda X: X @ step.coef,
        DOCUMENTS.X,
        qid=DOCUMENTS.qid,
        feature_sets=[[column] for column in range(N_FEATURES)],
        base=TRAIN.X.mean(axis=0),
    )
    effects = alone.completeness_means.mean
    assert [effects[column] for column in measured.columns] == sorted(
        effects, reverse=True
    )


def test_sparse_rows_have_the_same_values(
    step: Step, measured: MeasuredValidity
) -> None:
    sparse_parts = [
        data.changed(X=SparseRows.of_array(data.X), sparse=True)
        for data in (DOCUMENTS, TRAIN)
    ]
    sparse = finish(step_validity(step, *sparse_parts, "validation", selects=True))
    assert sparse.found.sets == measured.found.sets
    np.testing.assert_array_equal(sparse.found.validity, measured.found.validity)


def test_a_model_without_features_is_refused(step: Step) -> None:
    empty = replace(step, selected=())
    with pytest.raises(PlanError, match="not learned from features"):
        finish(step_validity(empty, DOCUMENTS, TRAIN, "training", selects=True))


def test_each_number_of_few_features_is_kept() -> None:
    assert kept_sizes(30) == list(range(1, 31))
    sizes = kept_sizes(136)
    assert sizes == sorted(set(sizes)) and len(sizes) <= 30
    assert sizes[0] == 1 and sizes[-1] == 136


def test_what_is_packed_comes_back(measured: MeasuredValidity) -> None:
    content = pack_evidence(measured)
    again = unpack_validity(content, N_FEATURES)
    assert (again.part, again.selects, again.found.sets) == (
        "validation",
        True,
        measured.found.sets,
    )
    np.testing.assert_array_equal(again.found.validity, measured.found.validity)
    np.testing.assert_array_equal(again.found.completeness, measured.found.completeness)
    with pytest.raises(StoreError, match="MeasuredValidity"):
        unpack_importance(content)
    importance = permutation_importance(
        lambda X: X[:, 1], DOCUMENTS.X, DOCUMENTS.y, qid=DOCUMENTS.qid
    )
    other = MeasuredImportance(importance, "validation", "letor4", N_FEATURES)
    with pytest.raises(StoreError, match="MeasuredImportance"):
        unpack_validity(pack_evidence(other))


@pytest.mark.parametrize(
    "damage",
    [
        {"sets": ((0,), (1, 2), (0, 1, 2), (0, 1, 2, 3))},  # not nested
        {"sets": ((3,), (3, 1), (3, 1, 0), (3, 1, 0, 7))},  # no such column
        {"sets": ((3,), (3, 1))},  # fewer than rows of values
        {"validity": np.full((4, 20), 1.5)},
        {"completeness": np.zeros((4, 19))},
    ],
)
def test_invalid_values_are_refused(
    measured: MeasuredValidity, damage: dict[str, Any]
) -> None:
    damaged = replace(measured, found=replace(measured.found, **damage))
    with pytest.raises(StoreError):
        unpack_validity(pack_evidence(damaged), N_FEATURES)


def test_table_and_figure_show_the_means_with_their_intervals(
    measured: MeasuredValidity,
) -> None:
    table = validity_text("title", measured, str)
    figure = validity_figure(measured, "made")
    means = measured.found.validity_means
    assert [row[0] for row in table.rows] == ["1", "2", "3", "4"]
    assert [row[1] for row in table.rows] == [str(c) for c in measured.columns]
    assert table.rows[0][2] == (
        f"{means.mean[0]:+.3f} ({means.low[0]:+.3f} to {means.high[0]:+.3f})"
    )
    assert table.rows[-1][2].startswith("+1.000") and "validation part" in table.note
    validity, completeness = figure.series
    assert validity.x == (1.0, 2.0, 3.0, 4.0)
    assert validity.y == tuple(means.mean) and validity.low == tuple(means.low)
    assert completeness.y == tuple(measured.found.completeness_means.mean)
