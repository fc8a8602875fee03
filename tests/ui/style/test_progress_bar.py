"""A progress bar that is painted with everything else."""

from __future__ import annotations

from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from waiting import wait_until

from rankstudio.ui.style.progress_bar import DeferredProgressBar


class Picture(QWidget):
    """Counts how often it is painted."""

    painted = 0

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - the name is Qt's
        self.painted += 1


def test_a_new_share_paints_nothing_at_once(app: QApplication) -> None:
    window, bar, picture = QWidget(), DeferredProgressBar(), Picture()
    column = QVBoxLayout(window)
    column.addWidget(bar)
    column.addWidget(picture, 1)
    window.resize(300, 200)
    window.show()
    wait_until(lambda: picture.painted)
    QApplication.processEvents()
    before = picture.painted
    picture.update()
    for share in (0.25, 0.5):
        bar.set_share(share)
    assert bar.value() == 500
    assert picture.painted == before
    wait_until(lambda: picture.painted > before)
    window.close()
    window.deleteLater()
