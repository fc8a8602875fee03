"""Whether a measure is the same for every ranking, against all rankings of small queries."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.metrics.constant_measure import is_constant
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.evaluator import Evaluator

QUERIES = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=4),
    min_size=1,
    max_size=3,
)
MEASURES = (
    "MAP",
    "NDCG@10",
    "NDCG@1",
    "P@2",
    "ERR",
    "RR",
    "Recall@1",
    "RPrecision",
    "Success@1",
)


@pytest.mark.parametrize("key", CONVENTIONS)
@given(queries=QUERIES, name=st.sampled_from(MEASURES))
def test_a_measure_is_constant_if_no_ranking_changes_it(
    key: str, queries: list[list[float]], name: str
) -> None:
    y = np.concatenate(queries)
    ptr = np.append(0, np.cumsum([len(labels) for labels in queries]))
    convention = CONVENTIONS[key]
    evaluator = Evaluator(y, ptr, convention, (name,))
    values = set()
    for position, labels in enumerate(queries):
        scores = np.zeros(y.size)
        found = set()
        for order in permutations(range(len(labels))):
            scores[ptr[position] : ptr[position + 1]] = order
            value = evaluator.per_query(scores)
            found.add(round(float(next(iter(value.values()))[position]), 12))
        values.add(len({str(value) for value in found}))
    assert is_constant(y, ptr, name, convention) is (values == {1})
