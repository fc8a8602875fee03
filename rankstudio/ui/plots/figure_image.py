"""Figures as pictures: the shapes of a drawing painted by Qt, without a window and on any platform alike."""

from __future__ import annotations

import math
import threading

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontDatabase,
    QImage,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
    QRawFont,
)

from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.figures.font import inter
from rankstudio.engine.export.figures.shapes import DiskShape, Drawing, PathShape, Shape, Stroke, TextShape
from rankstudio.engine.support.resources import resource
from rankstudio.ui.language import tr

_INCH = {"pt": 72.0, "px": 96.0}
_fonts = threading.local()  # a QRawFont is of the thread that made it
_OUTLINE = 1000.0  # size at which outlines are asked for, so that nothing of them is fitted to pixels


def figure_image(drawing: Drawing, dpi: float) -> QImage:
    """Return a drawing as a picture with its resolution, its title and its caption noted in it."""
    scale = dpi / _INCH[drawing.unit]
    size = math.ceil(drawing.width * scale - 1e-6), math.ceil(drawing.height * scale - 1e-6)
    picture = QImage(*size, QImage.Format.Format_RGB32)
    if picture.isNull():
        raise OutputError(
            tr("The picture would have {wide} × {high} pixels, for which there is no memory.").format(
                wide=size[0], high=size[1]
            )
        )
    picture.setDotsPerMeterX(round(dpi / 0.0254))
    picture.setDotsPerMeterY(round(dpi / 0.0254))
    for key, text in drawing.metadata.items():
        picture.setText(key, text)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    paint_drawing(painter, drawing, scale)
    painter.end()
    return picture


def paint_drawing(painter: QPainter, drawing: Drawing, scale: float) -> None:
    """Paint a drawing on white, ``scale`` device pixels to its unit."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(scale, scale)
    for shape in drawing.shapes:
        _paint(painter, shape)


def png_bytes(drawing: Drawing, dpi: float) -> bytes:
    """Return a drawing as PNG.

    Raises
    ------
    OutputError
        Where the picture is larger than memory.
    """
    contents = QByteArray()
    buffer = QBuffer(contents)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not figure_image(drawing, dpi).save(buffer, "PNG"):  # type: ignore[call-overload]
        raise OutputError(tr("The picture could not be encoded as PNG."))
    return bytes(contents.data())


def _paint(painter: QPainter, shape: Shape) -> None:
    if isinstance(shape, TextShape):
        _paint_text(painter, shape)
        return
    painter.setPen(_pen(shape.stroke))
    filling = QColor(shape.fill) if shape.fill else QColor(Qt.GlobalColor.transparent)
    if isinstance(shape, DiskShape):
        painter.setBrush(filling)
        painter.drawEllipse(QPointF(shape.x, shape.y), shape.radius, shape.radius)
        return
    filling.setAlphaF(shape.opacity if shape.fill else 0.0)
    painter.setBrush(QBrush(filling))
    points = QPolygonF([QPointF(x, y) for x, y in shape.points])
    if _upright(shape):
        _paint_cell(painter, points, filling)
    elif shape.closed:
        painter.drawPolygon(points)
    else:
        painter.drawPolyline(points)


def _upright(shape: PathShape) -> bool:
    """Tell whether an area is a rectangle: those of a map or a bar of colours show no seams between them."""
    edges = zip(shape.points, (*shape.points[1:], shape.points[0]), strict=True)
    straight = all(a[0] == b[0] or a[1] == b[1] for a, b in edges)
    return shape.closed and len(shape.points) == 4 and shape.stroke is None and straight


def _paint_cell(painter: QPainter, corners: QPolygonF, filling: QColor) -> None:
    """Paint a rectangle from whole pixel to whole pixel, so that neighbours meet."""
    around = painter.transform().mapRect(corners.boundingRect())
    left, top = round(around.left()), round(around.top())
    wide, high = max(round(around.right()) - left, 1), max(round(around.bottom()) - top, 1)
    painter.save()
    painter.resetTransform()
    painter.fillRect(left, top, wide, high, filling)
    painter.restore()


def _pen(stroke: Stroke | None) -> QPen:
    if stroke is None:
        return QPen(Qt.PenStyle.NoPen)
    pen = QPen(QColor(stroke.color), stroke.width)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    if stroke.dashes:
        pen.setDashPattern([length / stroke.width for length in stroke.dashes])
    return pen


def _paint_text(painter: QPainter, shape: TextShape) -> None:
    """Paint a text as outlines: the same on every platform, whatever that does to fit letters to pixels."""
    painter.save()
    painter.translate(*shape.start)
    if shape.turned:
        painter.rotate(-90)
    factor = shape.size / _OUTLINE
    painter.scale(factor, factor)
    painter.fillPath(_outline(shape.text), QColor(shape.color))
    painter.restore()


def _outline(text: str) -> QPainterPath:
    """Return the outline of a text from its origin, every letter as wide as the layout has it."""
    raw, font = _raw_font(), inter()
    path, x = QPainterPath(), 0.0
    for character in text:
        glyph = font.glyphs.get(ord(character))
        if glyph is not None:
            path.addPath(raw.pathForGlyph(glyph).translated(x, 0.0))
        else:  # as a font of the system has it
            path.addText(QPointF(x, 0.0), _other_font(), character)
        x += font.width(character, _OUTLINE)
    path.setFillRule(Qt.FillRule.WindingFill)
    return path


def _raw_font() -> QRawFont:
    """Return the bundled font itself, of whatever the system may have under its name: one a thread."""
    found = getattr(_fonts, "raw", None)
    if found is None:
        found = _fonts.raw = _loaded_font()
    return found


def _loaded_font() -> QRawFont:
    return QRawFont(
        str(resource("fonts", "Inter-Regular.otf")), _OUTLINE, QFont.HintingPreference.PreferNoHinting
    )


def _other_font() -> QFont:
    font = QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont))
    font.setPixelSize(round(_OUTLINE))
    return font
