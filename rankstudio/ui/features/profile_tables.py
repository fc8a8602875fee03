"""Two small tables of one feature: how it ranks alone, and how it goes with the selected ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import correlation_text
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.widgets.elided import ElidedLabel
from rankstudio.ui.widgets.layout import fill, named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.feature_profile import FeatureProfile

_ALONE = tr("How well each part is ranked by this feature alone, in the direction that is better on train")
_WITH = tr("Pearson's correlation inside queries with each feature of the chosen model")
_ALL_OF_THEM = tr("all of them, R²")
_ALL = tr("The share of its variance inside queries that a linear function of all of them has")
_LEAST_HEIGHT = 96  # pixels


class ProfileTables(QScrollArea):
    """Shows the numbers of a `FeatureProfile` as two tables, one under the other."""

    def __init__(self) -> None:
        super().__init__()
        named(self, "profile-tables", tr("The feature in numbers"))
        page = named(QWidget(), role="page")
        self._lines = fill(QVBoxLayout(page), margins=(0, 4, 4, 0), spacing=10)
        self.setWidget(page)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(_LEAST_HEIGHT)
        self._texts: tuple[tuple[str, ...], ...] = ()

    def texts(self) -> tuple[tuple[str, ...], ...]:
        """Return the rows of both tables as texts."""
        return self._texts

    def show_feature(self, profile: FeatureProfile) -> None:
        """Show a feature."""
        alone = _alone_rows(profile)
        together = _together_rows(profile)
        self._show([(alone, _ALONE), (together, _WITH)] if together else [(alone, _ALONE)])

    def clear(self) -> None:
        """Show no feature."""
        self._show([])

    def _show(self, tables: Sequence[tuple[list[tuple[str, ...]], str]]) -> None:
        while (item := self._lines.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        for rows, tip in tables:
            self._lines.addWidget(_table(rows, tip))
        self._lines.addStretch(1)
        self._texts = tuple(row for rows, _ in tables for row in rows)
        self.setAccessibleDescription(plain("\n".join(" ".join(row) for row in self._texts)))
        self.setVisible(bool(tables))


def _alone_rows(profile: FeatureProfile) -> list[tuple[str, ...]]:
    """Return a row for each part with its measures, after a header."""
    rows = [(tr(name), *map(_number, part.values())) for name, part in profile.parts.items()]
    return [(tr("alone"), *profile.alone), *rows]


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4f}"


def _together_rows(profile: FeatureProfile) -> list[tuple[str, ...]]:
    """Return the correlations with the selected features, after a header; nothing where none is selected."""
    if not profile.with_selected:
        return []
    rows = [
        (f"{one.name} ({one.feature_id})", correlation_text(one.correlation)) for one in profile.with_selected
    ]
    explained = "–" if isnan(profile.explained) else f"{profile.explained:.2f}"
    return [(tr("with what is selected"), "r"), *rows, (_ALL_OF_THEM, explained)]


def _table(rows: Sequence[tuple[str, ...]], tip: str) -> QWidget:
    made = named(QWidget(), tip=tip)
    grid = QGridLayout(made)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(5)
    grid.setColumnStretch(0, 1)
    for line, row in enumerate(rows):
        head = named(ElidedLabel(row[0]), role="caption" if line == 0 else "")
        head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        grid.addWidget(head, line, 0)
        for place, text in enumerate(row[1:], start=1):
            cell = named(PlainLabel(text), role="caption" if line == 0 else "")
            cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            if row[0] == _ALL_OF_THEM:
                cell.setToolTip(plain(_ALL))
            grid.addWidget(cell, line, place)
    return made
