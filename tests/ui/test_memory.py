"""What the window holds at rest: neither modules that nothing shown needs, nor their memory."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from processes import started

_HEAVY = (
    *("sklearn", "joblib", "pandas", "pyarrow", "matplotlib", "lightgbm"),
    *("scipy.sparse", "scipy.stats", "scipy.optimize"),
    "PySide6.QtNetwork",
)
_MOST_MEGABYTES = 300  # 210 were measured on Linux, and 224 with MQ2008 open

_AT_REST = f"""
import linecache, sys
from pathlib import Path
from rankstudio.ui import app
from PySide6.QtCore import QTimer
from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.engine.support.memory import release_unused

def look(window, timer):
    if window.models.n_busy or window.models.loader.busy or window.session.dataset is None:
        return
    timer.stop()
    release_unused()
    lines = sum(len(entry[2]) for entry in linecache.cache.values() if len(entry) > 2)
    status = Path("/proc/self/status")
    resident = status.read_text().partition("VmRSS:")[2].split()[0] if status.exists() else 0
    print([[name for name in {_HEAVY!r} if name in sys.modules], lines, int(resident) / 1024], flush=True)
    window.close()

def begin(window, *given):
    begun(window, *given)
    window.open_path(SAMPLE)
    timer = QTimer(window)
    timer.timeout.connect(lambda: look(window, timer))
    timer.start(10)

begun, app.begin = app.begin, begin
app.main([])
"""


@pytest.fixture(scope="module")
def at_rest(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], int, float]:
    """What a window says of itself that has the sample open and nothing to do."""
    printed, _ = started(_AT_REST, tmp_path_factory.mktemp("window"))
    modules, lines, megabytes = ast.literal_eval(printed)
    return modules, lines, megabytes


def test_the_window_at_rest_has_not_imported_what_nothing_shown_needs(
    at_rest: tuple[list[str], int, float],
) -> None:
    assert at_rest[0] == []


def test_the_source_of_modules_is_not_kept(at_rest: tuple[list[str], int, float]) -> None:
    assert at_rest[1] < 20_000  # 290,000 where PySide reads them


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the system does not tell what is resident"
)
def test_the_window_at_rest_takes_little_memory(at_rest: tuple[list[str], int, float]) -> None:
    assert at_rest[2] < _MOST_MEGABYTES
