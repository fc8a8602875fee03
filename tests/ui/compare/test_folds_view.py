"""The folds of a run, also where no part of them was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from experiment.runs import fold
from PySide6.QtWidgets import QWidget

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.compare.folds_view import FoldsView
from rankstudio.ui.style.theme import Theme


@pytest.fixture
def view(theme: Theme, stage: Callable[..., QWidget]) -> FoldsView:
    made = FoldsView(theme)
    stage(made, 900, 300)
    return made


def test_a_fold_without_measured_parts_is_shown_when_it_is_done(view: FoldsView) -> None:
    plan = Plan(data="one file")
    view.show_run("run 1", plan, ())
    assert not view.table.rows_model.columns
    done = replace(fold(1, [0.5], (1, 2)), validation={}, test={})
    for _ in range(2):  # once more as each part of the run is finished
        view.show_run("run 1", plan, [done])
    assert [column.key for column in view.table.rows_model.columns][:1] == ["label"]
    assert view.table.rows()[0].size == 2
