"""A window on small data, as the scenarios need it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog
from waiting import wait_until

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import Event, UnitFinished
from rankstudio.engine.support.work import Note
from rankstudio.ui.background.on_demand import OnDemand
from rankstudio.ui.background.worker import Outcome
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_queue import Runner, engine_run
from rankstudio.ui.model.study_store import RunTarget
from rankstudio.ui.page.export_item import ExportItem
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme

N_FEATURES = 8
N_STEPS = N_FEATURES - 1  # of a path, which ends before the constant feature


def pages_present(window: MainWindow, *pages: str) -> list[str]:
    """Return those of some pages that there are: the folders of abilities may be absent."""
    return [page for page in pages if window.sections.find(page) is not None]


def write_folds(folder: Path, n_folds: int = 2) -> Path:
    """Write a small dataset with folds as LETOR text."""
    data = make_ranking(
        30, n_informative=3, n_redundant=2, n_noise=2, n_constant=1, documents=(4, 9)
    )
    for fold in data.folds[:n_folds]:
        there = folder / f"Fold{fold.number}"
        there.mkdir(parents=True)
        for name, part in fold.parts.items():
            save_letor(part, there / f"{name}.txt")
    return folder


def slowly(
    plan: Plan, dataset: FoldedDataset, target: RunTarget | None = None
) -> Iterator[Event]:
    """Run a plan so slowly that there is time to press a button."""
    for event in engine_run(plan, dataset, target):
        time.sleep(0.004)
        yield event


def held(wait: Callable[[int, Event], object]) -> Callable[..., Iterator[Event]]:
    """Return what runs a plan, and waits after some of its events; no longer than 10 s each time."""

    def run(
        plan: Plan, dataset: FoldedDataset, target: RunTarget | None = None
    ) -> Iterator[Event]:
        for number, event in enumerate(engine_run(plan, dataset, target)):
            yield event
            wait(number, event)

    return run


def breaking(
    plan: Plan, dataset: FoldedDataset, target: RunTarget | None = None
) -> Iterator[Event]:
    """Run a plan, and fail in the middle as a bug would."""
    for number, event in enumerate(engine_run(plan, dataset, target)):
        if number == 30:
            raise RuntimeError("the matrix is upside down")
        yield event


def noting(
    plan: Plan, dataset: FoldedDataset, kept: RunTarget | None = None
) -> Iterator[Event]:
    """Run a plan with a method that has something to say of each of its paths."""
    for event in engine_run(plan, dataset, kept):
        if isinstance(event, UnitFinished):
            note = Note(f"Fold {event.unit.fold} is odd.")
            event = replace(event, path=replace(event.path, notes=(note,)))  # noqa: PLW2901
        yield event


@contextmanager
def open_window(
    theme: Theme,
    config: Path,
    data: Path | None = None,
    runner: Runner = engine_run,
    *,
    sealed: bool = False,
) -> Iterator[MainWindow]:
    """A shown window, with data open where some are given; closed at the end.

    The test part of its new study is unsealed, unless a test is about the seal.
    """
    with theme.building():
        window = MainWindow(theme, Settings(config), runner)
    window.show()
    try:
        if not sealed:
            unseal(window)
        if data is not None:
            place = window.workspace.page
            window.open_path(str(data))
            wait_until(lambda: window.session.dataset is not None)
            window.workspace.show_page(place)
            window.session.change(
                "editing",
                method="greedy-rankrls",
                parameters={"regularization": (0.25, 1.0, 4.0)},
            )
        yield window
    finally:
        window.close()
        window.deleteLater()


Opened = Callable[..., AbstractContextManager[MainWindow]]
"""The fixture ``opened``: `open_window` with the theme and settings in the folder of a test."""


@contextmanager
def visited(window: MainWindow) -> Iterator[MainWindow]:
    """A window that several tests share, for one of them: what it changed is taken back at the end.

    To make a window and to run three plans takes three times as long as what most tests do with it. Those
    share it that need no other past than runs which have ended. Taken back are dialogs, plan and choice,
    runs that were added or removed, ticks, fold, measure, convention, seal, page and size.
    """
    session, runs, marks = window.session, window.runs, window.models.marks
    plan, choice, fold, measure, sealed = (
        session.plan,
        session.choice,
        session.fold,
        session.measure,
        session.sealed,
    )
    done, records, shown, size = (
        session.undo.index(),
        runs.records,
        runs.shown,
        window.size(),
    )
    place = window.workspace.page
    window.activateWindow()  # that of a panel or a dialog may have had the keyboard
    wait_until(window.isActiveWindow)
    yield window
    for dialog in window.findChildren(QDialog):
        dialog.close()
    settle(window)
    session.undo.setIndex(done)
    for record in set(runs.records) - set(records):
        runs.remove(record)
    assert runs.records == records, "a run is gone that other tests need"
    # a series of changes that went on
    if (session.plan, session.choice) != (plan, choice):
        session.go_back_to(plan, "as it was", choice)
    for record in records:
        marks.tick(record.key, True)
    marks.refer_to(None)
    runs.show(shown)
    session.seal(sealed)
    session.measure_by_convention(plan.convention)
    session.select_by_measure(False)
    session.show_measure(measure)
    session.show_fold(fold)
    window.workspace.bring_back()
    for page in window.workspace._pages.values():
        page.restore_panels()
    while window.notice.isVisible():
        window.notice.close_newest()
    window.workspace.show_page(place)
    window.resize(size)
    settle(window)


def unseal(window: MainWindow) -> None:
    """Show what is measured on test parts, as in a study of the terminal; a new study hides it."""
    window.measurement.seal.show_marks(())


def write_item(item: ExportItem, path: Path) -> None:
    """Write what can be exported as its dialog does, and wait for the file."""
    if item.write is not None:
        item.write(path)
        return
    begin, told = item.writers[0].begin, list[str]()
    assert begin is not None
    begin(path, told.append, pytest.fail)
    wait_until(lambda: bool(told))


def finish(window: MainWindow) -> None:
    """Run the plan to its end, and let the window draw what came of it.

    The window looks when the engine is done, and is drawn when it has come to rest: to follow a run step by
    step takes many times as long, which is what tests of growing curves are for.
    """
    window.setUpdatesEnabled(False)
    window.commands["run"].trigger()
    worker, until = window.models.run_worker, time.monotonic() + 2.0
    while worker.jobs and time.monotonic() < until:
        if any(isinstance(message, Outcome) for _, message in list(worker._outbox)):
            break
        time.sleep(0.001)
    wait_until(lambda: window.runs.records and not window.runs.busy)
    settle(window)
    window.setUpdatesEnabled(True)
    window.repaint()  # see `Theme`: what was to be drawn meanwhile is not


def settle(window: MainWindow) -> None:
    """Wait for what the task worker still does, and until what runs brought is shown."""
    wait_until(lambda: not window.models.task_worker.jobs)
    wait_until(lambda: window.runs.busy or not window.refresh_timer.is_active)
    asked = window.findChildren(OnDemand)
    wait_until(
        lambda: not (window.models.task_worker.jobs or any(one.waits for one in asked))
    )


def press_keys(window: MainWindow, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> None:
    """Press the keys of a command, in a window that is the active one, as a shortcut asks for.

    Where a window or dialog of an earlier test has just gone, no window is the active one for a moment.
    """
    window.activateWindow()
    wait_until(window.isActiveWindow)
    QTest.keyClick(window, key, modifiers)
