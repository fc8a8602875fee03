"""The line below the criterion that tells whether it is better than chance gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from rankstudio.engine.analysis.significance import ALPHA
from rankstudio.ui.language import tr
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.widgets.layout import fill, named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.permutation.criterion_band import CriterionBand


class ChanceRow(QWidget):
    """A button that begins or stops the permutation test, and the sentence that it makes.

    Attributes
    ----------
    asked : Signal()
        The button was pressed.
    """

    asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.button = named(QPushButton(), "chance-button")
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(self.asked)
        self.sentence = named(PlainLabel(), "chance-sentence", role="caption")
        self.sentence.setWordWrap(True)
        self.sentence.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        fill(QHBoxLayout(self), self.button, (self.sentence, 1), margins=(0, 4, 0, 0), spacing=8)
        self.hide()

    def show_state(self, sentence: str, *, growing: bool, whole: bool, preferred: bool = False) -> None:
        """Show a sentence, "" before a test; the button begins one, stops it, or is gone at its end."""
        told = tr(
            "Run a permutation test of the selection: repeat it 999 times with labels permuted "
            "within queries."
        )
        begin = tr("999 permutations of the labels within queries")
        if preferred:
            told = tr(
                "Run a permutation test of the selection: repeat it 999 times with the "
                "documents of preferences permuted within queries."
            )
            begin = tr("999 permutations of the documents of preferences within queries")
        self.sentence.setText(sentence or begin)
        text = tr("Stop") if growing else tr("Permutation test…")
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
        "p = {p:.3g} at {where}, {verdict}: {count} of {n} repetitions with permuted labels "
        "have a criterion of {observed:.4f} or less; 95 % of them are between {low:.4f} and "
        "{high:.4f}."
    )
    if preferred:
        template = tr(
            "p = {p:.3g} at {where}, {verdict}: {count} of {n} repetitions with permuted "
            "documents of preferences have a criterion of {observed:.4f} or less; 95 % of them "
            "are between {low:.4f} and {high:.4f}."
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
