"""Draw how a selection comes about, from queries to the sealed test.

python docs/concept_picture.py

It writes images/concept-light.svg and images/concept-dark.svg, and for narrow screens
images/concept-narrow-light.svg and images/concept-narrow-dark.svg, with a step per row.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

from rankstudio.ui.style.colors import DARK, LIGHT, Colors

IMAGES = Path(__file__).parent / "images"
WIDTH = 1000
HEIGHT = 250
COLUMN = 190  # from the left edge of a step to that of the next one
STEP_WIDTH = 160
STEP_HEIGHT = 120
TOP = 24
LEFT = 40
NARROW_WIDTH = 368
ROW = 150  # from the top of a step to that of the next one, one below the other
ROW_LEFT = 12
CAPTION_LEFT = 180
FONT = "Inter, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
DESCRIPTION = "Queries, folds, paths, the choice by validation, the sealed test"

GRADES = ((2, 1, 0, 0, 1, 0), (1, 0, 0, 2, 0), (0, 2, 1, 0, 0, 0, 1), (1, 0, 0))
"""The relevance of the documents of four queries."""

PARTS = ("train", "train", "train", "vali", "test")
"""The parts of the first of five folds; each further fold shifts them by one."""

CURVE = (0.12, 0.45, 0.63, 0.76, 0.84, 0.9, 0.86, 0.88, 0.8, 0.82, 0.76)
"""A validation measure by the number of features, as a share of the height."""

BEST = CURVE.index(max(CURVE))
N_LAMBDA = 7
BEST_LAMBDA = 3


STEPS = (
    ("Queries", "documents with", "relevance labels"),
    ("Folds", "whole queries: training,", "validation, test"),
    ("λ × k", "one more feature a step,", "every query left out"),
    ("Choice", "by validation:", "λ and k of one model"),
    ("Test", "sealed until you ask:", "difference and interval"),
)
"""The name of each step and two lines about it."""


def picture(colors: Colors) -> str:
    """Return the picture in the colours of a theme, as SVG."""
    shapes = []
    for number, draw in enumerate(DRAWINGS):
        shapes.append(
            f'<g transform="translate({LEFT + number * COLUMN} {TOP})">'
            f"{draw(colors)}{caption(colors, *STEPS[number])}</g>"
        )
        if number > 0:
            shapes.append(arrow(colors, number - 1))
    return drawing(colors, WIDTH, HEIGHT, shapes)


def narrow_picture(colors: Colors) -> str:
    """Return the picture with the steps one below the other, as SVG."""
    shapes = []
    for number, draw in enumerate(DRAWINGS):
        shapes.append(
            f'<g transform="translate({ROW_LEFT} {TOP + number * ROW})">'
            f"{draw(colors)}{caption_beside(colors, *STEPS[number])}</g>"
        )
    height = TOP + len(STEPS) * ROW
    return drawing(colors, NARROW_WIDTH, height, shapes)


def drawing(colors: Colors, width: int, height: int, shapes: list[str]) -> str:
    """Return shapes on the ground of a theme, as SVG."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="{FONT}">'
    )
    ground = f'<rect width="{width}" height="{height}" rx="10" fill="{colors.panel}"/>'
    title = f"<title>{escape(DESCRIPTION)}</title>"
    return "\n".join([head, title, ground, *shapes, "</svg>", ""])


def caption_beside(colors: Colors, name: str, first: str, second: str) -> str:
    """Return the name of a step and two lines about it, right of its drawing."""
    return (
        _text(CAPTION_LEFT, 46, name, colors.text, 18, weight=600, middle=False)
        + _text(CAPTION_LEFT, 71, first, colors.muted, 13, middle=False)
        + _text(CAPTION_LEFT, 90, second, colors.muted, 13, middle=False)
    )


def caption(colors: Colors, name: str, first: str, second: str) -> str:
    """Return the name of a step and two lines about it, below its drawing."""
    return (
        _text(STEP_WIDTH / 2, STEP_HEIGHT + 34, name, colors.text, size=17, weight=600)
        + _text(STEP_WIDTH / 2, STEP_HEIGHT + 58, first, colors.muted, size=13)
        + _text(STEP_WIDTH / 2, STEP_HEIGHT + 76, second, colors.muted, size=13)
    )


def arrow(colors: Colors, number: int) -> str:
    """Return the arrow from a step to the next one."""
    x = LEFT + number * COLUMN + STEP_WIDTH + 5
    y = TOP + STEP_HEIGHT / 2
    return (
        f'<path d="M{x} {y}h14m-6 -6l6 6l-6 6" fill="none" '
        f'stroke="{colors.faint}" stroke-width="2"/>'
    )


def queries(colors: Colors) -> str:
    """Return four queries with their documents, darker where they are more relevant."""
    fills = (colors.line, colors.bar, colors.accent)
    shapes = []
    for row, grades in enumerate(GRADES):
        y = 15 + row * 30
        shapes.append(_text(4, y + 5, f"q{row + 1}", colors.muted, 13, middle=False))
        shapes += [
            f'<circle cx="{36 + column * 19}" cy="{y}" r="7" fill="{fills[grade]}"/>'
            for column, grade in enumerate(grades)
        ]
    return "".join(shapes)


def folds(colors: Colors) -> str:
    """Return five folds, a row each, with their parts."""
    fills = {"train": colors.line, "vali": colors.warning, "test": colors.ok}
    return "".join(
        _cell(8 + column * 30, 3 + row * 24, 26, 18, fills[PARTS[(column + row) % 5]])
        for row in range(5)
        for column in range(5)
    )


def grid(colors: Colors) -> str:
    """Return the models of every λ and k, the chosen model with a frame."""
    cells = []
    for row in range(N_LAMBDA):
        # Far from the best λ, the measure is lower.
        loss = 0.13 * abs(row - BEST_LAMBDA)
        for column, measure in enumerate(CURVE):
            shade = max(0.08, measure - loss)
            left = 18 + column * 13
            top = 1 + row * 16
            cells.append(_cell(left, top, 11, 13, colors.accent, opacity=shade))
    frame = (
        f'<rect x="{16 + BEST * 13}" y="{-1 + BEST_LAMBDA * 16}" width="15" height="17" '
        f'rx="3" fill="none" stroke="{colors.text}" stroke-width="2"/>'
    )
    names = _text(6, 58, "λ", colors.muted, 13) + _text(
        89, 124, "k features", colors.muted, 12
    )
    return "".join(cells) + frame + names


def choice(colors: Colors) -> str:
    """Return the validation measure by k, with a circle at the best one."""
    points = [
        (10 + 14 * step, 108 - 100 * measure) for step, measure in enumerate(CURVE)
    ]
    line = " ".join(f"{x:g},{y:g}" for x, y in points)
    x, y = points[BEST]
    return (
        f'<path d="M6 0v112h150" fill="none" stroke="{colors.line_hover}"/>'
        f'<polyline points="{line}" fill="none" '
        f'stroke="{colors.accent}" stroke-width="2.5"/>'
        f'<path d="M{x:g} {y:g}V112" stroke="{colors.faint}" stroke-dasharray="3 3"/>'
        f'<circle cx="{x:g}" cy="{y:g}" r="6" fill="{colors.panel}" '
        f'stroke="{colors.accent}" stroke-width="2.5"/>'
    )


def sealed_test(colors: Colors) -> str:
    """Return a lock above the difference of two models with its interval."""
    lock = (
        f'<path d="M70 28v-9a10 10 0 0 1 20 0v9" fill="none" stroke="{colors.text}" '
        f'stroke-width="3.5"/><rect x="62" y="27" width="36" height="26" rx="5" '
        f'fill="{colors.text}"/>'
    )
    interval = (
        f'<path d="M60 66v48" stroke="{colors.faint}" stroke-dasharray="3 3"/>'
        f'<path d="M34 90h92M34 84v12M126 84v12" stroke="{colors.ok}" stroke-width="2.5"/>'
        f'<circle cx="80" cy="90" r="6" fill="{colors.ok}"/>'
    )
    return lock + interval + _text(60, 124, "0", colors.muted, 12)


def _cell(
    x: float, y: float, width: float, height: float, fill: str, opacity: float = 1.0
) -> str:
    """Return a rectangle with round corners."""
    faint = "" if opacity == 1.0 else f' fill-opacity="{opacity:.2f}"'
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" '
        f'fill="{fill}"{faint}/>'
    )


def _text(
    x: float,
    y: float,
    text: str,
    fill: str,
    size: int,
    weight: int = 400,
    middle: bool = True,
) -> str:
    """Return a line of text, centred at x or beginning there."""
    anchor = ' text-anchor="middle"' if middle else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" '
        f'fill="{fill}"{anchor}>{escape(text)}</text>'
    )


DRAWINGS = (queries, folds, grid, choice, sealed_test)

PICTURES = {
    "concept-light.svg": picture(LIGHT),
    "concept-dark.svg": picture(DARK),
    "concept-narrow-light.svg": narrow_picture(LIGHT),
    "concept-narrow-dark.svg": narrow_picture(DARK),
}

if __name__ == "__main__":
    for name, svg in PICTURES.items():
        (IMAGES / name).write_text(svg, encoding="utf-8")
