"""The row of the permutation test: a button, and a sentence with the result of the test."""

from __future__ import annotations

from math import inf, isinf
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QPushButton, QSizePolicy, QWidget

from rankstudio.engine.analysis.comparisons.significance import ALPHA
from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import duration
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

if TYPE_CHECKING:
    from rankstudio.plugins.permutation.criterion_band import CriterionBand


class ChanceRow(QWidget):
    """Shows a button that starts or stops the permutation test, and a sentence with its result.

    Attributes
    ----------
    button : QPushButton
    row : QBoxLayout
        Layout of button and sentence, which are above each other in a narrow panel.
    """

    def __init__(self) -> None:
        """Lay out the button beside the sentence; the row is hidden."""
        super().__init__()
        self.button = named(QPushButton(), "chance-button")
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.sentence = named(
            WrappedLabel(keeps=False), "chance-sentence", role="caption"
        )
        self.sentence.setSizePolicy(
            QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred
        )
        self.row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        fill(
            self.row,
            self.button,
            (self.sentence, 1),
            margins=(0, 4, 0, 0),
            spacing=8,
        )
        self.hide()

    def show_obstacle(self, sentence: str) -> None:
        """Show why a test is impossible, without the button."""
        self.sentence.setText(sentence)
        self.button.hide()

    def show_state(
        self,
        sentence: str,
        *,
        growing: bool,
        complete: bool,
        preferred: bool = False,
        one_ranking: bool = False,
        seconds: float = inf,
    ) -> None:
        """Show the state of the test, with a sentence on its result; "" before a test.

        The button starts a test or, while it is ``growing``, stops it;
        it is hidden when the test is ``complete``. ``preferred`` says
        whether documents of preferences are permuted instead of labels,
        ``one_ranking`` whether labels are permuted among all documents,
        and ``seconds`` how long a test takes at most, infinity if that
        is unknown.
        """
        # Before a test, the row says what would be permuted and how
        # long it takes at most.
        tip = tr(
            "Run a permutation test of the selection: repeat it 999 times with labels permuted "
            "within queries."
        )
        if one_ranking:
            tip = tr(
                "Run a permutation test of the selection: repeat it 999 times with labels permuted "
                "among all documents."
            )
        offer = tr("999 permutations of the labels")
        if preferred:
            tip = tr(
                "Run a permutation test of the selection: repeat it 999 times with the "
                "documents of preferences permuted within queries."
            )
            offer = tr("999 permutations of the documents in preferences")
        if not isinf(seconds):
            offer = tr("{permutations}, at most {time}").format(
                permutations=offer, time=duration(seconds)
            )
        self.sentence.setText(sentence or offer)

        # The button starts the test, or stops a growing one; after a
        # complete test there is nothing to do.
        text = tr("Stop") if growing else tr("Permutation test")
        self.button.setText(text)
        self.button.setToolTip(
            tr("Stop the test and keep the permutations so far") if growing else tip
        )
        self.button.setAccessibleName(text)
        self.button.setVisible(growing or not complete)


def chance_sentence(
    band: CriterionBand,
    position: int,
    step: str,
    total: int,
    *,
    growing: bool,
    preferred: bool = False,
) -> str:
    """Return the sentence on the result of a permutation test at a step.

    Parameters
    ----------
    band : CriterionBand
        Result of the test so far, with values for each step.
    position : int
        Position of the step, from 0.
    step : str
        Name of the step, such as "k = 3".
    total : int
        Number of permutations of a complete test.
    growing : bool
        Whether the test is still under way.
    preferred : bool
        Whether the path is learned from preferences.
    """
    # The sentence on the result at this step.
    n = band.n_permutations
    p = float(band.p_values[position])

    # permuted criteria that are at most the observed one
    count = band.as_good(position)
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
    sentence = template.format(
        p=p,
        where=step,
        verdict=verdict,
        count=count or tr("none"),
        n=n,
        observed=band.observed[position],
        low=band.low[position],
        high=band.high[position],
    )

    # Say before it how many permutations are done, if not all of them are.
    if n >= total:
        return sentence
    text = (
        tr("{n} of {most} permutations so far. {result}")
        if growing
        else tr("Stopped at {n} of {most} permutations. {result}")
    )
    return text.format(n=n, most=total, result=sentence)
