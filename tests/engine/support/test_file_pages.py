"""Pages that are let go are read again, and no longer count as memory of the process."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from rankstudio.engine.support.file_pages import in_file, release


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


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="the system takes no such advice")
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="the system does not tell")
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
