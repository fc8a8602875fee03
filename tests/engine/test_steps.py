"""The steps of a path, kept together, are the steps that they were."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.experiment.results.path_steps import HeldSteps, packed
from rankstudio.engine.methods.selection.fsmrank import FSMStep
from rankstudio.engine.steps import Step
from rankstudio.engine.support.packed_rows import packed_rows


def path(n: int = 30) -> list[Step]:
    rng = np.random.default_rng(0)
    data = QueryData(
        rng.random((60, n)), rng.integers(0, 3, 60).astype(float), np.arange(0, 61, 10)
    )
    return [
        step for step in GreedyRankRLS(None, 1.0).work(data) if isinstance(step, Step)
    ]


def assert_same(found: Step, expected: Step) -> None:
    assert type(found) is type(expected)
    for field in fields(expected):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()
        else:
            assert repr(one) == repr(other)  # NaN is NaN
            assert type(one) is type(other)


@pytest.mark.parametrize(
    "way",
    [
        lambda steps: steps,
        lambda s: pickle.loads(pickle.dumps(s)),
        copy.deepcopy,
        packed,
    ],
)
def test_a_path_kept_together_is_the_same_path(way) -> None:
    steps = path()
    kept = way(packed(steps))
    assert len(kept) == len(steps)
    for found, expected in zip(kept, steps, strict=True):
        assert_same(found, expected)
        assert found.n_selected == expected.n_selected == len(expected.selected)
        assert_same(copy.copy(found), expected)
        assert_same(replace(found, number=expected.number), expected)


def test_it_takes_less_memory_and_what_is_asked_for_is_nobody_elses() -> None:
    steps = path()
    kept = packed(steps)
    kept[5].coef[:] = 7.0
    assert_same(kept[5], steps[5])
    n = steps[0].coef.size
    assert kept.rows.keys() == {"selected", "coef", "candidates"}
    held = sum(rows.n_bytes for rows in kept.rows.values())
    # Half of the weights and of the candidates, a bit for each, the selections, where rows begin, headers.
    assert held <= 8 * n * (n + 1) + 2 * n * -(-n // 8) + n + 4 * 8 * (n + 1) + 9 * 112


def test_a_step_that_somebody_has_is_that_step() -> None:
    kept = packed(path())
    held = kept[3]
    assert kept[3] is held is kept[3:5][0] is [*kept][3]
    assert kept[-1].number == len(kept)
    assert kept.position(4) == 3
    with pytest.raises(IndexError):
        _ = kept[len(kept)]
    with pytest.raises(ValueError):
        kept.position(len(kept) + 1)


def test_what_curves_need_makes_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = path()
    kept = packed(steps)
    monkeypatch.setattr(HeldSteps, "_make_step", None)
    assert kept.numbers.tolist() == [step.number for step in steps]
    assert kept.criteria.tolist() == [step.criterion for step in steps]
    assert kept.sizes.tolist() == [len(step.selected) for step in steps]
    assert kept.gains.tolist() == [step.before - step.criterion for step in steps]


def test_attributes_stay_frozen() -> None:
    kept = packed(path())[3]
    with pytest.raises(FrozenInstanceError):
        kept.coef = np.zeros(3)  # type: ignore[misc]


def test_what_a_method_shares_between_its_steps_is_not_copied() -> None:
    shared, full = np.arange(40.0), np.arange(1.0, 41.0)
    kept = packed([Step(k, tuple(range(40)), full, 0.0, shared) for k in (1, 2, 3)])
    assert all(step.candidates is shared and step.coef is full for step in kept)
    assert len(packed([])) == 0


def test_candidates_that_paths_share_stay_shared() -> None:
    rows = [np.where(np.arange(40) < k, np.nan, 0.1) for k in range(5)]
    compared = {"candidates": packed_rows(rows, np.nan)}
    plain = [
        FSMStep(k + 1, tuple(range(k)), np.zeros(40), 0.0, rows[k], 2.0)
        for k in range(5)
    ]
    first, second = (packed(plain, compared) for _ in range(2))
    assert first.rows["candidates"] is second.rows["candidates"]
    for found, expected in zip(second, plain, strict=True):
        assert_same(found, expected)
