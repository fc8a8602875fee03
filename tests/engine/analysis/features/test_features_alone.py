"""Features alone: against measuring the ranking of each, and against a feature's profile."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.analysis.features import features_alone as module
from rankstudio.engine.analysis.features.features_alone import (
    FeaturesAlone,
    measuring_alone,
)
from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.engine.support.work import finish


def data(seed: int = 0) -> Fold:
    made = make_ranking(
        24,
        n_informative=2,
        n_redundant=2,
        n_noise=2,
        n_constant=1,
        documents=(3, 8),
        seed=seed,
    )
    return made.folds[0]


def features_alone(fold: Fold, measure: str, *, sealed: bool = False) -> FeaturesAlone:
    return finish(measuring_alone(fold, measure, "letor4", sealed=sealed))


@given(st.integers(0, 10_000), st.sampled_from(["MAP", "NDCG@10", "P@5", "ERR"]))
def test_every_feature_is_measured_as_evaluate_does(seed: int, measure: str) -> None:
    fold = data(seed)
    found = features_alone(fold, measure)
    assert list(found.parts) == ["train", "validation", "test"]
    for name, part in zip(found.parts, (fold.train, fold.vali, fold.test), strict=True):
        for j in range(part.n_features):
            scores = -part.X[:, j] if found.ascending[j] else part.X[:, j]
            grade = part.greatest_grade  # of the whole dataset: a part may lack it
            wanted = evaluate(
                part.y,
                scores,
                part.qid,
                convention="letor4",
                measures=[measure],
                greatest_grade=grade,
            )
            assert found.parts[name][j] == pytest.approx(wanted[measure], abs=1e-12)


def test_it_agrees_with_the_profile_of_each_feature() -> None:
    fold = data()
    profiles = pytest.importorskip("rankstudio.plugins.features.feature_profile")
    inspector = profiles.Inspector(
        fold.train, "letor4", {"validation": fold.vali, "test": fold.test}
    )
    for measure in ("MAP", "NDCG@10"):
        found = features_alone(fold, measure)
        for j in range(fold.train.n_features):
            profile = inspector.profile(j)
            assert profile.ascending == found.ascending[j]
            for name, values in found.parts.items():
                assert profile.parts[name][measure] == values[j]


def test_the_best_on_train_comes_first() -> None:
    found = features_alone(data(), "MAP")
    values = found.parts["train"][found.order]
    assert (np.diff(values) <= 0).all()
    errors = features_alone(data(), "disagreement")
    assert (np.diff(errors.parts["train"][errors.order]) >= 0).all()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = features_alone(data(), "NDCG@10")
    monkeypatch.setattr(module, "_VALUES_AT_ONCE", 1)
    one_by_one = features_alone(data(), "NDCG@10")
    for name, values in whole.parts.items():
        np.testing.assert_array_equal(one_by_one.parts[name], values)


def test_a_sealed_test_part_is_not_measured() -> None:
    assert list(features_alone(data(), "MAP", sealed=True).parts) == [
        "train",
        "validation",
    ]
