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
    """The box *Left-out queries*, which shows left-out measures, and the progress of measuring them."""

    def __init__(self) -> None:
        super().__init__(tr("Left-out queries"))
        named(self, "left-out-box")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    def sizeHint(self) -> QSize:
        """Return a size that fits the usual text, so that the box does not shrink with a shorter text."""
        hint = super().sizeHint()
        metrics = self.fontMetrics()

        # How much narrower the present text is than the usual one, in pixels.
        missing_width = metrics.horizontalAdvance(
            tr("Left-out queries")
        ) - metrics.horizontalAdvance(self.text())
        return QSize(hint.width() + max(0, missing_width), hint.height())

    def minimumSizeHint(self) -> QSize:
        """Return the same as :meth:`sizeHint`, so that the text is never cut."""
        return self.sizeHint()

    def show_state(
        self, share: float | None, *, is_requested: bool, waiting: bool
    ) -> None:
        """Show whether left-out measures are requested, and the share of models that is measured.

        ``share``, from 0 to 1, is None while nothing is being measured.
        ``is_requested`` checks the box: the user wants these measures.
        ``waiting`` says that measuring waits until no run works.
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
    """Button that chooses the smallest model not significantly worse than the best one, or the best model.

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

        # the model that a click chooses: key of its curve, and its x
        self._target: tuple[Hashable, float] | None = None
        self._texts = "", ""  # in full, and short
        self._short = False  # whether the short text is shown
        self.clicked.connect(self._pick)
        self.hide()

    def offer(
        self,
        mark: SmallestMark | None,
        best: int,
        chosen: tuple[Hashable, int] | None,
        x_name: str,
    ) -> None:
        """Offer the marked model or, if it is chosen, the best model of its curve; hide without a mark.

        ``mark`` has the smallest model not significantly worse than the
        best one: the key of its curve and its x. ``best`` is the x of
        the best model on the same curve, ``chosen`` the key and x of
        the chosen model, and ``x_name`` the name of x, such as "k".
        """
        self.setVisible(mark is not None)
        if mark is None:
            return

        # A second click, when the marked model is chosen already, leads
        # back to the best one.
        is_best = mark.x == best
        is_chosen = chosen == (mark.key, mark.x)
        returns_to_best = is_chosen and not is_best
        x = best if returns_to_best else mark.x
        self._target = mark.key, x

        # There is nothing to choose if the marked model is the best one and chosen.
        self.setEnabled(not (is_best and is_chosen))

        # The full text, and a short one for narrow panels.
        if returns_to_best:
            full = short = tr("Best: {x_name} = {x:g}")
        else:
            full = tr("Smallest not significantly worse: {x_name} = {x:g}")
            short = tr("Smallest: {x_name} = {x:g}")
        full = full.format(x_name=x_name, x=x)
        self._texts = full, short.format(x_name=x_name, x=x)
        self.setAccessibleName(full)
        self.set_short(self._short)

        # The tooltip says what a click chooses.
        if is_best:
            tip = tr(
                "The best model on the curve. All smaller models are significantly worse (level 0.05)."
            )
        elif returns_to_best:
            tip = tr("Choose the best model on the curve")
        else:
            tip = tr(
                "Choose the smallest model that is not significantly worse than the best one: "
                "{difference:+.4f} over the queries, p = {p:.2g} (paired t-test, level 0.05)"
            ).format(difference=mark.difference, p=mark.p)
        self.setToolTip(tip)

    def set_short(self, short: bool) -> None:
        """Show the short text, for a narrow panel, or the full one."""
        self._short = short
        self.setText(self._texts[short])

    @Slot()
    def _pick(self) -> None:
        if self._target is not None:
            self.picked.emit(*self._target)
