"""Which features could stand for the selected ones: a map of correlations, and what a swap costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.feature_groups import Groups
from rankstudio.ui.features.substitute_sentences import SubstituteSentence, substitute_sentences
from rankstudio.ui.language import tr
from rankstudio.ui.plots.maps.feature_map import (
    ColumnGroup,
    FeatureMapPlot,
    MapFeature,
    MapValues,
    ordinal,
)
from rankstudio.ui.style.number_format import correlation_text
from rankstudio.ui.style.plain_text import PlainLabel, plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.choices import Segmented
from rankstudio.ui.widgets.layout import fill, named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.substitutes import Substitutes

NO_MODEL = tr("Run a method or move λ to see substitutes of the selected features.")

LIST, CORRELATION, RUNS = "list", "correlation", "runs"
"""What is shown of them: sentences, or a map."""
_OPTIONS = ((LIST, tr("list")), (CORRELATION, tr("correlation")), (RUNS, tr("runs × folds")))
_NO_RUNS = tr("The features selected by each run on each fold appear here after the first finished fold.")


class SubstitutesPanel(Panel):
    """Sentences about the features, or a map of them in the order of their clusters.

    Attributes
    ----------
    inspected : Signal(int)
        Id of the feature whose row the user picked.
    """

    inspected = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Substitutes"))
        self.setObjectName("substitutes-panel")
        self._found: Substitutes | None = None
        self._ids: Ints = np.empty(0, dtype=np.int64)
        self._names: tuple[str, ...] = ()
        self._ranks: Floats = np.empty((0, 0))
        self._groups: tuple[ColumnGroup, ...] = ()
        self._folds: tuple[int, ...] = ()
        self.plot = named(FeatureMapPlot(theme), "substitutes-map", tr("Correlation of features"))
        self.switch = named(Segmented(_OPTIONS, tr("show")), "substitutes-switch")
        self.switch.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._sentences = named(QWidget(), role="page")
        self._lines = fill(QVBoxLayout(self._sentences), margins=(0, 0, 4, 0), spacing=2)
        self._scroll = named(
            QScrollArea(), "substitutes-sentences", tr("Substitutes of the selected features")
        )
        self._scroll.setWidget(self._sentences)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        fill(self.body, self.switch, (self._scroll, 1), (self.plot, 1))
        self.switch.chosen.connect(self._draw)
        self.plot.inspected.connect(self.inspected)
        self.clear()

    def show_substitutes(
        self, found: Substitutes, ids: Ints, names: Sequence[str], groups: Groups | None = None
    ) -> None:
        """Show what could stand for the features of a model.

        Parameters
        ----------
        found : Substitutes
        ids, names : of length n
            Of the data's columns.
        groups : Mapping of str to tuple of int, optional
            Of features, by their ids: they are swapped as a whole.
        """
        self._found, self._ids, self._names = found, ids, tuple(names)
        self._say(substitute_sentences(found, ids, names, groups))
        self._draw()

    @property
    def shows_substitutes(self) -> bool:
        """Whether there is a model of which they are shown."""
        return self._found is not None

    def show_runs(self, ranks: Floats, folds: Sequence[int], groups: Sequence[ColumnGroup]) -> None:
        """Show which features runs selected on their folds.

        Parameters
        ----------
        ranks : ndarray of shape (n, F)
            By column of the data; NaN where a fold did not select the feature.
        folds : sequence of int of length F
            Their numbers.
        groups : sequence of ColumnGroup
            Which of them belong to which run.
        """
        self._ranks, self._folds, self._groups = ranks, tuple(folds), tuple(groups)
        if self.switch.value() == RUNS:
            self._draw()

    def clear(self, why: str = NO_MODEL) -> None:
        """Show no model, but a sentence."""
        self._found = None
        self._say(())
        self.set_caption("")
        self.plot.show_nothing(why)
        self._show_view()

    def sentences(self) -> tuple[str, ...]:
        """Return what is said, for tests and for screen readers."""
        labels = self._sentences.findChildren(PlainLabel)
        return tuple(label.text() for label in labels)

    @Slot()
    def _show_view(self) -> None:
        """Show the list or a map."""
        listed = self.switch.value() == LIST and self._found is not None
        self._scroll.setVisible(listed)
        self.plot.setVisible(not listed)

    @Slot()
    def _draw(self) -> None:
        found = self._found
        self._show_view()
        if found is None:
            return
        rank = {column: place for place, column in enumerate(found.selected, start=1)}
        features = [
            MapFeature(int(self._ids[column]), self._names[column], rank.get(column, 0))
            for column in found.columns
        ]
        correlation = self.switch.value() != RUNS
        self.plot.setAccessibleName(
            tr("Correlation of features") if correlation else tr("Features by run and fold")
        )
        if correlation:
            text = tr("{n_columns} features, by correlation within queries")
            if found.n_features > len(found.columns):
                text = tr("{n_columns} of {n_features} features, by correlation within queries")
            said = text.format(n_columns=len(found.columns), n_features=found.n_features)
            self.set_caption("" if self.switch.value() == LIST else said)
            self.plot.show_map(features, self._correlations(found, features))
        elif not self._folds:
            self.set_caption("")
            self.plot.show_nothing(_NO_RUNS)
        else:
            self.set_caption(tr("features selected by each fold, in the same order"))
            self.plot.show_map(features, self._selections(found))

    def _correlations(self, found: Substitutes, features: Sequence[MapFeature]) -> MapValues:
        r = found.correlations
        texts = tuple(tuple(f"r = {correlation_text(v)}" for v in row) for row in r)
        return MapValues(
            np.abs(r),
            tuple(f"{feature.name} ({feature.feature_id})" for feature in features),
            ("",) * len(features),
            (0.0, 1.0),
            "|r|",
            tuple((value, f"{value:g}") for value in (0.0, 0.25, 0.5, 0.75, 1.0)),
            texts,
            tr("the same features"),
            square=True,
        )

    def _selections(self, found: Substitutes) -> MapValues:
        ranks = self._ranks[list(found.columns)]
        runs = [group.label for group in self._groups for _ in range(group.size)]
        most = max(2, int(np.nanmax(self._ranks))) if np.isfinite(self._ranks).any() else 2
        middle = (1 + most) // 2
        marks = sorted({1, middle, most})
        return MapValues(
            ranks,
            tuple(
                tr("fold {fold} of {run}").format(fold=fold, run=run)
                for fold, run in zip(self._folds, runs, strict=True)
            ),
            tuple(map(str, self._folds)),
            (float(most), 1.0),
            tr("chosen as"),
            tuple((float(mark), ordinal(mark)) for mark in marks),
            tuple(
                tuple(
                    tr("not selected") if np.isnan(v) else tr("selected as {v}").format(v=ordinal(int(v)))
                    for v in row
                )
                for row in ranks
            ),
            tr("fold"),
            self._groups,
        )

    def _say(self, sentences: Sequence[SubstituteSentence]) -> None:
        """Write the sentences."""
        while (item := self._lines.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        for sentence in sentences:
            if sentence.title:
                self._lines.addWidget(self._line(sentence.title, sentence.hint))
            self._lines.addWidget(self._line(sentence.text, sentence.hint, "caption"))
            self._lines.addSpacing(8)
        self._lines.addStretch(1)
        self._scroll.setAccessibleDescription(plain("\n".join(f"{s.title}: {s.text}" for s in sentences)))

    def _line(self, text: str, hint: str, role: str = "") -> PlainLabel:
        made = named(PlainLabel(text), tip=hint, role=role)
        made.setWordWrap(True)
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return made
