"""Text of mostly zeros, read without them: the numbers of dense reading, and ids up to 2^31 - 1."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from data.letor_strategies import broken_texts, texts
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.file_access import PADDING
from rankstudio.engine.data.fingerprint import fingerprint
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats import letor
from rankstudio.engine.data.formats.built_in import LETOR
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import LoadedFile
from rankstudio.engine.data.splitting.splits import k_fold, select_features
from rankstudio.engine.data.summary import describe, shown_features
from rankstudio.engine.data.table import Table, treated
from rankstudio.engine.data.table_builder import PartFiles, TableInMemory
from rankstudio.engine.errors import DataError, FormatError, OutOfMemoryError
from rankstudio.engine.support import memory
from rankstudio.engine.support.sparse_rows import MOST_ID, SparseRows, worth_it

QUERY = "1 qid:1 3:0.5 2147483647:2\n0 qid:1 3:0.25\n2 qid:2 7:1 2147483647:-1\n"


def table_of(content: bytes, piece: int, *, sparse: bool) -> Table:
    path, progress = Path("a.txt"), ReadProgress()
    file = LoadedFile(
        path, np.frombuffer(content + b"\n" * PADDING, dtype=np.uint8), progress
    )
    builder = TableInMemory(path)
    decided = mock.patch.object(letor, "worth_it", lambda *_: sparse)
    with decided, mock.patch.multiple(letor, _PIECE=piece, _WINDOW=5, _PEEK=piece):
        return builder.finish(
            letor.read_letor(PartFiles((path,), LETOR), [file], builder, progress)
        )


def widened(table: Table, width: int) -> Floats:
    """Return the values of a sparse table, with a column for every id."""
    X = np.zeros((len(table.y), width))
    X[:, table.feature_ids - 1] = table.X
    return X


@given(
    st.one_of(texts(), broken_texts()),
    st.sampled_from([1, 7, 1 << 20]),
    st.sampled_from(["zero", "query_min"]),
)
def test_values_and_errors_are_those_of_dense_reading(
    content: bytes, piece: int, missing: str
) -> None:
    try:
        dense = table_of(content, piece, sparse=False)
    except DataError as refused:
        with pytest.raises(type(refused)) as raised:
            table_of(content, piece, sparse=True)
        assert str(raised.value) == str(refused)
        return
    sparse = table_of(content, piece, sparse=True)
    width = dense.X.shape[1]
    np.testing.assert_array_equal(widened(sparse, width), dense.X)
    assert sparse.missing.tolist() == dense.missing[sparse.feature_ids - 1].tolist()
    assert (sparse.y == dense.y).all()
    assert (sparse.query_ids, sparse.dense) == (dense.query_ids, dense.dense)
    assert list(sparse.comments) == list(dense.comments)
    filled = treated(
        sparse.X, sparse.query_ptr, sparse.missing, missing, 0, normalize=False
    )
    expected = treated(
        dense.X, dense.query_ptr, dense.missing, missing, 0, normalize=False
    )
    assert (np.asarray(filled) == expected[:, sparse.feature_ids - 1]).all()


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([1.0, 1e300]))
def test_scaling_is_dense_scaling_up_to_a_shift_of_a_query(
    seed: int, negative: bool, scale: float
) -> None:
    rng = np.random.default_rng(seed)
    X = (
        scale
        * rng.integers(-3 if negative else 0, 4, (24, 5))
        * (rng.random((24, 5)) < 0.6)
    )
    ptr = np.array([0, 3, 10, 11, 24])
    found = np.asarray(
        treated(SparseRows.of_array(X), ptr, np.zeros(5), "", 0, normalize=True)
    )
    expected = treated(X.copy(), ptr, np.zeros(5), "", 0, normalize=True)
    if not negative:
        np.testing.assert_allclose(found, expected, rtol=1e-15)
    for first, last in pairwise(ptr):
        shift = found[first] - expected[first]
        np.testing.assert_allclose(
            found[first:last] - shift, expected[first:last], atol=1e-15
        )


def test_ids_up_to_the_greatest_are_read_kept_divided_and_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.txt"
    path.write_text(QUERY)
    for _ in range(2):  # parsed, and from the cache
        data = load_letor(path)
        assert isinstance(data.X, SparseRows)
        assert data.feature_ids.tolist() == [3, 7, MOST_ID]
        assert data.feature_names[2] == f"feature {MOST_ID}"
        assert np.asarray(data.X).tolist() == [[0.5, 0, 2], [0.25, 0, 0], [0, 1, -1]]
    save_letor(data, tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_text() == QUERY
    (one, other) = k_fold(FoldedDataset.of(data), 2).folds
    assert {one.train.X.shape, other.train.X.shape} == {(2, 3), (1, 3)}
    assert select_features(data, [3, MOST_ID]).X[:, 1].tolist() == [2, 0, -1]
    assert fingerprint(FoldedDataset.of(data.changed(source=None)))


def test_a_greater_id_is_refused_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(QUERY.replace(str(MOST_ID), str(MOST_ID + 1)))
    with pytest.raises(
        FormatError, match=r"line 1, column 15.*\"2147483648:2\".*at most 2147483647"
    ):
        load_letor(path)


def test_parts_of_a_fold_have_the_columns_of_all(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text(QUERY)
    (tmp_path / "test.txt").write_text("1 qid:9 5:NULL 7:1\n0 qid:9 5:4\n")
    fold = open_dataset(tmp_path).folds[0]
    assert fold.test is not None
    for part in (fold.train, fold.test):
        assert part.feature_ids.tolist() == [3, 5, 7, MOST_ID]
    assert np.asarray(fold.test.X).tolist() == [[0, 4, 1, 0], [0, 4, 0, 0]]
    assert fold.test.missing.tolist() == [0, 1, 0, 0]


def test_it_stays_sparse_up_to_the_memory_limit_and_is_refused_beyond(
    tmp_path: Path,
) -> None:
    """With its zeros on disk it would be 12 TB."""
    lines = (
        f"{i % 3} qid:{i // 20} {7 * i + 1}:1 {MOST_ID - i}:0.5\n"
        for i in range(60_000)
    )
    (tmp_path / "a.txt").write_text("".join(lines))  # 1.7 MB, and 7 MB of values
    with memory.within(11e6):
        data = open_dataset(tmp_path / "a.txt", cache=False)
        assert isinstance(data.folds[0].train.X, SparseRows) and not data.warnings
    with (
        memory.within(6e6),
        pytest.raises(OutOfMemoryError, match=naming("a.txt limit 6.0 MB")),
    ):
        open_dataset(tmp_path / "a.txt", cache=False)


def test_only_what_is_large_and_mostly_zeros_is_sparse() -> None:
    assert not worth_it(5000, 5000, 0)  # 200 MB
    assert worth_it(1000, 30_000, 0)  # 240 MB, and 7 GB of products of features
    assert worth_it(10_000, 100_000, 1e6)
    assert not worth_it(10_000, 100_000, 1e8)  # a tenth is there
    assert worth_it(1, MOST_ID, 1)


def test_the_memory_of_text_is_that_of_its_values(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"1 qid:1 {i}:1 {10**6 - i}:2\n" for i in range(1, 1000)))
    need = LETOR.memory_need(path)
    assert need.stores_no_zeros
    assert need.text == path.stat().st_size
    assert need.table < 1e6


def sparse_and_dense(seed: int = 0) -> tuple[RankingDataset, RankingDataset]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(60, 9)), 1) * (rng.random((60, 9)) < 0.3)
    X[:, 0] = np.repeat(np.arange(6.0), 10)
    dense = RankingDataset.from_arrays(
        X, rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    )
    return dense.changed(X=SparseRows.of_array(X)), dense


def test_a_description_is_that_of_dense_data() -> None:
    sparse, dense = sparse_and_dense()
    assert sparse.constant_features.tolist() == dense.constant_features.tolist()
    one, other = describe(sparse, sparse), describe(dense, dense)
    for found, expected in zip(one.features, other.features, strict=True):
        assert found.mean == pytest.approx(expected.mean, abs=1e-15)
        assert (found.minimum, found.maximum, found.zeros) == (
            expected.minimum,
            expected.maximum,
            expected.zeros,
        )
        assert found.constant == expected.constant


def test_the_features_with_the_most_values_are_shown() -> None:
    X = SparseRows.of_parts(
        np.ones(3),
        np.array([4, 9_999, 9_999], dtype=np.int32),
        np.array([0, 2, 3]),
        20_000,
    )
    data = RankingDataset.from_arrays(np.zeros((2, 1)), [0, 1]).changed(X=X)
    shown = shown_features(data)
    assert shown is not None
    assert shown.size == 1000
    assert {4, 9_999} <= set(shown.tolist())
