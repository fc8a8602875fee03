"""What stands around the curves: what their axis is, which is which, what a click does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankstudio.engine.experiment.plan.combinations import Axis, varied_axes
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import axis_value

BELOW = {
    StepKind.FEATURES: tr("features selected, k"),
    StepKind.ITERATIONS: tr("iteration"),
    StepKind.ROUNDS: tr("round"),
}
"""What the axis of the curves is."""

X_NAMES = {StepKind.FEATURES: "k", StepKind.ITERATIONS: tr("iteration"), StepKind.ROUNDS: tr("round")}
"""What steps are called before their number."""

ACT = {
    StepKind.FEATURES: tr("click a curve to choose k"),
    StepKind.ITERATIONS: tr("the last iteration is the model"),
    StepKind.ROUNDS: tr("click a curve to choose a round"),
}
"""What a click on a curve does."""


def which_curve(axes: Sequence[Axis], combinations: Sequence[tuple[Any, ...]]) -> str:
    """Return which curve is which; "" for a single one."""
    if len(combinations) < 2:
        return ""
    varied = varied_axes(combinations)
    if len(varied) > 1:
        return tr("one curve per combination, the first dark … the last bright")
    axis = axes[varied[0]]
    first, last = (axis_value(axis, combinations[place][varied[0]]) for place in (0, -1))
    return tr("one curve per {label}, {first} dark … {last} bright").format(
        label=tr(axis.label), first=first, last=last
    )
