"""Reading a file: what becomes of its contents."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.data.table import fill_missing, normalize_queries
from rankstudio.engine.errors import Cancelled

TEXT = (
    b"2 qid:10 1:0.5 2:NULL 3:3 #docid = GX008-86-4444840 inc = 1 prob = 0.086622\n"
    b"0 qid:10 1:0.25 2:4 3:1 # docid = 244338\n"
    b"1 qid:A 1:NULL 2:nan 3:7\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    path.write_bytes(TEXT)
    return path


def test_what_a_dataset_holds(path: Path) -> None:
    d = load_letor(path)
    assert d.X.tolist() == [[0.5, 4.0, 3.0], [0.25, 4.0, 1.0], [0.0, 0.0, 7.0]]
    assert d.y.tolist() == [2.0, 0.0, 1.0]
    assert d.query_ptr.tolist() == [0, 2, 3]
    assert d.query_ids == ("10", "A")
    assert d.feature_ids.tolist() == [1, 2, 3]
    assert d.feature_names == ("feature 1", "feature 2", "feature 3")
    assert d.document_ids == ("GX008-86-4444840", "244338", "")
    assert d.comments[1] == " docid = 244338"
    assert d.comments[-1] == ""
    assert d.missing.tolist() == [1, 2, 0]
    assert d.warnings == ()
    assert not d.sparse
    assert d.file_rows is None
    assert d.source is not None
    assert d.source.path == path
    assert d.source.size == len(TEXT)
    assert d.source.checksum == "sha256:" + hashlib.sha256(TEXT).hexdigest()
    for array in (d.X, d.y, d.query_ptr, d.feature_ids, d.missing):
        assert not array.flags.writeable
    assert d.X.flags.c_contiguous


def test_missing_as_zero(path: Path) -> None:
    assert load_letor(path, missing="zero").X.tolist() == [
        [0.5, 0, 3],
        [0.25, 4, 1],
        [0, 0, 7],
    ]


def test_normalize(path: Path) -> None:
    d = load_letor(path, normalize="query_minmax")
    assert d.X.tolist() == [[1, 0, 1], [0, 0, 0], [0, 0, 0]]


def test_more_features_than_the_file_has(path: Path) -> None:
    d = load_letor(path, n_features=5)
    assert d.X[:, 3:].tolist() == [[0, 0]] * 3
    assert d.feature_ids.tolist() == [1, 2, 3, 4, 5]
    assert d.missing.tolist() == [1, 2, 0, 0, 0]


@pytest.mark.parametrize("members", [1, 3])
def test_gzip(path: Path, members: int) -> None:
    lines = TEXT.splitlines(keepends=True)
    content = (
        gzip.compress(TEXT)
        if members == 1
        else (b"\0" * 9).join(map(gzip.compress, lines))
    )
    packed = path.with_name("train.letor.gz")
    packed.write_bytes(content + b"\0" * 10)
    d = load_letor(packed)
    assert (d.X == load_letor(path).X).all()
    assert d.source is not None
    assert d.source.size == len(content) + 10


def test_queries_that_are_scattered_are_put_together(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(
        b"# header\n1 qid:b 1:1\n1 qid:a 1:2\n\n1 qid:b 1:3\n1 qid:c 1:4\n1 qid:a 1:5\n"
    )
    for _ in range(2):  # from the text, then from the cache
        d = load_letor(path)
        assert d.X[:, 0].tolist() == [1, 3, 2, 5, 4]
        assert d.query_ids == ("b", "a", "c")
        assert d.file_rows is not None
        assert d.file_rows.tolist() == [0, 2, 1, 4, 3]
        assert d.warnings == (
            f"{path}: the documents of 2 queries are not contiguous (query b appears again on line 5). "
            "They were grouped, in document order.",
        )


def test_names_beside_the_file_win(path: Path) -> None:
    path.with_name("features.csv").write_text("id,name\n1,BM25\n3,Page rank\n")
    assert load_letor(path).feature_names == ("BM25", "feature 2", "Page rank")


def test_a_file_of_names_without_names_is_a_warning(path: Path) -> None:
    path.with_name("features.csv").write_text("nothing of that kind\n")
    d = load_letor(path)
    assert d.feature_names[0] == "feature 1"
    assert naming("features.csv").search(d.warnings[0])


def test_a_table_of_something_else_names_no_feature(path: Path) -> None:
    path.with_name("features.csv").write_text(
        "fold,rank,id,feature,chosen\n1,1,3,BM25,1\n2,1,2,TF,1\n"
    )
    d = load_letor(path)
    assert d.feature_names == ("feature 1", "feature 2", "feature 3")
    assert naming("features.csv 12,BM25").search(d.warnings[0])
    path.with_name("feature_names.csv").write_text("3,BM25\n")
    assert load_letor(path).feature_names[2] == "BM25"


@pytest.mark.parametrize(
    "header",
    ["", "id,name\n", "Feature ID,Description\n", "feature,name\n", "#,name\n"],
)
def test_headers_of_names(path: Path, header: str) -> None:
    path.with_name("features.csv").write_text(f"{header}3,BM25\n")
    assert load_letor(path).feature_names[2] == "BM25"


@pytest.mark.parametrize("cache", [False, True])
def test_progress_comes_from_the_calling_thread_and_ends_at_the_total(
    tmp_path: Path, cache: bool
) -> None:
    path = tmp_path / "a.txt"
    content = b"1 qid:1 1:0.25 2:0.5\n" * 200_000
    path.write_bytes(content)
    calls: list[tuple[int, int, int]] = []

    def progress(done: int, total: int) -> None:
        calls.append((done, total, threading.get_ident()))

    for _ in range(2):
        calls.clear()
        load_letor(path, cache=cache, progress=progress)
        done = [call[0] for call in calls]
        assert done == sorted(done)
        assert done[-1] == len(content)
        assert len(set(done)) >= 5
        assert {call[1:] for call in calls} == {(len(content), threading.get_ident())}


def test_a_cancel_at_any_time_ends_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"1 qid:1 1:0.1234567890123456789012 2:0.5\n" * 100_000)
    load_letor(path, cache=False)  # the kernels are compiled
    for step in range(12):
        asked: list[int] = []

        def cancelled(asked: list[int] = asked, step: int = step) -> bool:
            asked.append(step)
            return len(asked) > step

        with pytest.raises(Cancelled):
            load_letor(path, cache=False, cancelled=cancelled)
        assert len(asked) == step + 1, "somebody asked again after the answer was yes"


def test_cancelled_before_anything_is_read(path: Path) -> None:
    with pytest.raises(Cancelled):
        load_letor(path, cancelled=lambda: True)


matrices = st.integers(1, 12).flatmap(
    lambda m: st.tuples(
        st.lists(
            st.lists(
                st.one_of(st.just(np.nan), st.floats(-1e308, 1e308)),
                min_size=3,
                max_size=3,
            ),
            min_size=m,
            max_size=m,
        ),
        st.lists(st.integers(0, 2), min_size=m, max_size=m).map(sorted),
    )
)


@given(matrices)
def test_query_min_is_the_least_value_within_the_query(
    data: tuple[list[list[float]], list[int]],
) -> None:
    X, qid = np.array(data[0]), np.array(data[1])
    ptr = np.flatnonzero(np.diff(qid, prepend=-1, append=-1))
    filled = X.copy()
    fill_missing(filled, ptr, np.isnan(X).sum(axis=0), "query_min")
    for row, column in np.ndindex(*X.shape):
        inside = [x for x in X[qid == qid[row], column] if not np.isnan(x)]
        expected = (
            X[row, column] if not np.isnan(X[row, column]) else min(inside, default=0.0)
        )
        assert filled[row, column] == expected


@given(matrices)
def test_normalized_features_lie_in_the_unit_interval(
    data: tuple[list[list[float]], list[int]],
) -> None:
    X, qid = np.nan_to_num(np.array(data[0])), np.array(data[1])
    ptr = np.flatnonzero(np.diff(qid, prepend=-1, append=-1))
    scaled = X.copy()
    normalize_queries(scaled, ptr)
    for q in set(qid.tolist()):
        for column in range(X.shape[1]):
            x, s = X[qid == q, column], scaled[qid == q, column]
            if x.min() == x.max():
                assert (s == 0).all()
                continue
            exact = [Fraction(value) for value in x.tolist()]
            expected = [
                float((v - min(exact)) / (max(exact) - min(exact))) for v in exact
            ]
            np.testing.assert_allclose(s, expected, rtol=1e-12, atol=1e-12)
            assert s.min() == 0.0
            assert s.max() == 1.0


def test_constant_features_and_integer_query_ids(path: Path) -> None:
    d = RankingDataset.from_arrays([[1, 2], [1, 3], [5, 4]], [0, 1, 0], [7, 7, 9])
    assert d.constant_features.tolist() == [True, False]
    assert d.qid.tolist() == [7, 7, 9]
    assert load_letor(path).qid.tolist() == ["10", "10", "A"]


def test_what_the_window_imports_at_its_start_is_light() -> None:
    code = (
        "import sys; from rankstudio.engine.data import folders, known_datasets, synthetic; "
        "from rankstudio.engine.data.formats import data_file, dataset_writer; "
        "from rankstudio.engine.data import store; "
        "sys.exit(', '.join({'numba', 'scipy', 'pandas', 'sklearn'} & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_least_of_two_zeros_has_no_sign(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("1 qid:1 1:-0.0\n0 qid:1 1:0.0\n0 qid:1 1:NULL\n")
    assert not np.signbit(load_letor(path).X[2, 0])
