import numpy as np
import pytest

from rankstudio.engine.data import summary as statistics
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.summary import describe, describe_fold


def make(seed=0, sizes=(3, 1, 5, 2), n=4, missing=None):
    rng = np.random.default_rng(seed)
    ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    X = rng.integers(0, 3, size=(ptr[-1], n)).astype(np.float64)
    # constant inside every query
    X[:, 1] = np.repeat(rng.normal(size=len(sizes)), sizes)
    return RankingDataset(
        X=X,
        y=rng.integers(0, 3, size=ptr[-1]).astype(np.float64),
        query_ptr=ptr,
        query_ids=tuple(f"q{i}" for i in range(len(sizes))),
        feature_ids=np.arange(1, n + 1),
        feature_names=tuple(f"feature {i}" for i in range(1, n + 1)),
        missing=np.zeros(0, dtype=np.int64) if missing is None else np.array(missing),
    )


@pytest.mark.parametrize("block_values", [1, 8, 1 << 20])
def test_columns_equal_numpy_over_all_rows(monkeypatch, block_values):
    monkeypatch.setattr(statistics, "_BLOCK_VALUES", block_values)
    parts = make(0), make(1, sizes=(4, 4)), make(2, sizes=(1,))
    X = np.vstack([part.X for part in parts])
    summary = describe(*parts)
    assert [f.minimum for f in summary.features] == X.min(axis=0).tolist()
    assert [f.maximum for f in summary.features] == X.max(axis=0).tolist()
    assert [f.mean for f in summary.features] == pytest.approx(
        X.mean(axis=0).tolist(), rel=1e-12
    )
    assert [f.zeros for f in summary.features] == pytest.approx(
        (X == 0).mean(axis=0).tolist()
    )
    assert [f.constant for f in summary.features] == [False, True, False, False]
    assert [f.feature_id for f in summary.constant] == [2]


def test_labels_and_queries_are_counted():
    part = make(3)
    summary = describe(part)
    assert summary.n_documents == 11
    assert summary.n_queries == 4
    assert dict(summary.labels) == {
        v: int((part.y == v).sum()) for v in set(part.y.tolist())
    }
    assert summary.query_sizes.tolist() == [3, 1, 5, 2]
    relevant = [
        part.y[a:b].max() > 0
        for a, b in zip(part.query_ptr, part.query_ptr[1:], strict=False)
    ]
    assert summary.without_relevant == relevant.count(False)
    alone = [
        part.y[a:b].min() > 0
        for a, b in zip(part.query_ptr, part.query_ptr[1:], strict=False)
    ]
    assert summary.only_relevant == alone.count(True) > 0


def test_missing_values_add_up_over_parts_that_counted_them():
    summary = describe(
        make(0, missing=[1, 0, 0, 2]), make(1), make(2, missing=[1, 1, 0, 0])
    )
    assert [f.missing for f in summary.features] == [2, 1, 0, 2]


def test_a_fold_is_its_training_part_and_the_whole_is_every_test_part_once():
    folds = tuple(
        Fold(i, make(i), make(10 + i), make(20 + i, sizes=(i, i))) for i in (1, 2)
    )
    dataset = FoldedDataset("tiny", None, folds)
    assert describe_fold(dataset, 2).features[0].mean == folds[1].train.X[:, 0].mean()
    assert describe_fold(dataset, None).query_sizes.tolist() == [1, 1, 2, 2]
    with pytest.raises(KeyError):
        describe_fold(dataset, 3)
    untested = FoldedDataset("tiny", None, (Fold(1, make(5)),))
    assert describe_fold(untested, None).n_documents == 11
