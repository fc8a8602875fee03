"""A method whose measure is the same for every ranking of the training documents says so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import ConstantObjectiveWarning
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import notes_of
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.methods.catalog import methods

LEARNING = [
    m
    for m in methods()
    if "convention" in m.takes and "measure" in {p.name for p in m.parameters}
]


def data(lowest: float) -> FoldedDataset:
    """Return a fold whose training labels are at least so high."""
    fold = make_ranking(10, n_informative=3, n_noise=2, documents=(4, 6)).folds[0]
    train = replace(fold.train, y=np.maximum(fold.train.y, lowest))
    return FoldedDataset("x", None, (replace(fold, train=train),))


@pytest.mark.parametrize("entry", LEARNING, ids=lambda entry: entry.key)
def test_a_constant_objective_is_named(entry) -> None:
    few = {
        "n_restarts": 1,
        "max_iter": 1,
        "n_rounds": 2,
        "patience": 1,
        "subset_size": 1,
    }
    chosen = {p.name: few[p.name] for p in entry.parameters if p.name in few}
    plan = Plan(
        "x", entry.key, parameters={**chosen, "measure": "MAP"}, convention="standard"
    )
    for lowest, is_named in ((0.0, False), (1.0, True)):  # all are relevant: MAP is 1
        result = run_plan(plan, data(lowest))
        kinds = [note.kind for note in notes_of(result.folds[0].paths)]
        assert (ConstantObjectiveWarning in kinds) is is_named
        assert all(
            "MAP" in note.what
            for note in notes_of(result.folds[0].paths)
            if note.kind in kinds[:1]
        )
