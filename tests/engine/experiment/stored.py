"""Studies for tests: with a finished run, opened by another process, and of one that dies."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from experiment.small import dataset

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import FoldFinished, RunFinished
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.storage.study import Study

PLAN = Plan(
    "small", convention="letor4", parameters={"regularization": (0.5, 1.0, 2.0)}
)


def finished(plan: Plan = PLAN) -> tuple[RunResult, list[FoldResult]]:
    events = list(run(plan, dataset()))
    assert isinstance(events[-1], RunFinished)
    return events[-1].result, [e.result for e in events if isinstance(e, FoldFinished)]


def fill(path: Path) -> tuple[RunResult, Study]:
    """A study with a finished run, still open."""
    result, folds = finished()
    study = Study.create(path, "Small things")
    key = study.begin(PLAN, dataset())
    for fold in folds:
        for unit in fold.paths:
            study.save_unit(key, unit, 0.25)
        study.save_fold(key, fold)
    study.finish(key, 3.5)
    return result, study


OPEN = """
import os, sys
from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.storage.sqlite_file import StudyFile
if len(sys.argv) > 2:
    os.setuid(int(sys.argv[2]))
try:
    StudyFile(sys.argv[1]).close()
except StoreError as error:
    sys.exit(str(error))
"""


def open_elsewhere(path: Path, *user: int) -> str:
    """What another process is told when it opens the study; "" where nothing speaks against it."""
    command = [sys.executable, "-c", OPEN, str(path), *map(str, user)]
    return subprocess.run(
        command, check=False, capture_output=True, text=True
    ).stderr.strip()


def killed(path: Path, statements: str, number: signal.Signals | None = None) -> None:
    """Carry statements out in a process that does not survive them: by a signal, or it is killed then."""
    end = "" if number else "os.kill(os.getpid(), signal.SIGKILL)"
    script = f"import os, signal, sqlite3, sys\nfrom pathlib import Path\n{statements}\n{end}"
    done = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert done.returncode == -(number or signal.SIGKILL)


def die_with(path: Path, statements: str) -> None:
    """Leave a database as a process does that is killed: the last commits are in the log beside it."""
    killed(
        path,
        f"from rankstudio.engine.experiment.storage.sqlite_file import StudyFile\n{statements}",
    )
    assert path.with_name(path.name + "-wal").stat().st_size > 0
