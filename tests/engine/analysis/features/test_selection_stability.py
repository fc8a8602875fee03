"""The features that folds chose, side by side."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from experiment.runs import NAMES, fold
from experiment.small import ended
from wording import naming

from rankstudio.engine.analysis.features.selection_stability import (
    selection_matrix,
    selection_stability,
)
from rankstudio.engine.data.synthetic import load_sample
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run

IDS = np.arange(1, len(NAMES) + 1)


def test_pairs_of_folds_are_compared_by_the_sets_of_their_features() -> None:
    chosen = [(3, 1), (1, 3), (1, 5)]
    found = selection_stability(
        [fold(i, [0.5], s) for i, s in enumerate(chosen, 1)], IDS, NAMES
    )
    assert found.folds == (1, 2, 3)
    assert found.indices.index == "Kuncheva"
    d, k = len(NAMES), 2
    for i, j in combinations(range(3), 2):
        a, b = set(chosen[i]), set(chosen[j])
        assert found.indices.similarity[i, j] == pytest.approx(len(a & b) / len(a | b))
        assert found.indices.corrected[i, j] == pytest.approx(
            (len(a & b) * d - k * k) / (k * (d - k))
        )


def test_features_are_told_with_the_place_at_which_each_fold_chose_them() -> None:
    folds = [fold(1, [0.5], (3, 1)), fold(2, [0.5], (1, 3, 2)), fold(4, [0.5], (1, 5))]
    found = selection_stability(folds, IDS, NAMES)
    assert found.indices.index == "Lustgarten"  # the sets have several sizes
    table = [(f.feature, f.name, f.times, dict(f.ranks)) for f in found.features]
    assert table == [
        (1, "a", 3, {1: 2, 2: 1, 4: 1}),
        (3, "c", 2, {1: 1, 2: 2}),
        (5, "e", 1, {4: 2}),
        (2, "b", 1, {2: 3}),
    ]


def test_the_interval_of_few_folds_is_not_trusted() -> None:
    few = selection_stability([fold(i, [0.5], (1, 2)) for i in range(1, 6)], IDS, NAMES)
    assert naming("5 folds 73 %").search(few.warning)
    assert naming("73 95").search(few.warning)
    assert selection_stability([fold(1, [0.5])], IDS, NAMES).warning == ""
    assert (
        selection_stability([fold(i, [0.5]) for i in range(1, 51)], IDS, NAMES).warning
        == ""
    )


def test_every_fold_of_every_run_has_its_ranks():
    dataset = load_sample()
    folds = []
    for k in (2, 4):
        plan = Plan(
            "sample",
            parameters={"n_features_to_select": k, "regularization": [1.0]},
            folds=(1, 3),
        )
        folds += ended(run(plan, dataset)).folds
    ranks = selection_matrix(folds, dataset.feature_ids)
    assert ranks.shape == (46, 4)
    for place, one in enumerate(folds):
        by_rank = np.argsort(ranks[:, place])[: len(one.selected)]
        assert tuple(dataset.feature_ids[by_rank].tolist()) == one.selected
        assert np.isnan(ranks[:, place]).sum() == 46 - len(one.selected)
