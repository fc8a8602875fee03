"""Methods as plain values, for studies: enough to show a method's results if its code is absent."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from rankstudio.engine.methods.catalog.method import (
    CandidateScore,
    Criterion,
    Description,
    Method,
    ScoreSource,
    StepKind,
)
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.methods.catalog.registry import refuse_invalid
from rankstudio.engine.plugins.origin import Origin, OriginKind

_TEXTS = ("key", "label", "family", "ranks_with")
_DESCRIPTION_TEXTS = ("citation", "title", "summary", "formula")
_CRITERION_FLAGS = ("per_document", "measured")
_PARAMETER_TEXTS = ("name", "label", "help", "symbol", "source", "option", "none_label")
_PARAMETER_FLAGS = ("open_low", "ranks", "changes_criterion", "basic")
_MAX_PARAMETERS = 200
_MAX_CHOICES = 200
_MAX_LINE_LENGTH = 2000


def description_of(entry: Method) -> dict[str, Any]:
    """Return a method that is not RankStudio's own as plain values, which can be stored in a study.

    With these values, a study can show the method where its package is not installed.
    """
    origin = entry.origin  # the package, file or command with the method
    assert origin is not None
    score = entry.candidate_score
    candidate_score = None
    if score is not None:
        candidate_score = {
            "name": score.name,
            "unit": score.unit,
            "source": score.source.name,
            "least": score.least,
            "from_zero": score.from_zero,
        }
    # The estimator, which is code, is left out. No name occurs twice,
    # so the order of merging does not matter.
    return {
        **{name: getattr(entry, name) for name in ("key", "label", "family")},
        **{
            name: getattr(entry.description, name)
            for name in ("citation", "title", "summary")
        },
        "criterion": entry.criterion.name,
        "formula": entry.description.formula,
        "ranks_with": entry.ranks_with,
        **{name: getattr(entry.criterion, name) for name in _CRITERION_FLAGS},
        "drops_features": entry.drops_features,
        "step_kind": entry.step_kind.value,
        "takes": list(entry.takes),
        "candidate_score": candidate_score,
        "origin": {
            "kind": origin.kind.value,
            "name": origin.name,
            "version": origin.version_or_checksum,
        },
        "parameters": [_parameter_values(p) for p in entry.parameters],
    }


def described_method(values: Mapping[str, Any]) -> Method:
    """Return the method that plain values from a study describe; it has no estimator, so it cannot run.

    Raises
    ------
    ValueError, KeyError, TypeError, PlanError, ParameterError
        If the values do not describe a method.
    """
    # The values come from a file, so each one is checked before it is used.
    texts: dict[str, Any] = {name: _checked_line(values[name]) for name in _TEXTS}
    description = {name: _checked_line(values[name]) for name in _DESCRIPTION_TEXTS}
    criterion_flags = {name: _checked_flag(values[name]) for name in _CRITERION_FLAGS}
    parameters = values["parameters"]
    if type(parameters) is not list or len(parameters) > _MAX_PARAMETERS:
        raise ValueError("expected a list of parameters")
    origin = values["origin"]
    kind = OriginKind(origin["kind"])
    # A method without an estimator, marked as not present: it can be
    # shown, but not run.
    entry = Method(
        **texts,
        description=Description(**description),
        criterion=Criterion(_checked_line(values["criterion"]), **criterion_flags),
        traits=("drops_features",) if _checked_flag(values["drops_features"]) else (),
        estimator="",
        step_kind=StepKind(values["step_kind"]),
        takes=tuple(
            name for name in values["takes"] if name in ("convention", "seed", "groups")
        ),
        candidate_score=_parsed_score(values["candidate_score"]),
        origin=Origin(
            kind=kind,
            name=_checked_line(origin["name"]),
            version_or_checksum=_checked_line(origin["version"]),
            present=False,
        ),
        parameters=tuple(map(_parsed_parameter, parameters)),
    )
    # The rules for methods of plug-ins hold here, too.
    refuse_invalid(entry)
    return entry


def _parameter_values(p: Parameter) -> dict[str, Any]:
    """Return a parameter as plain values, which can be stored; an infinite bound is None."""
    # "summed" is only written where it is set, so that the records of
    # methods without it are the same as those of earlier versions. No
    # name occurs twice, so the order of merging does not matter.
    return {
        **{name: getattr(p, name) for name in (*_PARAMETER_TEXTS, *_PARAMETER_FLAGS)},
        "kind": p.kind.value,
        **({"summed": True} if p.summed else {}),
        "default": _as_lists(p.default),
        "low": None if p.low == -inf else p.low,
        "high": None if p.high == inf else p.high,
        "choices": [list(choice) for choice in p.choices],
        "only_with": [p.only_with[0], _as_lists(p.only_with[1])] if p.only_with else [],
    }


def _parsed_parameter(values: Mapping[str, Any]) -> Parameter:
    """Return the parameter that plain values from a file describe.

    Raises a ValueError, KeyError or TypeError if the values do not
    describe a parameter.
    """
    texts: dict[str, Any] = {
        name: _checked_line(values[name]) for name in _PARAMETER_TEXTS
    }
    flags: dict[str, Any] = {
        name: _checked_flag(values[name])
        for name in ("open_low", "ranks", "changes_criterion", "basic")
    }
    choices = values["choices"]
    if type(choices) is not list or len(choices) > _MAX_CHOICES:
        raise ValueError("expected a list of choices")
    # Name and values of another parameter, with which alone this one
    # has an effect; empty if it always has.
    only_with = values["only_with"]
    # A missing bound is None, because JSON has no infinity.
    return Parameter(
        **texts,
        **flags,
        summed=_checked_flag(values.get("summed", False)),
        kind=Kind(values["kind"]),
        default=_as_tuples(values["default"]),
        low=-inf if values["low"] is None else float(values["low"]),
        high=inf if values["high"] is None else float(values["high"]),
        choices=tuple(
            (_checked_line(key), _checked_line(label)) for key, label in choices
        ),
        only_with=(_checked_line(only_with[0]), _as_tuples(only_with[1]))
        if only_with
        else (),
    )


def _parsed_score(values: Any) -> CandidateScore | None:
    """Return the score by which a method compares candidates, from plain values of a file; None for None.

    Raises a ValueError, KeyError or TypeError if the values do not
    describe a score.
    """
    if values is None:
        return None
    source = ScoreSource[values["source"]]
    flags: dict[str, Any] = {
        name: _checked_flag(values[name]) for name in ("least", "from_zero")
    }
    return CandidateScore(
        _checked_line(values["name"]), _checked_line(values["unit"]), source, **flags
    )


def _checked_line(value: Any) -> str:
    """Return a value from a file; ValueError unless it is a printable text of limited length."""
    if (
        type(value) is not str
        or len(value) > _MAX_LINE_LENGTH
        or not value.isprintable()
    ):
        raise ValueError("expected a line")
    return value


def _checked_flag(value: Any) -> bool:
    """Return a value from a file; ValueError unless it is True or False."""
    if type(value) is not bool:
        raise ValueError("expected true or false")
    return value


def _as_lists(value: Any) -> Any:
    return [_as_lists(item) for item in value] if isinstance(value, tuple) else value


def _as_tuples(value: Any) -> Any:
    """Return a value from a file with tuples in place of lists; ValueError for objects."""
    if isinstance(value, list):
        return tuple(_as_tuples(item) for item in value)
    if value is not None and type(value) not in (bool, int, float, str):
        raise ValueError("expected a plain value")
    return value
