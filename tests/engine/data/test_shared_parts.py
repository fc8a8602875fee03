"""Parts of datasets on the disk, for several processes."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.data import shared_parts as mapped
from rankstudio.engine.data import store
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.store import StoredEntry
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import CacheWarning, FileAccessError, OutputError
from rankstudio.engine.support.memory import within


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "mapped"


def parts(seed: int = 1) -> list[RankingDataset]:
    return list(make_ranking(n_queries=20, seed=seed).folds[0].parts.values())


def test_what_is_kept_comes_back_with_the_same_bits_and_cannot_be_written(
    folder: Path,
) -> None:
    for name, part in zip(mapped.keep(parts()), parts(), strict=True):
        found = mapped.open_kept(folder / name)
        for array in ("X", "y", "query_ptr", "feature_ids"):
            own, other = getattr(found, array), getattr(part, array)
            assert type(own) is np.ndarray
            assert (own.dtype, own.shape, own.tobytes()) == (
                other.dtype,
                other.shape,
                other.tobytes(),
            )
            assert not own.flags.writeable
        assert found.query_ids == part.query_ids
        assert found.feature_names == part.feature_names
        assert isinstance(found.X.base, np.memmap)


def test_equal_parts_are_there_once_and_others_apart(folder: Path) -> None:
    names = mapped.keep([*parts(), *parts(), *parts(seed=2)])
    assert names[:3] == names[3:6]
    assert len(set(names)) == len(list(folder.iterdir())) == 6
    other = parts()[0]
    changed = RankingDataset.from_arrays(other.X, np.roll(other.y, 1), other.qid)
    assert mapped.keep([changed]) != names[:1]


def test_the_oldest_go_first_and_what_is_needed_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, newer, now = (mapped.keep(parts(seed)) for seed in (1, 2, 3))
    for used, names in ((2000.0, old), (3000.0, newer)):
        for name in names:
            os.utime(folder / name, (used, used))
    sizes = {
        place.name: sum(f.stat().st_size for f in place.iterdir())
        for place in folder.iterdir()
    }
    monkeypatch.setattr(store, "LIMIT", sum(sizes[name] for name in (*newer, *now)))
    assert mapped.keep(parts(seed=3)) == now
    assert {place.name for place in folder.iterdir()} == {*newer, *now}
    monkeypatch.setattr(store, "LIMIT", 0)
    assert mapped.keep(parts(seed=3)) == now
    assert {place.name for place in folder.iterdir()} == set(now)


def test_a_file_among_the_parts_is_let_be(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("somebody's")
    (name,) = mapped.keep(parts()[:1])
    assert {place.name for place in folder.iterdir()} == {name, "notes.txt"}


def test_a_part_can_be_sent_to_another_folder(folder: Path) -> None:
    names = mapped.keep(parts())
    sent = {name: StoredEntry.open(folder / name).files() for name in names}
    before = [mapped.open_kept(folder / name).X.copy() for name in names]
    shutil.rmtree(folder)
    for name in names:
        mapped.unpack(name, sent[name])
        mapped.unpack(name, sent[name])  # as another worker of that machine does
    for name, X in zip(names, before, strict=True):
        assert (mapped.open_kept(folder / name).X == X).all()
    assert len(list(folder.iterdir())) == len(names)


def test_what_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(FileAccessError, match=naming(f"{folder / 'none'}")):
        mapped.open_kept(folder / "none")


@pytest.mark.parametrize("file", ["X", "y", "query_ptr", "feature_ids", "manifest"])
@pytest.mark.parametrize("how", ["a bit", "zeros", "cut", "empty", "longer", "gone"])
def test_a_damaged_part_is_not_opened_and_is_written_anew(
    folder: Path, file: str, how: str
) -> None:
    (name, *_) = mapped.keep(parts()[:1])
    path = folder / name / (f"{file}.json" if file == "manifest" else f"{file}.array")
    content = path.read_bytes()
    flipped = bytes([content[-1] ^ 1])
    damaged = {
        "a bit": content[:-1] + flipped,
        "zeros": bytes(len(content)),
        "cut": content[: len(content) // 2],
        "empty": b"",
        "longer": content + b"0",
    }
    path.unlink()
    if how in damaged:
        path.write_bytes(damaged[how])
    with pytest.raises(FileAccessError, match=naming(f"{name}")):
        mapped.open_kept(folder / name)
    assert mapped.keep(parts()[:1]) == [name]
    assert path.read_bytes() == content
    assert mapped.open_kept(folder / name).X.tobytes() == parts()[0].X.tobytes()
    assert [place.name for place in folder.iterdir()] == [name]


def test_a_damaged_part_is_replaced_by_the_one_that_is_sent(folder: Path) -> None:
    (name, *_) = mapped.keep(parts()[:1])
    sent = StoredEntry.open(folder / name).files()
    (folder / name / "X.array").write_bytes(b"")
    mapped.unpack(name, sent)
    assert StoredEntry.open(folder / name).files() == sent


def test_rows_are_checked_before_they_are_first_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "BLOCK", 64)
    (part, *_) = parts()
    (name,) = mapped.keep([part])
    path = folder / name / "X.array"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    kept, n = mapped.KeptPart(folder / name), part.n_documents
    assert kept.dataset().y.tolist() == part.y.tolist()
    kept.check(slice(0, n - 1 - 64 // (8 * part.n_features)))
    for rows in (slice(n - 1, n), slice(0, n), None):
        with pytest.raises(FileAccessError, match=name):
            kept.check(rows)
    path.write_bytes(part.X.tobytes())
    kept.check()


def test_a_part_under_the_name_of_another_is_not_opened(folder: Path) -> None:
    (one, other, _) = mapped.keep(parts())
    shutil.rmtree(folder / one)
    (folder / other).rename(folder / one)
    with pytest.raises(FileAccessError, match=one):
        mapped.open_kept(folder / one)


def test_a_part_is_read_once_and_again_when_a_file_has_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (name, *_) = mapped.keep(parts()[:1])
    mapped.open_kept(folder / name)
    read_block, hashed = StoredEntry._read_block, []
    monkeypatch.setattr(
        StoredEntry, "_read_block", lambda *args: hashed.append(1) or read_block(*args)
    )
    for _ in range(3):
        mapped.open_kept(folder / name)
    assert not hashed
    path = folder / name / "X.array"
    os.utime(path, (1.0, 1.0))
    mapped.open_kept(folder / name)
    assert len(hashed) == 1


def test_what_is_written_is_on_the_disk_before_it_has_its_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, synced = os.fsync, []

    def watched(handle: int) -> None:
        synced.append(
            sum(not place.name.startswith("new-") for place in folder.iterdir())
        )
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    mapped.keep(parts()[:1])
    assert synced == [0] * 6 + [1] if os.name == "posix" else [0] * 6


def test_where_the_cache_cannot_be_written_a_temporary_folder_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(CacheWarning, match=re.escape(str(tmp_path / "file"))) as warned:
        names = mapped.keep(parts())
        assert mapped.keep(parts()) == names
    assert len(warned) == 1
    assert store.scratch_folder().stat().st_mode & 0o077 == 0
    for name, part in zip(names, parts(), strict=True):
        assert (
            mapped.open_kept(store.scratch_folder() / name).X.tobytes()
            == part.X.tobytes()
        )
    assert (tmp_path / "file").read_text() == "in the way"


def test_where_nothing_at_all_can_be_written_a_sentence_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(OutputError, match=naming("mapped")):
        mapped.keep(parts())


def test_a_part_that_is_mapped_already_is_linked_and_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "train.txt").write_text(
        "1 qid:1 1:1 2:0.5\n0 qid:1 1:2 2:NULL\n1 qid:2 1:1 2:3\n"
    )
    with within(200.0):
        data = open_dataset(tmp_path / "train.txt").folds[0].train
    (name,) = mapped.keep([data])
    place = store.scratch_folder() / name
    assert (place / "X.array").stat().st_nlink == 2
    assert mapped.keep([data]) == [name]
    opened = mapped.open_kept(place)
    assert opened.X.tobytes() == data.X.tobytes()
    assert (opened.query_ids, opened.feature_names) == (
        data.query_ids,
        data.feature_names,
    )
    (renamed,) = mapped.keep([replace(data, feature_names=("a", "b"))])
    assert renamed != name
    assert mapped.open_kept(store.scratch_folder() / renamed).feature_names == (
        "a",
        "b",
    )
    content = StoredEntry.open(place).files()
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "elsewhere"))
    mapped.unpack(name, content)
    assert (
        mapped.open_kept(store.scratch_folder() / name).X.tobytes() == data.X.tobytes()
    )
    damaged = {**content, "X.array": content["X.array"][:-1] + b"\1"}
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "third"))
    mapped.unpack(name, damaged)
    assert not store.is_whole(store.scratch_folder() / name)
    half = replace(
        data, X=data.X[:2], y=data.y[:2], query_ptr=data.query_ptr[:2], query_ids=("1",)
    )
    (copied,) = mapped.keep([half])
    assert (store.scratch_folder() / copied / "X.array").stat().st_nlink == 1
