"""A page of the window: how alike the selections of the finished runs are."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from rankstudio.api.window import WindowContext

Selections = Mapping[int, Mapping[int, frozenset[int]]]
"""Selected features by the number of the run and the number of the fold."""


def overlaps(selections: Selections) -> dict[tuple[int, int], float]:
    """Return the mean Jaccard index of the selections of every two runs.

    Returns
    -------
    dict
        Mean over the folds that two runs share, by the numbers of the runs. Two empty selections are equal.
    """
    means: dict[tuple[int, int], float] = {}
    for first, second in combinations(selections, 2):
        folds = selections[first].keys() & selections[second].keys()
        indices = [
            jaccard(selections[first][fold], selections[second][fold]) for fold in folds
        ]
        if indices:
            means[first, second] = float(np.mean(indices))
    return means


def jaccard(first: frozenset[int], second: frozenset[int]) -> float:
    """Return the share of the features of both sets that are in each of them."""
    either = first | second
    return len(first & second) / len(either) if either else 1.0


def build(context: WindowContext) -> QWidget:
    """Return a table of all pairs of runs, most alike first."""
    page = QWidget()
    note = QLabel("Run two methods to see how alike their selections are.")
    note.setMargin(12)
    table = QTableWidget(0, 3)
    table.setHorizontalHeaderLabels(["run", "run", "mean Jaccard index over folds"])
    table.horizontalHeader().setSectionResizeMode(
        QHeaderView.ResizeMode.ResizeToContents
    )
    table.horizontalHeader().setStretchLastSection(True)
    table.verticalHeader().hide()
    table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
    layout = QVBoxLayout(page)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(note)
    layout.addWidget(table, 1)

    def show(values: Mapping[tuple[int, int], float]) -> None:
        note.setVisible(not values)
        table.setVisible(bool(values))
        table.setRowCount(len(values))
        titles = {
            number: f"{number} {run.plan.entry.label}"
            for number, run in context.runs.items()
        }
        for row, (pair, value) in enumerate(
            sorted(values.items(), key=lambda item: -item[1])
        ):
            texts = [titles.get(pair[0], ""), titles.get(pair[1], ""), f"{value:.3f}"]
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setTextAlignment(Qt.AlignmentFlag.AlignVCenter)
                table.setItem(row, column, item)

    def update() -> None:
        selections = {
            number: {fold.fold: frozenset(fold.selected) for fold in run.folds}
            for number, run in context.runs.items()
        }
        context.compute(overlaps, selections, show=show)

    context.on_change(update)
    return page
