"""A small table of features, and a click into it."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from rankstudio.ui.widgets import Column, Dot

NAN = float("nan")


@dataclass(frozen=True)
class Feature:
    id: int
    name: str
    weight: float
    gain: float | None = None
    pinned: bool = False


ROWS = [
    Feature(39, "LMIR.DIR of whole document", 0.24, 10.0),
    Feature(7, "BM25 of title", -0.3123456789, 9.0, pinned=True),
    Feature(25, "bm25, of anchor", NAN, None),
    Feature(23, "LMIR.DIR of body", 0.1, 100.0),
]
COLUMNS = [
    Column("dot", "", kind="dot", value=lambda row: Dot(row.id % 7), width=30),
    Column("id", "id", align="right", tone="muted"),
    Column("name", "feature", stretch=True, mark=lambda row: row.pinned, bold=lambda row: row.id == 39),
    Column("weight", "weight", kind="weight"),
    Column("gain", "gain", align="right", format=".1f", tooltip="What the criterion gained"),
]


def click(table, row, column=2):
    at = table.visualRect(table.model().index(row, column)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
