"""Legend of the models A and B, with the colour of queries that each ranks better."""

from __future__ import annotations

from PySide6.QtGui import QColor

from rankstudio.plugins.queries.window.colors import loss_and_gain
from rankstudio.plugins.queries.window.legend import Legend
from rankstudio.ui.language import tr
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.theme import Theme


class ModelLegend(Legend):
    """The colour of queries that A ranks better with the model that is A, and the same of B.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "query-legend", tr("Models and their colours"))

    def show_models(self, a: str, b: str) -> None:
        """Show the names of A and B; without names the legend is hidden."""
        better_in_a = tr("A better: {model}").format(model=a)
        better_in_b = tr("B better: {model}").format(model=b)
        self._show("", (better_in_a, better_in_b) if a and b else ())

    def color(self, colors: Colors, position: int) -> QColor:
        """Return the colour of queries that a model ranks better."""
        return loss_and_gain(colors)[position]
