"""The window where nothing can be kept for the next start: it works, and says so once."""

from __future__ import annotations

from pathlib import Path

import pytest
from windows import finish, open_window, settle
from wording import naming

from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.process.crash import CrashReports, log_to_file
from rankstudio.ui.style.theme import Theme


@pytest.mark.thorough
def test_a_run_is_done_and_what_cannot_be_kept_is_said_once(
    theme: Theme, tmp_path: Path, folds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.write_text("a file where the folder should be")
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"RANKSTUDIO_{name}_DIR", str(home / name))
    assert log_to_file(home / "DATA") is None
    said: list[str] = []
    with open_window(theme, home / "config", folds) as window:
        window.window_state.failed.connect(said.append)
        window.study_files.warned.connect(said.append)
        for _ in range(2):
            finish(window)
            window.window_state.save()
        settle(window)
        assert [record.state for record in window.runs.records] == [RunState.DONE] * 2
    assert len(said) == 2
    assert any(
        text.startswith("Runs are not stored and are lost when the window closes: ")
        for text in said
    )
    assert any(naming("plan").search(text) for text in said)
    assert all(str(home) in text for text in said)
    assert home.read_text() == "a file where the folder should be"


def test_a_report_that_cannot_be_removed_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = CrashReports(tmp_path)
    reports.path.mkdir()  # cannot be removed as a file
    reports.forget()
    assert reports.last() == ""
