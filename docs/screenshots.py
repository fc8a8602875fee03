"""Take the guide's pictures of the window, on the bundled sample.

python docs/screenshots.py
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.plugins.evidence.window.evidence import Package, Progress
from rankstudio.ui.app import application
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.shell.workspace import FIRST
from rankstudio.ui.style.theme import Theme

IMAGES = Path(__file__).parent / "images"
SIZE = (1440, 900)
LOSSLESS = 100  # the quality at which Qt writes WebP without a loss
REST = 1.0  # seconds in which everything that a change sets off is drawn


def main() -> int:
    """Open the window without a display, run the sample's study, look at a fold, and grab both themes."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as settings:
        take(application(), Settings(Path(settings)))
    return 0


def take(app: QApplication, settings: Settings) -> None:
    """Take the pictures."""
    theme = Theme("light")
    theme.apply(app)
    window = MainWindow(theme, settings)
    window.resize(*SIZE)
    window.show()
    window.open_controller.open_path(SAMPLE, run=True)
    wait(app, lambda: bool(window.runs.records) and not window.runs.busy)
    # so that the pictures have numbers of the test part
    window.session.unsealAsked.emit()
    window.session.show_fold(3)
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        theme.finish()
        rest(app)
        # software centres, which show it, read PNG only
        window.grab().save(str(IMAGES / f"window-{mode}.png"))
    theme.set_mode("light")
    window.session.change("ranking", method="gas", parameters={}, ranker="ranksvm")
    window.commands["run"].trigger()
    wait(app, lambda: len(window.runs.records) > 1 and not window.runs.busy, most=300.0)
    window.session.show_fold(3)
    rest(app)
    save(window, "window-ranker")
    take_results(app, window)
    take_pages(app, window, theme)
    delete(window)


def take_results(app: QApplication, window: MainWindow) -> None:
    """Take the pictures of the views of the results, of a few more runs."""
    window.session.change(
        "pinning",
        method="greedy-rankrls",
        ranker="",
        ranker_parameters={},
        parameters={},
    )
    window.session.toggle("pinned", 12)
    window.session.toggle("banned", 39)
    window.commands["run"].trigger()
    wait(app, lambda: not window.runs.busy, most=300.0)
    window.workspace.show_page("compare")
    panel, tests = window.sections.compare.views, window.sections.compare.views.tests
    tests.referenceChosen.emit(1)
    for key in ("tests", "stability", "pareto"):
        panel.show_view(key)
        rest(app)
        wait(app, lambda: not window.models.task_worker.jobs)
        rest(app)
        save(panel, f"results-{key}")


def take_pages(app: QApplication, window: MainWindow, theme: Theme) -> None:
    """Take a picture of every page but Select, which is taken already, in both themes."""
    window.sections.compare.panel.selected.emit(1)
    window.session.show_fold(3)
    for key in (page.key for page in window.workspace.entries if page.key != FIRST):
        window.workspace.show_page(key)
        if key == "evidence":
            gather(app, window)
        if key == "lab":
            simulate(app, window)
        for mode in ("light", "dark"):
            theme.set_mode(mode)
            theme.finish()
            rest(app)
            wait(app, lambda: not window.models.task_worker.jobs)
            rest(app)
            save(window, f"page-{key}-{mode}")
    theme.set_mode("light")


def save(widget: QWidget, name: str) -> None:
    """Write a picture of a widget without a loss, in a third of the bytes of PNG."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    image.save(str(IMAGES / f"{name}.webp"), quality=LOSSLESS)


def gather(app: QApplication, window: MainWindow) -> None:
    """Have the page find the sets as good as the best one, which it offers to do."""
    evidence = window.sections.evidence.evidence
    rest(app)
    wait(app, lambda: not evidence.busy)
    evidence.start(Package.NEAR)
    wait(app, lambda: evidence.progress(Package.NEAR) is Progress.DONE, most=300.0)


def simulate(app: QApplication, window: MainWindow) -> None:
    """Carry out what the form of the Estimates page proposes."""
    form = window.sections.contributed.controllers["lab"].auc.form
    form.start.click()
    wait(app, lambda: form.status.text() == "done", most=300.0)


def delete(window: MainWindow) -> None:
    """Close a window and delete it with all that it holds, which closing alone does not.

    In the program the process ends with its one window; here one follows the other.
    """
    window.close()
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()


def rest(app: QApplication) -> None:
    """Let the window come to rest."""
    end = time.monotonic() + REST
    wait(app, lambda: time.monotonic() > end)


def wait(app: QApplication, until: Callable[[], bool], most: float = 600.0) -> None:
    """Let the event loop turn until something has happened."""
    end = time.monotonic() + most
    while not until():
        app.processEvents()
        time.sleep(0.005)
        if time.monotonic() > end:
            raise TimeoutError("the window did not come to rest")


if __name__ == "__main__":
    sys.exit(main())
