"""Models of one step as curves over the values of a grid: a ranker with all features has no path of sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankstudio.engine.experiment.plan.combinations import Axis, varied_axes
from rankstudio.ui.style.number_format import combination_label


@dataclass(frozen=True)
class OverGrid:
    """Where each combination is on curves over one of its axes.

    Attributes
    ----------
    axis : Axis
        What the curves are drawn over.
    number : int
        Of that axis among the plan's.
    xs : tuple of float
        The value on it, by combination.
    curves : tuple of int
        The curve, by combination.
    labels : tuple of str
        What each curve is called: the values on the other axes.
    """

    axis: Axis
    number: int
    xs: tuple[float, ...]
    curves: tuple[int, ...]
    labels: tuple[str, ...]

    def of_curve(self, curve: int) -> list[int]:
        """Return the combinations on a curve, by ascending value."""
        found = [combination for combination, of in enumerate(self.curves) if of == curve]
        return sorted(found, key=lambda combination: self.xs[combination])

    def combination(self, curve: int, x: float) -> int:
        """Return the combination at a point of a curve."""
        return min(self.of_curve(curve), key=lambda combination: abs(self.xs[combination] - x))


def over_grid(axes: Sequence[Axis], combinations: Sequence[tuple[Any, ...]]) -> OverGrid | None:
    """Return curves over the first grid of which several values were tried; None without such a grid."""
    if len(combinations) < 2:
        return None
    varied = varied_axes(combinations)
    number = next((at for at in varied if axes[at].is_grid), None)
    if number is None:
        return None
    others = [at for at in varied if at != number]
    keys = [tuple(values[at] for at in others) for values in combinations]
    distinct = list(dict.fromkeys(keys))
    return OverGrid(
        axes[number],
        number,
        tuple(float(values[number]) for values in combinations),
        tuple(distinct.index(key) for key in keys),
        tuple(combination_label([axes[at] for at in others], key) for key in distinct),
    )
