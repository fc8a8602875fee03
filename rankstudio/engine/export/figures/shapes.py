"""A drawing as values: shapes with colours and lengths, from which every format is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rankstudio.engine.export.figures.font import inter

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]
Unit = Literal["pt", "px"]


@dataclass(frozen=True)
class Stroke:
    """How a line is drawn.

    Attributes
    ----------
    color : str
        As ``#rrggbb``.
    width : float
    dashes : tuple of float
        Lengths of dash and gap; empty for a solid line.
    """

    color: str
    width: float
    dashes: tuple[float, ...] = ()


@dataclass(frozen=True)
class PathShape:
    """Lines from point to point, or the area that they go around.

    Attributes
    ----------
    points : tuple of (float, float)
    stroke : Stroke, optional
    fill : str
        Its colour; "" for none.
    opacity : float
        Of the filling.
    closed : bool
        Whether the last point is joined with the first.
    """

    points: tuple[Point, ...]
    stroke: Stroke | None = None
    fill: str = ""
    opacity: float = 1.0
    closed: bool = False


@dataclass(frozen=True)
class DiskShape:
    """A disk.

    Attributes
    ----------
    x, y, radius : float
    fill : str
        "" for none.
    stroke : Stroke, optional
    """

    x: float
    y: float
    radius: float
    fill: str
    stroke: Stroke | None = None


@dataclass(frozen=True)
class TextShape:
    """A text of one line.

    Attributes
    ----------
    x, y : float
        Where its baseline has its anchor.
    text : str
    size : float
    color : str
    anchor : {"start", "middle", "end"}
    turned : bool
        Whether it reads upwards.
    """

    x: float
    y: float
    text: str
    size: float
    color: str
    anchor: Anchor = "start"
    turned: bool = False

    @property
    def width(self) -> float:
        """How long it is."""
        return inter().width(self.text, self.size)

    @property
    def start(self) -> Point:
        """Where its baseline begins."""
        back = self.width * {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor]
        return (self.x, self.y + back) if self.turned else (self.x - back, self.y)

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of its letters, from the top of capitals to below the baseline."""
        x, y = self.start
        up, down = 0.75 * self.size, 0.21 * self.size
        if self.turned:
            return x - up, y - self.width, x + down, y
        return x, y - up, x + self.width, y + down


Shape = PathShape | DiskShape | TextShape


@dataclass(frozen=True)
class Drawing:
    """A page of shapes.

    Attributes
    ----------
    width, height : float
        In its unit.
    shapes : tuple of Shape
        From the undermost to the topmost.
    unit : {"pt", "px"}
        A point is 1/72 of an inch.
    title : str
        What it is of.
    description : str
        Its caption.
    """

    width: float
    height: float
    shapes: tuple[Shape, ...]
    unit: Unit = "pt"
    title: str = ""
    description: str = ""

    @property
    def metadata(self) -> dict[str, str]:
        """What it is of and its caption, under the keys that the PNG specification has for them."""
        return {"Title": self.title, "Description": self.description}

    @property
    def texts(self) -> tuple[TextShape, ...]:
        """Its texts."""
        return tuple(shape for shape in self.shapes if isinstance(shape, TextShape))


def rectangle(x: float, y: float, width: float, height: float, fill: str, opacity: float = 1.0) -> PathShape:
    """Return a filled rectangle."""
    corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    return PathShape(corners, fill=fill, opacity=opacity, closed=True)


def line(start: Point, end: Point, stroke: Stroke) -> PathShape:
    """Return a line."""
    return PathShape((start, end), stroke)


def elided(text: str, width: float, size: float) -> str:
    """Return a text cut so that it is at most so wide."""
    wide = inter().width
    if wide(text, size) <= width:
        return text
    while text and wide(f"{text.rstrip()}…", size) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def wrapped(text: str, width: float, size: float) -> list[str]:
    """Return a text in one line, or in two about equally long ones where it is too long, cut if need be."""
    words, wide = text.split(), inter().width
    if len(words) < 2 or wide(text, size) <= width:
        return [elided(text, width, size)] if text else []
    breaks = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words))]
    best = min(breaks, key=lambda two: max(wide(two[0], size), wide(two[1], size)))
    return [elided(part, width, size) for part in best]
