"""The parser against the slow oracle: any text, any bytes. What is written reads back as it was."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import numpy as np
import pytest
from data import letor_oracle as oracle
from data.letor_strategies import broken_texts, texts
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.file_access import PADDING, is_packed
from rankstudio.engine.data.formats import letor
from rankstudio.engine.data.formats.built_in import LETOR
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import LoadedFile
from rankstudio.engine.data.table import Table
from rankstudio.engine.data.table_builder import PartFiles, TableInMemory
from rankstudio.engine.errors import DataError, FormatError, OutputError
from rankstudio.engine.support.sparse_rows import SparseRows

many = settings(suppress_health_check=[HealthCheck.too_slow])
pieces = st.sampled_from([1, 7, 40, 1 << 20])


def parsed(content: bytes, piece: int) -> Table:
    path, progress = Path("a.txt"), ReadProgress()
    file = LoadedFile(
        path, np.frombuffer(content + b"\n" * PADDING, dtype=np.uint8), progress
    )
    builder = TableInMemory(path)
    with mock.patch.multiple(letor, _PIECE=piece, _WINDOW=5, _PEEK=piece):
        return builder.finish(
            letor.read_letor(PartFiles((path,), LETOR), [file], builder, progress)
        )


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    nan = np.isnan(a)
    return bool(
        (nan == np.isnan(b)).all()
        and (a[~nan].view(np.uint64) == b[~nan].view(np.uint64)).all()
    )


def check(content: bytes, piece: int) -> None:
    """Hold the parser to the oracle's verdict, wherever the text is cut into pieces."""
    try:
        contents = oracle.read(content)
    except oracle.Refused as refused:
        with pytest.raises(DataError) as raised:
            parsed(content, piece)
        assert isinstance(raised.value, FormatError)
        assert (raised.value.line, raised.value.column) == refused.place
        return
    table = parsed(content, piece)
    documents = contents.grouped()
    X = np.zeros((len(documents), contents.width))
    for row, document in enumerate(documents):
        for feature, value in document.features.items():
            X[row, feature - 1] = value
    assert same_bits(table.X, X)
    assert same_bits(table.y, np.array([d.label for d in documents]))
    query = np.repeat(np.array(table.query_ids), np.diff(table.query_ptr))
    assert query.tolist() == [d.query for d in documents]
    assert len(set(table.query_ids)) == len(table.query_ids)
    assert list(table.comments) == [d.comment for d in documents]
    assert [table.comments[i] for i in range(len(documents))] == [
        d.comment for d in documents
    ]
    assert table.missing.tolist() == np.isnan(X).sum(axis=0).tolist()
    assert table.dense == all(len(d.features) == contents.width for d in documents)
    moved = [d.query for d in contents.documents] != [d.query for d in documents]
    if moved:
        assert [contents.documents[i] for i in table.file_rows] == documents
    assert moved == (table.scattered is not None)


@many
@given(texts(), pieces)
# which differ in the last digit
@example(b"1 qid:12 1:1\n0 qid:13 1:2\n2 qid:3 1:3\n0 qid:4 1:4\n", 1 << 20)
def test_every_flavour(content: bytes, piece: int) -> None:
    check(content, piece)


@many
@given(broken_texts(), pieces)
@example(b"0 qid:1 1:0.5 12", 1 << 20)
@example(b"0 qid:1 1:0.5 12:", 1 << 20)
@example(b"0 qid:1 1:0.5\n1", 1 << 20)
@example(b"0 qid:1 5:1 3:1 5:2\n", 1 << 20)
@example(b"0 qid:1 1:1 1:1\n", 1 << 20)
@example(b"0 qid:1 1:1e400\n0 qid:1 0:1\n", 1 << 20)
@example(b"1 qid:a 1:1\n1 qid:b 1:2\n\n1 qid:a 1:3", 1)
@example(b"1 qid:1 1:1 #a\rb\n1 qid:1 1:2 # qid:7", 1 << 20)
@example(b"1 qid:1 1:1 #a\n1 qid:1 1:2 # b\r2 qid:7 1:3", 1 << 20)
def test_broken_text(content: bytes, piece: int) -> None:
    check(content, piece)


@many
@given(st.binary(max_size=60), pieces)
@example(b"", 1 << 20)
@example(b"\xef\xbb\xbf", 1 << 20)
@example(b"\xff\xfe1\0", 1 << 20)
@example(b"\n \n#\n", 1 << 20)
def test_any_bytes(content: bytes, piece: int) -> None:
    assume(not is_packed(content))
    check(content, piece)


@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False, min_value=0.0).map(repr),
        st.from_regex(r"[0-9]{1,25}\.[0-9]{0,25}", fullmatch=True),
        st.from_regex(r"[1-9][0-9]{0,20}[eE][+-]?[1-3]?[0-9]{1,2}", fullmatch=True),
        # Half way between two doubles, where rounding is to even.
        st.integers(2**52, 2**53 - 1).map(lambda m: str(2 * m + 1)),
        st.tuples(st.integers(2**52, 2**53 - 1), st.integers(1, 12)).map(
            lambda p: _exact(*p)
        ),
    )
)
def test_numbers_are_those_of_float(token: str) -> None:
    value = float(token)
    if not math.isfinite(value):
        return
    table = parsed(f"{token} qid:1 1:{token} 2:-{token}".encode(), 1 << 20)
    assert same_bits(table.y, np.array([value]))
    assert same_bits(table.X, np.array([[value, -value]]))


def _exact(mantissa: int, shift: int) -> str:
    """Write (2 mantissa + 1) / 2^shift with all its digits."""
    digits = str((2 * mantissa + 1) * 5**shift).rjust(shift + 1, "0")
    return f"{digits[:-shift]}.{digits[-shift:]}"


def test_many_hard_numbers_in_one_piece() -> None:
    digits = "0.12345678901234567890123"
    lines = [f"{digits} qid:1 1:{digits}1 2:{digits}{i}" for i in range(100)]
    table = parsed("\n".join(lines).encode(), 1 << 20)
    assert table.X[:, 1].tolist() == [float(f"{digits}{i}") for i in range(100)]
    assert set(table.y.tolist()) == {float(digits)}


def test_a_wide_file_whose_beginning_is_narrow() -> None:
    lines = ["1 qid:1 1:1"] * 500 + ["1 qid:2 5000:3 5:NULL"]
    table = parsed("\n".join(lines).encode(), 1 << 10)
    assert table.X.shape == (501, 5000)
    assert table.X[500, 4999] == 3.0
    assert table.missing[4] == 1
    assert not table.dense


def test_zeros_of_a_wide_file_take_no_memory() -> None:
    table = parsed(b"1 qid:1 1000000:1\n" + b"1 qid:1\n" * 500_000, 1 << 20)
    assert isinstance(table.X, SparseRows)
    assert table.X.shape == (500_001, 1)
    assert table.feature_ids.tolist() == [1_000_000]


@given(texts())
def test_round_trip(content: bytes) -> None:
    with TemporaryDirectory() as folder:
        path, copy = Path(folder) / "a.txt", Path(folder) / "b.txt"
        path.write_bytes(content)
        try:
            first = load_letor(path, cache=False)
        except DataError:
            return
        save_letor(first, copy)
        second = load_letor(copy, cache=False)
    assert second.X.tobytes() == first.X.tobytes()
    assert second.y.tobytes() == first.y.tobytes()
    assert second.query_ptr.tolist() == first.query_ptr.tolist()
    assert second.query_ids == first.query_ids
    assert first.sparse or not second.sparse
    assert [c.split() for c in second.comments] == [c.split() for c in first.comments]


def made(**options: object) -> RankingDataset:
    return RankingDataset.from_arrays(
        [[1, 0.1], [-0.0, 1e300]], [2, 0.5], [7, 8], **options
    )  # type: ignore[arg-type]


def test_the_text(tmp_path: Path) -> None:
    save_letor(made(comments=["docid = a", ""]), tmp_path / "a.txt")
    expected = "2 qid:7 1:1 2:0.1 #docid = a\n0.5 qid:8 1:-0 2:1e+300\n"
    assert (tmp_path / "a.txt").read_text() == expected
    save_letor(made(comments=["docid = a", ""]), tmp_path / "a.txt", comments=False)
    assert "docid" not in (tmp_path / "a.txt").read_text()


def test_a_comment_cannot_become_a_line(tmp_path: Path) -> None:
    save_letor(made(comments=["one\n9 qid:1 1:1", "two\r\nthree"]), tmp_path / "a.txt")
    d = load_letor(tmp_path / "a.txt")
    assert list(d.comments) == ["one 9 qid:1 1:1", "two three"]


def test_packed_files_are_the_same_every_time(tmp_path: Path) -> None:
    save_letor(made(), tmp_path / "a.txt.gz")
    content = (tmp_path / "a.txt.gz").read_bytes()
    save_letor(made(), tmp_path / "b.txt.gz")
    assert (tmp_path / "b.txt.gz").read_bytes() == content
    assert gzip.decompress(content).startswith(b"2 qid:7 ")


@pytest.mark.parametrize("query_id", ["a b", "", "a#b", "a\n"])
def test_ids_that_cannot_be_written(tmp_path: Path, query_id: str) -> None:
    d = RankingDataset.from_arrays([[1.0]], [1], [query_id])
    with pytest.raises(OutputError, match=naming("query id")):
        save_letor(d, tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=naming("written")):
        save_letor(made(), tmp_path / "none" / "a.txt")


def test_more_documents_than_are_written_at_once(tmp_path: Path) -> None:
    X = np.random.default_rng(0).random((9000, 2))
    d = RankingDataset.from_arrays(X, np.zeros(9000), np.arange(9000) // 10)
    save_letor(d, tmp_path / "a.txt")
    assert load_letor(tmp_path / "a.txt").X.tobytes() == X.tobytes()


def test_data_that_were_made_without_comments_are_written(tmp_path: Path) -> None:
    ids = np.array([1], dtype=np.int64)
    X, y, ptr = (
        np.array([[0.5], [0.25]]),
        np.array([1.0, 0.0]),
        np.array([0, 2], dtype=np.int64),
    )
    save_letor(
        RankingDataset(X, y, ptr, ("7",), ids, ("feature 1",)), tmp_path / "made.txt"
    )
    assert (tmp_path / "made.txt").read_text() == "1 qid:7 1:0.5\n0 qid:7 1:0.25\n"
