"""Files that would take much more than they are: refused before they do, or read in little memory."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest
from wording import naming

from rankstudio.engine.data import kept_tables
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.errors import DatasetError, FileAccessError, FormatError
from rankstudio.engine.support import memory

MEGABYTE = 1 << 20


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tables"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The parser is there, so that what it takes to compile is not counted."""
    path = tmp_path_factory.mktemp("small") / "a.txt"
    path.write_bytes(b"1 qid:1 1:0.5\n")
    load_letor(path, cache=False)


def peak(path: Path) -> int:
    """Return the memory that reading a file takes at most, where it is refused as no text."""
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=naming("1 column text")):
            load_letor(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_zero_bytes_take_no_more_than_the_file(compiled: None, tmp_path: Path) -> None:
    path = tmp_path / "zeros.txt"
    path.write_bytes(bytes(64 * MEGABYTE))
    assert peak(path) < 80 * MEGABYTE  # it was 9 times the file


def test_what_begins_with_zero_bytes_is_not_read_to_its_end(
    compiled: None, tmp_path: Path
) -> None:
    path = tmp_path / "zeros.txt"
    path.write_bytes(bytes(8 * MEGABYTE))
    read: list[int] = []
    with pytest.raises(FormatError, match="expected text"):
        load_letor(path, progress=lambda done, _: read.append(done))
    assert max(read, default=0) <= 2 * MEGABYTE


def test_packed_zero_bytes_are_not_unpacked_to_their_end(
    compiled: None, tmp_path: Path
) -> None:
    path = tmp_path / "zeros.txt.gz"
    path.write_bytes(gzip.compress(bytes(64 * MEGABYTE)))
    assert peak(path) < 16 * MEGABYTE


def test_a_packed_line_that_does_not_fit_is_refused_while_it_is_unpacked(
    compiled: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lines.txt.gz"
    path.write_bytes(gzip.compress(b"1 qid:1 1:1 #" + b"x" * (64 * MEGABYTE)))
    monkeypatch.setattr(memory, "available", lambda: 8e6)
    tracemalloc.start()
    try:
        with pytest.raises(FileAccessError, match=naming("4.0 MB 8.0")):
            load_letor(path)
        assert tracemalloc.get_traced_memory()[1] < 16 * MEGABYTE
    finally:
        tracemalloc.stop()


def test_packed_lines_are_read_some_at_a_time(compiled: None, tmp_path: Path) -> None:
    path = tmp_path / "lines.txt.gz"
    path.write_bytes(gzip.compress(b"\n" * (64 * MEGABYTE) + b"1 qid:1 1:1\n"))
    tracemalloc.start()
    try:
        assert load_letor(path, cache=False).n_documents == 1
    finally:
        tracemalloc.stop()


def test_lines_and_columns_that_do_not_fit_are_refused_before_they_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "wide.txt"
    path.write_bytes(
        b"1 qid:1"
        + b"".join(b" %d:1" % i for i in range(1, 1001))
        + b"\n"
        + b"1 qid:1 1:1\n" * 499
    )
    monkeypatch.setattr(memory, "available", lambda: 2e6)
    needed = (
        r"500 documents with 1000 features need 0\.0 GB of memory, but 2\.0 MB are free"
    )
    with pytest.raises(DatasetError, match=needed):
        load_letor(path)


def test_the_cache_grows_by_no_more_than_a_multiple_of_the_file(
    tmp_path: Path, folder: Path
) -> None:
    path = tmp_path / "wide.txt"
    # whose zeros are kept, as so few take little memory
    path.write_bytes(b"1 qid:1 5000:1\n" * 100)
    assert load_letor(path).n_features == 5000
    assert not folder.exists()
    path.write_bytes(b"1 qid:1 100:1\n" * 1000)
    load_letor(path)
    (entry,) = folder.iterdir()
    size = sum(file.stat().st_size for file in entry.iterdir())
    assert size < kept_tables.GROWTH * path.stat().st_size + MEGABYTE
