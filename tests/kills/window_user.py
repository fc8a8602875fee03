"""Somebody at the window, who runs a plan or goes on with the last run, and exports the results."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer

from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.engine.experiment.reports import write_results
from rankstudio.ui import app
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunState

_MILLISECONDS = 5
_SECONDS = 120

Condition = Callable[[], object]


def use(
    plan: str,
    out: str,
    backend: str,
    *,
    tell: Callable[[str], None],
    line: Callable[[Any], str],
) -> int:
    """Open the window, do what there is to do, and close it."""
    begin = app.begin
    timer: list[QTimer] = []

    def begun(window: MainWindow, argv: Any, reports: Any) -> None:
        window.runs.eventNoted.connect(lambda _, event: tell(line(event)))
        window.models.backend.select(backend)
        begin(window, argv, reports)
        timer.append(_turn(window, _steps(window, Path(plan), Path(out), tell)))

    app.begin = begun
    status = app.main([])
    sys.stdout.flush()
    return status


def _steps(
    window: MainWindow, plan: Path, out: Path, tell: Callable[[str], None]
) -> Generator[Condition]:
    """Yield what is to be waited for before the next step."""
    tell("Begun")
    models, runs = window.models, window.runs
    yield lambda: not models.task_worker.jobs and not models.loader.busy
    # shown at the first start
    own = [record for record in runs.records if record.plan.data != SAMPLE]
    for record in own:
        tell(f"Listed {record.units_done} {record.state.name}")
    left = [record for record in own if record.can_go_on]
    done = [record for record in own if record.state is RunState.DONE]
    if left:
        window.restorer.go_on(left[-1])
        yield lambda: not left[-1].can_go_on
        record = left[-1]
    elif done:
        record = done[-1]
    else:
        window.open_controller.open_path(str(plan), run=True)
        yield lambda: any(record.plan.data != SAMPLE for record in runs.records)
        record = runs.records[-1]
    yield lambda: record.state.ended
    if record.state is RunState.FAILED:
        tell(f"Failed {record.failure}")
    if record.result is not None:
        write_results(record.result, out)
        tell("Written")
    yield lambda: not models.task_worker.jobs
    window.close_unasked()


def _turn(window: MainWindow, steps: Generator[Condition]) -> QTimer:
    """Take the steps, each as soon as its condition holds."""
    timer = QTimer(window)
    timer.setInterval(_MILLISECONDS)
    waited: list[Condition] = [lambda: True]
    began = time.monotonic()

    def look() -> None:
        try:
            if waited[0]():
                waited[0] = next(steps)
        except StopIteration:
            timer.stop()
        if time.monotonic() - began > _SECONDS:
            sys.stdout.write("what was waited for did not happen\n")
            sys.stdout.flush()
            os._exit(75)

    timer.timeout.connect(look)
    timer.start()
    return timer
