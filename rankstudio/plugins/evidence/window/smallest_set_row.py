"""The smallest set not significantly worse than the best, beside the chosen one, and which to show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from rankstudio.engine.support.number_format import fixed
from rankstudio.ui.language import tr
from rankstudio.ui.widgets.choices import Segment
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import ElidedLabel, WrappedLabel

if TYPE_CHECKING:
    from rankstudio.engine.analysis.tried_models.smallest_set import SetOfPath, SmallestSet


class _SetButton(QWidget):
    """A button that chooses a set, with its measure and its features.

    Parameters
    ----------
    name : str
        Name of the button for the program and its tests.
    tip : str

    Attributes
    ----------
    button : Segment
    """

    def __init__(self, name: str, tip: str) -> None:
        super().__init__()
        self.button = named(Segment(), name, tip=tip, role="segment")
        self.button.setCheckable(True)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._about = named(ElidedLabel(), f"{name}-about", role="caption")
        fill(QHBoxLayout(self), self.button, (self._about, 1), margins=(0, 0, 0, 0), spacing=8)

    def show_set(
        self, title: str, found: SetOfPath, measure: str, ids: Sequence[int], *, shown: bool
    ) -> None:
        """Show a set, and whether the page is about it (``shown``)."""
        self.button.setText(title.format(k=found.size))
        self.button.setAccessibleName(self.button.text())
        self.button.setChecked(shown)
        features = " ".join(str(ids[column]) for column in found.features)
        self._about.setText(f"{measure} {fixed(found.value)} · {features}")


class SmallestSetRow(QWidget):
    """A sentence that says which set is shown, and the two sets; nothing where none is tested.

    Attributes
    ----------
    asked : Signal(int)
        The user wants to see the evidence for another set: where it stands on the path.
    """

    asked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._found: SmallestSet | None = None
        self.sentence = named(WrappedLabel(), "smallest-set-advice")
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._smallest = _SetButton(
            "smallest-set",
            tr("Choose the smallest set not significantly worse than the best, and see its evidence."),
        )
        self._other = _SetButton("other-set", tr("Choose this set and see its evidence."))
        self._smallest.button.clicked.connect(lambda: self._ask(smallest=True))
        self._other.button.clicked.connect(lambda: self._ask(smallest=False))
        sets = fill(QHBoxLayout(), (self._smallest, 1), (self._other, 1), margins=(0, 0, 0, 0), spacing=16)
        fill(QVBoxLayout(self), self.sentence, sets, margins=(12, 8, 12, 4), spacing=6)
        self.hide()

    def show_sets(self, found: SmallestSet | None, ids: Sequence[int]) -> None:
        """Show the sets of a path.

        Parameters
        ----------
        found : SmallestSet or None
        ids : sequence of int
            Of the data's columns.
        """
        self._found = found
        self.setVisible(found is not None)
        if found is None:
            return
        self.sentence.setText(found.sentence)
        is_smallest = found.chosen.size == found.smallest.size
        self._other.setVisible(not found.is_one_set)
        self._smallest.show_set(
            tr("Chosen: k = {k}") if found.is_one_set else tr("Smallest: k = {k}"),
            found.smallest,
            found.measure,
            ids,
            shown=is_smallest,
        )
        title = tr("Best: k = {k}") if is_smallest else tr("Chosen: k = {k}")
        self._other.show_set(title, found.other, found.measure, ids, shown=not is_smallest)

    def _ask(self, *, smallest: bool) -> None:
        sets = self._found
        if sets is None:
            return
        target = sets.smallest if smallest else sets.other
        is_smallest = sets.chosen.size == sets.smallest.size
        self._smallest.button.setChecked(is_smallest)  # until the page is about the other one
        self._other.button.setChecked(not is_smallest)
        if target.size != sets.chosen.size:
            self.asked.emit(target.x_value)
