"""Python loads this first in processes of ``test_started_window.py``: it looks at the window and closes it.

The program itself is started as a user starts it, and knows nothing of being watched. Processes that it
starts in turn are left alone.
"""

import json
import os
from pathlib import Path

if folder := os.environ.pop("WATCHED_WINDOW", ""):
    from PySide6.QtCore import QTimer
    from PySide6.QtGui import QAction
    from PySide6.QtWidgets import QAbstractButton, QApplication, QMainWindow

    run_events = QApplication.exec

    def look(window: QMainWindow) -> None:
        """Keep the window's picture and what it says."""
        try:
            pages = [
                w
                for w in window.findChildren(QAbstractButton)
                if w.objectName().startswith("page-")
            ]
            seen = {
                "title": window.windowTitle(),
                "menus": [action.text() for action in window.menuBar().actions()],
                "actions": sorted(
                    {action.text() for action in window.findChildren(QAction)}
                ),
                "pages": [page.text() for page in pages],
            }
            window.grab().save(str(Path(folder, "window.png")))
            Path(folder, "seen.json").write_text(json.dumps(seen), encoding="utf-8")
        finally:
            window.close()

    def watched() -> int:
        """Handle events as the application does, and look at the window after those of its start."""
        window = next(
            w for w in QApplication.topLevelWidgets() if isinstance(w, QMainWindow)
        )
        QTimer.singleShot(0, window, lambda: look(window))
        return run_events()

    QApplication.exec = staticmethod(watched)
