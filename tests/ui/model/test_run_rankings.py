"""Finished runs are ranked while nothing runs, so that any measure is read off what is there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from waiting import wait_until
from windows import finish, settle

from rankstudio.engine.analysis.measurements import remeasurement
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model import measured_runs


@pytest.fixture(autouse=True)
def prompt_rankings(prompt: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_runs, "_QUIET_MILLISECONDS", 0)


def test_a_run_is_ranked_when_nothing_has_become_of_it_for_a_while(
    window: MainWindow,
) -> None:
    rankings = window.models.measured.rankings
    rankings._quiet.setInterval(3_600_000)
    finish(window)
    assert rankings._quiet.isActive()
    assert (rankings._begun, rankings._job) == (set(), None)
    rankings._quiet.start(0)
    wait_until(lambda: rankings._begun and not rankings._job)
    settle(window)


def test_nothing_is_ranked_when_another_measure_is_looked_at(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured_runs, "_MAX_WAIT_SECONDS", 0.0)  # a task a path
    finish(window)
    record = window.runs.records[0]

    def refuse(*_: object) -> None:
        raise AssertionError("the rankings are there")

    monkeypatch.setattr(remeasurement, "rank", refuse)
    window.session.show_measure("RR")
    settle(window)
    measured = window.models.measured.view(record)
    assert measured.complete
    assert all("RR" in path.validation for path in measured.paths.values())
    assert all("RR" in fold.test for fold in measured.folds.values())


def test_what_is_offered_is_measured_before_it_is_looked_at(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(window)
    record = window.runs.records[0]
    views = [window.models.measured.view(record)]

    def refuse(*_: object) -> None:
        raise AssertionError("it is measured")

    monkeypatch.setattr(remeasurement.Remeasurement, "_measured_fold", refuse)
    show, measure_by_convention = (
        window.session.show_measure,
        window.measurement.measure_by_convention,
    )
    for look, key in (
        (measure_by_convention, "ranklib"),
        (measure_by_convention, "standard"),
        (show, "ERR"),
        (show, "P@5"),
    ):
        look(key)
        settle(window)
        views.append(window.models.measured.view(record))
        assert views[-1].complete
        assert views[-1] is not views[-2]
        assert views[-1].folds


def test_nothing_is_ranked_while_a_run_works_and_each_run_is_ranked_once(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[RunResult] = []
    ranked: list[RunResult] = []

    def rank_models(result: RunResult, _: FoldedDataset) -> Iterator[None]:
        began.append(result)
        yield
        ranked.append(result)

    rankings = window.models.measured.rankings
    monkeypatch.setattr(rankings, "_rank_models", rank_models)
    monkeypatch.setattr(measured_runs, "_MAX_WAIT_SECONDS", 0.0)
    finish(window)
    first = window.runs.records[0]
    assert ranked == [first.result]
    window.runs.remove(first)
    assert window.session.dataset is not None
    second = window.runs.start(window.session.plan, window.session.dataset, paused=True)
    window.runs.restore(first)  # brought back while another run works
    wait_until(lambda: not rankings._quiet.isActive())
    assert rankings._job is None
    window.runs.stop(second)
    wait_until(lambda: second.state.ended)
    settle(window)
    assert ranked == [first.result] * 2
    window.runs.changed.emit(first)
    wait_until(lambda: not rankings._quiet.isActive())
    assert rankings._job is None
    assert began == ranked


def test_a_run_that_cannot_be_ranked_is_left_until_it_is_asked_for(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Iterator[None]:
        yield
        raise DatasetError("A score is not a number.")

    rankings = window.models.measured.rankings
    monkeypatch.setattr(rankings, "_rank_models", fail)
    finish(window)
    assert (rankings._job, rankings._rest) == (None, None)
    assert "not a number" not in window.notice.text()


def test_another_study_s_runs_are_others_although_their_numbers_are_the_same(
    window: MainWindow,
) -> None:
    finish(window)
    rankings = window.models.measured.rankings
    assert rankings._begun == {1}
    window.runs.clear()
    assert not rankings._begun
    finish(window)
    assert rankings._begun == {1}
