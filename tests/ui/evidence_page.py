"""What tests of the Evidence page share."""

from __future__ import annotations

from waiting import wait_until
from windows import settle

from rankstudio.ui.main_window import MainWindow

K = 3
"""Features of the selection that is looked at."""


def rest(window: MainWindow) -> None:
    """Wait until everything that begins by itself is computed and shown."""
    settle(window)
    page = window.sections.find("evidence")
    if page is None:  # the folder of the ability may be absent
        return
    wait_until(lambda: not (page.evidence.busy or page.evidence.waiting), 120)
    wait_until(lambda: not (page.importance.busy or page.validity.busy), 120)
    wait_until(lambda: not page._soon.isActive())
    settle(window)
