"""The critical-difference diagram on the screen."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from rankstudio.engine.support.escaping import one_line
from rankstudio.plugins.method_ranks.diagram_layout import (
    DiagramText,
    Stroke,
    laid_out,
)
from rankstudio.plugins.method_ranks.rank_diagram import RankDiagram
from rankstudio.ui.language import tr
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.theme import Theme

_WIDTHS = {"axis": 1.0, "stem": 1.0, "group": 4.0, "difference": 1.5}  # pixels
_LEAST_WIDTH = 240
_LEAST_HEIGHT = 60


class DiagramView(QWidget):
    """Draws the critical-difference diagram of a ranking of methods, as wide as there is room.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        """Begin without a diagram, which `show_diagram` sets."""
        super().__init__()
        self._theme = theme
        self._diagram: RankDiagram | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(_LEAST_WIDTH, _LEAST_HEIGHT)
        self.setAccessibleName(tr("Critical-difference diagram"))
        theme.changed.connect(self.update)

    def show_diagram(self, diagram: RankDiagram | None) -> None:
        """Show a diagram, or nothing."""
        self._diagram = diagram
        caption = "" if diagram is None else diagram.caption
        self.setToolTip(plain(caption))
        self.setAccessibleDescription(
            "" if diagram is None else one_line(diagram.caption)
        )
        self.update()

    def sizeHint(self) -> QSize:
        """Return room for a few methods."""
        return QSize(2 * _LEAST_WIDTH, 3 * _LEAST_HEIGHT)

    def paintEvent(self, _: QPaintEvent) -> None:
        """Draw the diagram in sizes of the text, or smaller if the widget is too low for it."""
        if self._diagram is None or self._diagram.empty:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = QFontMetricsF(self.font())

        # The size of the text in pixels: a line is 1.3 times as high.
        em = metrics.height() / 1.3
        layout = laid_out(
            self._diagram,
            self.width() / em,
            lambda text: metrics.horizontalAdvance(text) / em,
        )
        factor = min(1.0, self.height() / (layout.height * em))
        painter.scale(factor, factor)
        for stroke in layout.strokes:
            self._draw_stroke(painter, stroke, em)
        painter.setPen(self._theme.colors.q("text"))
        for text in layout.texts:
            self._draw_text(painter, text, em, metrics)

    def _draw_stroke(self, painter: QPainter, stroke: Stroke, em: float) -> None:
        """Draw a line of the diagram; ``em`` is the size of the text in pixels."""
        colors = self._theme.colors
        role = {"group": "accent", "difference": "text"}.get(stroke.kind, "muted")
        pen = QPen(colors.q(role), _WIDTHS[stroke.kind])
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawPolyline(
            QPolygonF([QPointF(x * em, y * em) for x, y in stroke.points])
        )

    def _draw_text(
        self, painter: QPainter, text: DiagramText, em: float, metrics: QFontMetricsF
    ) -> None:
        """Draw a text of the diagram, shortened if it is too wide.

        ``em`` is the size of the text in pixels.
        """
        max_width = min(text.max_width * em, self.width())
        written = metrics.elidedText(text.text, Qt.TextElideMode.ElideRight, max_width)

        # The box of the text, a pixel wider against rounding. Its left
        # end depends on how the text is aligned.
        width = metrics.horizontalAdvance(written) + 1.0
        x = text.x * em - {"left": 0.0, "center": width / 2, "right": width}[text.align]
        box = QRectF(x, text.y * em - metrics.height() / 2, width, metrics.height())
        painter.drawText(
            box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, written
        )
