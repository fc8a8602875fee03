"""The toolbar's slider and what it moves: the first grid of the plan."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.shell.toolbar import FINE
from rankstudio.ui.widgets import LambdaSlider


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
        self._slider.setEnabled(axis is not None)
        if axis is not None:
            self._slider.set_values(sorted({*(FINE if live else ()), *axis.values}), axis.label)
        self._show_value()
