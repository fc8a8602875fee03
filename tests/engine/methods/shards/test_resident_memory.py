"""Learning from data on the disk keeps little of them in memory: what the budget says, and some shards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROC = Path("/proc/self")

LEARNING = """
import sys
from pathlib import Path
import numpy as np
from rankstudio.engine import GreedyRankRLS, RankRLS
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.methods.left_out import measured_left_out
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import finish
from rankstudio.engine.support import memory, threads

def kilobytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))

def last(method, rows):
    data = TrainingData(X[:rows], y[:rows], ptr[ptr <= rows], documents=4000)
    *_, step = (told for told in method.work(data) if isinstance(told, Step))
    scorer = finish(method.left_out_scorer(data, step.selected))
    finish(measured_left_out(data, scorer, "letor4", ("MAP", "NDCG@10")))

X = np.load(sys.argv[1], mmap_mode="r")
y, ptr = np.arange(X.shape[0]) % 5.0, np.arange(0, X.shape[0] + 1, 100)
methods = GreedyRankRLS(4, algorithm=sys.argv[2]), RankRLS()
with memory.within(60e6), threads.at_most(2):
    for method in methods:
        last(method, 12_000)  # what numba and BLAS take is not counted
    before = kilobytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    for method in methods:
        last(method, X.shape[0])
print(kilobytes("VmHWM") - before)
"""


def resettable() -> bool:
    """Whether a process can begin its peak of resident memory anew."""
    try:
        (PROC / "clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return (PROC / "status").exists()


@pytest.mark.parametrize("algorithm", ["statistics", "rows"])
def test_a_part_of_mapped_data_is_resident(algorithm: str, tmp_path: Path) -> None:
    if not resettable():
        pytest.skip("the system does not say how much memory is resident")
    m, n = 180_000, 136
    X = np.lib.format.open_memmap(
        tmp_path / "X.npy", mode="w+", dtype=np.float64, shape=(m, n)
    )
    some = np.random.default_rng(0).standard_normal((10_007, n))
    for first in range(0, m, 10_007):
        X[first : first + 10_007] = some[: m - first]
    del X
    command = [sys.executable, "-c", LEARNING, str(tmp_path / "X.npy"), algorithm]
    grown = 1024 * int(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout
    )
    # Of 196 MB of features and, by statistics, 270 MB of Gram matrices: 20 MB of states, and for each of two
    # threads (and one shard that waits to be added) a shard, a centred part of it, and its mapped states.
    assert grown < 120e6
