"""The smallest set of a path that is not worse than the best set.

Its difference to the best set is not significant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.model_selection import (
    best_position,
    smallest_position,
)
from rankstudio.engine.experiment.results.results import FoldResult, PathResult
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.support.number_format import fixed


@dataclass(frozen=True)
class SetOfPath:
    """The set of features of one step of a path.

    Attributes
    ----------
    position : int
        Index of the step.
    x_value : int
        Number of features of the step, or its number, as in
        `PathResult.x_values`.
    features : tuple of int
        0-based columns of the features, in the order of selection.
    value : float
        Value of the validation measure that selects the models.
    p : float
        p value of the paired test of the set's values in each query
        against those of the best set; 1 for the best set.
    """

    position: int
    x_value: int
    features: tuple[int, ...]
    value: float
    p: float

    @property
    def size(self) -> int:
        """Number of features."""
        return len(self.features)


@dataclass(frozen=True)
class SmallestSet:
    """Three sets of features of a path: the smallest good, the best and the chosen one.

    A set is good if it is not significantly worse than the best set.

    Attributes
    ----------
    measure : str
        Name of the validation measure that selects the models.
    smallest, best : SetOfPath
        The smallest set that is not significantly worse than the best
        one, and the best one.
    chosen : SetOfPath
        The chosen set.
    """

    measure: str
    smallest: SetOfPath
    best: SetOfPath
    chosen: SetOfPath

    @property
    def other(self) -> SetOfPath:
        """The set to compare with the smallest one: the chosen set, or the best if they are equal."""
        return self.best if self.chosen.size == self.smallest.size else self.chosen

    @property
    def is_one_set(self) -> bool:
        """Whether the chosen set, the smallest and the best one are the same."""
        return self.other.size == self.smallest.size

    @property
    def sentence(self) -> str:
        """Advice on which of the sets of features to examine, with the reason."""
        # The smallest set is not significantly worse than the best one.
        smallest = self.smallest
        best = self.best
        chosen = self.chosen
        difference = fixed(smallest.value - best.value, sign=True)

        # The advice names the smallest set, unless the chosen set is that small.
        if self.is_one_set:
            text = tr(
                "Look at the chosen set: it has the best {measure} on the path, and no smaller set is as "
                "good."
            )
        elif smallest.size == best.size:
            text = tr(
                "Look at the best set, k = {k}: no smaller set is as good, and the chosen one, k = {chosen}, "
                "is not better."
            )
        elif chosen.size == smallest.size:
            text = tr(
                "Look at the chosen set: its {measure} is not significantly worse than that of the best, "
                "k = {best} ({difference}, p = {p}), so nothing shows that more features help."
            )
        elif chosen.size > smallest.size:
            text = tr(
                "Look at the smallest set, k = {k}: its {measure} is not significantly worse than that of "
                "the best, k = {best} ({difference}, p = {p}), so nothing shows that more features help."
            )
        else:
            text = tr(
                "Look at the larger set, k = {k}: the chosen one, k = {chosen}, has a significantly worse "
                "{measure} than the best, k = {best} (p = {chosen_p})."
            )

        # All texts are filled from the same values; each uses some of them.
        return text.format(
            k=smallest.size,
            measure=self.measure,
            best=best.size,
            chosen=chosen.size,
            difference=difference,
            p=f"{smallest.p:.2g}",
            chosen_p=f"{chosen.p:.2g}",
        )


def smallest_set(plan: Plan, path: PathResult, position: int) -> SmallestSet | None:
    """Return the smallest good set of features of a path.

    A set is good if it is not significantly worse than the best set of
    the path. The result also has the best set and the chosen set, at
    `position`.

    Parameters
    ----------
    plan : Plan
        Plan whose `select_by` selects the models.
    path : PathResult
        Path whose steps have the sets.
    position : int
        Index of the step with the chosen set.

    Returns
    -------
    SmallestSet or None
        None if the models of the path are not tested: without queries
        to validate on, with fewer than `LEAST_PAIRS` of them, or if the
        method's criterion selects.
    """
    # The path lacks the measure that selects: it was measured by another one.
    if plan.select_by not in path.validation:
        return None
    smallest = smallest_position(plan, path)
    best = best_position(plan, path)
    if smallest is None or best is None:
        return None

    # If the best set is as small, it is taken as the smallest one, too.
    if path.sizes[smallest] == path.sizes[best]:
        smallest = best
    values = path.validation[plan.select_by]
    p_values = path.p_values[plan.select_by]

    def set_at(index: int) -> SetOfPath:
        """Return the set of features of the step of a path with an index.

        `path`, `values` (the measure of each step) and `p_values` are
        variables of the enclosing function.
        """
        return SetOfPath(
            position=index,
            x_value=int(path.x_values[index]),
            features=tuple(path.steps[index].selected),
            value=float(values[index]),
            p=float(p_values[index]),
        )

    return SmallestSet(
        measure=plan.select_by,
        smallest=set_at(smallest),
        best=set_at(best),
        chosen=set_at(position),
    )


def has_choice_of_size(plan: Plan, path: PathResult) -> bool:
    """Return whether a number of features can be chosen on a path."""
    return (
        plan.entry.selects
        and len(path.steps) > 1
        and path.step_kind is not StepKind.ITERATIONS
    )


def smallest_set_beside(
    plan: Plan, fold: FoldResult, selected: Sequence[int]
) -> SmallestSet | None:
    """Return the smallest good set of features of the fold's path with a selection.

    A set is good if it is not significantly worse than the best one of
    the path. Of several paths with the selection, that of the selected
    model comes first.

    Parameters
    ----------
    plan : Plan
        Plan whose `select_by` selects the models.
    fold : FoldResult
        Finished fold.
    selected : sequence of int
        0-based columns of the selection, in the order of selection.

    Returns
    -------
    SmallestSet or None
        None also if no path of the fold has the selection, or a number
        of features cannot be chosen on it.
    """
    chosen = fold.chosen.unit.position
    # False comes before True: first the path of the selected model.
    for path in sorted(fold.paths, key=lambda path: path.unit.position != chosen):
        if not has_choice_of_size(plan, path):
            continue
        for position, step in enumerate(path.steps):
            if tuple(step.selected) == tuple(selected):
                return smallest_set(plan, path, position)
    return None
