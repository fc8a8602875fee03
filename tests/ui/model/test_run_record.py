"""A run as the window knows it: what is kept of one that was stopped."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run
from rankstudio.ui.model.run_record import RunRecord


def test_a_stopped_path_is_kept_in_less_memory_with_the_same_bits() -> None:
    dataset = make_ranking(40, n_informative=4, n_redundant=3, n_noise=60)
    plan = Plan("made", parameters={"regularization": (1.0,)})
    record = RunRecord(1, plan, dataset)
    for event in run(plan, dataset):
        record.handle(event)
        if sum(map(len, record.growing.values())) == 30:
            break
    (place,) = record.growing
    before, progress = record.so_far(*place), record.progress
    held = sum(step.coef.nbytes + step.candidates.nbytes for step in before.steps)
    record.pack()
    after = record.so_far(*place)
    assert after is not None and record.progress == progress
    for old, new in zip(before.steps, after.steps, strict=True):
        assert (old.number, old.selected, old.criterion) == (
            new.number,
            new.selected,
            new.criterion,
        )
        np.testing.assert_array_equal(old.coef, new.coef)
        np.testing.assert_array_equal(old.candidates, new.candidates)
    assert sum(rows.n_bytes for rows in after.steps.rows.values()) < 0.75 * held
