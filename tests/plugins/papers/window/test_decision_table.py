"""The table *thresholds* of the folds, against the engine's own rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from PySide6.QtWidgets import QWidget

from rankstudio.engine import Plan, load_sample, run_plan
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.plugins.papers.decision_thresholds import decision_rows, run_decisions
from rankstudio.ui.compare.folds_view import FoldsView, rows_of
from rankstudio.ui.style.theme import Theme


@cache
def run_of_sample() -> RunResult:
    plan = Plan("sample", "rankrls", {"regularization": (4.0,)}, folds=(1, 2))
    return run_plan(plan, load_sample())


@pytest.fixture
def view(theme: Theme, stage: Callable[..., QWidget]) -> FoldsView:
    return stage(FoldsView(theme), 900, 300)


def test_decisions_are_those_of_the_engine(view: FoldsView) -> None:
    run = run_of_sample()
    table = view.tables["thresholds"]
    view.show_table(table, "run 1", rows_of(table, run, load_sample(), sealed=False))
    expected = decision_rows(run_decisions(run, load_sample(), sealed=False))
    shown = [
        (row.label, row.fold, row.values["rule"], row.values["f"])
        for row in view.table.rows()
    ]
    assert shown == [
        (row.label, row.fold, row.rule, row.decision.f) for row in expected
    ]
    assert [row.values["difference"] for row in view.table.rows()] == [
        row.difference for row in expected
    ]
    assert [column.key for column in view.table.rows_model.columns[1:3]] == [
        "rule",
        "threshold",
    ]
    assert view.sentence.text() and view.caption() == "run 1"


def test_what_has_no_decisions_says_why(view: FoldsView) -> None:
    table = view.tables["thresholds"]
    sample = load_sample()
    trained_only = FoldedDataset(
        "Sample", None, tuple(Fold(one.number, one.train) for one in sample.folds)
    )
    reason = rows_of(table, run_of_sample(), trained_only, sealed=False)
    assert isinstance(reason, str)
    view.show_table(table, "run 1", reason)
    assert view.table.rows() == [] and reason in view.caption()
