"""The controls below the curves: the permutation test, left-out queries, and the smallest model."""

from __future__ import annotations

from collections.abc import Hashable
from math import inf, isinf
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QPushButton, QSizePolicy, QWidget

from rankstudio.engine.analysis.comparisons.significance import ALPHA
from rankstudio.engine.support.number_format import percentage
from rankstudio.ui.language import tr
from rankstudio.ui.plots.curves.curve_set import SmallestMark
from rankstudio.ui.style.number_format import duration
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

if TYPE_CHECKING:
    from rankstudio.engine.analysis.permutation.criterion_band import CriterionBand


class ChanceRow(QWidget):
    """A button that begins or stops the permutation test, and the sentence that it makes.

    Attributes
    ----------
    button : QPushButton
    row : QBoxLayout
        Of the two, which stand above each other where a row is too long.
    """

    def __init__(self) -> None:
        super().__init__()
        self.button = named(QPushButton(), "chance-button")
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.sentence = named(WrappedLabel(keeps=False), "chance-sentence", role="caption")
        self.sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        fill(self.row, self.button, (self.sentence, 1), margins=(0, 4, 0, 0), spacing=8)
        self.hide()

    def show_obstacle(self, sentence: str) -> None:
        """Show why there can be no test."""
        self.sentence.setText(sentence)
        self.button.hide()

    def show_state(
        self, sentence: str, *, growing: bool, whole: bool, preferred: bool = False, seconds: float = inf
    ) -> None:
        """Show a sentence, "" before a test; the button begins one, stops it, or is gone at its end.

        ``seconds`` says how long one takes at most, infinity where nobody knows.
        """
        told = tr(
            "Run a permutation test of the selection: repeat it 999 times with labels permuted "
            "within queries."
        )
        begin = tr("999 permutations of the labels")
        if preferred:
            told = tr(
                "Run a permutation test of the selection: repeat it 999 times with the "
                "documents of preferences permuted within queries."
            )
            begin = tr("999 permutations of the documents in preferences")
        if not isinf(seconds):
            begin = tr("{permutations}, at most {time}").format(permutations=begin, time=duration(seconds))
        self.sentence.setText(sentence or begin)
        text = tr("Stop") if growing else tr("Permutation test")
        self.button.setText(text)
        self.button.setToolTip(tr("Stop the test and keep the permutations so far") if growing else told)
        self.button.setAccessibleName(text)
        self.button.setVisible(growing or not whole)


def chance_sentence(
    band: CriterionBand, position: int, where: str, most: int, *, growing: bool, preferred: bool = False
) -> str:
    """Return what a permutation test says of a step, from the values that are drawn.

    Parameters
    ----------
    band : CriterionBand
    position : int
        Of the step.
    where : str
        "k = 3".
    most : int
        So many permutations are asked for.
    growing : bool
        Whether it still counts.
    preferred : bool
        Whether preferences are learned from.
    """
    n, p, count = band.n_permutations, float(band.p_values[position]), band.as_good(position)
    verdict = tr("significant") if p <= ALPHA else tr("not significant")
    template = tr(
        "p = {p:.3g} at {where}, {verdict}: {count} of {n} repetitions with permuted labels have a "
        "criterion of {observed:.4f} or less; 95 % of all repetitions are between {low:.4f} and "
        "{high:.4f}."
    )
    if preferred:
        template = tr(
            "p = {p:.3g} at {where}, {verdict}: {count} of {n} repetitions with permuted preference "
            "documents have a criterion of {observed:.4f} or less; 95 % of all repetitions are between "
            "{low:.4f} and {high:.4f}."
        )
    said = template.format(
        p=p,
        where=where,
        verdict=verdict,
        count=count or tr("none"),
        n=n,
        observed=band.observed[position],
        low=band.low[position],
        high=band.high[position],
    )
    if n >= most:
        return said
    text = (
        tr("{n} of {most} permutations so far. {result}")
        if growing
        else tr("Stopped at {n} of {most} permutations. {result}")
    )
    return text.format(n=n, most=most, result=said)


class LeftOutBox(QCheckBox):
    """A box to tick, which tells how far the measuring is."""

    def __init__(self) -> None:
        super().__init__(tr("Left-out queries"))
        named(self, "left-out-box")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    def sizeHint(self) -> QSize:
        """Return room for the longest text: what is said while it works is shorter."""
        hint, metrics = super().sizeHint(), self.fontMetrics()
        longer = metrics.horizontalAdvance(tr("Left-out queries")) - metrics.horizontalAdvance(self.text())
        return QSize(hint.width() + max(0, longer), hint.height())

    def minimumSizeHint(self) -> QSize:
        """Return the same."""
        return self.sizeHint()

    def show_state(self, share: float | None, *, asked: bool, waiting: bool) -> None:
        """Show whether they are asked for, and how much of the path is measured; None where nothing is.

        ``waiting`` says that a run works, which comes first.
        """
        self.setChecked(asked)
        text = tr("Left-out queries")
        self.setAccessibleName(text)
        told = tr("Show the leave-query-out measure next to the validation measure")
        if waiting:
            told = tr("Measured after the run")
            text = tr("Left-out: waiting")
        elif share is not None:
            text = tr("Left-out: {share}").format(share=percentage(share))
        self.setText(text)
        self.setToolTip(told)


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
        same, is_chosen = mark.x == best, chosen == (mark.key, mark.x)
        back = is_chosen and not same
        self._to = mark.key, best if back else mark.x
        self.setEnabled(not (same and is_chosen))
        again, short = tr("Best: {x_name} = {x:g}"), tr("Smallest: {x_name} = {x:g}")
        full = tr("Smallest not significantly worse: {x_name} = {x:g}")
        full, short = (again, again) if back else (full, short)
        at = {"x_name": x_name, "x": self._to[1]}
        self._texts = full.format(**at), short.format(**at)
        self.setAccessibleName(self._texts[0])
        self.set_short(self._short)
        self.setToolTip(
            tr("The best model on the curve. All smaller models are significantly worse (level 0.05).")
            if same
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
