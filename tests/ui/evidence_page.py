"""What tests of the Evidence page share."""

from __future__ import annotations

from waiting import wait_until
from windows import settle

from rankstudio.ui.main_window import MainWindow

K = 3
"""Features of the selection that is looked at."""


def rest(window: MainWindow) -> None:
    """Wait until everything that begins by itself is computed and shown."""
    evidence, page = window.sections.evidence.evidence, window.sections.evidence
    settle(window)
    wait_until(lambda: not (evidence.busy or evidence.waiting), 120)
    wait_until(lambda: not window.sections.evidence.importance.busy, 120)
    wait_until(lambda: not page._soon.isActive())
    settle(window)
