"""A view of the stability of a run: whether its folds selected the same features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from rankstudio.engine.analysis.features.selection_stability import (
    ChosenFeature,
    SelectionStability,
)
from rankstudio.engine.support.number_format import correlation_text
from rankstudio.ui.compare.view import LEAST_PLOT, View
from rankstudio.ui.language import tr
from rankstudio.ui.plots import HeatMapPlot
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Fact, KeyValue
from rankstudio.ui.widgets.columns import PAD
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.table import WEIGHT_BAR

_JACCARD = "Jaccard"
_INDEX_WIDTH = 300  # pixels of the list of indices
_LEAST_INDEX_WIDTH = 240  # pixels of the same list in a narrow view
# pixels; a narrower view has no map, so that the table has room for names
_MIN_WIDTH_WITH_MAP = 520
_MIN_NAME_WIDTH = 128  # pixels of the name of a feature
_MAX_MAPPED_FOLDS = 60  # a map of more folds cannot be read
_MAX_FOLD_COLUMNS = 20  # more folds have no columns in the table
_TOO_MANY_FOLDS_TEXT = tr(
    "Too many folds for a readable map; the indices on the right include all of them."
)
_EMPTY_TEXT = tr(
    "The features selected by different folds of a run are compared here. This needs at least two folds."
)


class StabilityView(View):
    """A view of the stability of a run's selections: a map of similar folds, a table and indices.

    The table contains every selected feature with the folds that selected it.

    Attributes
    ----------
    inspected : Signal(int)
        Id of the feature that the user selected in the table.
    """

    inspected = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._stability: SelectionStability | None = None
        self.index = self.add_choice(
            [(_JACCARD, _JACCARD)],
            tr("similarity"),
            "stability-index",
            tr(
                "Values of the map: share of common features, or similarity corrected for chance"
            ),
        )
        # A map with the folds on both axes; the value of each cell is
        # written in it. The colors go from a similarity of 0 to one of
        # 1.
        self.plot = HeatMapPlot(
            theme,
            tr("similarity"),
            tr("fold"),
            (tr("fold"), tr("fold")),
            decimals=2,
            limits=(0.0, 1.0),
            written=True,
        )
        named(self.plot, "stability-map").setMinimumHeight(LEAST_PLOT)
        self.plot.placeholder = _EMPTY_TEXT
        self.plot.shared = Shared("stability", tr("Similarity of folds"), compares=True)
        placeholder = tr(
            "The folds that selected each feature, with its positions, appear here."
        )
        about = tr("Every selected feature, with its folds and positions.")
        name = tr("Features by the folds that selected them")
        self.table = self.add_table(
            "stability",
            tr("Features by fold"),
            about,
            placeholder,
            lambda row: row.feature,
            name,
        )
        self.table.feature_of = lambda row: row.feature  # for the box about a feature
        self.facts = KeyValue()
        self.warning = named(PlainLabel(), role="caption")
        self._lay_out()
        self.index.chosen.connect(self._show_map)
        self.table.chosen.connect(self._on_chosen)
        self.plot.picked.connect(self.plot.select)
        self.clear()

    def show_stability(self, name: str, stability: SelectionStability) -> None:
        """Show the stability of the selections of the run called ``name`` over its folds."""
        # Beside Jaccard's index, one that is corrected for chance is
        # offered. Which one that is depends on whether all selections
        # have the same number of features.
        previous = self._stability
        self._stability = stability
        corrected_index = stability.indices.index
        if previous is None or previous.indices.index != corrected_index:
            chosen = self.index.value()
            self.index.set_options(
                [(_JACCARD, _JACCARD), (corrected_index, corrected_index)]
            )
            self.index.select(chosen)
        if previous is None or previous.folds != stability.folds:
            self.table.set_columns(_stability_columns(stability.folds))
        self.table.set_rows(stability.features)
        self.facts.set_rows(_index_facts(stability))
        self.warning.setText(stability.warning)
        self.warning.setVisible(bool(stability.warning))
        self._index_area.setVisible(len(stability.folds) > 1)
        self.index.setEnabled(len(stability.folds) > 1)
        self._show_map()
        self.set_caption(
            tr("{name} · features of the selected models").format(name=name)
        )

    def clear(self, caption: str = "") -> None:
        """Show no run, and a caption that may say why."""
        self._stability = None
        self.table.set_columns(())
        self.table.set_rows(())
        self._index_area.hide()
        self.index.setEnabled(False)
        self.plot.set_values(np.empty((0, 0)), (), ())
        self.set_caption(caption)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave room for the table: narrow the indices, and hide the map in a very narrow view."""
        super().resizeEvent(event)
        has_room = self.width() >= scaled(_MIN_WIDTH_WITH_MAP)
        self.plot.setVisible(has_room)
        # The choice of the index is in the panel's header, which has
        # the tools of the shown view only.
        self.index.setVisible(has_room and not self.isHidden())
        # A third of the view, within limits.
        self._index_area.setFixedWidth(
            scaled(min(_INDEX_WIDTH, max(_LEAST_INDEX_WIDTH, self.width() // 3)))
        )

    def _lay_out(self) -> None:
        """Lay out the map, the table, and the indices in an area that scrolls."""
        self.warning.setWordWrap(True)
        self.warning.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
        )
        map_column = fill(QVBoxLayout(), (self.plot, 1), margins=(12, 10, 8, 4))
        indices = named(QWidget(), role="page")
        fill(
            QVBoxLayout(indices),
            self.facts,
            self.warning,
            1,
            margins=(12, 12, 12, 8),
            spacing=10,
        )
        self._index_area = QScrollArea()
        self._index_area.setWidget(indices)
        self._index_area.setWidgetResizable(True)
        self._index_area.setMinimumHeight(LEAST_PLOT)
        self._index_area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        columns = fill(
            QHBoxLayout(), (map_column, 2), (self.table, 3), self._index_area, spacing=0
        )
        fill(self.body, columns)

    @Slot()
    def _show_map(self) -> None:
        """Show the similarity of the folds' selections as a map, or the reason why there is no map.

        The values have shape (n_folds, n_folds): a row and a column for each fold.
        """
        stability = self._stability
        n_folds = len(stability.folds) if stability is not None else 0
        if stability is None or not 1 < n_folds <= _MAX_MAPPED_FOLDS:
            self.plot.placeholder = _TOO_MANY_FOLDS_TEXT if n_folds > 1 else _EMPTY_TEXT
            self.plot.set_values(np.empty((0, 0)), (), ())
            return
        self.plot.placeholder = _EMPTY_TEXT
        index = str(self.index.value())
        values = (
            stability.indices.similarity
            if index == _JACCARD
            else stability.indices.corrected
        )
        folds = [str(number) for number in stability.folds]
        self.plot.set_axes(
            replace(
                self.plot.axes,
                title=tr("{index} similarity of the selected features").format(
                    index=index
                ),
                short=index,
            )
        )
        mean = tr("mean over the pairs of folds {found:.2f}").format(
            found=_index_value(stability, index)
        )
        self.plot.note = f"{self.plot.axes.title}, {mean}"
        # The first row of a heat map is at the bottom; reversed, fold 1
        # is at the top.
        self.plot.set_values(values[::-1], folds[::-1], folds)
        self.plot.select(None)

    @Slot(object)
    def _on_chosen(self, row: ChosenFeature) -> None:
        self.inspected.emit(row.feature)


def _index_value(stability: SelectionStability, index: str) -> float:
    return (
        stability.indices.jaccard
        if index == _JACCARD
        else stability.indices.consistency
    )


def _index_facts(stability: SelectionStability) -> list[Fact]:
    """Return the stability indices with their explanations; none for a single fold."""
    indices = stability.indices
    sizes = sorted({int(size) for size in stability.indices.sizes})
    if len(stability.folds) < 2:
        return []
    # Nogueira's index, its standard error (not shown) and the ends of its interval.
    value, _, low, high = indices.nogueira
    k = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]}–{sizes[-1]}"
    interval = f"{correlation_text(low)} … {correlation_text(high)}"
    # `times` counts the folds that selected a feature. `index` is the
    # name of an index that is corrected for chance, `consistency` its
    # value.
    n_everywhere = sum(
        feature.times == len(stability.folds) for feature in stability.features
    )
    return [
        Fact(
            "Nogueira",
            correlation_text(value),
            tooltip=tr("Corrected for chance, for sets of any size: report this index"),
            term="Nogueira's index",
        ),
        Fact(
            tr("95 % interval"),
            interval,
            tooltip=tr("95 % interval of Nogueira's index"),
        ),
        Fact(
            indices.index,
            correlation_text(indices.consistency),
            tooltip=tr("Mean over pairs of folds; 0 is chance, 1 identical"),
        ),
        Fact(
            _JACCARD,
            correlation_text(indices.jaccard),
            tooltip=tr("Mean over pairs of folds; large sets look stable by chance"),
        ),
        Fact(tr("features of a fold"), k),
        Fact(tr("selected by any fold"), str(len(stability.features))),
        Fact(tr("selected by all folds"), str(n_everywhere)),
    ]


_FEATURE_COLUMNS = (
    Column("name", tr("feature"), stretch=True, least=_MIN_NAME_WIDTH),
    Column(
        "feature",
        tr("id"),
        "right",
        tone="muted",
        tooltip=tr("Id in the data files, from 1"),
        width=46,
    ),
)


def _stability_columns(folds: Sequence[int]) -> list[Column]:
    """Return the columns: the feature, the number of folds that select it, and its rank in each fold.

    Where there are too many folds for a column each, the columns of
    ranks are left out. The number of folds is drawn as a bar, too.
    """
    times = Column(
        "times",
        tr("folds"),
        kind="weight",
        format="d",
        align="right",
        tooltip=tr("Number of folds that selected it, out of {n_folds}").format(
            n_folds=len(folds)
        ),
        width=WEIGHT_BAR + 2 * PAD + 24,
    )
    return [
        *_FEATURE_COLUMNS,
        times,
        *(_rank_column(fold) for fold in folds if len(folds) <= _MAX_FOLD_COLUMNS),
    ]


def _rank_column(fold: int) -> Column:
    """Return the column of the positions at which a fold has selected each feature."""
    return Column(
        f"fold-{fold}",
        tr("fold {fold}").format(fold=fold),
        "right",
        value=lambda row: row.ranks.get(fold),
        tooltip=tr("Position at which fold {fold} selected it").format(fold=fold),
        tone="muted",
        width=58,
    )
