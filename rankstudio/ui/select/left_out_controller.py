"""Draws what the shown models measure on left-out queries, where that is asked for, while it grows."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.ui.model.left_out_measures import LeftOutMeasures
from rankstudio.ui.select.run_controller import RunController


class LeftOutController(QObject):
    """Keeps box and curves at what is known.

    Parameters
    ----------
    left_out : LeftOutMeasures
    run : RunController
        Who draws the curves.
    """

    def __init__(self, left_out: LeftOutMeasures, run: RunController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._left_out, self._run = left_out, run
        self._shown = left_out.shown
        run.curves.left_out.clicked.connect(left_out.toggle)
        left_out.changed.connect(self.show)
        left_out.grew.connect(self._grow)

    @Slot()
    def show(self) -> None:
        """Show whether they can be asked for, and how far they are."""
        left_out, box = self._left_out, self._run.curves.left_out
        box.setVisible(left_out.possible and not left_out.brought)
        box.show_state(left_out.share, asked=left_out.asked, waiting=left_out.waiting)
        if left_out.shown != self._shown:
            self._shown = left_out.shown
            self._run.rebuild()

    @Slot()
    def _grow(self) -> None:
        self.show()
        if self._left_out.growing is not None:
            self._run.show_left_out(*self._left_out.growing)
