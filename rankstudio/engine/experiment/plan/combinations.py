"""The axes of a plan, its combinations of values, and the units of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankstudio.engine.methods.catalog import Kind, Parameter
from rankstudio.engine.support.frozen_mapping import FrozenMapping


@dataclass(frozen=True)
class Axis:
    """A parameter for which a plan has several values.

    Attributes
    ----------
    parameter : Parameter
        The parameter.
    values : tuple
        Values, ascending for a grid, otherwise in the listed order.
    ranker : str
        Label of the ranker with this parameter; "" for the plan's own method.
    """

    parameter: Parameter
    values: tuple[Any, ...]
    ranker: str = ""

    @property
    def label(self) -> str:
        """Short label for tables and axes: "λ", or "RankRLS λ" for the ranker's."""
        return f"{self.ranker} {self.parameter.label}".strip()

    @property
    def name(self) -> str:
        """Name of file columns: "regularization", "ranker.regularization"."""
        return f"ranker.{self.parameter.name}" if self.ranker else self.parameter.name

    @property
    def is_grid(self) -> bool:
        """Whether it is a grid of numbers, so that values in between are possible."""
        return self.parameter.kind is Kind.GRID

    def allows(self, value: Any) -> bool:
        """Return whether a value is allowed: a listed one, or any number for a grid."""
        return isinstance(value, int | float) if self.is_grid else value in self.values

    def format(self, value: Any) -> str:
        """Return a value as a label: "2^3", "squared hinge", "all"."""
        return self.parameter.name_of(value)


def varied_axes(combinations: Sequence[tuple[Any, ...]]) -> tuple[int, ...]:
    """Return the positions of the axes on which combinations of parameters differ.

    An axis is a parameter for which the plan has several values. Each
    combination has one of them for every axis, in the order of the
    axes. If all combinations are equal, the result is the first
    position.
    """
    positions = (
        position
        for position, values in enumerate(zip(*combinations, strict=True))
        if len(set(values)) > 1
    )
    return tuple(positions) or (0,)


@dataclass(frozen=True)
class ParameterCombination:
    """One combination of values: a single value of every parameter of a plan.

    Attributes
    ----------
    parameters : Mapping
        Values of the method's parameters, by name.
    ranker : Mapping
        Values of the final ranker's parameters, by name; empty without
        a final ranker.
    values : tuple
        Values of the parameters for which the plan has several values,
        the axes, in their order.
    """

    parameters: Mapping[str, Any] = field(default_factory=FrozenMapping)
    ranker: Mapping[str, Any] = field(default_factory=FrozenMapping)
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Unit:
    """One unit of work of a run: one fold with one value of every parameter.

    Attributes
    ----------
    fold : int
        Number of the fold, from 1.
    position : int
        Position of the combination among those of the plan, from
        0.
    combination : ParameterCombination
        The value of every parameter.
    """

    fold: int
    position: int
    combination: ParameterCombination

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Parameters of the combination for the method."""
        return self.combination.parameters

    @property
    def values(self) -> tuple[Any, ...]:
        """Value of the combination on each axis of the plan."""
        return self.combination.values
