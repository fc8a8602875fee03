"""Open a study in the window, and fail where one of its runs is not shown.

    python .ci/open_study.py STUDY RUNS

RUNS is the number of runs. What cannot be used of them, and why, is printed.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import mkdtemp

from rankstudio.ui.app import application
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme

SECONDS = 300


def main(study: str, expected: int) -> int:
    """Open a study, wait until all runs are there, and go through all pages."""
    app = application()
    theme = Theme("light")
    theme.apply(app)
    window = MainWindow(theme, Settings(Path(mkdtemp())))
    window.show()
    window.open_path(study)
    deadline = time.monotonic() + SECONDS
    while len(window.runs.records) < expected and time.monotonic() < deadline:
        app.processEvents()
        time.sleep(0.01)
    for entry in window.workspace.entries:
        window.workspace.show_page(entry.key)
        app.processEvents()
    records = window.runs.records
    for record in records:
        print(
            f"run {record.key}: {record.plan.title if record.plan else ''} {record.failure}".rstrip()
        )
    window.close()
    return 0 if len(records) == expected else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], int(sys.argv[2])))
