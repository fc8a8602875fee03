"""Shows beside the criterion what the permutation test of the path that is looked at has found."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.ui.model.permutation_tests import N_PERMUTATIONS, PermutationTests
from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.select.chance_row import chance_sentence
from rankstudio.ui.select.curves_panel import X_NAMES, CurvesPanel


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
        curves.chance.asked.connect(tests.toggle)
        for signal in (current.changed, tests.changed, tests.grew):
            signal.connect(self.show)

    @Slot()
    def show(self) -> None:
        """Show what is known."""
        model, band, row = self._current.model, self._tests.band, self._curves.chance
        row.setVisible(self._tests.possible)
        if model is None or not self._tests.possible:
            self._curves.set_permuted((), None)
            return
        sentence = ""
        growing, preferred = self._tests.growing, bool(model.plan.preferences)
        if band is not None:
            position = min(model.position, band.observed.size - 1)
            where = f"{X_NAMES[model.path.step_kind]} = {model.x_value}"
            sentence = chance_sentence(
                band, position, where, N_PERMUTATIONS, growing=growing, preferred=preferred
            )
        self._curves.set_permuted(model.path.x_values, band)
        whole = band is not None and band.n_permutations >= N_PERMUTATIONS
        row.show_state(sentence, growing=growing, whole=whole, preferred=preferred)
