"""Take the pictures of the tutorial "46 features or seven?" on MQ2008.

python docs/tutorial_pictures.py FOLDER

The folder is that of the data, which are no part of the project.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from PySide6.QtWidgets import QApplication
from screenshots import delete, rest, save, wait

from rankstudio.ui.app import application
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme

SIZE = (1280, 800)
FOLD = 3
SELECTION = 1
ALL_FEATURES = 2
"""Numbers of the runs, in the order of the tutorial."""


def main(folder: str) -> int:
    """Open a window without a display, follow the tutorial, and take its pictures."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as settings:
        take(application(), Path(folder), Settings(Path(settings)))
    return 0


def take(app: QApplication, folder: Path, settings: Settings) -> None:
    """Take the pictures in the order of the steps."""
    theme = Theme("light")
    theme.apply(app)
    window = MainWindow(theme, settings)
    window.resize(*SIZE)
    window.show()
    # the folder is opened, and a selection is run
    window.open_controller.open_path(folder)
    wait(app, lambda: window.session.dataset is not None)
    show(app, window, theme, "data")
    run(app, window)
    show(app, window, theme, "select")
    show(app, window, theme, "evidence")
    # all features, compared first on the sealed part and then on the test part
    window.session.change("all features", method="rankrls", parameters={})
    run(app, window)
    window.workspace.show_page("compare")
    window.sections.compare.views.tests.referenceChosen.emit(ALL_FEATURES)
    window.sections.compare.panel.selected.emit(SELECTION)
    show(app, window, theme, "compare", name="sealed")
    window.session.unsealAsked.emit()
    show(app, window, theme, "compare", name="test")
    delete(window)


def run(app: QApplication, window: MainWindow) -> None:
    """Run the plan of the form on all folds, and show one fold."""
    window.commands["run"].trigger()
    rest(app)
    wait(app, lambda: not window.runs.busy)
    window.session.show_fold(FOLD)
    rest(app)


def show(
    app: QApplication, window: MainWindow, theme: Theme, page: str, name: str = ""
) -> None:
    """Take the picture of a page in both themes."""
    window.workspace.show_page(page)
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        theme.finish()
        rest(app)
        wait(app, lambda: not window.models.task_worker.jobs)
        rest(app)
        save(window, f"tutorial-{name or page}-{mode}")
    theme.set_mode("light")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
