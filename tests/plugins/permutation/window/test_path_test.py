"""Where the permutation test stands in the window, and what it says of preferences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evidence_page import rest
from preference_oracles import write_preferences
from PySide6.QtWidgets import QFileDialog
from waiting import wait_until
from windows import finish, settle
from wording import naming

from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.ui.main_window import MainWindow

prepare = settle


def of(window: MainWindow) -> Any:
    """Return the controller of the permutation test."""
    return window.sections.contributed.controllers["permutation"]


@pytest.mark.ability("evidence")
def test_more_than_chance_leads_to_the_evidence(window: MainWindow) -> None:
    finish(window)
    of(window).row.button.click()
    assert window.workspace.page == "evidence"
    stop = window.sections.evidence.stop
    line = of(window).path.chance
    assert stop.view.value() == "path" and line.isVisible()
    wait_until(lambda: of(window).tests.band is not None)
    wait_until(lambda: "p = " in line.sentence.text())
    of(window).stop()
    assert line.sentence.text() == of(window).row.sentence.text()
    rest(window)


@pytest.mark.ability("evidence")
def test_of_a_ranker_the_panel_is_that_of_the_test_alone(ran: MainWindow) -> None:
    ran.session.change("the method", method="rankrls", parameters={})
    finish(ran)
    ran.session.show_fold(1)
    settle(ran)
    ran.workspace.show_page("evidence")
    rest(ran)
    stop = ran.sections.evidence.stop
    assert (
        stop._title.text() == "Permutation test"
        and stop.isVisible()
        and not stop.view.isVisible()
    )
    assert of(ran).path.about.isVisible() and not stop.p_plot.isVisible()


@pytest.mark.ability("preferences")
def test_documents_of_preferences_are_permuted(
    ran: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ran.session.dataset is not None
    file = write_preferences(tmp_path / "clicks.csv", ran.session.dataset)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(file), ""))
    ran.commands["open_preferences"].trigger()
    wait_until(lambda: bool(preferences_of(ran.session.plan)))
    finish(ran)
    ran.session.show_fold(1)
    settle(ran)
    tests = of(ran).tests
    row = of(ran).row
    assert naming("documents preferences").search(row.sentence.text())
    ran.commands["chance"].trigger()
    wait_until(lambda: tests.band is not None)
    ran.commands["stop"].trigger()
    assert tests.band is not None and ran.current.model is not None
    # it ends before the constant feature, the permuted one after it
    path = ran.current.model.path
    np.testing.assert_allclose(
        tests.band.observed[: len(path.steps)], path.criterion, rtol=1e-12
    )
    assert naming("preference documents").search(row.sentence.text())
