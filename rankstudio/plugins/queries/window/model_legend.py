"""The legend of the models A and B, with the color of the queries that each of them ranks better."""

from __future__ import annotations

from PySide6.QtGui import QColor

from rankstudio.plugins.queries.window.colors import loss_and_gain
from rankstudio.plugins.queries.window.legend import Legend
from rankstudio.ui.language import tr
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.theme import Theme


class ModelLegend(Legend):
    """A legend with the names of A and B, beside the color of the queries that each of them ranks better.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "query-legend", tr("Models and their colours"))

    def show_models(self, a: str, b: str) -> None:
        """Show the names of the models A and B.

        The legend is hidden if a name is empty.
        """
        better_in_a = tr("A better: {model}").format(model=a)
        better_in_b = tr("B better: {model}").format(model=b)
        self._show("", (better_in_a, better_in_b) if a and b else ())

    def color(self, colors: Colors, position: int) -> QColor:
        """Return the color of the queries that a model ranks better: 0 for A, 1 for B."""
        return loss_and_gain(colors)[position]
