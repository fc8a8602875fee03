"""Steps that stand in a file against the same in memory."""

from __future__ import annotations

import gc
import pickle
import tempfile
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiment.small import part

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.experiment import runner
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import LEAVE_QUERY_OUT
from rankstudio.engine.experiment.results.path_steps import (
    FiledSteps,
    HeldSteps,
    StepsFile,
)
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.steps import Step

PLAN = Plan(
    "small",
    "greedy-rankrls",
    {"n_features_to_select": 3, "regularization": (0.5, 2.0)},
    protocol=LEAVE_QUERY_OUT,
    select_by="criterion",
)


def path(K: int, n: int, position: int = 0) -> PathResult:
    rng = np.random.default_rng(position)
    steps = tuple(
        Step(
            k + 1,
            tuple(range(k + 1)),
            rng.normal(size=n),
            float(-k),
            rng.normal(size=n),
        )
        for k in range(K)
    )
    return PathResult(
        Unit(1, position, PLAN.combinations[0]),
        HeldSteps(steps),
        {"MAP": rng.random(K)},
        2.0,
    )


def filed(file: StepsFile, path: PathResult) -> PathResult:
    return replace(path, steps=file.keep(path.steps))


def assert_same_steps(found: PathResult, expected: PathResult) -> None:
    assert len(found.steps) == len(expected.steps)
    for one, other in zip(found.steps, expected.steps, strict=True):
        assert (one.number, one.selected, one.criterion) == (
            other.number,
            other.selected,
            other.criterion,
        )
        for name in ("coef", "candidates"):
            assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
    for name in ("criterion", "sizes", "x_values"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_a_run_that_leaves_queries_out_has_the_same_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = FoldedDataset("small", None, (Fold(1, part(5, 6)),))
    in_file = run_plan(PLAN, data)
    monkeypatch.setattr(runner, "path_keeper", lambda _: lambda path: path)
    kept = run_plan(PLAN, data)
    assert len(in_file.folds) == 6
    for one, other in zip(in_file.folds, kept.folds, strict=True):
        assert all(isinstance(path.steps, FiledSteps) for path in one.paths)
        assert all(isinstance(path.steps, HeldSteps) for path in other.paths)
        for mine, theirs in zip(one.paths, other.paths, strict=True):
            assert_same_steps(mine, theirs)
    assert in_file.average == kept.average


def test_other_protocols_keep_their_steps_in_memory() -> None:
    data = FoldedDataset("small", None, (Fold(1, part(5, 6)),))
    for fold in run_plan(PLAN.changed(protocol="3-fold"), data).folds:
        assert all(isinstance(path.steps, HeldSteps) for path in fold.paths)


def test_steps_are_a_sequence(tmp_path: Path) -> None:
    file, first, second = StepsFile(tmp_path), path(4, 3), path(2, 3, 1)
    kept, other = filed(file, first), filed(file, second)
    assert list(tmp_path.iterdir()) == []  # it has no name
    assert file.keep(kept.steps) is kept.steps
    for _ in range(2):
        assert_same_steps(kept, first)
        assert_same_steps(other, second)
    assert kept.steps[-1].number == 4
    held = kept.steps[-1], other.steps[0]
    for _ in range(2):
        # the objects: steps have no other equality
        assert (kept.steps[-1], other.steps[0]) == held
    assert [step.number for step in kept.steps[1:3]] == [2, 3]
    again = pickle.loads(pickle.dumps(kept))
    assert isinstance(again.steps, HeldSteps)
    assert_same_steps(again, first)


def test_where_the_disk_has_no_room_steps_stay_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, first = StepsFile(tmp_path), path(4, 3)
    kept = filed(file, first)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file, "_write", full)
    second = path(2, 3, 1)
    assert file.keep(second.steps) is second.steps
    assert_same_steps(kept, first)
    nowhere = StepsFile(tmp_path / "none")
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert nowhere.keep(second.steps) is second.steps


def test_memory_does_not_grow_with_steps_times_features(tmp_path: Path) -> None:
    file, K, n, count = StepsFile(tmp_path), 10, 500, 40
    filed(file, path(K, n))
    gc.collect()
    tracemalloc.start()
    try:
        kept = [filed(file, path(K, n, number)) for number in range(count)]
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # Of each path the validation, three arrays of K numbers, and objects; not its 2Kn numbers of 8 bytes.
    assert held < count * (4 * 8 * K + 8_000) < count * 16 * K * n
    assert kept[7].steps[3].coef.size == n
