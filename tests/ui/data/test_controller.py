"""The Data page in the real window: what is not seen is not drawn."""

from __future__ import annotations

import pytest
from waiting import wait_until
from windows import settle

from rankstudio.ui.main_window import MainWindow


def test_statistics_are_shown_when_the_page_is_seen_and_not_before(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    statistics = window.sections.data.statistics
    shown: list[str] = []
    show = statistics.show_summary
    monkeypatch.setattr(
        statistics, "show_summary", lambda what, *given: (shown.append(what), show(what, *given))
    )
    settle(window)
    for fold in (1, 2):
        window.session.look_at(fold)
        settle(window)
    assert not shown
    window.workspace.show_page("data")
    wait_until(lambda: bool(shown))
    assert "fold 2" in shown[-1]
    assert "fold 2" in statistics.caption()
    assert statistics.table.rows()
    window.session.look_at(1)
    settle(window)
    assert "fold 1" in statistics.caption()
