"""The cache: fast when it fits, silent when it does not, never believed without proof."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankstudio.engine.data import kept_tables, store
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats import letor
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.data.table_builder import PartFiles
from rankstudio.engine.errors import Cancelled

TEXT = (
    b"2 qid:b 1:0.1 3:-0 # first\n0 qid:a 2:NULL 3:3\n1 qid:b 1:1e-9 2:4 # \xe9\n" * 3
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "tables"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT)
    return path


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were parsed rather than found in the cache."""
    seen: list[Path] = []
    read = letor.read_letor

    def spy(part: PartFiles, *rest: Any) -> object:
        seen.extend(part.paths)
        return read(part, *rest)

    monkeypatch.setattr(letor, "read_letor", spy)
    return seen


def equal(a: RankingDataset, b: RankingDataset) -> bool:
    arrays = ("X", "y", "query_ptr", "missing", "feature_ids", "file_rows")
    same = all(
        getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in arrays
    )
    fields = ("query_ids", "feature_names", "warnings", "sparse", "source")
    return (
        same
        and all(getattr(a, f) == getattr(b, f) for f in fields)
        and list(a.comments) == list(b.comments)
    )


def entry(folder: Path) -> Path:
    (only,) = folder.iterdir()
    return only


def test_the_second_time_gives_the_same_without_parsing(
    path: Path, parses: list[Path]
) -> None:
    first = load_letor(path)
    second = load_letor(path)
    assert parses == [path]
    assert equal(first, second)
    assert not second.X.flags.writeable
    assert equal(second, load_letor(path, cache=False))


def test_one_entry_serves_all_policies(path: Path, parses: list[Path]) -> None:
    load_letor(path)
    for options in (
        {"missing": "zero"},
        {"normalize": "query_minmax"},
        {"n_features": 7},
    ):
        assert equal(
            load_letor(path, **options), load_letor(path, cache=False, **options)
        )
    assert len(parses) == 1 + 3


def test_a_cached_file_opens_without_numba(path: Path, folder: Path) -> None:
    load_letor(path)
    code = (
        "import sys; from rankstudio.engine.data.formats.data_file import load_letor; "
        f"load_letor({str(path)!r}); sys.exit('numba' in sys.modules)"
    )
    environment = os.environ | {"RANKSTUDIO_CACHE_DIR": str(folder.parent)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_another_name_with_the_same_contents_is_the_same_entry(
    path: Path, parses: list[Path]
) -> None:
    load_letor(path)
    copy = path.with_name("b.txt")
    copy.write_bytes(TEXT)
    d = load_letor(copy)
    assert parses == [path]
    assert str(copy) in d.warnings[0]


def test_contents_that_change_behind_the_same_size_and_time_are_noticed(
    path: Path,
) -> None:
    load_letor(path)
    status = path.stat()
    path.write_bytes(TEXT.replace(b"1:0.1", b"1:0.2"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert load_letor(path).X[0, 0] == 0.2


EMPTY = "feature_ids", "parts"
FILES = [
    "manifest.json",
    *(f"{name}.array" for name in kept_tables.ARRAYS if name not in EMPTY),
]


@pytest.mark.parametrize("file", FILES)
def test_every_damage_is_noticed_and_mended(
    path: Path, folder: Path, parses: list[Path], file: str
) -> None:
    good = load_letor(path)
    whole = (entry(folder) / file).read_bytes()
    rng = np.random.default_rng(0)
    half, zero = len(whole) // 2, b"\0"
    damages = [
        None,
        b"",
        b"x",
        whole[:-1],
        whole[:half],
        whole + zero,
        whole[4:],
        b"\1" * len(whole),
    ]
    for at in rng.integers(0, len(whole), 6).tolist():
        flipped = bytearray(whole)
        flipped[at] ^= 1 << int(rng.integers(8))
        damages.append(bytes(flipped))
    for damage in damages:
        (entry(folder) / file).unlink()
        if damage is not None:
            (entry(folder) / file).write_bytes(damage)
        before = len(parses)
        assert equal(load_letor(path), good)
        assert len(parses) == before + 1
        assert (entry(folder) / file).read_bytes() == whole


def test_an_entry_of_another_file_or_version_is_not_believed(
    path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, parses: list[Path]
) -> None:
    load_letor(path)
    other = path.with_name("other.txt")
    other.write_bytes(b"1 qid:1 1:1\n")
    first = entry(folder)
    load_letor(other)
    (second,) = set(folder.iterdir()) - {first}
    shutil.rmtree(second)
    shutil.copytree(first, second)
    assert load_letor(other).n_documents == 1
    monkeypatch.setattr(kept_tables, "PARSER_VERSION", kept_tables.PARSER_VERSION + 1)
    load_letor(path)
    assert parses == [path, other, other, path]


def test_a_cache_that_cannot_be_written_is_no_matter(
    path: Path, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder.parent.mkdir()
    folder.write_text("a file where the folder should be")
    with caplog.at_level("DEBUG", logger=kept_tables.__name__):
        assert load_letor(path).n_documents == 9
    assert "was not written" in caplog.text


def test_nothing_half_written_is_left(
    path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", fail)
    assert load_letor(path).n_documents == 9
    assert list(folder.iterdir()) == []


def test_what_was_half_written_goes_when_it_is_a_day_old(
    path: Path, folder: Path
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("new-old", "new-now"):
        (folder / name).mkdir()
    os.utime(folder / "new-old", (0, 0))
    load_letor(path)
    assert len(list(folder.iterdir())) == 2
    assert not (folder / "new-old").exists()


def test_the_entries_unused_for_longest_go_first(tmp_path: Path, folder: Path) -> None:
    paths = []
    for i in range(4):
        path = tmp_path / f"{i}.txt"
        path.write_bytes(b"1 qid:1 1:%d\n" % i)
        load_letor(path)
        (new,) = set(folder.iterdir()) - set(paths)
        paths.append(new)
    now = time.time()
    for i, age in enumerate((40, 30, 20, 10)):
        os.utime(paths[i], (now - age, now - age))
    load_letor(tmp_path / "0.txt")  # used, so young again
    store.prune(folder, 2 * sum(file.stat().st_size for file in paths[0].iterdir()))
    assert set(folder.iterdir()) == {paths[0], paths[3]}


def test_files_beyond_the_limit_are_not_kept(
    path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LIMIT", 100)
    load_letor(path)
    assert not folder.exists()


def test_the_users_own_folder_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANKSTUDIO_CACHE_DIR")
    assert "rankstudio" in kept_tables.parsed_folder().parts


def test_cancelling_at_any_moment_leaves_no_half_of_an_entry(
    path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "BLOCK", 1 << 14)
    path.write_bytes(TEXT * 700)
    finished = False
    for step in range(1000):
        asked: list[int] = []

        def cancelled(asked: list[int] = asked, step: int = step) -> bool:
            asked.append(1)
            return len(asked) > step

        try:
            load_letor(path, cancelled=cancelled)
            finished = True
            break
        except Cancelled:
            entries = list(folder.iterdir()) if folder.exists() else []
            assert len(entries) <= 1
            assert not any(e.name.startswith("new-") for e in entries)
    assert finished
    assert equal(load_letor(path), load_letor(path, cache=False))
