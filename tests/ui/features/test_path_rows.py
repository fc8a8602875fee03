from math import isnan

import numpy as np
import pytest
from PySide6.QtGui import QFontMetrics

from rankstudio.engine.experiment.plan.combinations import ParameterCombination, Unit
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step
from rankstudio.ui.features.features_panel import Arrivals, columns, path_rows
from rankstudio.ui.style.fonts import font

UNIT = Unit(1, 0, ParameterCombination())
IDS = np.array([10, 20, 30, 40])
NAMES = ("ten", "twenty", "thirty", "forty")


def step(number, selected, weights, criterion, before=float("nan")):
    coef = np.zeros(4)
    coef[list(selected)] = weights
    return Step(number, tuple(selected), coef, criterion, np.zeros(0), before=before)


@pytest.fixture
def path():
    steps = (
        step(1, [2], [0.5], 0.9, 1.3),
        step(2, [2, 0], [0.4, -0.2], 0.7, 0.9),
        step(3, [2, 0, 3], [0.3, -0.1, 0.05], 0.65, 0.7),
    )
    unit = Unit(
        1, 0, ParameterCombination({"regularization": 1.0, "pinned": (30,), "banned": (20,)}, values=(1.0,))
    )
    return PathResult(unit, HeldSteps(steps), {"MAP": np.array([0.4, 0.5, 0.45])}, divisor=10)


def test_rows_follow_the_path_and_weights_are_those_of_the_chosen_model(path):
    rows = path_rows(path, IDS, NAMES, "MAP", 1)
    assert [(r.rank, r.feature_id, r.name) for r in rows[:3]] == [
        (1, 30, "thirty"),
        (2, 10, "ten"),
        (3, 40, "forty"),
    ]
    assert [r.weight for r in rows[:2]] == [0.4, -0.2]
    assert isnan(rows[2].weight)
    assert [r.chosen for r in rows] == [True, True, False, False]
    assert [r.gain for r in rows[:3]] == pytest.approx([0.04, 0.02, 0.005])
    assert [r.after for r in rows[:3]] == [0.4, 0.5, 0.45]


def test_pinned_and_banned_features_are_known_and_the_banned_ones_stand_at_the_end(path):
    rows = path_rows(path, IDS, NAMES, "MAP", 2)
    assert [r.pinned for r in rows] == [True, False, False, False]
    assert (rows[-1].rank, rows[-1].feature_id, rows[-1].banned, rows[-1].chosen) == (None, 20, True, False)


def test_a_measure_that_was_not_computed_is_not_invented(path):
    assert all(isnan(r.after) for r in path_rows(path, IDS, NAMES, "P@10", 0))


def test_a_ranker_takes_all_features_at_once_and_they_are_ordered_by_weight():
    path = PathResult(
        Unit(1, 0, ParameterCombination({"regularization": 1.0}, values=(1.0,))),
        HeldSteps((step(1, [0, 1, 2, 3], [0.1, -0.9, 0.5, 0.0], 0.7),)),
        {"MAP": np.array([0.4])},
        divisor=10,
    )
    rows = path_rows(path, IDS, NAMES, "MAP", 0)
    assert [r.feature_id for r in rows] == [20, 30, 10, 40]
    assert all(r.chosen for r in rows)
    assert [isnan(r.after) for r in rows] == [True, True, True, False]
    assert all(isnan(r.gain) for r in rows)


def test_of_iterations_the_last_one_tells_the_features():
    """Earlier iterations use features that the model does not, in an order that means nothing."""
    steps = (
        step(1, [1, 3], [0.5, 0.1], 0.9, 1.3),
        step(2, [2, 0], [0.4, -0.7], 0.7, 0.9),
    )
    measures = {"MAP": np.array([0.4, 0.5])}
    path = PathResult(
        UNIT,
        HeldSteps(steps),
        measures,
        divisor=1,
        step_kind=StepKind.ITERATIONS,
    )
    rows = path_rows(path, IDS, NAMES, "MAP", 1)
    assert [(r.rank, r.feature_id, r.weight) for r in rows] == [(1, 10, -0.7), (2, 30, 0.4)]
    assert [r.chosen for r in rows] == [True, True]
    assert isnan(rows[0].after)
    assert rows[1].after == 0.5


def test_rounds_tell_a_feature_when_it_first_comes():
    steps = (
        step(1, [2], [0.5], 0.9, 1.3),
        step(2, [2], [0.8], 0.7, 0.9),
        step(3, [2, 0], [0.8, 0.2], 0.6, 0.7),
    )
    measures = {"MAP": np.array([0.4, 0.5, 0.6])}
    path = PathResult(UNIT, HeldSteps(steps), measures, divisor=1, step_kind=StepKind.ROUNDS)
    rows = path_rows(path, IDS, NAMES, "MAP", 1)
    assert [(r.rank, r.feature_id, r.chosen) for r in rows] == [(1, 30, True), (2, 10, False)]
    assert [r.after for r in rows] == [0.4, 0.6]
    assert rows[0].weight == 0.8
    assert isnan(rows[1].weight)


def test_features_that_come_together_have_a_rank_each(path):
    steps = (
        step(1, [3, 1], [0.1, -0.6], 0.9, 1.3),
        step(2, [3, 1, 0], [0.1, -0.6, 0.3], 0.7, 0.9),
    )
    several = PathResult(UNIT, HeldSteps(steps), {"MAP": np.array([0.4, 0.5])}, divisor=10)
    rows = path_rows(several, IDS, NAMES, "MAP", 0)
    assert [(r.rank, r.feature_id, r.chosen) for r in rows] == [(1, 20, True), (2, 40, True), (3, 10, False)]


class Column(int):
    """A column's number that counts how often it is looked up in a set."""

    looked_up = 0

    def __hash__(self):
        Column.looked_up += 1
        return hash(int(self))


def test_each_feature_of_a_long_path_is_looked_at_a_few_times():
    """A path has half a million features on its steps where a thousand of them come one by one."""
    n = 200
    columns = tuple(Column(column) for column in range(n))
    steps = tuple(
        Step(k, columns[:k], np.linspace(0.1, 1, n), 1.0 / k, np.zeros(0), before=1.0)
        for k in range(1, n + 1)
    )
    path = PathResult(UNIT, HeldSteps(steps), {"MAP": np.linspace(0, 1, n)}, divisor=10)
    Column.looked_up = 0
    rows = path_rows(path, np.arange(n) + 1, [""] * n, "MAP", n - 1)
    assert [row.feature_id for row in rows] == list(range(1, n + 1))
    assert Column.looked_up <= 6 * n
    arrivals = Arrivals()
    for k in range(1, n + 1):
        grown = PathResult(path.unit, HeldSteps(steps[:k]), {"MAP": np.zeros(k)}, divisor=10)
        assert len(arrivals.of(grown)) == k
    Column.looked_up = 0
    assert path_rows(path, np.arange(n) + 1, [""] * n, "MAP", n - 1, arrivals)[-1].feature_id == n
    assert Column.looked_up <= 4 * n


def test_what_is_known_of_one_path_is_not_taken_for_another(path):
    other = PathResult(
        Unit(1, 1, ParameterCombination()),
        HeldSteps((step(1, [1], [0.1], 0.9, 1.3), step(2, [1, 3], [0.1, 0.2], 0.9, 1.3))),
        {},
        divisor=10,
        step_kind=StepKind.FEATURES,
    )
    last = PathResult(other.unit, other.steps, {}, divisor=1, step_kind=StepKind.ITERATIONS)
    arrivals = Arrivals()
    shown = [
        [row.feature_id for row in path_rows(one, IDS, NAMES, "MAP", len(one.steps) - 1, arrivals)]
        for one in (path, other, path, last, last, other)
    ]
    again = [
        [row.feature_id for row in path_rows(one, IDS, NAMES, "MAP", len(one.steps) - 1)]
        for one in (path, other, path, last, last, other)
    ]
    assert shown == again


def test_the_widest_margin_fits_its_column(app):
    (column,) = (column for column in columns("MAP", with_margin=True) if column.key == "margin")
    texts = [column.format(sign * share) for sign in (1, -1) for share in (1.0, 0.0951, 0.00084, 0.00001)]
    assert [text for text in texts if "0.01" in text] == ["< 0.01 %", "> −0.01 %"]
    padding = 20  # of a cell
    assert max(map(QFontMetrics(font(13)).horizontalAdvance, texts)) + padding <= column.width
