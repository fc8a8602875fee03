"""What is written reads back as the same bits."""

from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from data.letor_strategies import texts
from hypothesis import given
from wording import naming

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.errors import DataError, OutputError


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


def data(**options: object) -> RankingDataset:
    return RankingDataset.from_arrays([[1, 0.1], [-0.0, 1e300]], [2, 0.5], [7, 8], **options)  # type: ignore[arg-type]


def test_the_text(tmp_path: Path) -> None:
    save_letor(data(comments=["docid = a", ""]), tmp_path / "a.txt")
    expected = "2 qid:7 1:1 2:0.1 #docid = a\n0.5 qid:8 1:-0 2:1e+300\n"
    assert (tmp_path / "a.txt").read_text() == expected
    save_letor(data(comments=["docid = a", ""]), tmp_path / "a.txt", comments=False)
    assert "docid" not in (tmp_path / "a.txt").read_text()


def test_a_comment_cannot_become_a_line(tmp_path: Path) -> None:
    save_letor(data(comments=["one\n9 qid:1 1:1", "two\r\nthree"]), tmp_path / "a.txt")
    d = load_letor(tmp_path / "a.txt")
    assert list(d.comments) == ["one 9 qid:1 1:1", "two three"]


def test_packed_files_are_the_same_every_time(tmp_path: Path) -> None:
    save_letor(data(), tmp_path / "a.txt.gz")
    content = (tmp_path / "a.txt.gz").read_bytes()
    save_letor(data(), tmp_path / "b.txt.gz")
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
        save_letor(data(), tmp_path / "none" / "a.txt")


def test_more_documents_than_are_written_at_once(tmp_path: Path) -> None:
    X = np.random.default_rng(0).random((9000, 2))
    d = RankingDataset.from_arrays(X, np.zeros(9000), np.arange(9000) // 10)
    save_letor(d, tmp_path / "a.txt")
    assert load_letor(tmp_path / "a.txt").X.tobytes() == X.tobytes()


def test_data_that_were_made_without_comments_are_written(tmp_path: Path) -> None:
    ids = np.array([1], dtype=np.int64)
    X, y, ptr = np.array([[0.5], [0.25]]), np.array([1.0, 0.0]), np.array([0, 2], dtype=np.int64)
    save_letor(RankingDataset(X, y, ptr, ("7",), ids, ("feature 1",)), tmp_path / "made.txt")
    assert (tmp_path / "made.txt").read_text() == "1 qid:7 1:0.5\n0 qid:7 1:0.25\n"
