"""The Data page: which data are open, how many documents and queries, which labels."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.summary import DatasetSummary
from rankstudio.engine.metrics.conventions import convention
from rankstudio.ui.data.facts import (
    ABSENT,
    all_folds_facts,
    convention_facts,
    fold_facts,
    label_rows,
    memory_facts,
    read_as_facts,
)
from rankstudio.ui.data.preferences_view import PreferencesView
from rankstudio.ui.language import tr
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import BarRows, ElidedLabel, KeyValue, Panel, Segmented
from rankstudio.ui.widgets.layout import fill, named

_IN_A_ROW = 6  # folds for which there are buttons


class DataPanel(Panel):
    """Name, folds, counts and the histogram of the relevance labels.

    What takes time to compute comes as a `DatasetSummary` through :meth:`show_summary`; until then its rows
    are left out.

    Attributes
    ----------
    foldChosen : Signal(object)
        Number of the fold that the user wants to look at, None for all.
    """

    foldChosen = Signal(object)
    sourcesAsked = Signal()
    """The user wants to know where other data are to be had."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Data"))
        self.setObjectName("data-panel")
        self._sources = self.add_tool("info", tr("Where to get data"))
        self._sources.clicked.connect(self.sourcesAsked)
        self._dataset: FoldedDataset | None = None
        self._fold: int | None = None
        self._convention = self._opening = ""
        self._summaries: dict[int | None, DatasetSummary] = {}
        self._name = named(ElidedLabel("", Qt.TextElideMode.ElideMiddle), "data-name", role="heading")
        self._folds = named(Segmented(name=tr("fold")), "data-folds")
        # In the place of the buttons, where there are too many folds for a row.
        self._many = named(QComboBox(), "data-many-folds", tr("fold"))
        self._facts = KeyValue()
        self.preferences = PreferencesView(theme)
        self._labels_title = named(PlainLabel(), role="muted")
        self._labels = BarRows(theme, tr("documents by relevance"))
        self._lay_out()
        self._folds.chosen.connect(self._on_fold)
        self._many.activated.connect(self._on_many)
        self.clear()

    def show_dataset(self, dataset: FoldedDataset, *, keep_summaries: bool = False) -> None:
        """Show a dataset, at its first fold; the summaries stay where only names are other ones."""
        self._dataset = dataset
        self._summaries = self._summaries if keep_summaries else {}
        self._name.setText(dataset.name)
        self.set_convention(dataset.convention)
        numbers = [fold.number for fold in dataset.folds]
        options: list[tuple[object, str]] = [(number, str(number)) for number in numbers]
        if len(numbers) > 1:
            options.append((None, tr("all")))
        self._folds.set_options(options if len(numbers) <= _IN_A_ROW else [])
        self._folds.setVisible(1 < len(numbers) <= _IN_A_ROW)
        self._many.clear()
        self._many.addItems(
            [tr("fold {number}").format(number=number) for number in numbers] + [tr("all folds")]
        )
        self._many.setVisible(len(numbers) > _IN_A_ROW)
        self.set_fold(numbers[0])

    def set_opening(self, text: str) -> None:
        """Say in place of the documents that they are being read; "" where they are not."""
        if text != self._opening:
            self._opening = text
            self._refresh()

    def clear(self) -> None:
        """Show that nothing is open."""
        self._dataset = None
        self._summaries = {}
        self._name.setText(tr("No data open"))
        self.set_caption("")
        self._folds.hide()
        self._many.hide()
        self._facts.set_rows(())
        self._show_labels(None)

    def set_convention(self, key: str, *, scaled: bool = False) -> None:
        """Show which convention the measures follow, and whether the features were scaled."""
        self.set_caption(convention(key).label + (f" · {tr('scaled')}" if scaled else ""))
        self._convention = key
        self._refresh()

    def set_fold(self, number: int | None) -> None:
        """Show another fold, or all; tells nobody."""
        self._fold = number
        if self._many.isVisibleTo(self):
            numbers = [fold.number for fold in self._dataset.folds] if self._dataset else []
            self._many.setCurrentIndex(numbers.index(number) if number in numbers else len(numbers))
        else:
            self._folds.select(number)
        self._refresh()

    def show_summary(self, number: int | None, summary: DatasetSummary) -> None:
        """Take what `describe_fold` found for a fold, or for all (None)."""
        self._summaries[number] = summary
        if number == self._fold:
            self._refresh()

    def summary(self) -> DatasetSummary | None:
        """Return the summary of what is shown; None before it is there."""
        return self._summaries.get(self._fold)

    def has_summary(self, number: int | None) -> bool:
        """Tell whether the summary of a fold is there already."""
        return number in self._summaries

    def _lay_out(self) -> None:
        self._many.setMaxVisibleItems(24)
        shown = (self._name, self._folds, self._many, self._facts, self._labels_title, self._labels)
        fill(self.body, *shown, self.preferences, 1, spacing=6)

    def _shown_fold(self) -> Fold | None:
        folds = self._dataset.folds if self._dataset else ()
        return next((fold for fold in folds if fold.number == self._fold), None)

    def _refresh(self) -> None:
        if self._dataset is None:
            return
        summary, fold = self.summary(), self._shown_fold()
        rows = fold_facts(fold, summary) if fold else all_folds_facts(self._dataset, summary)
        if self._opening:
            opening = replace(ABSENT, note=self._opening, role="muted")
            rows = tuple(opening if row is ABSENT else row for row in rows)
        said = convention_facts(self._dataset, summary, self._convention)
        self._facts.set_rows((*rows, *said, *memory_facts(self._dataset), *read_as_facts(self._dataset)))
        self._show_labels(summary)

    def _show_labels(self, summary: DatasetSummary | None) -> None:
        there = summary is not None
        for widget in (self._labels_title, self._labels):
            widget.setVisible(there)
        if summary is not None:
            self._labels_title.setText(tr("relevance, {described}").format(described=self.described()))
            self._labels.set_rows(label_rows(summary))

    def described(self) -> str:
        """Return which documents the summary is about."""
        if self._fold is not None:
            several = self._dataset is not None and len(self._dataset.folds) > 1
            return (
                tr("training documents of fold {fold}").format(fold=self._fold)
                if several
                else tr("training documents")
            )
        tested = self._dataset is not None and any(fold.test for fold in self._dataset.folds)
        return tr("test documents of all folds") if tested else tr("training documents of all folds")

    @Slot(int)
    def _on_many(self, place: int) -> None:
        folds = self._dataset.folds if self._dataset else ()
        self._on_fold(folds[place].number if place < len(folds) else None)

    @Slot(object)
    def _on_fold(self, number: int | None) -> None:
        self.set_fold(number)
        self.foldChosen.emit(number)
