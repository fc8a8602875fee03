"""The band of permuted labels below the criterion's curve, through the real window."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hands import drop, press
from waiting import wait_until
from windows import finish, settle
from wording import naming

from rankstudio.engine.experiment.units.single_path import single_plan
from rankstudio.engine.methods import catalog
from rankstudio.plugins.permutation.criterion_band import band_steps
from rankstudio.plugins.permutation.window import permutation_tests
from rankstudio.plugins.permutation.window.path_test import PathTestController
from rankstudio.plugins.permutation.window.permutation_tests import (
    N_PERMUTATIONS,
    PermutationTests,
)
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.widgets import Question

prepare = settle


def finished(window: MainWindow) -> None:
    """Run the method of the form, and show the first fold."""
    finish(window)
    window.session.show_fold(1)
    settle(window)


def of(window: MainWindow) -> PathTestController:
    """Return the controller of the permutation test."""
    controller = window.sections.contributed.controllers["permutation"]
    assert isinstance(controller, PathTestController)
    return controller


def done(tests: PermutationTests) -> bool:
    return (
        not tests.busy
        and tests.band is not None
        and tests.band.n_permutations == N_PERMUTATIONS
    )


@pytest.mark.ability("evidence")
def test_a_finished_path_is_tested_on_demand(ran: MainWindow) -> None:
    finished(ran)
    tests = of(ran).tests
    row = of(ran).row
    plot = ran.sections.select.curves.criterion_plot
    model = ran.current.model
    assert model is not None and plot.family.band is None
    grown: list[int] = []
    tests.grew.connect(
        lambda: grown.append(tests.band.n_permutations if tests.band else 0)
    )
    assert row.button.text() == "Permutation test" and row.isVisible()
    row.button.click()
    assert row.button.text() == "Stop" and ran.commands["stop"].isEnabled()
    assert ran.workspace.page == "evidence"  # where the sentence is, too
    ran.workspace.show_page("select")
    wait_until(lambda: done(tests))
    assert (
        grown == sorted(grown)
        and len(grown) > 3
        and not ran.commands["stop"].isEnabled()
    )

    found = tests.band
    assert found is not None
    n_steps = len(model.path.steps)  # the test goes on with the constant feature
    np.testing.assert_allclose(
        found.observed[:n_steps], model.path.criterion, rtol=1e-12
    )
    single = single_plan(model.plan, model.plan.combination(model.values).parameters, 1)
    assert ran.session.dataset is not None
    *_, alone = band_steps(single, ran.session.dataset)
    np.testing.assert_array_equal(alone.low, found.low)
    np.testing.assert_array_equal(alone.p_values, found.p_values)

    band = plot.family.band
    assert band is not None and band.p_values is not None
    np.testing.assert_array_equal(band.low, found.low[:n_steps])
    at = model.position
    assert f"p = {found.p_values[at]:.3g} at k = {model.x_value}" in row.sentence.text()
    assert "significant" in row.sentence.text() and not row.button.isVisible()
    assert "with permuted labels: 95 % from" in plot.summary()
    header, rows = plot.numbers()
    assert header[-4:] == ["permuted mean", "permuted low", "permuted high", "p"]
    assert rows[0][-1] == found.p_values[0] and rows[0][-3] == found.low[0]
    series = plot.figure().series[-1]
    assert series.label == "permuted, 95 %" and series.low == tuple(
        found.low[:n_steps].tolist()
    )

    # It is kept for its path: another one has none, and going back brings it again.
    ran.session.select((4.0,) if model.values != (4.0,) else (1.0,), 2)
    settle(ran)
    assert plot.family.band is None and row.button.isVisible()
    ran.session.show_fold(None)
    assert not row.isVisible()
    ran.session.show_fold(2)
    ran.session.select(model.values, 2)
    settle(ran)
    assert plot.family.band is None, "that of another fold"
    ran.session.show_fold(1)
    ran.session.select(model.values, 2)
    settle(ran)
    assert plot.family.band is not None and "at k = 2" in row.sentence.text()


def test_stop_ends_it_and_what_is_counted_stays(ran: MainWindow) -> None:
    ran.session.change("another path", parameters={"regularization": (2.0,)})
    finished(ran)
    tests = of(ran).tests
    row = of(ran).row
    ran.commands["chance"].trigger()
    assert "so far" not in row.sentence.text()
    wait_until(lambda: tests.band is not None)
    assert naming("of 999 permutations").search(row.sentence.text())
    ran.commands["stop"].trigger()
    assert not tests.busy and tests.band is not None
    n = tests.band.n_permutations
    assert (
        row.sentence.text().startswith(f"Stopped at {n} of 999 ")
        and row.button.isVisible()
    )
    ran.commands["chance"].trigger()
    wait_until(lambda: done(tests))


def test_a_ranker_has_one_step(ran: MainWindow) -> None:
    ran.session.change("the method", method="rankrls", parameters={})
    finished(ran)
    tests = of(ran).tests
    row = of(ran).row
    ran.commands["chance"].trigger()
    wait_until(lambda: done(tests))
    model = ran.current.model
    assert model is not None and tests.band is not None
    np.testing.assert_allclose(tests.band.observed, model.path.criterion, rtol=1e-9)
    plot = ran.sections.select.curves.criterion_plot
    assert plot.family.band is not None and plot.family.band.xs.tolist() == [
        model.values[0]
    ], "at its λ"
    assert naming("at most").search(row.sentence.text()) is None, (
        "its paths share computations"
    )


def test_a_method_that_is_trained_again_says_how_long_at_most(ran: MainWindow) -> None:
    ran.session.change(
        "the method", method="gas", parameters={"n_features_to_select": 3}
    )
    finished(ran)
    tests = of(ran).tests
    row = of(ran).row
    assert tests.possible and row.isVisible() and ran.commands["chance"].isEnabled()
    record = ran.runs.shown
    assert record is not None
    assert len(record.paths) > len(record.folds), (
        "several λ share the selection of a fold"
    )
    assert tests.seconds == pytest.approx(
        1000 * record.clock.seconds / len(record.folds)
    )
    assert (
        "at most " in row.sentence.text()
        and row.button.accessibleName() == "Permutation test"
    )
    press(row.button)
    wait_until(lambda: tests.band is not None and tests.band.n_permutations > 1)
    ran.workspace.show_page("select")
    settled = ran.models.task_worker.task(
        "asking", int, "7", on_done=(answers := []).append
    )
    wait_until(lambda: answers == [7])
    assert settled not in ran.models.task_worker.jobs and tests.growing, (
        "others have their turn"
    )
    press(row.button)
    assert (
        not tests.busy
        and tests.band is not None
        and tests.band.n_permutations < N_PERMUTATIONS
    )
    assert not row.button.isHidden() and row.button.text() == "Permutation test"


def test_of_an_optimiser_the_last_step_is_tested(
    ran: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permutation_tests, "N_PERMUTATIONS", 3)
    ran.session.change("the method", method="ranksvm", parameters={"C": (0.01,)})
    finished(ran)
    tests = of(ran).tests
    curves = ran.sections.select.curves
    ran.commands["chance"].trigger()
    wait_until(lambda: not tests.busy)
    model = ran.current.model
    assert (
        model is not None and tests.band is not None and tests.band.n_permutations == 3
    )
    assert model.path.x_values.size > 1 and tests.band.observed.size == 1
    band = curves.criterion_plot.family.band
    assert band is not None and band.xs.tolist() == [model.path.x_values[-1]]
    assert f"iteration = {model.path.x_values[-1]}" in of(ran).row.sentence.text()


METHODS = """
import numpy as np

def covariance(X, y):
    return np.abs(X.T @ (y - y.mean()))

class Silent:
    def fit(self, X, y):
        self.coef_ = X.T @ (y - y.mean())
        return self

    def predict(self, X):
        return X @ self.coef_
"""


def test_a_method_of_a_file_is_tested(
    ran: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))
    monkeypatch.setattr(permutation_tests, "N_PERMUTATIONS", 19)
    monkeypatch.setattr(Question, "ask", lambda *_, **__: True)
    path = tmp_path / "mine.py"
    path.write_text(METHODS, encoding="utf-8")
    drop(ran, path)
    wait_until(lambda: ran.session.plan.entry.label == "covariance")
    ran.session.change("one λ", parameters={"regularization": (1.0,)})
    finished(ran)
    tests = of(ran).tests
    row = of(ran).row
    assert "at most " in row.sentence.text()
    press(row.button)
    assert tests.busy
    wait_until(lambda: not tests.busy)
    model = ran.current.model
    found = tests.band
    assert model is not None and found is not None and found.n_permutations == 19
    np.testing.assert_allclose(
        found.observed[: len(model.path.steps)], model.path.criterion, rtol=1e-12
    )
    assert "mine.py:covariance" in tests.as_code()[".sh"]
    key = next(entry.key for entry in catalog.methods() if entry.label == "Silent")
    ran.session.change("no criterion", method=key, parameters={})
    ran.workspace.show_page("select")
    finished(ran)
    assert (
        row.isVisible()
        and not row.button.isVisible()
        and not ran.commands["chance"].isEnabled()
    )
    assert "Silent" in row.sentence.text() and row.sentence.text() == tests.obstacle


def test_what_cannot_be_tested_says_why(ran: MainWindow) -> None:
    ran.session.change(
        "two stages", ranker="rankrls", parameters={"n_features_to_select": 2}
    )
    finished(ran)
    tests = of(ran).tests
    row = of(ran).row
    assert (
        tests.obstacle and not tests.possible and row.sentence.text() == tests.obstacle
    )
    assert (
        row.isVisible()
        and not row.button.isVisible()
        and not ran.commands["chance"].isEnabled()
    )


def test_the_form_s_next_method_changes_nothing_of_what_is_tested(
    ran: MainWindow,
) -> None:
    # The form asks for another method than that of the run, whose curves and model are still seen.
    ran.session.change(
        "two stages", ranker="rankrls", parameters={"n_features_to_select": 2}
    )
    finished(ran)
    ran.session.change("one stage", ranker="", ranker_parameters={}, parameters={})
    settle(ran)
    row = of(ran).row
    assert ran.current.model is not None and ran.current.model.plan.ranker == "rankrls"
    assert not row.button.isVisible() and not ran.commands["chance"].isEnabled()
    finish(ran)
    settle(ran)
    assert row.button.isVisible() and ran.commands["chance"].isEnabled()
