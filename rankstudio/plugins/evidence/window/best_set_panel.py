"""The panel on the best set of the selection's size: how far the selection is from it, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton

from rankstudio.engine.support.number_format import count_text
from rankstudio.plugins.evidence.window.work_row import WorkRow
from rankstudio.ui.language import tr, trn
from rankstudio.ui.style.number_format import duration
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.best_subset import SizedSubset
    from rankstudio.plugins.evidence.evidence_result import SelectionEvidence

# relative difference of errors up to which two sets are equally good
_MIN_DIFFERENCE = 5e-6
# relative gap; a greater one is not shown, as in the engine's sentences
_MAX_USEFUL_GAP = 0.5
_SEARCH_HELP = tr("Compare all sets of this size by their exact leave-query-out error.")


def best_of_size(evidence: SelectionEvidence | None) -> SizedSubset | None:
    """Return the best known set of the size of a selection.

    The selection is that of the evidence. The result is None if no set
    is known.
    """
    if evidence is None or evidence.best is None:
        return None
    sized = [subset for subset in evidence.best.sizes if subset.size == evidence.size]
    return sized[0] if sized and sized[0].features else None


class BestSetPanel(Panel):
    """Sentences on the best set of the selection's size, with buttons.

    The buttons run the best set, compare it with the selection, and
    list the best set of each size.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    use, compare, sizes : QPushButton
        The three buttons.
    work : WorkRow
        The row with the button that searches for the best sets.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Best set"), name="best-set-panel")
        self.gap = named(WrappedLabel(), "best-set-gap", role="title")
        self.best = named(WrappedLabel(), "best-set-features")
        self.near = named(WrappedLabel(), "best-set-near", role="muted")

        for label in (self.gap, self.best, self.near):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

        # The button of the search, with its text without and with an
        # estimated time, and its tooltip.
        self.work = WorkRow(
            "best-set-work",
            tr("Search for the best set"),
            tr("Search for the best set (up to {time})"),
            _SEARCH_HELP,
        )
        tip = tr("Run RankRLS on this fold with exactly these features.")
        self.use = named(
            QPushButton(tr("Use the best set")), "use-best-set", tip=tip, role="primary"
        )
        tip = tr(
            "Run RankRLS with each of the two sets and compare them on the Compare page."
        )
        self.compare = named(
            QPushButton(tr("Compare the two")), "compare-best-set", tip=tip
        )
        tip = tr("List the best set of each size.")
        self.sizes = named(QPushButton(tr("All sizes…")), "best-set-sizes", tip=tip)
        buttons = fill(QHBoxLayout(), self.use, self.compare, self.sizes, 1, spacing=8)
        fill(self.body, self.gap, self.best, self.near, 1, self.work, buttons)
        self.body.setSpacing(6)
        self.clear()

    def show_best(
        self,
        evidence: SelectionEvidence,
        criterion: float,
        ids: Sequence[int],
        missing: str,
    ) -> None:
        """Show the sentences on the best set, and its buttons if it is better than the selection.

        Parameters
        ----------
        evidence : SelectionEvidence
            Evidence for the shown selection.
        criterion : float
            Leave-query-out error of the selection.
        ids : sequence of int
            Feature ids of the data's columns.
        missing : str
            Reason shown if no best set is known.
        """
        sized = best_of_size(evidence)
        title = tr("Best set of {k}")
        if evidence.groups:
            title = trn("Best group", "Best set of {k} groups", evidence.size)
        self.set_title(title.format(k=evidence.size))
        if sized is None:
            self._show_texts(gap="", best="", near=missing, caption="")
            return
        sentences = evidence.best_sentences(lambda column: str(ids[column]))
        is_other_set = set(sized.features) != set(evidence.selected)
        is_better = is_other_set and criterion > (1 + _MIN_DIFFERENCE) * sized.criterion

        # The sentence on sets as good as the best is the last one, if
        # there is one.
        near_sentence = (
            sentences[-1] if sentences and evidence.near_best_of_k is not None else ""
        )

        # Of the others, the first is on the error of the selection, and
        # the second on the best set.
        texts = [sentence for sentence in sentences if sentence != near_sentence]
        self._show_texts(
            gap=texts[0] if texts else "",
            best=texts[1] if is_better and texts[1:] else "",
            near=near_sentence,
            caption=_search_text(sized),
        )

        for button in (self.use, self.compare):
            button.setVisible(is_better)

    def clear(self) -> None:
        """Show nothing."""
        self.set_title(tr("Best set"))
        self._show_texts(gap="", best="", near="", caption="")

    def _show_texts(self, gap: str, best: str, near: str, caption: str) -> None:
        """Show those of four sentences that are not empty, and hide the buttons for another set.

        ``gap`` is about the error of the selection, ``best`` about the
        best set, and ``near`` about the sets as good as the best set.
        ``caption`` is that of the panel.
        """
        texts = (self.gap, gap), (self.best, best), (self.near, near)
        for label, text in texts:
            label.setText(text)
            label.setVisible(bool(text))
        self.set_caption(caption)
        for button in (self.use, self.compare):
            button.setVisible(False)


def gap_so_far(evidence: SelectionEvidence | None) -> str:
    """Return the text on how much better a set may be than the best known one.

    The text is "" if the best set is proved, or if hardly anything is known.
    """
    sized = best_of_size(evidence)
    if sized is None or sized.proved or sized.relative_gap > _MAX_USEFUL_GAP:
        return ""
    least = f"{100 * sized.relative_gap:.2g}"
    return tr("Gap so far: {least} %").format(least=least)


def _search_text(sized: SizedSubset) -> str:
    """Return the number of sets of one size, and the time of the proof or the searched share, as a text.

    ``sized`` is the best set of one size; it is proved once all sets
    were searched or excluded.
    """
    if sized.proved:
        text = trn(
            "{n:,} set · proved in {time}",
            "{n:,} sets · proved in {time}",
            sized.n_sets,
        )
        seconds = sized.seconds
        time = f"{max(seconds, 0.01):.2g} s" if seconds < 10 else duration(seconds)
        return text.format(n=sized.n_sets, time=time)

    # very large numbers as powers of 10: "2.3e+11"
    return tr("{n} sets · {share:.0f} % searched").format(
        n=count_text(sized.n_sets) if sized.n_sets < 1e10 else f"{sized.n_sets:.2g}",
        share=100 * sized.share,
    )
