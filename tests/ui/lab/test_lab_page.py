"""The Lab page in the real window: a simulation started, seen growing, paused, stopped, and exported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import wait_until
from windows import settle

from rankstudio.engine.analysis.simulation.auc_simulation import ESTIMATORS, simulate_auc
from rankstudio.ui.lab.controller import AucController
from rankstudio.ui.lab.form import LabForm
from rankstudio.ui.lab.simulation import SimulationState
from rankstudio.ui.main_window import MainWindow


@pytest.fixture(autouse=True)
def own_studies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the studies of each test in a folder of its own."""
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))


def write(form: LabForm, **values: object) -> None:
    """Type into fields, by the names of their parameters."""
    for name, value in values.items():
        editor = form.field(name).editor
        editor.setFocus()
        editor.selectAll()
        QTest.keyClicks(editor, str(value))
        QTest.keyClick(editor, Qt.Key.Key_Return)


def press(button: object) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.fixture
def lab(window: MainWindow) -> AucController:
    """The tab of AUC estimates, seen."""
    window.commands["page_lab"].trigger()
    settle(window)
    assert window.workspace.page == "lab"
    return window.sections.lab.auc


def test_a_simulation_grows_and_ends(window: MainWindow, lab: AucController) -> None:
    assert lab.deviations.plot.is_empty()
    assert not lab.form.pause.isEnabled() and not lab.form.stop.isEnabled()
    write(lab.form, n_examples=20, repetitions=1000, varied_repetitions=100, values="10, 20")
    press(lab.form.start)
    seen: list[int] = []
    lab.simulation.grew.connect(lambda done: seen.append(done.found.done))
    wait_until(lambda: lab.simulation.state is SimulationState.DONE)
    wait_until(lambda: len(lab.deviations.table.rows()) == len(ESTIMATORS))
    assert seen[:4] == [250, 500, 750, 1000]
    *_, whole = simulate_auc(20, repetitions=1000)
    rows = lab.deviations.table.rows()
    assert [row.bias for row in rows] == whole.bias.tolist()
    assert [row.sd for row in rows] == whole.conditional_sd.tolist()
    wait_until(lambda: lab.form.status.text().startswith("done"))
    assert lab.deviations.sentence.text().startswith("Leave-one-out, pooled is 0.0")
    plot = lab.deviations.plot
    plot.flush()
    assert plot.summary().startswith("leave-pair-out mean ") and plot.summary().count("sd") == len(ESTIMATORS)
    assert np.allclose([row.shares.sum() for row in plot.rows], 1.0)
    assert lab.varied is not None and lab.varied.values == (10.0, 20.0)
    assert "with 10 examples" in lab.variation.sentence.text()
