"""What stands around the curves and works by itself: the slider and the permutation test."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.ui.model.permutation_tests import N_PERMUTATIONS, PermutationTests, tested_x_values
from rankstudio.ui.model.selected_model import CurrentModel, SelectedModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.select.curve_controls import ChanceRow, chance_sentence
from rankstudio.ui.select.curves_panel import X_NAMES, CurvesPanel
from rankstudio.ui.widgets import LambdaSlider

FINE = tuple(2.0 ** (step / 4) for step in range(-60, 61))
"""Where the slider can stand between the values of the grid: quarters of powers, 2^-15 to 2^15."""


class SliderController(QObject):
    """Lets the slider inspect models of the shown run, and gives it grid and model of what is shown.

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
        self._offered: tuple[str, tuple[float, ...], tuple[float, ...]] = "", (), ()
        for signal in (current.changed, current.inspected):
            signal.connect(self._show)

    @Slot(float)
    def _glide(self, value: float) -> None:
        moved = self._current.shown.axis
        on_axes = zip(self._current.shown.plan.axes, self._current.inspected_values, strict=True)
        values = tuple(value if axis == moved else present for axis, present in on_axes)
        self._current.look_at(values, self._session.choice.place, gliding=True)

    @Slot()
    def _show(self) -> None:
        """Let the slider stop at the values of the first grid, and between them where paths are fast."""
        shown = self._current.shown
        axis, live = shown.axis, shown.plan.live
        stops = tuple(sorted({*(FINE if live else ()), *axis.values})) if axis is not None else ()
        self._slider.setVisible(len(stops) > 1)  # with one value there is nothing to move
        self._slider.setEnabled(shown.fold is not None and axis is not None)
        if axis is None:
            return
        offered = axis.label, stops, tuple(axis.values)
        if offered != self._offered:
            self._offered = offered
            self._slider.set_values(stops, axis.label, axis.values)
        for one, value in zip(shown.plan.axes, self._current.inspected_values, strict=True):
            if one == axis:
                self._slider.select(value)


class ChanceController(QObject):
    """Keeps band and sentence at what is known of the current model's path.

    It has to be made after whoever draws the curves anew, which takes all bands away.

    Parameters
    ----------
    current : CurrentModel
        Which says when other curves are drawn.
    tests : PermutationTests
    curves : CurvesPanel
    """

    def __init__(
        self,
        current: CurrentModel,
        tests: PermutationTests,
        curves: CurvesPanel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._current, self._tests, self._curves = current, tests, curves
        curves.chance.button.clicked.connect(tests.toggle)
        for signal in (current.changed, tests.changed, tests.grew):
            signal.connect(self.show)

    @Slot()
    def show(self) -> None:
        """Show what is known."""
        model, band, row = self._current.model, self._tests.band, self._curves.chance
        row.setVisible(model is not None)
        if model is None:
            self._curves.set_permuted((), None)
            return
        self._curves.set_permuted(() if band is None else tested_x_values(model, band), band)
        show_chance(row, self._tests, model)


def show_chance(row: ChanceRow, tests: PermutationTests, model: SelectedModel) -> None:
    """Show in a row what the permutation test of a model's path says, or why there is none."""
    if tests.obstacle:
        row.show_obstacle(tests.obstacle)
        return
    sentence, growing, preferred = "", tests.growing, bool(preferences_of(model.plan))
    band = tests.band
    if band is not None:
        places = tested_x_values(model, band)
        position = min(model.position, places.size - 1, band.observed.size - 1)
        where = f"{X_NAMES[model.path.step_kind]} = {places[position]}"
        sentence = chance_sentence(
            band, position, where, N_PERMUTATIONS, growing=growing, preferred=preferred
        )
    whole = band is not None and band.n_permutations >= N_PERMUTATIONS
    row.show_state(sentence, growing=growing, whole=whole, preferred=preferred, seconds=tests.seconds)
