"""Effect of one feature more or less on the left-out error of a set, in numbers and in sentences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankstudio.engine.support.number_format import signed
from rankstudio.ui.language import tr
from rankstudio.ui.plots.readout import Line

if TYPE_CHECKING:
    from rankstudio.plugins.evidence.set_changes import SetChanges

NEGLIGIBLE = 5e-6
"""Relative difference up to which two errors count as equal."""
_MAX_SWAPS = 8  # swaps in a readout, the best ones


@dataclass(frozen=True)
class FeatureChange:
    """Change of the error of a set by adding, removing or exchanging one feature.

    Attributes
    ----------
    column : int
        Column of the feature.
    inside : bool
        Whether the feature is in the set.
    alone : float
        Relative change of the error with the feature removed from the
        set, or added to it.
    swaps : tuple of (int, float)
        Columns of the members that the feature can replace, or of the
        features that can replace it, with the relative change of the
        error; the smallest error first.
    """

    column: int
    inside: bool
    alone: float
    swaps: tuple[tuple[int, float], ...]

    @classmethod
    def of(cls, changes: SetChanges, column: int) -> FeatureChange:
        """Return the changes of a set's error by one feature, from the changes by all features.

        ``column`` is that of the feature. A feature of the set can be
        removed, or replaced by each other feature. A feature outside
        the set can be added, or replace each feature of the set.
        """
        inside = column in changes.features
        if inside:
            position = changes.features.index(column)
            changed_error = float(changes.without[position])
            errors = changes.swapped[position]
            columns = tuple(range(errors.size))
        else:
            changed_error = float(changes.added[column])
            errors = changes.swapped[:, column]
            columns = changes.features

        # the lowest error first; NaN stands for impossible swaps
        order = [
            index
            for index in np.argsort(errors, kind="stable").tolist()
            if not np.isnan(errors[index])
        ]
        swaps = tuple(
            (int(columns[index]), changes.relative(errors[index])) for index in order
        )
        return cls(column, inside, changes.relative(changed_error), swaps)

    def sentence(self, called: Callable[[int], str]) -> str:
        """Return the change in words; ``called`` returns the name of a column."""
        feature = called(self.column)
        change = signed_percent(self.alone)  # without a swap

        # For a feature outside the set, the swaps have the features of
        # the set that it may replace, else the features that may
        # replace it.
        if not self.inside:
            swaps = ", ".join(
                f"{called(member)} {signed_percent(share)}"
                for member, share in self.swaps
            )
            return tr(
                "Adding {feature} changes the error by {change}; as a replacement: {swaps}."
            ).format(feature=feature, change=change, swaps=swaps)
        if not self.swaps:
            return tr("Without {feature} the error changes by {change}.").format(
                feature=feature, change=change
            )
        best_column, best_share = self.swaps[0]
        swapped = signed_percent(best_share)
        return tr(
            "Without {feature} the error changes by {change}, with {other} in its place by {swapped}."
        ).format(
            feature=feature, change=change, other=called(best_column), swapped=swapped
        )

    def lines(self, called: Callable[[int], str]) -> list[Line]:
        """Return the change of the error and the best swaps as lines of a plot's readout.

        ``called`` returns the name of a column.
        """
        first = (
            tr("left-out error without it")
            if self.inside
            else tr("left-out error if added")
        )
        text = (
            tr("{feature} in its place") if self.inside else tr("replacing {feature}")
        )
        return [
            Line(first, signed_percent(self.alone)),
            *(
                Line(text.format(feature=called(column)), signed_percent(share))
                for column, share in self.swaps[:_MAX_SWAPS]
            ),
        ]


def signed_percent(share: float) -> str:
    """Return a change in percent with its sign: "+1.30 %", "−0.21 %", "±0 %"."""
    if abs(share) < NEGLIGIBLE:
        return "±0 %"
    return f"{signed(100 * share)} %"
