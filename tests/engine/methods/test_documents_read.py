"""What a method says of how it goes over its documents is what it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.memory_need import DataShape, Reading
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.steps import Step

QUERIES, SIZE, FEATURES = 12, 10, 5

PARAMETERS: list[tuple[str, dict[str, Any]]] = [
    *(
        (entry.key, {})
        for entry in methods()
        if not (entry.lacking or entry.learns_nothing)
    ),
    ("greedy-rankrls", {"algorithm": "rows"}),
    ("greedy-rankrls", {"algorithm": "algorithm1"}),
    ("greedy-rankrls", {"algorithm": "columns"}),
    ("greedy-rankrls", {"search": "floating"}),
    ("greedy-rankrls", {"search": "floating", "algorithm": "columns"}),
    ("greedy-rankrls", {"search": "swap"}),
    ("greedy-rankrls", {"search": "swap", "algorithm": "columns"}),
    ("greedy-rankrls", {"search": "best"}),
    ("greedy-rankrls", {"groups": ((0, 1),)}),
    ("greedy-rankrls", {"fitting": "back"}),
    ("rankrls", {"solver": "cg"}),
    ("rankrls", {"pairs": "all"}),
    ("ranksvm", {"kernel": "rbf", "n_basis": 10}),
    ("rfe", {"ranker": "ranksvm"}),
]


def documents() -> TrainingData:
    rng = np.random.default_rng(0)
    X, ptr = (
        rng.random((QUERIES * SIZE, FEATURES)),
        np.arange(0, QUERIES * SIZE + 1, SIZE),
    )
    y = np.round(2 * X[:, 1] + 0.3 * rng.random(ptr[-1]))
    return TrainingData(
        X, y, ptr, documents=3 * SIZE, validation=rng.random((20, FEATURES))
    )


@pytest.mark.parametrize(("key", "parameters"), PARAMETERS, ids=str)
def test_methods_say_truly_whether_they_look_at_all_documents_at_once(
    key: str, parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def whole(data: TrainingData, what: str) -> QueryData:
        asked.append(what)
        return there(data, what)  # type: ignore[no-any-return]

    there = TrainingData.whole
    monkeypatch.setattr(TrainingData, "whole", whole)
    (entry,) = (one for one in methods() if one.key == key)
    method: LinearRanker = entry.load()(**parameters)
    shape = DataShape(QUERIES * SIZE, FEATURES, QUERIES, 3 * SIZE)
    told: Iterator[Any] = iter(method.work(documents()))
    assert any(isinstance(one, Step) for one in told)
    assert bool(asked) == (method.memory_need(shape).reading is Reading.WHOLE)
