"""The computations of the Evidence page, without the page."""

from __future__ import annotations

from functools import partial

import pytest
from experiment.small import dataset

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.units import fold_context
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.plugins.evidence.selection_evidence import PARTS
from rankstudio.plugins.evidence.window.evidence_tasks import (
    EvidenceTasks,
    EvidenceWanted,
)
from rankstudio.ui.background.tasks import FoldCache


@pytest.mark.parametrize("method", ["greedy-rankrls", "gas"])
def test_evidence_and_changed_sets_of_data_in_shards_never_ask_for_all_documents(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches what would fail where data are larger than the memory limit."""
    data, select = dataset(1), {"regularization": 2.0, "n_features_to_select": 3}
    plan = Plan("small", method, select)
    wanted = EvidenceWanted(
        plan, data.folds[0], (2.0,), (0, 1, 2), 4, PARTS, "MAP", "letor4", 1000, 20.0
    )
    whole = TrainingData.whole

    def found(documents: int) -> list[object]:
        def refusing(self: TrainingData, what: str) -> object:
            assert not self.several, what
            return whole(self, what)

        monkeypatch.setattr(TrainingData, "whole", refusing)
        monkeypatch.setattr(
            fold_context, "TrainingData", partial(TrainingData, documents=documents)
        )
        tasks = EvidenceTasks(FoldCache())
        *_, (_, evidence) = tasks.evidence(wanted, None)
        changes = tasks.set_changes(wanted, (0, 2))
        assert changes is not None
        sets = [
            evidence.done,
            evidence.selected,
            round(changes.criterion, 6),
            changes.without.round(6).tolist(),
        ]
        if method == "greedy-rankrls":
            best = tasks.best_with(wanted, [3], [0])
            *_, sizes = tasks.best_sets(wanted, 2)
            sets += [best.features, sizes.features]
        return [
            *sets,
            [
                (row.probability, row.n_deciding, row.substitute, row.verdict)
                for row in evidence.rows
            ],
        ]

    assert found(30) == found(1 << 16)
