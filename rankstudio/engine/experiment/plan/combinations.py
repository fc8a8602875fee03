"""What a plan tries: its axes, the combinations on them, and the units of work that a run makes of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankstudio.engine.methods.catalog import Kind, Parameter
from rankstudio.engine.support.frozen_mapping import FrozenMapping


@dataclass(frozen=True)
class Axis:
    """A parameter of which a plan tries every value.

    Attributes
    ----------
    parameter : Parameter
        Whose values are tried.
    values : tuple
        Those of a grid ascending, any others as they were listed.
    ranker : str
        Label of the ranker whose parameter it is; "" for the plan's own method.
    """

    parameter: Parameter
    values: tuple[Any, ...]
    ranker: str = ""

    @property
    def label(self) -> str:
        """Short, for tables and axes: "λ", or "RankRLS λ" where it is the ranker's."""
        return f"{self.ranker} {self.parameter.label}".strip()

    @property
    def name(self) -> str:
        """For columns of files: "regularization", "ranker.regularization"."""
        return f"ranker.{self.parameter.name}" if self.ranker else self.parameter.name

    @property
    def is_grid(self) -> bool:
        """Whether it is one of numbers, between which there are others to ask for."""
        return self.parameter.kind is Kind.GRID

    def allows(self, value: Any) -> bool:
        """Return whether a combination may have a value: one that is listed, or any number on a grid."""
        return isinstance(value, int | float) if self.is_grid else value in self.values

    def format(self, value: Any) -> str:
        """Return a value as a label: "2^3", "squared hinge", "all"."""
        return self.parameter.name_of(value)


def varied_axes(combinations: Sequence[tuple[Any, ...]]) -> tuple[int, ...]:
    """Return the positions of the axes on which combinations differ; the first where they do on none."""
    differing = (
        number for number, values in enumerate(zip(*combinations, strict=True)) if len(set(values)) > 1
    )
    return tuple(differing) or (0,)


@dataclass(frozen=True)
class ParameterCombination:
    """One value of every parameter.

    Attributes
    ----------
    parameters : Mapping
        Of the method.
    ranker : Mapping
        Of the ranker that ranks with the selected features; empty where there is none.
    values : tuple
        The value on each axis of the plan.
    """

    parameters: Mapping[str, Any] = field(default_factory=FrozenMapping)
    ranker: Mapping[str, Any] = field(default_factory=FrozenMapping)
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Unit:
    """One piece of work of a run: one fold with one value of every parameter.

    Attributes
    ----------
    fold : int
        Number of the fold, from 1.
    position : int
        Of the combination among the plan's, from 0.
    combination : ParameterCombination
    """

    fold: int
    position: int
    combination: ParameterCombination

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The combination's parameters of the method."""
        return self.combination.parameters

    @property
    def values(self) -> tuple[Any, ...]:
        """The combination's value on each axis of the plan."""
        return self.combination.values
