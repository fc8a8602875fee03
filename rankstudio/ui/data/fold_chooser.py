"""Which fold is looked at: a row of buttons for a few folds, a list for many."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from rankstudio.ui.widgets import Segmented

_MOST_BUTTONS = 6


class FoldChooser(QWidget):
    """Offers the folds of a dataset, and all of them together where there are several.

    Attributes
    ----------
    chosen : Signal(object)
        Number of the fold that the user chose, None for all; not emitted by `choose`.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons = Segmented(name="fold")
        self.list = QComboBox()
        self.list.setObjectName("data-fold-list")
        self.list.setAccessibleName("fold")
        self.list.setMaxVisibleItems(24)
        self.list.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.buttons)
        column.addWidget(self.list)
        self.buttons.chosen.connect(self.chosen)
        self.list.activated.connect(self._on_activated)

    def set_numbers(self, numbers: Sequence[int]) -> None:
        """Offer other folds, by their numbers; a single one is no choice."""
        few = len(numbers) <= _MOST_BUTTONS
        several = len(numbers) > 1
        options: list[tuple[object, str]] = [(number, str(number)) for number in numbers if few]
        self.buttons.set_options([*options, (None, "all")] if few and several else options)
        self.buttons.setVisible(few)
        self.list.clear()
        self.list.setVisible(not few)
        if not few:
            for number in numbers:
                self.list.addItem(f"fold {number} of {len(numbers)}", number)
            self.list.addItem(f"all {len(numbers)} folds", None)
        self.setVisible(several)

    def choose(self, number: int | None) -> None:
        """Show which fold is looked at; tells nobody."""
        self.buttons.choose(number)
        self.list.setCurrentIndex(self.list.findData(number))

    @Slot()
    def _on_activated(self) -> None:
        self.chosen.emit(self.list.currentData())
