"""What an empty panel says: what to do, how far the work is, or why there is nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Event as Flag

import pytest
from hands import fact_texts
from waiting import wait_until
from windows import Opened, finish, settle

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import Event
from rankstudio.ui.background import loader
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import engine_run, look_at
from rankstudio.ui.model.study_store import RunTarget


def said(window: MainWindow) -> dict[str, str]:
    """Return the texts of the empty panels."""
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    sections = window.sections
    return {
        "path": sections.features.path.table.placeholder,
        "criterion": sections.select.curves.criterion_plot.placeholder,
        "candidates": sections.select.candidates.plot.placeholder,
        "map": sections.select.heat.plot.placeholder,
    }


def test_a_fold_that_is_not_there_yet_says_what_to_do_and_then_how_far_it_is(
    opened: Opened, folds: Path
) -> None:
    pytest.importorskip("rankstudio.plugins.queries")  # its folder may be absent
    go = Flag()

    def held(
        plan: Plan, dataset: FoldedDataset, target: RunTarget | None = None
    ) -> Iterator[Event]:
        """Run a plan, and wait after its first path."""
        for number, event in enumerate(engine_run(plan, dataset, target)):
            yield event
            if number == 14:
                go.wait(10)

    with opened(folds, held) as window:
        features_panel = pytest.importorskip(
            "rankstudio.plugins.features.window.features_panel"
        )
        assert said(window)["path"] == features_panel.NO_PATH
        assert all(text.startswith("Run a method") for text in said(window).values())
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].units_done == 1)
        window.commands["next_fold"].trigger()
        assert set(said(window).values()) == {
            "Run 1 is in progress: 1 of 6 fits are done."
        }
        window.commands["page_queries"].trigger()
        queries = window.sections.queries
        assert queries.empty.isVisible() and not queries.empty.button.isVisible()
        assert (
            queries.empty.sentence.text()
            == "Run 1 is in progress: 1 of 6 fits are done."
        )
        window.session.change("editing", rule="at most 2")
        window.commands["run"].trigger()
        look_at(window.session, window.runs, window.runs.records[1])
        assert set(said(window).values()) == {"Run 2 is waiting for its turn."}
        window.runs.remove(window.runs.records[1])
        look_at(window.session, window.runs, window.runs.records[0])
        window.commands["stop"].trigger()
        go.set()
        wait_until(lambda: not window.runs.busy)
        settle(window)
        assert set(said(window).values()) == {
            "Run 1 was stopped before this fold was finished."
        }
        window.workspace.show_page("queries")
        assert queries.empty.button.isVisible()
        settle(window)


def test_data_that_are_being_read_are_not_called_missing(
    opened: Opened, tmp_path: Path, folds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    pytest.importorskip("rankstudio.plugins.queries")  # its folder may be absent
    study, go = tmp_path / "one.rankstudio", Flag()
    with opened(folds) as window:
        finish(window)
        window.study_files.save_as(str(study))
        settle(window)
    load = loader.load

    def slow(*given):
        work = load(*given)

        def read(cancelled):
            go.wait(10)
            yield from work(cancelled)

        return read

    monkeypatch.setattr(loader, "load", slow)
    with opened(config="other") as window:
        window.open_path(str(study))
        wait_until(
            lambda: window.models.loader.busy and window.session.dataset is not None
        )
        window.workspace.show_page("data")
        assert window.sections.data.statistics.table.placeholder == "Opening the data …"
        assert ("documents", "Opening the data …") in fact_texts(
            window.sections.data.panel._facts
        )
        window.workspace.show_page("features")
        alone = window.sections.features.alone.panel.plot
        assert alone.placeholder == "Opening the data …"
        window.workspace.show_page("queries")
        assert window.sections.queries.empty.sentence.text() == "Opening the data …"
        go.set()
        wait_until(lambda: window.session.has_documents)
        settle(window)
        assert window.sections.queries.empty.isHidden()


def test_runs_that_are_being_read_are_not_called_missing(
    opened: Opened, tmp_path: Path, folds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches "Run a method" beside six runs of the last time."""
    pytest.importorskip("rankstudio.plugins.queries")  # its folder may be absent
    study, held = tmp_path / "one.rankstudio", list[Callable[[], None]]()
    with opened(folds) as window:
        finish(window)
        window.study_files.save_as(str(study))
        settle(window)
    monkeypatch.setattr(
        Models,
        "recognise",
        lambda _, runs, data, then: held.append(partial(then, runs)),
    )
    with opened(folds, config="other") as window:
        window.workspace.show_page("queries")
        window.open_path(str(study))
        wait_until(lambda: bool(window.runs.records))
        settle(window)
        empty = window.sections.queries.empty
        assert (
            empty.sentence.text() == "Reading the runs of the study …"
            and not empty.button.isVisible()
        )
        for go_on in held:
            go_on()
        settle(window)
        assert empty.isHidden()


def test_a_failure_is_told_until_something_else_is_wanted(window: MainWindow) -> None:
    """Catches a message about a field that stays when the field is right again."""
    finish(window)
    before = dict(window.session.plan.parameters)
    window.session.change("editing", parameters={**before, "n_features_to_select": 99})
    wait_until(lambda: "99" in window.notice.text())
    window.session.change("editing", parameters=before)
    settle(window)
    assert not window.notice.text()
