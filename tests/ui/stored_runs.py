"""Runs that a study stores: what of them is compared, and one that was left in the middle."""

from __future__ import annotations

from pathlib import Path

from waiting import wait_until
from windows import Opened, slowly

from rankstudio.engine.experiment.reports import results_as_dict
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.process.settings import Settings


def written(record: RunRecord) -> dict[str, object]:
    """Return what the run's results are as a file, without how long it took."""
    assert record.result is not None
    values = results_as_dict(record.result)
    return {name: value for name, value in values.items() if name != "seconds"}


def left_in_the_middle(opened: Opened, tmp_path: Path, data: Path) -> int:
    """Close a window in the middle of a run, and return how many of its units were done."""
    with opened(data, slowly) as window:
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].units_done >= 2)
    with Study.open(Settings(tmp_path / "config").text("study/file")) as study:
        (summary,) = study.runs()
    assert not summary.finished
    return summary.n_finished
