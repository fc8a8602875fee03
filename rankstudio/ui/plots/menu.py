"""What every plot offers on a right click, and in its panel's export button: copy it, save it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu

from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.figures.style import style_of
from rankstudio.engine.export.tables import csv_of_values
from rankstudio.ui.language import tr
from rankstudio.ui.plots.export import FORMATS, export_plot, figure_image
from rankstudio.ui.process.files_read import refuse_read

if TYPE_CHECKING:
    from rankstudio.ui.plots.base import Plot


class PlotMenu(QMenu):
    """Copy a plot as a picture or as numbers, or save it.

    Parameters
    ----------
    plot : Plot
    """

    def __init__(self, plot: Plot) -> None:
        super().__init__(plot)
        self.setObjectName("plot-menu")
        self._plot = plot
        self.addAction(tr("Figure for print…")).triggered.connect(plot.figureAsked)
        self.addSeparator()
        self.addAction(tr("Copy picture")).triggered.connect(self.copy_picture)
        self.addAction(tr("Copy numbers")).triggered.connect(self.copy_numbers)
        self.addSeparator()
        self.addAction(tr("Save as PNG, SVG, PDF or CSV…")).triggered.connect(self.save_as)
        if hasattr(plot, "reset_zoom"):
            self.addSeparator()
            self.addAction(tr("Show everything")).triggered.connect(plot.reset_zoom)
        self._scale = self.addAction(tr("Logarithmic axis\tL")) if hasattr(plot, "toggle_scale") else None
        if self._scale is not None and hasattr(plot, "toggle_scale"):
            self._scale.setCheckable(True)
            self._scale.triggered.connect(plot.toggle_scale)
        self.aboutToShow.connect(self._enable)

    @Slot()
    def copy_picture(self) -> None:
        """Put the figure on the clipboard, two columns wide."""
        self._plot.flush()
        picture = figure_image(self._plot.figure(), style_of("page"), 220.0)
        QGuiApplication.clipboard().setImage(picture)

    @Slot()
    def copy_numbers(self) -> None:
        """Put the numbers behind the plot on the clipboard, ready for a spreadsheet."""
        QGuiApplication.clipboard().setText(csv_of_values(*self._plot.numbers(), separator="\t"))

    @Slot()
    def save_as(self) -> None:
        """Ask where to, and save; a failure is the plot's `failed` signal."""
        suggested = "".join(c if c.isalnum() else "-" for c in self._plot.axes.title).strip("-") or "plot"
        filters = ";;".join(f"{label} (*{ending})" for label, ending in FORMATS)
        name, chosen = QFileDialog.getSaveFileName(self._plot, tr("Save plot"), f"{suggested}.png", filters)
        if not name:
            return
        if not Path(name).suffix:
            name += chosen.partition("*")[2].rstrip(")")
        try:
            refuse_read(self._plot, [name])
            export_plot(self._plot, name)
        except OutputError as error:
            self._plot.failed.emit(str(error))

    @Slot()
    def _enable(self) -> None:
        """Offer nothing of an empty plot."""
        for action in self.actions():
            action.setEnabled(not self._plot.is_empty())
        if self._scale is not None:
            self._scale.setChecked(self._plot.axes.log_y)
