"""A window that is killed in the middle of a run, and the next one, which goes on with it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import wait_until
from windows import open_window, settle, write_folds

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import save_plan
from rankstudio.engine.experiment.reports import results_as_dict, write_results
from rankstudio.engine.experiment.runner import RunFinished, run
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.style.theme import Theme

# The window opens a plan and runs it; it tells of every unit that it was told of.
_WINDOW = """
import sys
from PySide6.QtCore import QTimer
from rankstudio.ui.app import application
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme
app = application()
theme = Theme("light")
theme.apply(app)
window = MainWindow(theme, Settings())
def tell(record, event):
    if type(event).__name__ == "UnitFinished":
        print(event.unit.fold, event.unit.position, flush=True)
window.runs.eventNoted.connect(tell)
window.show()
window.open_path(sys.argv[1], run=True)
app.exec()
"""


def killed(plan: Path, environment: dict[str, str], units: int) -> None:
    """Run a plan in a window and end its process, with no chance to say goodbye."""
    process = subprocess.Popen(
        [sys.executable, "-c", _WINDOW, str(plan)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    for _, _ in zip(range(units), process.stdout, strict=False):
        pass
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("most", [1, 41, 41])
def test_the_next_window_goes_on_to_the_same_bits(
    theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    units = random.randint(1, most)
    data = write_folds(tmp_path / "Small")
    grid = tuple(2.0**e for e in range(-20, 21))
    plan = Plan(str(data), parameters={"regularization": grid})
    save_plan(plan, tmp_path / "plan.toml")
    monkeypatch.setenv("RANKSTUDIO_CONFIG_DIR", str(tmp_path / "user"))
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))
    killed(tmp_path / "plan.toml", dict(os.environ), units)
    with open_window(theme, tmp_path / "user") as window:
        window.restore()
        wait_until(lambda: window.runs.records and window.session.has_documents)
        wait_until(lambda: window.runs.records[0].recorded is None)
        [record] = window.runs.records
        assert record.state is RunState.UNFINISHED
        assert units <= record.units_done < 82
        assert window.sections.results.panel.rows()[0].message.startswith(f"{record.units_done} of 82 units")
        window.restorer.go_on(record)
        wait_until(lambda: record.state is RunState.DONE)
        settle(window)
    *_, undisturbed = run(plan)
    assert isinstance(undisturbed, RunFinished)
    assert record.result is not None
    assert results_as_dict(record.result)["folds"] == results_as_dict(undisturbed.result)["folds"]
    for name, result in (("continued", record.result), ("undisturbed", undisturbed.result)):
        (tmp_path / name).mkdir()
        write_results(result, tmp_path / name)
    for file in (tmp_path / "undisturbed").iterdir():
        assert (tmp_path / "continued" / file.name).read_bytes() == file.read_bytes(), file.name
