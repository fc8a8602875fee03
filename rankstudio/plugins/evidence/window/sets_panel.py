"""The panel of the sets of features that are as good as the best set of their size."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.number_format import relative_excess
from rankstudio.plugins.evidence.window.work_row import WorkRow
from rankstudio.ui.language import tr, trn
from rankstudio.ui.plots.maps.set_matrix import (
    EXCLUDED,
    FREE,
    REQUIRED,
    MatrixColumn,
    MatrixRow,
    SetMatrixPlot,
)
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import WrappedLabel

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.best_subset import SizedSubset
    from rankstudio.plugins.evidence.evidence_result import SelectionEvidence

NOTHING = tr(
    "Sets not significantly different from the best one (paired test over queries) appear here."
)
TOO_MANY = tr("There are too many sets of this size to compare them all.")
_UNPROVED_TEXT = tr(
    "The best set of this size is not proved, so the sets as good as it are not known."
)


class SetsPanel(Panel):
    """A matrix of the sets that are not significantly different from the best set of the selection's size.

    Each row is a set and each column a feature; a cell is filled if the
    set has the feature. A click on a feature requires it, excludes it,
    or neither. A sentence shows how much error these conditions cost.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Sets as good as the best"), name="sets-panel")
        self.plot = named(SetMatrixPlot(theme), "sets-matrix")

        # the plot's entry in the list of exports
        self.plot.shared = Shared("near-best", tr("Sets as good as the best"))

        # the button, with its text without and with an estimated time,
        # and its tooltip
        self.work = WorkRow(
            "sets-work",
            tr("Find these sets"),
            tr("Find these sets (about {time})"),
            tr("Compare the sets near the best one with it, query by query."),
        )
        self.sentence = named(WrappedLabel(), "sets-sentence", role="caption")
        fill(self.body, (self.plot, 1), self.work, self.sentence)
        self.body.setSpacing(4)
        self.clear()

    def show_sets(
        self,
        evidence: SelectionEvidence,
        criterion: float,
        ids: Sequence[int],
        names: Sequence[str],
        conditions: Mapping[int, int],
        constrained: SizedSubset | None = None,
    ) -> None:
        """Show the sets that are as good as the best, and meet the user's conditions.

        Parameters
        ----------
        evidence : SelectionEvidence
        criterion : float
            Error of the selection.
        ids, names : sequence
            Ids and names of the data's columns.
        conditions : mapping of int to int
            REQUIRED or EXCLUDED for the features with a condition, by
            their ids.
        constrained : SizedSubset, optional
            The best set under these conditions; None while it is searched.
        """
        near_best = evidence.near_best_of_k
        if near_best is None:
            best = evidence.best
            is_unproved = (
                best is not None and bool(best.sizes) and not best.sizes[-1].proved
            )
            self.clear(_UNPROVED_TEXT if is_unproved else NOTHING)
            return
        column_of = {int(feature): column for column, feature in enumerate(ids)}
        required, excluded = (
            [
                column_of[feature]
                for feature, state in conditions.items()
                if state == choice
            ]
            for choice in (REQUIRED, EXCLUDED)
        )
        sets = near_best.containing(required, excluded)
        lowest = near_best.best.criterion

        # Without such a set, show the best one that meets the
        # conditions; without conditions, show the selection as well.
        listed = [(near_set.criterion, near_set.features) for near_set in sets]
        if constrained is not None and constrained.features and not sets:
            listed = [(constrained.criterion, constrained.features)]
        elif not conditions and all(
            set(columns) != set(evidence.selected) for _, columns in listed
        ):
            # last, as it is not as good as the best
            listed.append((criterion, evidence.selected))
        selection = frozenset(int(ids[column]) for column in evidence.selected)
        rows = [
            _matrix_row(
                relative_excess(error, lowest),
                columns,
                ids,
                selection,
                is_first=index == 0,
            )
            for index, (error, columns) in enumerate(listed)
        ]
        shares = np.zeros(len(ids))

        for subset in sets:
            shares[list(subset.features)] += 1 / len(sets)
        always_shown = {
            *evidence.selected,
            *required,
            *excluded,
            *(constrained.features if constrained else ()),
        }
        matrix_columns = _matrix_columns(
            shares, always_shown, evidence.selected, ids, names, conditions
        )
        self.plot.show_sets(matrix_columns, rows, len(sets))
        self.set_caption(tr("click a feature to require it, again to exclude it"))
        self._show_sentence(constrained, lowest, len(sets), bool(conditions))

    def _show_sentence(
        self,
        constrained: SizedSubset | None,
        lowest: float,
        n_sets: int,
        is_constrained: bool,
    ) -> None:
        """Show how much error the user's conditions on features cost; nothing if not ``is_constrained``.

        ``constrained`` is the best set under the conditions, None while
        it is searched. ``lowest`` is the lowest error without
        conditions, and ``n_sets`` the number of sets as good as the
        best set that meet the conditions.
        """
        text = ""
        if is_constrained and constrained is None:
            text = tr("Searching for the best set under these conditions …")
        elif is_constrained and constrained is not None and not constrained.features:
            text = tr("No set of this size meets these conditions.")
        elif is_constrained and constrained is not None:
            above = f"{100 * relative_excess(constrained.criterion, lowest):.2g}"
            text = trn(
                "The error of the best set under these conditions is {above} % above the lowest; "
                "{n} set is as good.",
                "The error of the best set under these conditions is {above} % above the lowest; "
                "{n} sets are as good.",
                n_sets,
            ).format(above=above, n=n_sets)
        self.sentence.setText(text)
        self.sentence.setVisible(bool(text))

    def clear(self, reason: str = NOTHING) -> None:
        """Show no sets, but a sentence with the reason."""
        self.plot.show_nothing(reason)
        self.set_caption("")
        self.sentence.setText("")
        self.sentence.hide()


def _matrix_row(
    above: float,
    columns: Sequence[int],
    ids: Sequence[int],
    selection: frozenset[int],
    *,
    is_first: bool,
) -> MatrixRow:
    """Return the row of a set in the matrix, with its label.

    ``above`` is the share by which the set's error is above the lowest
    error. ``columns`` are those of the set, ``ids`` are those of the
    data's columns, and ``selection`` has the ids of the selection.
    ``is_first`` is True for the first row.
    """
    features = frozenset(int(ids[column]) for column in columns)
    is_selection = features == selection
    label = ""
    if is_first:
        label = tr("best", "set")  # "best" in the context of a set, for translators
    elif is_selection:
        label = tr("selection")
    return MatrixRow(above, features, label, is_selection)


def _matrix_columns(
    shares: Floats,
    always_shown: Collection[int],
    selected: Collection[int],
    ids: Sequence[int],
    names: Sequence[str],
    conditions: Mapping[int, int],
) -> list[MatrixColumn]:
    """Return the features that are in some set or always shown, the most frequent first.

    ``shares``, (n,), has the share of the sets with each of the data's
    columns, and ``conditions`` the user's condition on a feature by its
    id. Required and excluded features precede all others, so that the
    user can free them also if no set has them.
    """
    columns = [
        MatrixColumn(
            int(ids[column]),
            names[column],
            float(shares[column]),
            column in selected,
            conditions.get(int(ids[column]), FREE),
        )
        for column in (-shares).argsort(kind="stable").tolist()
        if shares[column] > 0 or column in always_shown
    ]
    return sorted(columns, key=lambda column: column.wanted == FREE)
