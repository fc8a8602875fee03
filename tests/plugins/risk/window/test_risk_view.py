"""The view *risk* of the page *Compare*: a part of *Tests* once two runs can be compared."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from waiting import wait_until
from windows import settle

from rankstudio.engine.statistics.risk import baseline_risk
from rankstudio.plugins.risk.window.risk_view import RiskView
from rankstudio.ui.main_window import MainWindow


@pytest.fixture
def compared(empty: MainWindow, three_runs: Path, tmp_path: Path) -> MainWindow:
    """Return a window with three finished runs, on the page Compare."""
    study = tmp_path / "copy.rankstudio"
    shutil.copy(three_runs, study)
    empty.open_path(str(study))
    wait_until(lambda: empty.session.dataset is not None)
    empty.workspace.show_page("compare")
    settle(empty)
    return empty


def test_it_compares_the_ticked_runs_with_the_reference(compared: MainWindow) -> None:
    panel = compared.sections.compare.views
    view = panel.comparisons["risk"]
    assert isinstance(view, RiskView)
    panel.show_view("tests")
    wait_until(lambda: [key for key, _ in panel._part.options()] == ["tests", "risk"])
    panel.show_view("risk")
    wait_until(lambda: len(view.table.rows()) == 3)
    panel.grab()  # which resizes the hidden views, too
    assert not view.alpha.isHidden()
    assert panel.stability.index.isHidden()
    runs = {
        record.key: compared.models.measured.view(record).result
        for record in compared.models.runs.records
    }
    measure = compared.session.measure
    best, second, _ = view.table.rows()
    assert best.risk is None
    first_values = runs[best.number].per_query(measure)
    values = runs[second.number].per_query(measure)
    assert second.risk == baseline_risk(values, first_values, 1)
    assert "counts 2 times" in view.note.text()
    assert best.title in view.caption()

    # Another aversion, and another reference.
    view.alpha.setValue(5)
    wait_until(lambda: "counts 6 times" in view.note.text())
    assert view.table.rows()[1].risk == baseline_risk(values, first_values, 5)
    compared.models.marks.refer_to(second.number)
    wait_until(lambda: view.table.rows()[0].number == second.number)
    assert view.table.rows()[0].risk is None

    # With a single run there is nothing to compare.
    records = compared.models.runs.records
    for record in records[1:]:
        compared.models.runs.remove(record)
    wait_until(lambda: panel.key() == "tests")
    assert panel._part.isHidden()
