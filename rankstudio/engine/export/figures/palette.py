"""Looks of data, the same in the window and in figures: categories on a light ground, and ordered colours."""

from __future__ import annotations

CATEGORIES = ("#0b438a", "#b8891d", "#8e2400", "#993cd5", "#097967", "#3c99cd", "#1b2330")
"""Blue, amber, vermilion, purple, green, sky blue and the colour of text, on a light ground: the hues of
Okabe and Ito, so dark that each has a contrast of 3:1 to it, and any two are told apart with any colour
vision."""

DASHES: tuple[tuple[float, ...], ...] = (
    (),
    (4.0, 2.2),
    (1.2, 1.8),
    (5.0, 2.0, 1.2, 2.0),
    (8.0, 2.5),
    (2.4, 1.4),
    (5.0, 1.6, 1.2, 1.6, 1.2, 1.6),
)
"""Dashes and gaps of each category in widths of the line; empty for a solid one."""

MARKERS = ("circle", "square", "diamond", "triangle", "plus", "cross", "star")
"""The marker of each category."""

VIRIDIS = (
    "440154", "481769", "472c7a", "423f85", "3b518b", "33628d", "2c718e", "26818e", "21908c",
    "1f9f88", "27ad80", "3dbc73", "5cc862", "81d34c", "aadc31", "d5e219", "fde725",
)  # fmt: skip
"""Viridis at 0, 1/16, …, 1 (van der Walt and Smith, CC0); between them the map is linear to the eye."""
