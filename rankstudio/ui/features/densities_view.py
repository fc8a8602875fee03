"""The densities that a method itself compared, of two features side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.plots import Density, DensityPlot
from rankstudio.ui.plots.axes import Axes
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.choices import choice_box
from rankstudio.ui.widgets.layout import named
from rankstudio.ui.widgets.panel import ElidedLabel

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.compared_densities import ComparedDensities

_NEXT = -1  # of the choice that follows the feature on the left
_WAITING = tr("Estimating the densities …")
_ONE_VALUE = tr("Fewer than two values other than 0 in the validation part: nothing to draw.")
_X = tr("validation value")
_ABOUT = tr(
    "The densities that the method compares: Gaussian kernels over the training documents of "
    "each grade, evaluated at the validation values. d is the expected divergence, where "
    "distant grades count more. The score of a feature is its NDCG@10 alone plus d."
)


class DensitiesView(QWidget):
    """Two features' `ComparedDensities`: the one that is looked at, and another one.

    Attributes
    ----------
    otherChosen : Signal(object)
        Column of the feature to show at the right; None for the one that came next.
    """

    otherChosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        named(self, "densities-view", role="page")
        self.plots = (
            named(DensityPlot(theme), "compared-density-left", tr("Densities of the feature")),
            named(DensityPlot(theme), "compared-density-right", tr("Densities of another feature")),
        )
        self.name = named(ElidedLabel("", Qt.TextElideMode.ElideMiddle), "densities-name", role="caption")
        self.choice = named(choice_box((("", ""),)), "densities-choice", tr("Compare with"))
        self.choice.setToolTip(tr("Feature shown on the right"))
        self.sentence = named(PlainLabel(), "densities-sentence", role="caption")
        self.sentence.setWordWrap(True)
        self.sentence.setToolTip(_ABOUT)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        for place, (above, plot) in enumerate(zip((self.name, self.choice), self.plots, strict=True)):
            grid.addWidget(above, 0, place)
            grid.addWidget(plot, 1, place)
            grid.setColumnStretch(place, 1)
        grid.addWidget(self.sentence, 2, 0, 1, 2, Qt.AlignmentFlag.AlignTop)
        grid.setRowStretch(1, 1)
        self.choice.activated.connect(self._on_activated)
        self.clear()

    def clear(self) -> None:
        """Show no feature."""
        self.name.setText("")
        self.sentence.clear()
        for plot in self.plots:
            plot.placeholder = _WAITING
            plot.set_axes(Axes("", _X, show_y=False))
            plot.set_densities(())

    def show_choices(self, columns: Sequence[int], names: Sequence[str], chosen: int | None) -> None:
        """Offer other features.

        Parameters
        ----------
        columns : sequence of int
            In the order in which they are offered.
        names : sequence of str
            Of all columns.
        chosen : int or None
            The column that is shown; None for the one that came next.
        """
        with QSignalBlocker(self.choice):
            self.choice.clear()
            self.choice.addItem(tr("next on the path"), _NEXT)
            for column in columns:
                self.choice.addItem(names[column], column)
            self.choice.setCurrentIndex(max(0, self.choice.findData(_NEXT if chosen is None else chosen)))

    def show_densities(self, found: Sequence[ComparedDensities], names: Sequence[str]) -> None:
        """Show one feature, or two; ``names`` are those of all columns."""
        for place, plot in enumerate(self.plots):
            plot.setVisible(place < len(found))
            if place < len(found):
                shown = found[place]
                plot.placeholder = _ONE_VALUE
                plot.set_axes(Axes(f"d = {shown.divergence:.4f}", _X, show_y=False))
                plot.setAccessibleName(
                    tr("Densities of {names}, d = {divergence:.4f}").format(
                        names=names[shown.column], divergence=shown.divergence
                    )
                )
                plot.subject = names[shown.column]
                plot.set_densities([Density(c.label, shown.grid, c.density, c.zeros) for c in shown.classes])
        self.name.setText(names[found[0].column])
        if self.choice.currentIndex() == 0 and len(found) > 1:
            self.choice.setItemText(0, tr("{names} (next)").format(names=names[found[1].column]))
        self.sentence.setText("\n".join(_told(each, names[each.column]) for each in found))

    @Slot(int)
    def _on_activated(self, index: int) -> None:
        column = int(self.choice.itemData(index))
        self.otherChosen.emit(None if column == _NEXT else column)


def _told(shown: ComparedDensities, name: str) -> str:
    """Return how the score of a feature comes about."""
    place = tr("number {place}").format(place=shown.place) if shown.place else tr("not on the path")
    return tr("{name}: {importance:.4f} alone + {divergence:.4f} = {score:.4f}, {place}").format(
        name=name, importance=shown.importance, divergence=shown.divergence, score=shown.score, place=place
    )
