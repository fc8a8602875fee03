"""Pages that are let go are read again, and no longer count as memory of the process."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from rankstudio.engine.support.file_pages import (
    empty_in_file,
    in_file,
    joined_rows,
    release,
    taken_rows,
)


def resident() -> int:
    """Return how many bytes of files this process has mapped and read."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssFile"):
            return 1024 * int(line.split()[1])
    raise AssertionError("RssFile")


def test_rows_of_a_mapped_matrix_are_let_go_and_read_again(tmp_path: Path) -> None:
    values = np.random.default_rng(0).random((70_000, 20))
    np.save(tmp_path / "X.npy", values)
    rows = np.load(tmp_path / "X.npy", mmap_mode="r")[1_001:69_000]
    assert in_file(rows) and not in_file(values)
    total = rows.sum()
    release(rows)
    release(values)  # which is nothing to let go
    assert rows.sum() == total


@pytest.mark.skipif(
    not hasattr(mmap, "MADV_DONTNEED"), reason="the system takes no such advice"
)
@pytest.mark.skipif(
    not Path("/proc/self/status").is_file(), reason="the system does not tell"
)
def test_they_no_longer_count_as_memory(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.ones((200_000, 20)))  # 32 MB
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    X.sum()
    before = resident()
    release(X)
    assert before - resident() > 0.9 * X.nbytes


def test_what_was_written_to_a_file_of_stays(tmp_path: Path) -> None:
    array = np.memmap(tmp_path / "numbers", np.float64, "w+", shape=(5_000, 3))
    array[:] = 7.0
    release(array)
    assert (array == 7.0).all()


def test_rows_that_are_taken_of_a_file_are_in_a_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.random((300_000, 20))
    np.save(tmp_path / "X.npy", values)
    rows = np.flatnonzero(rng.random(300_000) < 0.4)
    taken = taken_rows(np.load(tmp_path / "X.npy", mmap_mode="r"), rows, tmp_path)
    assert in_file(taken)
    assert np.array_equal(taken, values[rows])
    # the file has no name
    assert [path.name for path in tmp_path.iterdir()] == ["X.npy"]


def test_an_array_in_a_file_keeps_what_is_written(tmp_path: Path) -> None:
    array = empty_in_file((700, 3), tmp_path)
    array[:] = 5.0
    release(array)
    assert (array == 5.0).all()


def test_matrices_are_joined_in_a_file(tmp_path: Path) -> None:
    parts = [np.random.default_rng(i).random((90_000 + i, 20)) for i in range(4)]
    joined = joined_rows(parts, tmp_path)
    assert in_file(joined)
    assert np.array_equal(joined, np.concatenate(parts))
