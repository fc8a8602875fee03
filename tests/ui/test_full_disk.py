"""The window where files can only grow to a size: a real limit of the process, as of a disk that is full."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from experiment.small import assert_same
from waiting import wait_until
from windows import finish, settle

from rankstudio.engine.experiment.runner import collect, open_data
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord, RunState

resource = pytest.importorskip(
    "resource", reason="sizes of files are limited otherwise there"
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="see above")


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_study_that_cannot_grow_any_more(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window.models.study_store, "folder", tmp_path / "studies")
    with files_of_at_most(80_000):
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records and not window.runs.busy)
    record = window.runs.records[0]
    assert record.state is RunState.FAILED
    assert window.notice.text().startswith(str(tmp_path / "studies"))
    assert window.notice.text().endswith("is full; data stored before are safe.")
    window.commands["go_on"].trigger()
    wait_until(lambda: record.state is RunState.DONE)
    settle(window)
    finish(window)
    assert_same(result(record), result(window.runs.records[1]))


def result(record: RunRecord):  # type: ignore[no-untyped-def]
    """Return the results of a run, from its folds."""
    return collect(
        record.plan, open_data(record.plan), tuple(record.folds.values()), 0.0
    )


@pytest.mark.parametrize("suffix", [".json", ".csv", ".png"])
def test_an_export_that_finds_the_disk_full(
    window: MainWindow, tmp_path: Path, suffix: str
) -> None:
    finish(window)
    settle(window)
    dialog = window.export_controller.dialog()
    item = next(
        item for item in dialog._items if suffix in [end for _, end in item.formats]
    )
    dialog.select(item.key)
    for name in (f"new{suffix}", f"old{suffix}"):
        path = tmp_path / "exports" / name
        path.parent.mkdir(exist_ok=True)
        if name.startswith("old"):
            path.write_text("as it was")
        dialog._path.setText(str(path))
        dialog._replaceable_path = path
        with files_of_at_most(20):
            dialog.save()
            wait_until(lambda: "Writing" not in dialog.message.text())
        assert dialog.message.text() == f"{path} could not be written: File too large."
    assert [p.name for p in path.parent.iterdir()] == [f"old{suffix}"]
    assert path.read_text() == "as it was"
    dialog.deleteLater()
