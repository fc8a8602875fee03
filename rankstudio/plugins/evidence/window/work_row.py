"""A row that starts a computation, shows its progress and stops it."""

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

    The row is hidden if there is nothing to compute.

    Parameters
    ----------
    name : str
        Object name.
    offer : str
        Text of the button if the duration is unknown: "Find the sets".
    timed : str
        Text of the button with the estimated duration: "Find the sets
        (about {time})".
    tip : str
        Tooltip of the button.
    bounded : str
        Text of the button if the estimate is an upper bound: "Find the
        sets (at most {time})".

    Attributes
    ----------
    button, stop : QPushButton
    """

    def __init__(
        self, name: str, offer: str, timed: str, tip: str, bounded: str = ""
    ) -> None:
        super().__init__()
        self.setObjectName(name)

        # texts of the button: without an estimated time, with one, and
        # with an upper bound
        self._offer = offer
        self._timed = timed
        self._bounded = bounded or timed
        self.button = named(QPushButton(offer), f"{name}-button", tip=tip)
        self.bar = named(DeferredProgressBar(), f"{name}-progress", tr("progress"))
        self.bar.setFixedWidth(_BAR)
        self.status = named(ElidedLabel(), f"{name}-status", role="caption")
        self.stop = named(
            QPushButton(tr("Stop")),
            f"{name}-stop",
            tip=tr("Stop and keep the results so far"),
        )

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

    def set_tip(self, tip: str) -> None:
        """Set the tooltip of the button."""
        self.button.setToolTip(tip)

    def show_state(
        self,
        progress: Progress,
        seconds: float,
        share: float,
        doing: str,
        *,
        is_bound: bool = False,
    ) -> None:
        """Show the state of the computation that the button starts.

        Parameters
        ----------
        progress : Progress
            Whether the computation is offered, waits, runs or was
            stopped; the row is hidden in other states.
        seconds : float
            Estimated duration; infinity without an estimate.
        share : float
            Share that is done, while the computation runs.
        doing : str
            Text shown while the computation runs.
        is_bound : bool
            Whether the estimate is an upper bound.
        """
        is_running = progress is Progress.RUNNING
        is_waiting = progress is Progress.WAITING
        is_offered = progress in (Progress.OFFERED, Progress.STOPPED)
        self.setVisible(is_running or is_offered or is_waiting)
        self.button.setVisible(is_offered)
        self.stop.setVisible(is_running)
        self.bar.setVisible(is_running)
        self.bar.set_share(share if is_running else 0.0)
        if is_offered:
            text = self._bounded if is_bound else self._timed
            self.button.setText(
                self._offer if isinf(seconds) else text.format(time=duration(seconds))
            )
        states = {
            Progress.RUNNING: doing,
            Progress.STOPPED: tr("Partial result"),
            Progress.WAITING: tr("Waiting …"),
        }
        self.status.setText(states.get(progress, ""))
