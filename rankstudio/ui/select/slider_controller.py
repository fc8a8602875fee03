"""The slider above the curves, with which the user inspects models at and between the values of a grid."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.widgets import LambdaSlider

FINE = tuple(2.0 ** (step / 4) for step in range(-60, 61))
"""Values of the slider between those of the grid: powers of 2 from 2^-15 to 2^15, in steps of 2^(1/4)."""


class SliderController(QObject):
    """Turns moves of the slider into inspected models, and shows the grid and the inspected model on it.

    Parameters
    ----------
    session, current, slider
    """

    def __init__(
        self,
        session: Session,
        current: CurrentModel,
        slider: LambdaSlider,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._current = current
        self._slider = slider
        slider.moved.connect(self._glide)

        # What the slider shows: label of the axis, all stops, and values of the grid.
        self._offered: tuple[str, tuple[float, ...], tuple[float, ...]] = "", (), ()
        for signal in (current.changed, current.inspected):
            signal.connect(self._show)

    @Slot(float)
    def _glide(self, value: float) -> None:
        """Inspect the model at a value of the slider; the values on the other axes of the plan stay.

        ``value`` is that of the parameter on the slider. All values of
        one movement of the slider are undone together.
        """
        slider_axis = self._current.shown.axis
        axis_values = zip(
            self._current.shown.plan.axes, self._current.inspected_values, strict=True
        )
        values = tuple(
            value if axis == slider_axis else present for axis, present in axis_values
        )
        self._current.inspect_or_choose(
            values, self._session.choice.x_value, gliding=True
        )

    @Slot()
    def _show(self) -> None:
        """Show the first grid and the inspected value; add stops between values if paths are fast."""
        # Stops are the values of the grid; if paths are fast to compute
        # (the plan is live), there are finer ones between them. The
        # view has the run, plan, fold and model that the pages show.
        view = self._current.shown
        axis = view.axis
        is_live = view.plan.live
        stops = (
            tuple(sorted({*(FINE if is_live else ()), *axis.values}))
            if axis is not None
            else ()
        )

        # with one value there is nothing to move
        self._slider.setVisible(len(stops) > 1)
        self._slider.setEnabled(view.fold is not None and axis is not None)
        if axis is None:
            return

        # The slider is set only if its stops have changed, so that it
        # stays where it is dragged.
        offered = axis.label, stops, tuple(axis.values)
        if offered != self._offered:
            self._offered = offered
            self._slider.set_values(stops, axis.label, axis.values)

        # Show the inspected value.
        for plan_axis, value in zip(
            view.plan.axes, self._current.inspected_values, strict=True
        ):
            if plan_axis == axis:
                self._slider.select(value)
