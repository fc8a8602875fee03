"""The smallest set of a path that is not significantly worse, against a search of the path by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.analysis.tried_models.smallest_set import (
    SmallestSet,
    smallest_set,
)
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.steps import Step
from rankstudio.engine.support.frozen_mapping import FrozenMapping

PLAN = Plan("small", parameters={"regularization": (1.0,)})


def path(values: list[float], p_values: list[float] | None) -> PathResult:
    """Return a path of sets of 1, 2, … features with this measure, MAP or Disagreement."""
    steps = tuple(
        Step(k, tuple(range(k)), np.zeros(9), 0.0, np.empty(0))
        for k in range(1, len(values) + 1)
    )
    names = ("MAP", "Disagreement")
    tested = {} if p_values is None else dict.fromkeys(names, np.array(p_values))
    return PathResult(
        Unit(1, 0, PLAN.combinations[0]),
        HeldSteps(steps),
        FrozenMapping(dict.fromkeys(names, np.array(values))),
        1.0,
        p_values=FrozenMapping(tested),
    )


def found(
    values: list[float], p_values: list[float], chosen: int, measure: str = "MAP"
) -> SmallestSet:
    sets = smallest_set(
        PLAN.changed(select_by=measure), path(values, p_values), chosen - 1
    )
    assert sets is not None
    return sets


@given(st.data(), st.sampled_from(["MAP", "Disagreement"]))
def test_it_is_the_first_that_is_not_significantly_worse(
    data: st.DataObject, measure: str
) -> None:
    n = data.draw(st.integers(1, 8))
    values = data.draw(
        st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=n, max_size=n)
    )
    p_values = data.draw(
        st.lists(st.sampled_from([0.01, 0.049, 0.05, 0.6]), min_size=n, max_size=n)
    )
    sign = 1.0 if measure == "MAP" else -1.0
    best = max(range(n), key=lambda index: (sign * values[index], -index))
    p_values[best] = 1.0
    chosen = data.draw(st.integers(1, n))
    sets = found(values, p_values, chosen, measure)
    expected = next(
        index
        for index in range(n)
        if p_values[index] >= 0.05 or sign * values[index] >= sign * values[best]
    )
    assert (sets.best.size, sets.smallest.size, sets.chosen.size) == (
        best + 1,
        expected + 1,
        chosen,
    )
    assert sets.smallest.features == tuple(range(expected + 1))
    assert (sets.smallest.value, sets.smallest.p) == (
        values[expected],
        p_values[expected],
    )
    assert sets.other.size != sets.smallest.size or sets.is_one_set
    assert sets.is_one_set is (len({best + 1, expected + 1, chosen}) == 1)
    assert str(sets.smallest.size) in sets.sentence or chosen == sets.smallest.size


@pytest.mark.parametrize(
    ("chosen", "advice", "other"),
    [
        (4, "smallest k 2 best 4", 4),
        (5, "smallest k 2 best 4", 5),
        (2, "chosen best 4", 4),
        (1, "larger k 2", 1),
    ],
)
def test_the_sentence_says_which_set_to_look_at(
    chosen: int, advice: str, other: int
) -> None:
    sets = found([0.1, 0.3, 0.35, 0.4, 0.38], [0.001, 0.2, 0.3, 1.0, 0.9], chosen)
    assert naming(advice).search(sets.sentence)
    assert sets.other.size == other
    assert not sets.is_one_set


def test_where_every_smaller_set_is_worse_the_best_one_is_to_be_looked_at() -> None:
    values, p_values = [0.1, 0.2, 0.4], [0.001, 0.002, 1.0]
    assert found(values, p_values, 3).is_one_set
    assert naming("chosen best MAP no smaller").search(
        found(values, p_values, 3).sentence
    )
    assert naming("best 3 chosen 1").search(found(values, p_values, 1).sentence)


def test_nothing_is_said_where_nothing_is_tested() -> None:
    assert smallest_set(PLAN, path([0.1, 0.2], None), 0) is None
    assert (
        smallest_set(PLAN.changed(select_by=CRITERION), path([0.1, 0.2], [0.5, 1.0]), 0)
        is None
    )
    assert smallest_set(PLAN, path([float("nan")] * 2, [0.5, 1.0]), 0) is None
