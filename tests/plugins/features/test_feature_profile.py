from dataclasses import replace

import numpy as np
import pytest

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.engine.statistics.density import gaussian_density
from rankstudio.plugins.features import feature_profile as inspection
from rankstudio.plugins.features.feature_profile import FeatureProfile, Inspector


def profile(
    dataset: RankingDataset, column: int, convention: str = "letor4"
) -> FeatureProfile:
    return Inspector(dataset, convention).profile(column)


def make(y=None, seed=0, sizes=(4, 1, 6, 9)):
    rng = np.random.default_rng(seed)
    ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    m = int(ptr[-1])
    X = rng.normal(size=(m, 5))
    X[:, 1] = (
        -2.0 * X[:, 0]
        + 0.1 * rng.normal(size=m)
        + 50.0 * np.repeat(rng.normal(size=len(sizes)), sizes)
    )
    # constant inside every query
    X[:, 2] = np.repeat(rng.normal(size=len(sizes)), sizes)
    X[:, 3] = 7.0
    labels = (
        rng.integers(0, 3, size=m).astype(np.float64)
        if y is None
        else np.asarray(y, dtype=np.float64)
    )
    return RankingDataset(
        X=X,
        y=labels,
        query_ptr=ptr,
        query_ids=tuple(f"q{i}" for i in range(len(sizes))),
        feature_ids=np.array([10, 20, 30, 40, 50]),
        feature_names=("a", "b", "c", "d", "e"),
    )


def centred(dataset, column):
    parts = [
        dataset.X[a:b, column]
        for a, b in zip(dataset.query_ptr, dataset.query_ptr[1:], strict=False)
    ]
    return np.concatenate([part - part.mean() for part in parts])


def average_precision(y):
    hits = [i for i, label in enumerate(y) if label >= 1]
    return (
        sum((n + 1) / (i + 1) for n, i in enumerate(hits)) / len(hits) if hits else 0.0
    )


def mean_average_precision(dataset, scores):
    values = []
    for a, b in zip(dataset.query_ptr, dataset.query_ptr[1:], strict=False):
        order = sorted(range(a, b), key=lambda row: -scores[row])
        values.append(average_precision([dataset.y[row] for row in order]))
    return float(np.mean(values))


@pytest.mark.parametrize("block", [1, 5, 1 << 14])
def test_correlations_are_pearsons_of_query_centred_columns(monkeypatch, block):
    monkeypatch.setattr(inspection, "_BLOCK_ROWS", block)
    dataset = make()
    profile_of_feature = Inspector(dataset).correlations
    for i, j in [(0, 1), (0, 4), (1, 4)]:
        assert profile_of_feature[i, j] == pytest.approx(
            np.corrcoef(centred(dataset, i), centred(dataset, j))[0, 1]
        )
    assert not profile_of_feature[2].any()
    assert not profile_of_feature[:, 3].any()


def test_closest_feature_is_named_with_its_signed_correlation():
    profile_of_feature = profile(make(), 0)
    assert (profile_of_feature.feature_id, profile_of_feature.name) == (10, "a")
    assert (profile_of_feature.closest_id, profile_of_feature.closest_name) == (20, "b")
    assert profile_of_feature.correlation < -0.99


def test_alone_is_the_better_direction():
    dataset = make()
    for column in range(4):
        profile_of_feature = profile(dataset, column)
        down = mean_average_precision(dataset, dataset.X[:, column])
        up = mean_average_precision(dataset, -dataset.X[:, column])
        assert profile_of_feature.alone["MAP"] == pytest.approx(max(down, up))
        assert profile_of_feature.ascending == (up > down)
        assert set(profile_of_feature.alone) == {"MAP", "NDCG@10"}


def test_densities_are_those_of_the_relevance_classes():
    dataset = make()
    profile_of_feature = profile(dataset, 0)
    assert [c.label for c in profile_of_feature.classes] == [
        "not relevant",
        "relevant",
        "highly relevant",
    ]
    assert profile_of_feature.grid.size == 128
    assert (profile_of_feature.grid[0], profile_of_feature.grid[-1]) == (
        dataset.X[:, 0].min(),
        dataset.X[:, 0].max(),
    )
    for label, part in enumerate(profile_of_feature.classes):
        values = dataset.X[dataset.y == label, 0]
        assert part.n_documents == values.size
        assert np.array_equal(
            part.density, gaussian_density(values, profile_of_feature.grid)
        )


def test_a_constant_feature_has_a_defined_profile():
    everywhere, within = profile(make(), 3), profile(make(), 2)
    assert everywhere.constant
    assert everywhere.grid.size == 0
    assert everywhere.classes == ()
    assert everywhere.closest_id is None
    assert np.isnan(everywhere.correlation)
    assert not everywhere.ascending
    assert within.constant
    assert len(within.classes) == 3
    assert not profile(make(), 0).constant


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1], ["not relevant", "relevant"]),
        ([0, 1, 2, 3, 4], [f"relevance {i}" for i in range(5)]),
        ([-1, 1], ["relevance -1", "relevance 1"]),
        (
            [0, 1, 2, 3, 4, 5, 6],
            [
                "relevance 0 to 1",
                "relevance 2 to 3",
                "relevance 4",
                "relevance 5",
                "relevance 6",
            ],
        ),
    ],
)
def test_classes_follow_the_labels(labels, expected):
    y = np.resize(np.array(labels, dtype=np.float64), 20)
    profile_of_feature = profile(make(y), 0)
    assert [c.label for c in profile_of_feature.classes] == expected
    assert sum(c.n_documents for c in profile_of_feature.classes) == 20


def test_the_profile_goes_with_the_selected_features_as_least_squares_says():
    dataset = make(seed=3)
    profile_of_feature = Inspector(dataset).profile(0, (1, 4, 0))
    assert [one.feature_id for one in profile_of_feature.with_selected] == [20, 50]
    target, others = (
        centred(dataset, 0),
        np.column_stack([centred(dataset, c) for c in (1, 4)]),
    )
    for one, column in zip(profile_of_feature.with_selected, others.T, strict=True):
        assert one.correlation == pytest.approx(np.corrcoef(target, column)[0, 1])
    left = target - others @ np.linalg.lstsq(others, target, rcond=None)[0]
    assert profile_of_feature.explained == pytest.approx(
        1.0 - (left @ left) / (target @ target)
    )


def test_a_feature_given_twice_and_a_constant_one_explain_what_one_does():
    dataset = make(seed=3)
    one = Inspector(dataset).profile(0, (1,)).explained
    assert Inspector(dataset).profile(0, (1, 1, 2, 3)).explained == pytest.approx(one)
    assert np.isnan(Inspector(dataset).profile(3, (1,)).explained)
    assert np.isnan(Inspector(dataset).profile(0).explained)


def test_alone_it_is_measured_on_every_part_in_the_direction_of_the_training_part():
    train, test = make(seed=1), make(seed=2)
    profile_of_feature = Inspector(train, "letor4", {"test": test}).profile(0)
    assert list(profile_of_feature.parts) == ["train", "test"]
    assert profile_of_feature.parts["train"] == profile_of_feature.alone
    sign = -1.0 if profile_of_feature.ascending else 1.0
    assert profile_of_feature.parts["test"]["MAP"] == pytest.approx(
        mean_average_precision(test, sign * test.X[:, 0])
    )


def test_another_convention_shares_the_correlations():
    first = Inspector(make(), "letor4")
    kept = first.correlations
    second = first.measured_by("trec_eval", "MAP")
    assert second.convention == "trec_eval"
    assert second.correlations is kept


def test_the_measure_in_use_is_named_first_and_chooses_the_direction():
    dataset = make()
    for name, better in (("AUC", max), ("SquaredError", min)):
        profile_of_feature = Inspector(dataset, measure=name).profile(0)
        both = [
            evaluate(dataset.y, s * dataset.X[:, 0], qid=dataset.qid, measures=[name])[
                name
            ]
            for s in (1.0, -1.0)
        ]
        assert profile_of_feature.alone[name] == pytest.approx(better(both))
        assert list(profile_of_feature.alone) == [name, "MAP"]


def test_many_zeros_are_told_apart_from_the_other_values():
    dataset = make(seed=5)
    X = dataset.X.copy()
    X[:, 0] = np.abs(X[:, 0]) + 0.5
    X[::2, 0] = 0.0
    profile_of_feature = profile(replace(dataset, X=X), 0)
    rest = X[X[:, 0] > 0, 0]
    assert (profile_of_feature.grid[0], profile_of_feature.grid[-1]) == (
        rest.min(),
        rest.max(),
    )
    for label, one in zip(
        np.unique(dataset.y), profile_of_feature.classes, strict=True
    ):
        values = X[dataset.y == label, 0]
        assert one.zeros == pytest.approx(np.mean(values == 0))
        assert one.n_documents == values.size
        np.testing.assert_allclose(
            one.density, gaussian_density(values[values > 0], profile_of_feature.grid)
        )


def test_few_zeros_are_values_like_any_other():
    dataset = make(seed=5)
    X = dataset.X.copy()
    X[0, 0] = 0.0
    assert all(np.isnan(one.zeros) for one in profile(replace(dataset, X=X), 0).classes)
