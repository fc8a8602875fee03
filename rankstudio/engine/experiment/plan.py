"""A plan: everything that determines the numbers of a run, as one frozen value."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from rankstudio.engine.catalog import Kind, Method, Parameter, method, methods
from rankstudio.engine.catalog.method import Along
from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.experiment.protocol import BEST, GIVEN, parse_protocol, parse_rule
from rankstudio.engine.files import write_text
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import measure

Missing = Literal["query_min", "zero", "refuse"]
Normalize = Literal["none", "query_minmax"]
MISSING: tuple[str, ...] = get_args(Missing)
NORMALIZE: tuple[str, ...] = get_args(Normalize)

SAMPLE = "sample"
"""The name under which a plan asks for the bundled sample instead of a file."""

CRITERION = "criterion"
"""Choosing by the method's own criterion, for data without a validation part."""


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


@dataclass(frozen=True)
class Plan:
    """What to run: data, method, grid and protocol.

    Attributes
    ----------
    data : str
        A LETOR file or a folder of folds, or ``"sample"``.
    method : str
        Key in the catalog.
    parameters : Mapping
        By name; grids are tuples of numbers, features are 1-based ids. What is left out has its default. Any
        parameter may have several values, as a list: every combination is a setting that is tried.
    select_by : str
        The validation measure that chooses the setting and the number of features, or ``"criterion"``.
        Ties go to the earlier setting (the smaller λ, the value listed first), then to the smaller number of
        features.
    measures : tuple of str
        What is reported.
    convention : str
        Which convention the measures follow.
    folds : tuple of int
        Numbers of the folds to run; empty for all.
    missing : str
        What becomes of missing values: "query_min", "zero" or "refuse".
    normalize : str
        "none", or "query_minmax" for scaling each feature to [0, 1] within each query.
    seed : int
        For methods that draw random numbers, and for dealing queries to folds.
    judge : str
        Key of a ranker that ranks with the features that the method selects, for every number of them; ""
        for the method's own model.
    judge_parameters : Mapping
        Of that ranker, as ``parameters``.
    protocol : str
        How the folds come about: "given" as the files have them, "10-fold", "leave-query-out", "split
        60/20/20" (percent of train, vali and test) or "nested 20" (where a fold has no validation part,
        percent of its training queries), or with an inner cross-validation, "5-fold, nested 4-fold"; see
        `rankstudio.engine.experiment.protocol`.
    rule : str
        Which model is chosen: "best", "one-se" for the smallest one on the best one's path that is within a
        standard error of it, or "at most 10" for the best with so few features.
    """

    data: str
    method: str = "greedy-rankrls"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    select_by: str = "MAP"
    measures: tuple[str, ...] = ("MAP", "P@10", "MeanNDCG", "NDCG@10")
    convention: str = "letor4"
    folds: tuple[int, ...] = ()
    missing: Missing = "query_min"
    normalize: Normalize = "none"
    seed: int = 0
    judge: str = ""
    judge_parameters: Mapping[str, Any] = field(default_factory=dict)
    protocol: str = GIVEN
    rule: str = BEST

    def __post_init__(self) -> None:
        _check_kinds(self)
        complete = self.entry.validate(self.parameters)
        object.__setattr__(self, "parameters", MappingProxyType(complete))
        judge = _check_judge(self)
        complete = judge.validate(self.judge_parameters) if judge else {}
        object.__setattr__(self, "judge_parameters", MappingProxyType(complete))
        object.__setattr__(self, "measures", tuple(dict.fromkeys(measure(m).name for m in self.measures)))
        object.__setattr__(self, "folds", tuple(dict.fromkeys(self.folds)))
        convention(self.convention)
        if self.select_by != CRITERION:
            object.__setattr__(self, "select_by", measure(self.select_by).name)
        object.__setattr__(self, "protocol", str(parse_protocol(self.protocol)))
        object.__setattr__(self, "rule", str(parse_rule(self.rule)))
        for name, known in (("missing", MISSING), ("normalize", NORMALIZE)):
            value = getattr(self, name)
            _check(name, value, f"one of {', '.join(known)}", value in known)

    @property
    def entry(self) -> Method:
        """The method's entry in the catalog."""
        return method(self.method)

    @property
    def judge_entry(self) -> Method | None:
        """The judge's entry in the catalog; None where there is no judge."""
        return method(self.judge) if self.judge else None

    @property
    def title(self) -> str:
        """What is run, in words: "GAS, then RankSVM"."""
        judge = self.judge_entry
        return f"{self.entry.label}, then {judge.label}" if judge else self.entry.label

    @property
    def along(self) -> Along:
        """What the steps of a path are."""
        return Along.FEATURES if self.judge else self.entry.along

    @property
    def live(self) -> bool:
        """Whether a path is computed fast enough to follow a slider."""
        judge = self.judge_entry
        return self.entry.live and (judge is None or judge.live)

    @property
    def inner(self) -> int:
        """How many inner folds of each training part choose the model; 0 where a validation part does."""
        return parse_protocol(self.protocol).inner

    @property
    def criterion(self) -> str:
        """What the criterion of a step is, as an axis title."""
        return (self.judge_entry or self.entry).criterion

    @property
    def evaluated(self) -> tuple[str, ...]:
        """The measures to compute: those reported, and the one that chooses."""
        extra = () if self.select_by in (CRITERION, *self.measures) else (self.select_by,)
        return self.measures + extra

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The grids and all else that has several values, as in the form: the method's, then the judge's.

        Where a judge ranks, what concerns only the method's own model is not asked for.
        """
        judge = self.judge_entry
        own = [p for p in self.entry.parameters if not (judge and p.ranks)]
        axes = [Axis(p, p.values(v)) for p in own if p.several(v := self.parameters[p.name])]
        if judge:
            given = [(p, self.judge_parameters[p.name]) for p in judge.parameters]
            axes += [Axis(p, p.values(v), judge.label) for p, v in given if p.several(v)]
        return tuple(axes)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Every combination of the axes' values, one for each parameter; the last axis runs fastest."""
        return tuple(self.setting(values) for values in product(*(axis.values for axis in self.axes)))

    def setting(self, values: tuple[Any, ...]) -> Setting:
        """Return the setting with these values on the axes, whether or not they are on the grids."""
        first = {p.name: p.values(self.parameters[p.name])[0] for p in self.entry.parameters}
        on_axes = list(zip(self.axes, values, strict=True))
        own = {axis.parameter.name: value for axis, value in on_axes if not axis.judge}
        judge = {axis.parameter.name: value for axis, value in on_axes if axis.judge}
        return Setting(
            MappingProxyType({**first, **own}),
            MappingProxyType({**self.judge_parameters, **judge}),
            values,
        )

    def changed(self, **changes: Any) -> Plan:
        """Return a copy with some attributes replaced."""
        return replace(self, **changes)

    def __reduce__(self) -> tuple[object, ...]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["parameters"] = dict(self.parameters)
        values["judge_parameters"] = dict(self.judge_parameters)
        return _rebuild, (values,)


def _rebuild(values: dict[str, Any]) -> Plan:
    return Plan(**values)


def _check_kinds(plan: Plan) -> None:
    """Refuse what is not even of the right kind: a person may have written the plan."""
    for name in ("data", "method", "select_by", "convention", "judge", "protocol", "rule"):
        value = getattr(plan, name)
        _check(name, value, "a text", isinstance(value, str))
    for name in ("parameters", "judge_parameters"):
        value = getattr(plan, name)
        _check(name, value, "a table", isinstance(value, Mapping))
    several = isinstance(plan.measures, tuple | list) and len(plan.measures) > 0
    _check("measures", plan.measures, "a list of names such as MAP, NDCG@10", several)
    numbers = isinstance(plan.folds, tuple | list) and all(_whole(f) and f >= 1 for f in plan.folds)
    _check("folds", plan.folds, "a list of numbers from 1 up", numbers)
    _check("seed", plan.seed, "a whole number from 0 up", _whole(plan.seed) and plan.seed >= 0)


def _check_judge(plan: Plan) -> Method | None:
    """Return the judge's entry; PlanError where it is no ranker, or has nothing to judge."""
    judge = plan.judge_entry
    if judge is None:
        given = dict(plan.judge_parameters)
        _check("judge_parameters", given, "none without a judge", not given)
        return None
    rankers = ", ".join(entry.key for entry in methods() if not entry.selects)
    _check("judge", plan.judge, f"a ranker, one of {rankers}", not judge.selects)
    _check("judge", plan.judge, f"none, as {plan.entry.label} selects no features", plan.entry.selects)
    return judge


def _check(name: str, value: object, expected: str, met: bool) -> None:
    if not met:
        raise PlanError(f"{name}: expected {expected}, got {value!r}.")


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def plan_as_dict(plan: Plan) -> dict[str, Any]:
    """Return the plan as plain lists, strings and numbers, for TOML and JSON; None is left out."""
    values: dict[str, Any] = {}
    for f in fields(plan):
        value = getattr(plan, f.name)
        values[f.name] = list(value) if isinstance(value, tuple) else value
    # TOML wants the tables after the plain values.
    for table, entry in (("parameters", plan.entry), ("judge_parameters", plan.judge_entry)):
        given = values.pop(table)
        if entry:
            said = [p for p in entry.parameters if given[p.name] is not None]
            values[table] = {p.name: _plain(p, given[p.name]) for p in said}
    if not plan.judge:
        del values["judge"]
    return values


def _plain(parameter: Parameter, value: Any) -> Any:
    """Return tuples as lists, and a number that is left out, as one of several values, as its name."""
    named = {None: parameter.none_label} if parameter.none_label else {}
    return _listed(tuple(named.get(v, v) for v in value)) if parameter.several(value) else _listed(value)


def _listed(value: Any) -> Any:
    """Return tuples, and tuples in them, as lists."""
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


def plan_from_dict(values: Mapping[str, Any]) -> Plan:
    """Make a plan from what :func:`plan_as_dict` gave, or from a file that a person wrote.

    Raises
    ------
    PlanError, ParameterError
        For an unknown field or a value outside its range.
    """
    known = {f.name for f in fields(Plan)}
    for name in values:
        if name not in known:
            raise PlanError(f"A plan has no field {name!r}; it has {', '.join(sorted(known))}.")
    if "data" not in values:
        raise PlanError('The plan does not say which data to run on: it needs a line like data = "MQ2008".')
    return _rebuild({k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})


def save_plan(plan: Plan, path: str | Path) -> None:
    """Write the plan as TOML.

    Raises
    ------
    OutputError
        Where the file cannot be written.
    """
    import tomli_w  # noqa: PLC0415 - only here, and the window starts without it

    write_text(path, tomli_w.dumps(plan_as_dict(plan)))


def load_plan(path: str | Path) -> Plan:
    """Read a plan from TOML.

    Raises
    ------
    PlanError
        Where the file cannot be read or is not a plan; the text names the file.
    """
    path = Path(path)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlanError(f"{path}: the plan cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: this is not a plan in TOML: {error}.") from error
    try:
        return plan_from_dict(values)
    except (PlanError, ParameterError) as error:
        raise PlanError(f"{path}: {error}") from error


def with_data_beside(plan: Plan, path: str | Path) -> Plan:
    """Take a relative path of data from the folder of the plan's file, where something is there."""
    beside = (Path(path).parent / plan.data).absolute()
    return plan.changed(data=str(beside)) if plan.data != SAMPLE and beside.exists() else plan
