"""LETOR text read piece by piece is what it is read whole: the same numbers, the same errors."""

from __future__ import annotations

import errno
import gzip
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from unittest import mock

import pytest
from data import letor_strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.data import kept_tables, source_file, store, table_builder
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats import letor as parser
from rankstudio.engine.data.formats.built_in import LETOR
from rankstudio.engine.data.formats.part_reader import read_into_memory, read_to_disk
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import StreamedFile
from rankstudio.engine.data.table import Source, Table
from rankstudio.engine.data.table_builder import PartFiles, TableInMemory, Treatment
from rankstudio.engine.errors import (
    Cancelled,
    DatasetError,
    FileAccessError,
    FormatError,
)
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.memory import within

thorough = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
treatments = st.builds(
    Treatment, st.sampled_from(["query_min", "zero", "refuse"]), st.booleans()
)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))


@contextmanager
def pieces_of(chunk: int, piece: int) -> Iterator[None]:
    """Have text cut into chunks and pieces of so many bytes."""
    with (
        mock.patch.object(source_file, "_PIECE_BYTES", chunk),
        mock.patch.object(source_file.text_chunks, "__defaults__", (chunk,)),
        mock.patch.object(parser, "_PIECE", piece),
    ):
        yield


def letor(paths: tuple[Path, ...], treatment: Treatment) -> PartFiles:
    return PartFiles(paths, LETOR, refuse=treatment.missing == "refuse")


def to_disk(
    paths: tuple[Path, ...], treatment: Treatment, progress: ReadProgress | None = None
) -> tuple[Table, Source]:
    found = read_to_disk(letor(paths, treatment), progress or ReadProgress(), treatment)
    return found.table, found.source


def by_pieces(
    path: Path, treatment: Treatment, chunk: int, piece: int = 7
) -> tuple[Table, Source]:
    with pieces_of(chunk, piece):
        return to_disk((path,), treatment)


def put_together(path: Path, treatment: Treatment, chunk: int, piece: int) -> Table:
    """Read a file piece by piece into memory."""
    part, progress, builder = (
        letor((path,), treatment),
        ReadProgress(),
        TableInMemory(path),
    )
    with pieces_of(chunk, piece), ThreadPoolExecutor(1) as pool:
        return builder.finish(
            parser.read_letor(
                part, [StreamedFile(path, progress, pool)], builder, progress
            )
        )


def treated(table: Table, source: Source | None, treatment: Treatment) -> Table:
    made = RankingDataset.of_table(
        table, source, missing=treatment.missing, normalize=bool(treatment.normalize)
    )
    assert made.X is table.X
    for array in (table.missing, table.file_rows):
        array.flags.writeable = False
    return table


def whole(path: Path, treatment: Treatment) -> tuple[Table, Source]:
    found = read_into_memory(letor((path,), treatment), ReadProgress(), cache=False)
    return treated(found.table, found.source, treatment), found.source


def assert_equal(found: tuple[Table, Source], expected: tuple[Table, Source]) -> None:
    a, b = found[0], expected[0]
    for name in ("X", "y", "query_ptr", "missing", "file_rows"):
        here, there = getattr(a, name), getattr(b, name)
        assert (here.dtype, here.shape) == (there.dtype, there.shape), name
        assert here.tobytes() == there.tobytes(), name
        assert not here.flags.writeable
    assert a.X.flags.c_contiguous
    assert list(a.comments) == list(b.comments)
    assert (a.query_ids, a.dense, a.scattered) == (b.query_ids, b.dense, b.scattered)
    assert found[1] == expected[1]


@thorough
@given(
    content=st.one_of(letor_strategies.texts(), letor_strategies.broken_texts()),
    treatment=treatments,
    chunk=st.integers(1, 200),
    piece=st.integers(1, 60),
    packed=st.booleans(),
)
def test_pieces_give_what_the_whole_gives(
    tmp_path_factory: pytest.TempPathFactory,
    content: bytes,
    treatment: Treatment,
    chunk: int,
    piece: int,
    packed: bool,
) -> None:
    path = tmp_path_factory.mktemp("text") / "train.txt"
    path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    try:
        expected = whole(path, treatment)
    except FormatError as error:
        with pytest.raises(FormatError) as raised:
            by_pieces(path, treatment, max(chunk, 10) if packed else chunk, piece)
        assert (type(raised.value), str(raised.value)) == (type(error), str(error))
        return
    chunk = max(chunk, 10) if packed else chunk
    assert_equal(by_pieces(path, treatment, chunk, piece), expected)
    table = put_together(path, treatment, chunk, piece)
    assert_equal((treated(table, None, treatment), expected[1]), expected)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_table_is_found_again_without_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(
        tmp_path / "train.txt",
        "".join(f"1 qid:{i // 3} 1:{i} 2:0.5 # {i}\n" for i in range(50)),
    )
    monkeypatch.setattr(store, "_MIN_AGE_NANOSECONDS", 0)
    first = by_pieces(path, Treatment(), 64)
    monkeypatch.setattr(StreamedFile, "pieces", None)
    again = by_pieces(path, Treatment(), 64)
    assert_equal(again, first)
    assert all(in_file(array) for array in (again[0].X, again[0].y, again[0].query_ptr))
    with pytest.raises(ValueError, match="read-only"):
        again[0].X[0, 0] = 1.0


def test_a_file_of_another_name_with_the_same_bytes_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f"1 qid:{i // 3} 1:{i} 2:0.5\n" for i in range(50))
    first = by_pieces(write(tmp_path / "train.txt", text), Treatment(), 64)
    monkeypatch.setattr(table_builder.TableOnDisk, "__init__", None)
    again, source = to_disk((write(tmp_path / "b.txt", text),), Treatment())
    assert again.X.tobytes() == first[0].X.tobytes()
    assert source.checksum == first[1].checksum


def test_a_file_that_was_just_changed_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "train.txt", "1 qid:1 1:1\n")
    by_pieces(path, Treatment(), 64)
    write(path, "1 qid:1 1:2\n")
    assert by_pieces(path, Treatment(), 64)[0].X.tolist() == [[2.0]]


def test_a_copied_table_is_believed_by_its_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "train.txt", "1 qid:1 1:1\n0 qid:1 1:3\n")
    by_pieces(path, Treatment(), 64)
    (entry,) = kept_tables.mapped_folder().iterdir()
    for file in entry.glob("*.array"):
        os.utime(file, (1, 1))
    monkeypatch.setattr(table_builder.TableOnDisk, "__init__", None)
    assert by_pieces(path, Treatment(), 64)[0].X.tolist() == [[1.0], [3.0]]
    assert all(file.stat().st_mtime == 1 for file in entry.glob("*.array"))


EMPTY = "feature_ids", "parts"
FILES = [
    "manifest.json",
    *(f"{name}.array" for name in kept_tables.ARRAYS if name not in EMPTY),
]


@pytest.mark.parametrize("file", FILES)
def test_no_damage_of_the_cache_reaches_a_number(
    tmp_path: Path, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sizes and times stay as they were: only what stands in the file is other."""
    lines = "".join(
        f"{i % 3} qid:{(7 * i) % 5} 1:{i} 3:{i * i}.5 # document {i}\n"
        for i in range(40)
    )
    path = write(tmp_path / "train.txt", lines)
    expected = by_pieces(path, Treatment(), 64)[1] and whole(path, Treatment())
    (entry,) = kept_tables.mapped_folder().iterdir()
    content, rng = (entry / file).read_bytes(), Random(0)
    places = {0, 9, 30, len(content) - 1, rng.randrange(len(content))}
    for place in sorted(place for place in places if place < len(content)):
        status = (entry / file).stat()
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.randrange(8)
        (entry / file).write_bytes(damaged)
        os.utime(entry / file, ns=(status.st_atime_ns, status.st_mtime_ns))
        monkeypatch.setattr(store, "_VERIFIED_DIGESTS", {})  # as in another process
        assert_equal(by_pieces(path, Treatment(), 64), expected)
        assert (entry / file).read_bytes() == content or file == "manifest.json"
    (entry / file).unlink()
    assert_equal(by_pieces(path, Treatment(), 64), expected)


def test_ids_that_become_larger_widen_what_was_written(tmp_path: Path) -> None:
    path = write(
        tmp_path / "train.txt",
        "".join(f"1 qid:{i // 4} {i + 1}:1\n" for i in range(40)),
    )
    assert_equal(by_pieces(path, Treatment(), 20), whole(path, Treatment()))


def test_several_files_are_one_text(tmp_path: Path) -> None:
    lines = [
        f"{i % 3} qid:{i // 7} 1:{i} 3:{'NULL' if i % 5 == 1 else i / 7} # {i}\n"
        for i in range(60)
    ]
    paths = tuple(
        write(tmp_path / f"train-{k}.txt", "".join(lines[k * 20 : k * 20 + 20]))
        for k in range(3)
    )
    with pieces_of(50, 9):
        table, source = to_disk(paths, Treatment())
    expected, _ = whole(write(tmp_path / "all.txt", "".join(lines)), Treatment())
    assert table.X.tobytes() == expected.X.tobytes()
    assert (table.query_ids, list(table.comments)) == (
        expected.query_ids,
        list(expected.comments),
    )
    assert source.size == sum(path.stat().st_size for path in paths)
    write(paths[1], lines[0] + "1 qid:9 1:x\n")
    with pytest.raises(FormatError, match=naming("train-1.txt 2 11")):
        to_disk(paths, Treatment())


def test_what_does_not_fit_is_refused_with_what_would_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "".join(f"1 qid:{i % 2} 1:NULL 2:3\n" for i in range(50))
    path = write(tmp_path / "train.txt", text)
    with within(1000), pytest.raises(DatasetError, match=naming("0 3 query file")):
        by_pieces(path, Treatment(), 64)
    path = write(tmp_path / "train.txt", "1 qid:1 1:NULL 2:3\n" * 50)
    with within(1000), pytest.raises(DatasetError, match=naming("50 query documents")):
        by_pieces(path, Treatment(), 64)
    monkeypatch.setattr(store.shutil, "disk_usage", lambda _: SimpleNamespace(free=1e6))
    with pytest.raises(DatasetError, match=naming("2 1.0 MB")):
        by_pieces(path, Treatment(), 64)
    assert list(kept_tables.mapped_folder().iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(table_builder.TableOnDisk, "add", full)
    path = write(tmp_path / "train.txt", "1 qid:1 1:1\n")
    with pytest.raises(FileAccessError, match=naming("No space left on device")):
        by_pieces(path, Treatment(), 64)
    assert list(kept_tables.mapped_folder().iterdir()) == []


def test_stopping_leaves_nothing_behind(tmp_path: Path) -> None:
    path = write(tmp_path / "train.txt", "1 qid:1 1:1\n" * 50)
    asked = iter(range(100))
    progress = ReadProgress(None, lambda: next(asked) > 5, 1000)
    with pieces_of(50, 7), pytest.raises(Cancelled):
        to_disk((path,), Treatment(), progress)
    assert list(kept_tables.mapped_folder().iterdir()) == []


def test_text_of_a_table_that_was_changed_is_not_believed(tmp_path: Path) -> None:
    path = write(tmp_path / "train.txt", "1 qid:17 1:1\n0 qid:17 1:3\n")
    by_pieces(path, Treatment(), 64)
    (entry,) = kept_tables.mapped_folder().iterdir()
    manifest = entry / store.MANIFEST
    for content in (
        manifest.read_text().replace('"17"', '"18"'),
        "[]",
        "{}",
        "x",
        '{"version": 1, "files": 3}',
    ):
        manifest.write_text(content)
        assert by_pieces(path, Treatment(), 64)[0].query_ids == ("17",)


def test_tables_unused_for_longest_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, age in enumerate((9000, 8000, 7000, 10)):
        by_pieces(
            write(tmp_path / "train.txt", f"1 qid:1 1:{number}\n"), Treatment(), 64
        )
        newest = max(
            kept_tables.mapped_folder().iterdir(),
            key=lambda entry: entry.stat().st_mtime,
        )
        os.utime(newest, (time.time() - age,) * 2)
    entries = sorted(
        kept_tables.mapped_folder().iterdir(), key=lambda entry: entry.stat().st_mtime
    )
    free = iter([1e3, 1e3, 1e12])
    monkeypatch.setattr(
        store.shutil, "disk_usage", lambda _: SimpleNamespace(free=next(free, 1e12))
    )
    store.make_room(kept_tables.mapped_folder(), tmp_path, 1e4, "documents")
    assert set(kept_tables.mapped_folder().iterdir()) == set(entries[2:])
    monkeypatch.setattr(store.shutil, "disk_usage", lambda _: SimpleNamespace(free=3e8))
    store.make_room(kept_tables.mapped_folder(), tmp_path, 1e7, "documents")
    assert set(kept_tables.mapped_folder().iterdir()) == set(entries[2:])
    with pytest.raises(DatasetError, match="documents exceed the memory limit"):
        store.make_room(kept_tables.mapped_folder(), tmp_path, 1e9, "documents")
    # which may be in use
    assert set(kept_tables.mapped_folder().iterdir()) == {entries[3]}
