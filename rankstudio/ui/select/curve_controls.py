"""The controls below the curves: left-out queries, and the smallest model."""

from __future__ import annotations

from collections.abc import Hashable

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QPushButton

from rankstudio.engine.support.number_format import percentage
from rankstudio.ui.language import tr
from rankstudio.ui.plots.curves.curve_set import SmallestMark
from rankstudio.ui.widgets.layout import named


class LeftOutBox(QCheckBox):
    """A box to tick, which tells how far the measuring is."""

    def __init__(self) -> None:
        super().__init__(tr("Left-out queries"))
        named(self, "left-out-box")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    def sizeHint(self) -> QSize:
        """Return room for the longest text: what is said while it works is shorter."""
        hint = super().sizeHint()
        metrics = self.fontMetrics()
        longer = metrics.horizontalAdvance(tr("Left-out queries")) - metrics.horizontalAdvance(self.text())
        return QSize(hint.width() + max(0, longer), hint.height())

    def minimumSizeHint(self) -> QSize:
        """Return the same."""
        return self.sizeHint()

    def show_state(self, share: float | None, *, is_requested: bool, waiting: bool) -> None:
        """Show whether they are asked for, and how much of the path is measured; None where nothing is.

        ``waiting`` says that a run works, which comes first.
        """
        self.setChecked(is_requested)
        text = tr("Left-out queries")
        self.setAccessibleName(text)
        tooltip = tr("Show the leave-query-out measure next to the validation measure")
        if waiting:
            tooltip = tr("Measured after the run")
            text = tr("Left-out: waiting")
        elif share is not None:
            text = tr("Left-out: {share}").format(share=percentage(share))
        self.setText(text)
        self.setToolTip(tooltip)


class SmallestButton(QPushButton):
    """Chooses the smallest model that is not significantly worse than the best, or the best one again.

    Attributes
    ----------
    picked : Signal(object, object)
        Key of the curve and x of the model to choose.
    """

    picked = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        named(self, "smallest-button")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._to: tuple[Hashable, float] | None = None
        self._texts = "", ""  # in full, and short
        self._short = False
        self.clicked.connect(self._pick)
        self.hide()

    def offer(
        self, mark: SmallestMark | None, best: int, chosen: tuple[Hashable, int] | None, x_name: str
    ) -> None:
        """Offer the marked model, or the best one of its curve where the marked one is chosen."""
        self.setVisible(mark is not None)
        if mark is None:
            return
        is_best = mark.x == best
        is_chosen = chosen == (mark.key, mark.x)
        back = is_chosen and not is_best
        self._to = mark.key, best if back else mark.x
        self.setEnabled(not (is_best and is_chosen))
        best_text = tr("Best: {x_name} = {x:g}")
        short = tr("Smallest: {x_name} = {x:g}")
        full = tr("Smallest not significantly worse: {x_name} = {x:g}")
        full, short = (best_text, best_text) if back else (full, short)
        fields = {"x_name": x_name, "x": self._to[1]}
        self._texts = full.format(**fields), short.format(**fields)
        self.setAccessibleName(self._texts[0])
        self.set_short(self._short)
        self.setToolTip(
            tr("The best model on the curve. All smaller models are significantly worse (level 0.05).")
            if is_best
            else tr("Choose the best model on the curve")
            if back
            else tr(
                "Choose the smallest model that is not significantly worse than the best one: "
                "{difference:+.4f} over the queries, p = {p:.2g} (paired t-test, level 0.05)"
            ).format(difference=mark.difference, p=mark.p)
        )

    def set_short(self, short: bool) -> None:
        """Show the short text, where there is little room, or the full one."""
        self._short = short
        self.setText(self._texts[short])

    @Slot()
    def _pick(self) -> None:
        if self._to is not None:
            self.picked.emit(*self._to)
