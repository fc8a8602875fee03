"""The slider over the curves and what it moves: the first grid of the plan."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.widgets import LambdaSlider

FINE = tuple(2.0 ** (step / 4) for step in range(-60, 61))
"""Where the slider can stand between the values of the grid: quarters of powers, 2^-15 to 2^15."""


class SliderController(QObject):
    """Takes the slider's moves to the study, and the study's grid and choice to the slider.

    Parameters
    ----------
    session, current, slider
    """

    def __init__(
        self, session: Session, current: CurrentModel, slider: LambdaSlider, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._current, self._slider = session, current, slider
        slider.moved.connect(self._glide)
        session.planChanged.connect(self._show_grid)
        session.foldChanged.connect(self._enable)
        current.changed.connect(self._show_value)

    @Slot(float)
    def _glide(self, value: float) -> None:
        moved = self._session.axis
        on_axes = zip(self._session.plan.axes, self._current.values, strict=True)
        values = tuple(value if axis == moved else present for axis, present in on_axes)
        self._session.select(values, self._session.choice.place, gliding=True)

    @Slot()
    def _show_value(self) -> None:
        for axis, value in zip(self._session.plan.axes, self._current.values, strict=True):
            if axis == self._session.axis:
                self._slider.select(value)

    @Slot()
    def _show_grid(self) -> None:
        """Let the slider stop at the values of the plan's grid, and between them where paths are fast."""
        axis, live = self._session.axis, self._session.plan.live
        stops = sorted({*(FINE if live else ()), *axis.values}) if axis is not None else []
        self._slider.setVisible(len(stops) > 1)  # with one value there is nothing to move
        self._enable()
        if axis is not None:
            self._slider.set_values(stops, axis.label)
        self._show_value()

    @Slot()
    def _enable(self) -> None:
        self._slider.setEnabled(self._session.watched is not None and self._session.axis is not None)
