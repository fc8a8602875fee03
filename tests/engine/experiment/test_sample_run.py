"""The stored run of the sample, which the window shows at its first start, is what is computed today."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import open_data, run, usual_choices
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.support.resources import resource

ROUNDING = 1e-9
"""Of means over some hundred queries, summed in another order; a swap of two documents changes more."""

MOST_BYTES = 1_500_000


def stored_result() -> RunResult:
    with Study.open(resource("sample", "run.rankstudio"), shared=True) as study:
        (summary,) = study.runs()
        return study.result(summary.key)


@pytest.mark.parametrize(
    "folds", [(1,), pytest.param((2, 3, 4, 5), marks=pytest.mark.thorough)]
)
def test_stored_and_recomputed_results_are_equal(folds: tuple[int, ...]) -> None:
    stored, data = stored_result(), open_data(Plan(SAMPLE))
    plan = usual_choices(Plan(SAMPLE), data, ())
    assert stored.plan == plan, "run packaging/sample_run.py again"
    (event,) = (
        e for e in run(plan.changed(folds=folds), data) if isinstance(e, RunFinished)
    )
    by_number = {fold.fold: fold for fold in stored.folds}
    for now in event.result.folds:
        before = by_number[now.fold]
        assert len(before.paths) == len(now.paths) == len(plan.combinations)
        for old, new in zip(before.paths, now.paths, strict=True):
            assert [step.selected for step in old.steps] == [
                step.selected for step in new.steps
            ]
            assert old.validation.keys() == new.validation.keys()
            for name, values in new.validation.items():
                np.testing.assert_allclose(old.validation[name], values, rtol=ROUNDING)


def test_the_stored_run_is_small_and_leaves_nothing_beside_it() -> None:
    path: Path = resource("sample", "run.rankstudio")
    assert path.stat().st_size < MOST_BYTES
    stored_result()
    assert [neighbour.name for neighbour in path.parent.glob("run.*")] == [path.name]


def test_the_stored_run_is_read_while_another_process_has_it(tmp_path: Path) -> None:
    copy = tmp_path / "run.rankstudio"
    copy.write_bytes(resource("sample", "run.rankstudio").read_bytes())
    with (
        Study.open(copy),
        Study.open(copy, shared=True) as first,
        Study.open(copy, shared=True) as second,
    ):
        assert len(first.runs()) == len(second.runs()) == 1
        with pytest.raises(StoreError):
            first.set_label(first.runs()[0].key, first.label(first.runs()[0].key))
