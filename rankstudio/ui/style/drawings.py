"""The drawings of the icons: one line-drawn family in ``resources/icons``, as SVG."""

from __future__ import annotations

from functools import cache

from rankstudio.engine.support.resources import resource


@cache
def _source(name: str) -> str:
    """Return the drawing of an icon as SVG text."""
    return resource("icons", f"{name}.svg").read_text(encoding="utf-8")


def svg(name: str, color: str) -> bytes:
    """Return an icon's SVG with its lines in a color (``#rrggbb``).

    Raises
    ------
    FileNotFoundError
        If there is no icon of that name.
    """
    return _source(name).replace("currentColor", color).encode()
