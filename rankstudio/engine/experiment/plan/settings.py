"""What a plan tries: its axes, the settings on them, and the units of work that a run makes of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from rankstudio.engine.methods.catalog import Kind, Parameter


@dataclass(frozen=True)
class Axis:
    """A parameter of which a plan tries every value.

    Attributes
    ----------
    parameter : Parameter
        Whose values are tried.
    values : tuple
        Those of a grid ascending, any others as they were listed.
    judge : str
        Label of the ranker whose parameter it is; "" for the plan's own method.
    """

    parameter: Parameter
    values: tuple[Any, ...]
    judge: str = ""

    @property
    def label(self) -> str:
        """Short, for tables and axes: "λ", or "RankRLS λ" where it is the judge's."""
        return f"{self.judge} {self.parameter.label}".strip()

    @property
    def name(self) -> str:
        """For columns of files: "regularization", "judge.regularization"."""
        return f"judge.{self.parameter.name}" if self.judge else self.parameter.name

    @property
    def is_grid(self) -> bool:
        """Whether it is one of numbers, between which there are others to ask for."""
        return self.parameter.kind is Kind.GRID

    def takes(self, value: Any) -> bool:
        """Tell whether a setting can have a value: one that is listed, or any number on a grid."""
        return isinstance(value, int | float) if self.is_grid else value in self.values

    def format(self, value: Any) -> str:
        """Return a value as a label: "2^3", "squared hinge", "all"."""
        return self.parameter.name_of(value)


@dataclass(frozen=True)
class Setting:
    """One value of every parameter.

    Attributes
    ----------
    parameters : Mapping
        Of the method.
    judge : Mapping
        Of the ranker that ranks with the selected features; empty where there is none.
    values : tuple
        The value on each axis of the plan.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    judge: Mapping[str, Any] = field(default_factory=dict)
    values: tuple[Any, ...] = ()

    def __reduce__(self) -> tuple[object, ...]:
        return _thaw_setting, (dict(self.parameters), dict(self.judge), self.values)


def _thaw_setting(parameters: dict[str, Any], judge: dict[str, Any], values: tuple[Any, ...]) -> Setting:
    return Setting(MappingProxyType(parameters), MappingProxyType(judge), values)


@dataclass(frozen=True)
class Unit:
    """One piece of work of a run: one fold with one value of every parameter.

    Attributes
    ----------
    fold : int
        Number of the fold, from 1.
    position : int
        Of the setting among the plan's, from 0.
    setting : Setting
    """

    fold: int
    position: int
    setting: Setting

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The setting's parameters of the method."""
        return self.setting.parameters

    @property
    def values(self) -> tuple[Any, ...]:
        """The setting's value on each axis of the plan."""
        return self.setting.values
