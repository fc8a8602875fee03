"""The same data in every format: the same bits, and what a format cannot keep is said."""

from __future__ import annotations

import gzip
import math
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.data.data_format import DataFormat
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats import dataset_writer
from rankstudio.engine.data.formats import dataset_writer as writer
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.formats.dataset_writer import losses, save_dataset
from rankstudio.engine.data.formats.format_catalog import (
    format_of_key,
    format_of_name,
    written_formats,
)
from rankstudio.engine.data.splitting.splits import select_features
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.data.table_preview import preview_table
from rankstudio.engine.data.tabular.recognition import clean_name
from rankstudio.engine.errors import FileAccessError
from rankstudio.engine.support.file_pages import in_file

pytest.importorskip("pyarrow")
pytest.importorskip("zstandard")

EVERY = pytest.mark.parametrize("form", written_formats(), ids=lambda form: form.key)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


def made() -> RankingDataset:
    data = make_ranking(n_queries=12, seed=3).folds[0].train
    X = data.X.copy()
    X[0, :4] = [1 / 3, -0.0, 5e-324, 1.7976931348623157e308]
    ids = tuple(str(i + 1) for i in range(data.n_queries))
    return replace(data, X=X, query_ids=ids)


def file_of(folder: Path, form: DataFormat, packed: str = "") -> Path:
    return folder / f"some{form.ending}{packed}"


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


@EVERY
@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_what_is_written_reads_back_as_the_same_bits(
    tmp_path: Path, form: DataFormat, packed: str
) -> None:
    if packed and form.extra:
        pytest.skip("its own compression")
    data = made()
    path = file_of(tmp_path, form, packed)
    files = save_dataset(data, path, form)
    assert sorted(tmp_path.iterdir()) == sorted(files)
    for cache in (False, True, True):
        again = load_data(path, cache=cache)
        assert same_bits(again.X, data.X) and same_bits(again.y, data.y)
        assert again.query_ids == data.query_ids and same_bits(
            again.query_ptr, data.query_ptr
        )
        assert again.feature_ids.tolist() == data.feature_ids.tolist()
        assert again.warnings == ()
        if "names of features" not in form.loses:
            assert again.feature_names == data.feature_names
        if "comments" not in form.loses:
            assert list(again.comments) == list(data.comments)
    assert open_dataset(path).origin.read_as.format == form.key


@EVERY
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_data_on_the_disk_are_written_piece_by_piece(
    tmp_path: Path, form: DataFormat, packed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = made()
    whole = file_of(tmp_path, form)
    save_dataset(data, whole, form)
    np.save(tmp_path / "X.npy", data.X)
    mapped = replace(data, X=np.load(tmp_path / "X.npy", mmap_mode="r"))
    monkeypatch.setattr(dataset_writer, "_DOCUMENTS_AT_ONCE", 7)
    monkeypatch.setattr(writer, "_DOCUMENTS_AT_ONCE", 7)
    if form.key in ("parquet", "arrow"):
        monkeypatch.setattr(
            "rankstudio.plugins.tables.arrow._BATCH_VALUES", 5 * data.n_features
        )
    pieces = tmp_path / f"pieces{form.ending}{packed}"
    save_dataset(mapped, pieces, form)
    content = pieces.read_bytes()
    content = gzip.decompress(content) if packed else content
    if form.extra:
        pieces.write_bytes(content)
        again = load_data(pieces, cache=False)
        assert same_bits(again.X, data.X) and same_bits(again.y, data.y)
        assert (again.query_ids, list(again.comments)) == (
            data.query_ids,
            list(data.comments),
        )
    else:
        assert content == whole.read_bytes()
    some = select_features(mapped, [2, 3])
    assert in_file(some.X) and same_bits(
        np.array(some.X), np.ascontiguousarray(data.X[:, [1, 2]])
    )


@EVERY
@given(
    rows=st.lists(
        st.tuples(DOUBLES, DOUBLES, DOUBLES, st.integers(1, 3)), min_size=1, max_size=8
    )
)
def test_any_double_survives(
    form: DataFormat, rows: list[tuple[float, float, float, int]]
) -> None:
    rows = sorted(rows, key=lambda row: row[3])
    data = RankingDataset.from_arrays(
        [row[:2] for row in rows], [row[2] for row in rows], [row[3] for row in rows]
    )
    with TemporaryDirectory() as folder:
        path = file_of(Path(folder), form)
        save_dataset(data, path, form)
        again = load_data(path, cache=False)
    assert same_bits(again.X, data.X) and same_bits(again.y, data.y)


TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]),
    max_size=8,
)


@pytest.mark.parametrize("key", ["csv", "tsv", "parquet", "arrow"])
@given(
    names=st.lists(TEXT, min_size=2, max_size=2),
    query=TEXT.filter(str.strip),
    comment=TEXT,
)
def test_texts_survive_in_tables(
    key: str, names: list[str], query: str, comment: str
) -> None:
    query = query.strip()
    data = RankingDataset.from_arrays(
        [[1, 2], [3, 4]], [0, 1], [query] * 2, names, [comment, 'a, "b"\tc']
    )
    with TemporaryDirectory() as folder:
        path = file_of(Path(folder), format_of_key(key))
        save_dataset(data, path, format_of_key(key))
        again = load_data(path, cache=False)
    assert same_bits(again.X, data.X) and again.query_ids == (query,)
    assert list(again.comments) == list(data.comments)
    plain = [clean_name(name) for name in names]
    assert len(set(again.feature_names)) == 2
    for name, found in zip(plain, again.feature_names, strict=True):
        assert (
            found == name
            or (found.startswith("feature ") and name in found)
            or found == f"{name} (again)"
        )


def test_what_a_format_loses_is_said() -> None:
    data = replace(
        made(),
        feature_names=("BM25", *made().feature_names[1:]),
        query_ids=tuple("abcdefghijkl"),
        comments=("x",),
    )
    assert losses(data, format_of_key("letor")) == ("names of features",)
    assert losses(data, format_of_key("csv")) == ()
    assert losses(data, format_of_key("xgboost")) == (
        "names of features",
        "ids of queries",
        "comments",
    )
    others = replace(data, feature_ids=data.feature_ids + 1)
    assert losses(others, format_of_key("parquet")) == ("ids of features",)


@pytest.mark.ability("tables")
def test_names_tell_formats() -> None:
    told = {
        "a.CSV.gz": "csv",
        "a.tsv": "tsv",
        "a.pq": "parquet",
        "a.feather": "arrow",
        "rank.train": "letor",
    }
    assert {name: format_of_name(name).key for name in told} == told
    for form in written_formats():
        assert form.sizes or format_of_name(f"some{form.ending}") is form


def test_other_columns_are_other_data(tmp_path: Path) -> None:
    """Also in the cache, and for whoever compares checksums."""
    path = tmp_path / "some.csv"
    path.write_text("qid,session,label,x\n1,a,0,3\n1,b,1,4\n")
    data = load_data(path, columns={"ignore": ["session"]})
    by_session = load_data(path, columns={"qid": "session"})
    assert data.query_ids == ("1",) and by_session.query_ids == ("a", "b")
    assert data.feature_names == ("x",) and by_session.feature_names == ("qid", "x")
    assert data.source is not None and by_session.source is not None
    assert data.source.checksum != by_session.source.checksum
    assert not math.isnan(data.X.sum())


@pytest.mark.parametrize("name", ["some.parquet", "some.arrow", "some.feather"])
@pytest.mark.parametrize("content", [bytes(range(256)) * 9, b"\xff\xfe\xfd" * 7])
def test_other_binary_data_named_as_a_table_are_told_apart(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for read in (load_data, open_dataset, preview_table):
        with pytest.raises(FileAccessError, match=r'"PAR1"|"ARROW1"'):
            read(path)


def test_text_named_as_a_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "some.parquet").write_text("1 qid:1 1:2 # größer\n")
    assert load_data(tmp_path / "some.parquet").X.tolist() == [[2]]
