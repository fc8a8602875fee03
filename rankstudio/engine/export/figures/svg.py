"""Drawings as SVG: shapes with presentation attributes alone, which every reader of SVG knows."""

from __future__ import annotations

from rankstudio.engine.export.figures.shapes import DiskShape, Drawing, PathShape, Shape, Stroke, TextShape
from rankstudio.engine.support.escaping import html_text

FONT = "Inter, Helvetica, Arial, sans-serif"
_MILLIMETRES = 25.4 / 72


def svg_text(drawing: Drawing) -> str:
    """Return a whole drawing, with its title and its caption for who cannot see it."""
    size = "".join(
        f' {name}="{_n(value * _MILLIMETRES)}mm"' if drawing.unit == "pt" else f' {name}="{_n(value)}"'
        for name, value in (("width", drawing.width), ("height", drawing.height))
    )
    said = f"<title>{html_text(drawing.title)}</title>\n<desc>{html_text(drawing.description)}</desc>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img"{size} '
        f'viewBox="0 0 {_n(drawing.width)} {_n(drawing.height)}" font-family="{FONT}">\n{said}\n'
        + "\n".join(map(_element, drawing.shapes))
        + "\n</svg>\n"
    )


def _element(shape: Shape) -> str:
    if isinstance(shape, TextShape):
        turn = f' transform="rotate(-90 {_n(shape.x)} {_n(shape.y)})"' if shape.turned else ""
        # Another font than ours is drawn as wide as ours, so that nothing is cut or over anything else.
        wide = (
            f' textLength="{_n(shape.width)}" lengthAdjust="spacingAndGlyphs"' if shape.text.strip() else ""
        )
        return (
            f'<text x="{_n(shape.x)}" y="{_n(shape.y)}" text-anchor="{shape.anchor}" '
            f'font-size="{_n(shape.size)}" fill="{shape.color}"{wide}{turn}>{html_text(shape.text)}</text>'
        )
    if isinstance(shape, DiskShape):
        at = f'cx="{_n(shape.x)}" cy="{_n(shape.y)}" r="{_n(shape.radius)}"'
        return f'<circle {at} fill="{shape.fill or "none"}"{_stroke(shape.stroke)}/>'
    return _path(shape)


def _path(shape: PathShape) -> str:
    if len(shape.points) == 2 and shape.stroke is not None and not shape.fill:
        (x, y), (right, low) = shape.points
        return f'<line x1="{_n(x)}" y1="{_n(y)}" x2="{_n(right)}" y2="{_n(low)}"{_stroke(shape.stroke)}/>'
    name = "polygon" if shape.closed else "polyline"
    opacity = f' fill-opacity="{_n(shape.opacity)}"' if shape.opacity < 1 else ""
    points = " ".join(f"{_n(x)},{_n(y)}" for x, y in shape.points)
    return f'<{name} points="{points}" fill="{shape.fill or "none"}"{opacity}{_stroke(shape.stroke)}/>'


def _stroke(stroke: Stroke | None) -> str:
    if stroke is None:
        return ""
    dashes = f' stroke-dasharray="{" ".join(map(_n, stroke.dashes))}"' if stroke.dashes else ""
    return f' stroke="{stroke.color}" stroke-width="{_n(stroke.width)}" stroke-linejoin="round"{dashes}'


def _n(value: float) -> str:
    """Return a length with two decimals at most."""
    said = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if said == "-0" else said
