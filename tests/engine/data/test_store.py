"""The store: what comes back is what was put there, whichever block was damaged and whoever wrote it too."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rankstudio.engine.data import store
from rankstudio.engine.data.store import EntryError, NewEntry, StoredEntry

ARRAYS = arrays.arrays(
    st.sampled_from([np.float64, np.int64, np.uint8]),
    st.one_of(
        st.tuples(st.integers(0, 40)), st.tuples(st.integers(0, 40), st.integers(1, 5))
    ),
)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BLOCK", 64)


def written(folder: Path, key: str = "", **arrays: np.ndarray) -> Path:
    with NewEntry(folder, durable=False) as new:
        for name, array in arrays.items():
            new.save(name, array)
        return new.finish({"of": "a test"}, key)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(array=ARRAYS, key=st.sampled_from(["", "key"]))
def test_arrays_come_back_with_the_same_bits(
    tmp_path_factory: pytest.TempPathFactory, array: np.ndarray, key: str
) -> None:
    entry = StoredEntry.open(written(tmp_path_factory.mktemp("store"), key, some=array))
    entry.check()
    assert entry.text == {"of": "a test"}
    for found in (entry.mapped("some"), entry.loaded("some")):
        assert (found.dtype, found.shape, found.tobytes()) == (
            array.dtype,
            array.shape,
            array.tobytes(),
        )


@pytest.mark.parametrize("block", range(5))
def test_damage_is_found_in_its_block_and_only_where_it_is_needed(
    tmp_path: Path, block: int
) -> None:
    array = np.arange(40.0).reshape(20, 2)  # four rows a block
    path = written(tmp_path, some=array)
    file = path / "some.array"
    content = bytearray(file.read_bytes())
    content[64 * block + 5] ^= 16
    file.write_bytes(content)
    entry = StoredEntry.open(path)
    for first in range(0, 20, 4):
        rows = slice(first, first + 4)
        if first == 4 * block:
            with pytest.raises(EntryError, match=f"block {block} is damaged"):
                entry.check(rows=rows)
        else:
            entry.check(rows=rows)
    with pytest.raises(EntryError):
        entry.check()
    with pytest.raises(EntryError):
        entry.loaded("some")
    assert store.is_there(path) and not store.is_whole(path)


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, some=np.zeros(30))
    entry = StoredEntry.open(path)
    entry.check()
    (path / "some.array").write_bytes(np.ones(30).tobytes())
    os.utime(path / "some.array", (1.0, 1.0))
    with pytest.raises(EntryError, match="damaged"):
        entry.check()


@pytest.mark.parametrize("key", ["", "key"])
@pytest.mark.parametrize("damaged", [False, True])
def test_who_comes_second_takes_what_is_there_unless_it_is_damaged(
    tmp_path: Path, key: str, damaged: bool
) -> None:
    array = np.arange(30.0)
    first = written(tmp_path, key, some=array)
    if damaged:
        (first / "some.array").write_bytes(b"")
    assert written(tmp_path, key, some=array) == first
    assert StoredEntry.open(first).loaded("some").tolist() == array.tolist()
    assert [path.name for path in tmp_path.iterdir()] == [first.name]


def test_what_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="enough"), NewEntry(tmp_path) as new:
        new.save("some", np.zeros(3))
        raise ValueError("enough")
    assert list(tmp_path.iterdir()) == []


def test_an_entry_is_found_by_the_arrays_that_are_mapped_from_it(
    tmp_path: Path,
) -> None:
    entry = StoredEntry.open(written(tmp_path, X=np.eye(5), y=np.ones(5)))
    X, y = entry.mapped("X"), entry.mapped("y")
    found = store.entry_of(X=X, y=y)
    assert found is not None and found.path == entry.path
    assert store.entry_of(X=X[:3], y=y) is None
    assert store.entry_of(X=X, y=np.array(y)) is None
    assert store.entry_of(y=X, X=y) is None
