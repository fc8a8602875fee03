"""Shows the candidates of one step by the score that the method compares, and the selected one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

import numpy as np
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.engine.analysis.features.candidate_map import (
    Margin,
    is_share_meaningless,
)
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.feature_groups import Groups, candidate_names, group_names
from rankstudio.engine.methods.catalog.method import CandidateScore, StepKind
from rankstudio.engine.support.number_format import percent
from rankstudio.ui.language import tr
from rankstudio.ui.plots import Bar, BarsPlot
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named

_MAX_BARS = 1000  # with more candidates, only the best are shown

NO_STEP = tr("Run a method to see the candidates of each step.")
_EMPTY_TEXT = tr("This step compared no candidates.")


class CandidatesView(QWidget):
    """Bars of the candidates among which a step of a method selects a feature, the longest first.

    The bar of the selected candidate has the accent color.

    Attributes
    ----------
    picked : Signal(int)
        Id of the feature whose bar was clicked.
    """

    picked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        named(self, "candidates-view", accessible_name=tr("Candidates"))
        self.plot = named(
            BarsPlot(theme, tr("score of each candidate")), "candidates-plot"
        )
        self._axes = self.plot.axes  # those of the empty plot
        self.plot.placeholder = NO_STEP  # the text of the empty plot

        # The entry of the plot in the list of exports, even while the plot is hidden.
        self.plot.shared = Shared("candidates", tr("Candidates"), always=True)
        self.verdict = named(PlainLabel(wraps=True), "candidates-verdict")
        fill(
            QVBoxLayout(self),
            self.verdict,
            (self.plot, 1),
            margins=(0, 0, 0, 0),
            spacing=2,
        )
        self.verdict.hide()
        self.plot.picked.connect(self._on_picked)

    def show_step(
        self,
        score: CandidateScore,
        values: Floats,
        margin: Margin,
        feature_ids: Sequence[int] | Ints,
        names: Sequence[str],
        kind: StepKind = StepKind.FEATURES,
        groups: Groups | None = None,
    ) -> None:
        """Show the candidates of a step.

        Parameters
        ----------
        score : CandidateScore
            The score by which the method compares candidates.
        values : array of shape (n,)
            The score of each of the n features of the data; NaN for
            features that were no candidates.
        margin : Margin
            Number of the step, the column of the feature that it
            selected, and the lead of that feature over the next
            candidate.
        feature_ids, names : sequence of length n
            Id and name of each feature, in the order of ``values``.
        kind : StepKind
            Kind of the step, which determines its name: step, iteration or round.
        groups : Mapping of str to tuple of int, optional
            Ids of the features of each group, by its name; a group has one bar.
        """
        # Screen readers read the name and number of the step as the
        # title. A step that adds features is just called a step; others
        # are iterations or rounds.
        step = tr("step") if kind is StepKind.FEATURES else tr(kind.value)
        self.setAccessibleName(
            tr("Candidates at {step} {number}").format(step=step, number=margin.number)
        )
        if not np.isfinite(values).any():
            self._show_nothing(_EMPTY_TEXT)
            return

        # All features of a group have the group's score, so that the
        # bar of the first one is enough. Features are columns, that is
        # positions in `values`.
        ids = np.asarray(feature_ids)
        first_column = {
            name: int(np.flatnonzero(ids == members[0])[0])
            for name, members in (groups or {}).items()
        }
        # the name of each grouped feature's group, by the id of the feature
        own_group = group_names(groups or {})
        # From here on, a feature of a group is called by the name of
        # the group. The ids are needed to find the groups only.
        names = candidate_names(ids.tolist() if groups else (), names, groups or {})

        def bar(column: int) -> int:
            """Return the column whose bar stands for a feature: the first of its group, else its own.

            ``column`` is the column of the feature. The groups are
            parameters of the enclosing method.
            """
            return (
                first_column.get(own_group.get(int(ids[column]), ""), column)
                if first_column
                else column
            )

        # Only candidates with a score are drawn; of many, the best ones
        # and the selected one.
        candidates = np.flatnonzero(np.isfinite(values))
        if candidates.size > _MAX_BARS:
            # Scores in the sense that a greater one is better.
            gains = score.gains(values[candidates])

            # The gain from which on a candidate has a bar. It is the
            # result of a partition, as sorting many thousands of
            # candidates would visibly delay the window.
            least = np.partition(gains, -_MAX_BARS)[-_MAX_BARS]
            leading = np.flatnonzero(gains >= least)
            best = leading[np.argsort(-gains[leading], kind="stable")[:_MAX_BARS]]
            candidates = np.union1d(candidates[best], margin.feature)

        # One bar for each group or feature, with the selected one
        # marked. The title of the axis has a short form for a narrow
        # plot.
        columns = [c for c in candidates.tolist() if bar(c) == c]
        self.plot.set_axes(
            replace(self.plot.axes, title=tr(score.title), short=tr(score.name))
        )
        self.plot.set_bars(
            [Bar(int(ids[c]), names[c], float(values[c])) for c in columns],
            winner=int(ids[bar(margin.feature)]),
        )
        self.verdict.setText(
            f"{step.capitalize()} {margin.number}: {verdict(score, margin, names)}"
        )
        self.verdict.show()

    def clear(self, reason: str = NO_STEP) -> None:
        """Show no candidates, but the reason why there are none."""
        self.setAccessibleName(tr("Candidates"))
        self._show_nothing(reason)

    def select(self, feature_id: int | None) -> None:
        """Outline the bar of the inspected feature, by its id; None removes the outline."""
        self.plot.select(feature_id)

    def _show_nothing(self, reason: str = NO_STEP) -> None:
        """Show an empty plot, with the reason as its placeholder."""
        self.plot.placeholder = reason
        self.plot.set_axes(self._axes)
        self.plot.set_bars(())
        self.verdict.hide()

    @Slot(object)
    def _on_picked(self, feature_id: int) -> None:
        self.picked.emit(feature_id)


def verdict(score: CandidateScore, margin: Margin, names: Sequence[str]) -> str:
    """Return a text on the selected feature and its lead over the next one, as a share of its score.

    Parameters
    ----------
    score : CandidateScore
        The score by which the method compares candidates.
    margin : Margin
        The selected feature, the next candidate (the rival), the scores
        of both, and the lead as a share of the larger score.
    names : sequence of str of length n
        Name of each of the n features, by column.

    Returns
    -------
    str
        "BM25 of anchor, ahead of LMIR.JM of anchor by 12 %"
    """
    # Selections without a comparison (a score that is not finite),
    # without another candidate (no rival), or with an equally good one
    # (a share of 0).
    name = names[margin.feature]
    if not isfinite(margin.score):
        return tr("{name}, without a comparison").format(name=name)
    if margin.rival is None:
        return tr("{name}, the last candidate").format(name=name)
    rival = names[margin.rival]
    if margin.share == 0:
        return tr("{name}, tied with {rival}").format(name=name, rival=rival)

    # A positive score is a reduction of the criterion.
    # `is_share_meaningless` says whether one of the two features does
    # not lower it: then a share of the lead has no meaning.
    if is_share_meaningless(score, margin):
        text = tr("{name}: no candidate lowers the {criterion}")
        if margin.score > 0:
            text = tr("{name}: no other candidate lowers the {criterion}")
        elif margin.rival_score > 0:
            text = tr("{name}, though {rival} would lower the {criterion}")
        return text.format(name=name, rival=rival, criterion=tr(score.criterion))

    # The lead over the next candidate, which may be negative.
    relation = tr("ahead of") if margin.share > 0 else tr("behind")
    return tr("{name}, {way} {rival} by {share}").format(
        name=name, way=relation, rival=rival, share=percent(abs(margin.share))
    )
