"""The view *cascades* of the page *Compare*, against the engine's own cascades."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from PySide6.QtWidgets import QWidget
from wording import naming

from rankstudio.engine import Plan, load_sample, run_plan
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.support.work import finish
from rankstudio.plugins.search_engines.cascades import find_cascades
from rankstudio.plugins.search_engines.window.cascade_view import (
    CascadeView,
    found_cascades,
)
from rankstudio.ui.compare.panel import ResultsPanel
from rankstudio.ui.style.theme import Theme

COSTS = FeatureCosts(
    tuple((i, 0.01, float(i % 3)) for i in load_sample().feature_ids.tolist()), 20.0
)


@cache
def run_of_sample() -> RunResult:
    return run_plan(
        Plan("sample", "greedy-rankrls", {"n_features_to_select": 5}, folds=(1,)),
        load_sample(),
    )


@pytest.fixture
def view(theme: Theme, stage: Callable[..., QWidget]) -> CascadeView:
    return stage(CascadeView(theme), 900, 500)


def test_the_best_cascade_within_a_budget_is_marked(view: CascadeView) -> None:
    run, data = run_of_sample(), load_sample()
    view.show_cascades("run 1", 1, found_cascades(run, data, COSTS, "MAP"))
    expected = finish(find_cascades(run, data, COSTS, "MAP", sealed=True)).cascades
    assert [row.cascade for row in view.table.rows()] == list(expected)
    first, last = expected[0], expected[-1]
    assert f"{last.validation:.4f}" in view.sentence.text()
    view.budget.setValue(first.milliseconds + 1e-3)
    assert f"{first.validation:.4f}" in view.sentence.text()
    view.budget.setValue(1e-3)
    assert naming("budget cheapest").search(view.sentence.text())


def test_it_is_a_part_of_its_tab_while_a_run_has_costs(
    theme: Theme, stage: Callable[..., QWidget]
) -> None:
    panel = stage(ResultsPanel(theme), 900, 500)
    assert [key for key, _ in panel._part.options()] == []
    panel.offer("cascades", True)
    assert [key for key, _ in panel._part.options()] == ["pareto", "cascades"]
    panel.show_view("cascades")
    assert panel.view() is panel.contributed["cascades"]
    assert not panel.contributed["cascades"].is_offered(None)
