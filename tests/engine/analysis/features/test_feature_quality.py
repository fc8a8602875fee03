"""What is said of every feature: against brute force, `evaluate`, and oddities made on purpose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.analysis.features import feature_quality as module
from rankstudio.engine.analysis.features.feature_quality import (
    BINS,
    Oddity,
    QualityReport,
    feature_quality,
    fold_quality,
)
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.summary import describe
from rankstudio.engine.metrics.evaluation import evaluate


def documents(
    seed: int = 0, n_queries: int = 20, size: int = 12, n: int = 5
) -> RankingDataset:
    rng = np.random.default_rng(seed)
    m = n_queries * size
    return RankingDataset.from_arrays(
        rng.normal(size=(m, n)),
        rng.integers(0, 3, size=m),
        np.repeat(np.arange(n_queries), size),
    )


def with_columns(data: RankingDataset, **columns: object) -> RankingDataset:
    X = np.column_stack(
        [data.X, *(np.asarray(c, dtype=np.float64) for c in columns.values())]
    )
    return RankingDataset.from_arrays(X, data.y, data.qid)


def quality(*parts: RankingDataset, convention: str = "letor4") -> QualityReport:
    return feature_quality(*parts, summary=describe(*parts), convention=convention)


def oddities(report: QualityReport, column: int) -> list[Oddity]:
    return [finding.oddity for finding in report.features[column].findings]


@pytest.mark.parametrize("convention", ["letor3", "letor4", "mslr"])
def test_alone_is_what_evaluate_says_in_the_better_direction(convention: str) -> None:
    data = documents()
    for column, feature in enumerate(quality(data, convention=convention).features):
        ways = [
            evaluate(data.y, sign * data.X[:, column], data.qid, convention=convention)
            for sign in (1.0, -1.0)
        ]
        better = max(ways, key=lambda way: way["MAP"])
        assert feature.alone["MAP"] == pytest.approx(better["MAP"], abs=1e-12)
        assert feature.alone["NDCG@10"] == pytest.approx(better["NDCG@10"], abs=1e-12)
        assert feature.ascending == (ways[1]["MAP"] > ways[0]["MAP"])


def test_of_one_ranking_the_auc_comes_first_and_tells_the_direction() -> None:
    data = documents(n_queries=1, size=60)
    for column, feature in enumerate(quality(data).features):
        scores = data.X[:, column]
        up, down = (
            evaluate(data.y, s, data.qid, measures=["AUC"])["AUC"]
            for s in (scores, -scores)
        )
        assert list(feature.alone) == ["AUC", "MAP"]
        assert feature.alone["AUC"] == pytest.approx(max(up, down))
        assert feature.ascending == (down > up)


@given(st.integers(0, 10_000), st.sampled_from([1e-300, 1.0, 1e9, 1e306]))
def test_every_document_is_counted_once(seed: int, scale: float) -> None:
    data = documents(seed, n_queries=3, size=4, n=2)
    data = with_columns(
        data, wide=np.clip(data.X[:, 0], -1.7, 1.7) * scale, flat=np.full(12, scale)
    )
    for feature in quality(data).features:
        counts = feature.histogram.counts
        assert counts.shape == (2, BINS)
        assert counts.sum(axis=1).tolist() == [12, int((data.y > 0).sum())]
        assert feature.histogram.shares[0].sum() == pytest.approx(1.0)


def test_bins_are_those_of_numpy_where_there_are_no_tails() -> None:
    data = documents(3, n_queries=5, size=30, n=1)  # fewer than the tails leave out
    histogram = quality(data).features[0].histogram
    edges = np.linspace(histogram.low, histogram.high, BINS + 1)
    inside = np.clip(data.X[:, 0], histogram.low, histogram.high)
    assert histogram.counts[0].tolist() == np.histogram(inside, edges)[0].tolist()
    assert (
        histogram.counts[1].tolist()
        == np.histogram(inside[data.y > 0], edges)[0].tolist()
    )


def test_one_value_far_out_does_not_take_the_bins_of_all_others() -> None:
    data = documents(n_queries=50)
    values = data.X[:, 0].copy()
    values[7] = 1e12
    histogram = quality(with_columns(data, far=values)).features[-1].histogram
    assert histogram.high < 10
    assert histogram.counts[0].max() < data.n_documents / 4


def test_a_feature_of_nearly_one_value_keeps_its_range() -> None:
    data = documents(n_queries=50)
    rare = np.zeros(data.n_documents)
    rare[3] = 5.0
    found = quality(with_columns(data, rare=rare)).features[-1]
    assert (found.histogram.low, found.histogram.high) == (0.0, 5.0)
    assert [f.oddity for f in found.findings] == [Oddity.MOSTLY_ZERO]
    assert "99.8 %" in found.findings[0].text


def test_constant_duplicated_leaking_and_badly_scaled() -> None:
    data = documents()
    per_query = np.repeat(np.arange(20.0), 12)
    rng = np.random.default_rng(5)
    odd = with_columns(
        data,
        constant=per_query,
        twin=data.X[:, 1],
        leak=-data.y + rng.normal(0, 1e-3, data.n_documents),
        wide=data.X[:, 2] * 1e6,
    )
    report = quality(odd)
    assert [oddities(report, column) for column in range(5)] == [[]] * 5
    assert oddities(report, 5) == [Oddity.CONSTANT]
    assert oddities(report, 6) == [Oddity.DUPLICATED]
    assert report.features[6].findings[0].word == "duplicate of 2"
    assert oddities(report, 7) == [Oddity.LEAKING]
    assert report.features[7].ascending
    assert oddities(report, 8) == [Oddity.BADLY_SCALED]
    assert "wider" in report.features[8].findings[0].text


def test_a_good_feature_is_not_called_leaking_nor_any_where_all_rankings_are_alike() -> (
    None
):
    data = documents()
    rng = np.random.default_rng(1)
    good = with_columns(data, good=data.y + rng.normal(0, 0.7, data.n_documents))
    assert quality(good).features[-1].alone["MAP"] > 0.75
    assert oddities(quality(good), 5) == []
    single = RankingDataset.from_arrays(data.X, data.y, np.arange(data.n_documents))
    assert Oddity.LEAKING not in oddities(quality(single), 0)


def test_a_twin_in_the_sample_alone_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    data = documents(n_queries=40)
    nearly = data.X[:, 0].copy()
    nearly[13] += 1.0  # of the second query, which is left out below
    odd = with_columns(data, nearly=nearly, twin=data.X[:, 0])
    monkeypatch.setattr(module, "MOST_DOCUMENTS", 200)
    report = quality(odd)
    assert report.n_documents == 14 * 12  # every third query
    assert oddities(report, 5) == []
    assert report.features[6].findings[0].word == "duplicate of 1"


def test_a_fold_is_its_training_part_and_all_folds_are_the_test_parts() -> None:
    folds = tuple(Fold(i, documents(i), None, documents(10 + i)) for i in (1, 2))
    dataset = FoldedDataset("two", None, folds)
    one = fold_quality(dataset, 2, describe(folds[1].train), "letor4")
    assert one.features[0].alone == quality(folds[1].train).features[0].alone
    tests = folds[0].test, folds[1].test
    assert tests[0] is not None
    assert tests[1] is not None
    every = fold_quality(dataset, None, describe(*tests), "letor4")
    assert every.n_documents == 480
    X, y = np.vstack([tests[0].X, tests[1].X]), np.concatenate([tests[0].y, tests[1].y])
    together = RankingDataset.from_arrays(X, y, np.repeat(np.arange(40), 12))
    assert every.features[3].alone == quality(together).features[3].alone
