"""A row to switch between the smallest set not significantly worse than the best, and another set."""

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
    from rankstudio.engine.analysis.tried_models.smallest_set import (
        SetOfPath,
        SmallestSet,
    )


class _SetButton(QWidget):
    """A button that chooses a set, with the measure and the features of the set beside it.

    Parameters
    ----------
    name : str
        Object name of the button.
    tip : str
        Tooltip of the button.

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
        fill(
            QHBoxLayout(self),
            self.button,
            (self._about, 1),
            margins=(0, 0, 0, 0),
            spacing=8,
        )

    def show_set(
        self,
        title: str,
        path_set: SetOfPath,
        measure: str,
        ids: Sequence[int],
        *,
        is_chosen: bool,
    ) -> None:
        """Show a set, and whether the page is about it (``is_chosen``).

        ``title`` is the text of the button, with ``{k}`` for the number
        of features. Beside it are the value of ``measure`` and the ids
        of the features; ``ids`` are those of the data's columns.
        """
        self.button.setText(title.format(k=path_set.size))
        self.button.setAccessibleName(self.button.text())
        self.button.setChecked(is_chosen)
        features = " ".join(str(ids[column]) for column in path_set.features)
        self._about.setText(f"{measure} {fixed(path_set.value)} · {features}")


class SmallestSetRow(QWidget):
    """A sentence on the smallest set as good as the best, and buttons for two sets of the selection path.

    A click on the other set's button asks for its evidence. The row is
    hidden if the sets of the path are not tested.

    Attributes
    ----------
    asked : Signal(int)
        The user wants to see the evidence for another set, given by its
        x value on the path.
    """

    asked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._sets: SmallestSet | None = None
        self.sentence = named(WrappedLabel(), "smallest-set-advice")
        self.sentence.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
        )
        self._smallest = _SetButton(
            "smallest-set",
            tr(
                "Choose the smallest set not significantly worse than the best, and see its evidence."
            ),
        )
        self._other = _SetButton(
            "other-set", tr("Choose this set and see its evidence.")
        )
        self._smallest.button.clicked.connect(lambda: self._ask(smallest=True))
        self._other.button.clicked.connect(lambda: self._ask(smallest=False))
        sets = fill(
            QHBoxLayout(),
            (self._smallest, 1),
            (self._other, 1),
            margins=(0, 0, 0, 0),
            spacing=16,
        )
        fill(QVBoxLayout(self), self.sentence, sets, margins=(12, 8, 12, 4), spacing=6)
        self.hide()

    def show_sets(self, smallest_set: SmallestSet | None, ids: Sequence[int]) -> None:
        """Show the smallest set of features as good as the best set, and another set of its path.

        The other set is the one that is chosen, or the best set if the
        smallest set is chosen.

        Parameters
        ----------
        smallest_set : SmallestSet or None
            The sets with a sentence on them; None hides the row.
        ids : sequence of int
            Feature ids of the data's columns.
        """
        self._sets = smallest_set
        self.setVisible(smallest_set is not None)
        if smallest_set is None:
            return
        self.sentence.setText(smallest_set.sentence)
        is_smallest = smallest_set.chosen.size == smallest_set.smallest.size
        self._other.setVisible(not smallest_set.is_one_set)
        self._smallest.show_set(
            tr("Chosen: k = {k}")
            if smallest_set.is_one_set
            else tr("Smallest: k = {k}"),
            smallest_set.smallest,
            smallest_set.measure,
            ids,
            is_chosen=is_smallest,
        )
        title = tr("Best: k = {k}") if is_smallest else tr("Chosen: k = {k}")
        self._other.show_set(
            title,
            smallest_set.other,
            smallest_set.measure,
            ids,
            is_chosen=not is_smallest,
        )

    def _ask(self, *, smallest: bool) -> None:
        """Ask for the evidence for the smallest or the other set, unless it is the chosen set."""
        sets = self._sets
        if sets is None:
            return
        target = sets.smallest if smallest else sets.other

        # Qt has checked the clicked button; the chosen set stays
        # checked until the page shows the other one.
        is_smallest = sets.chosen.size == sets.smallest.size
        self._smallest.button.setChecked(is_smallest)
        self._other.button.setChecked(not is_smallest)
        if target.size != sets.chosen.size:
            # number of features of the step, or its number on the path
            self.asked.emit(target.x_value)
