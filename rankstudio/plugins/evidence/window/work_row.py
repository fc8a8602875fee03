"""A line that offers to compute something, says how far it is, and stops it."""

from __future__ import annotations

from math import inf, isinf

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from rankstudio.plugins.evidence.window.evidence import Progress
from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import duration
from rankstudio.ui.style.progress_bar import DeferredProgressBar
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import ElidedLabel

_BAR = 96  # pixels


class WorkRow(QWidget):
    """A button that starts a computation; during the computation, its progress and *Stop*.

    Nothing is seen where there is nothing to do.

    Parameters
    ----------
    name : str
        For the program and its tests.
    offer : str
        Text of the button where the duration is unknown: "Find the sets".
    timed : str
        What it says otherwise, with a place for the time: "Find the sets (about {time})".
    tip : str
        What comes of it.
    bounded : str
        What it says where the time is a bound: "Find the sets (at most {time})".

    Attributes
    ----------
    button, stop : QPushButton
    """

    def __init__(self, name: str, offer: str, timed: str, tip: str, bounded: str = "") -> None:
        super().__init__()
        self.setObjectName(name)
        self._offer = offer
        self._timed = timed
        self._bounded = bounded or timed
        self.button = named(QPushButton(offer), f"{name}-button", tip=tip)
        self.bar = named(DeferredProgressBar(), f"{name}-progress", tr("progress"))
        self.bar.setFixedWidth(_BAR)
        self.status = named(ElidedLabel(), f"{name}-status", role="caption")
        self.stop = named(QPushButton(tr("Stop")), f"{name}-stop", tip=tr("Stop and keep the results so far"))
        for button in (self.button, self.stop):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        fill(
            QHBoxLayout(self),
            self.button,
            self.stop,
            self.bar,
            (self.status, 1),
            margins=(0, 0, 0, 0),
            spacing=8,
        )
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.show_state(Progress.ABSENT, inf, 0.0, "")

    def show_state(
        self, progress: Progress, seconds: float, share: float, doing: str, *, is_bound: bool = False
    ) -> None:
        """Show how far the work is.

        Parameters
        ----------
        progress : Progress
        seconds : float
            Estimated duration; infinity without an estimate.
        share : float
            How much is done, while it runs.
        doing : str
            What is said then.
        is_bound : bool
            Whether it may take much less time.
        """
        running = progress is Progress.RUNNING
        waiting = progress is Progress.WAITING
        offered = progress in (Progress.OFFERED, Progress.STOPPED)
        self.setVisible(running or offered or waiting)
        self.button.setVisible(offered)
        self.stop.setVisible(running)
        self.bar.setVisible(running)
        self.bar.set_share(share if running else 0.0)
        if offered:
            text = self._bounded if is_bound else self._timed
            self.button.setText(self._offer if isinf(seconds) else text.format(time=duration(seconds)))
        states = {
            Progress.RUNNING: doing,
            Progress.STOPPED: tr("Partial result"),
            Progress.WAITING: tr("Waiting …"),
        }
        self.status.setText(states.get(progress, ""))
