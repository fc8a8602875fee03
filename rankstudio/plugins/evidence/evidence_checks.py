"""Checks of stored evidence: values have their types, columns exist, and sizes agree.

Evidence of a study may be another person's file. A wrong type or size would fail far from here, in a page
or a figure, or be shown as though it were a result.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import Measure, measure
from rankstudio.plugins.evidence.best_subset import SizedSubset
from rankstudio.plugins.evidence.decided_step import DecidedStep
from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
from rankstudio.plugins.evidence.feature_losses import FeatureLosses
from rankstudio.plugins.evidence.model_importance import MeasuredImportance
from rankstudio.plugins.evidence.near_best_sets import NearBestSet, SizedNearBestSets
from rankstudio.plugins.evidence.permutation_importance import PermutationImportance
from rankstudio.plugins.evidence.repeated_left_out import RepeatedLeftOut
from rankstudio.plugins.evidence.set_changes import SetChanges
from rankstudio.plugins.evidence.shapley_shares import ShapleyShares
from rankstudio.plugins.evidence.stability_selection import StabilitySelection
from rankstudio.plugins.evidence.step_significance import StepSignificance
from rankstudio.plugins.evidence.verdicts import Exchange, SetDifference

_MOST = 1 << 31  # of what is counted
_DTYPES = {np.dtype(np.float64): "f", np.dtype(np.int64): "i"}


def check_evidence(value: Any, n_features: int | None) -> None:
    """Raise ValueError if evidence, or a part of it, is invalid.

    Parameters
    ----------
    value : dataclass
        With its parts, which are checked before it.
    n_features : int or None
        How many columns the data have; None where that is not known, and only what evidence says of itself is
        held against each other.
    """
    for name, kind in _types(type(value)).items():
        _check_type(getattr(value, name), kind, name)
    for part in _parts(vars_of(value).values()):
        check_evidence(part, n_features)
    rule = _RULES.get(type(value))
    if rule is not None:
        rule(value, n_features)


def vars_of(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


_TYPES: dict[type, dict[str, Any]] = {}


def _types(kind: type[Any]) -> dict[str, Any]:
    """Return the types of the fields of a dataclass, by name."""
    if kind not in _TYPES:
        hints = get_type_hints(kind)
        _TYPES[kind] = {field.name: hints[field.name] for field in fields(kind)}
    return _TYPES[kind]


def _parts(values: Iterable[Any]) -> Iterable[Any]:
    """Yield the dataclasses in values, but not those in them; a measure is found by its name, and sound."""
    for value in values:
        if is_dataclass(value) and not isinstance(value, Measure):
            yield value
        elif isinstance(value, tuple):
            yield from _parts(value)
        elif isinstance(value, Mapping):
            yield from _parts(value.values())


def _check_type(value: Any, kind: Any, name: str) -> None:
    origin = get_origin(kind)
    arguments = get_args(kind)
    if origin in (Union, types.UnionType):
        matching = [
            alternative for alternative in arguments if (value is None) == (alternative is type(None))
        ]
        _require(bool(matching), name)
        if value is not None:
            _check_type(value, matching[0], name)
    elif origin is np.ndarray:
        dtype = np.dtype(get_args(arguments[1])[0])
        letter = _DTYPES.get(dtype)
        _require(isinstance(value, np.ndarray) and (value.dtype.kind == letter or value.dtype == dtype), name)
    elif origin is tuple:
        _require(isinstance(value, tuple), name)
        kinds = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
        for member, expected in zip(value, kinds, strict=True):
            _check_type(member, expected, name)
    elif origin is not None and issubclass(origin, Mapping):
        _require(isinstance(value, Mapping), name)
        for key, member in value.items():
            _check_type(key, arguments[0], name)
            _check_type(member, arguments[1], name)
    elif kind is float:
        _require(type(value) in (int, float), name)
    elif kind is int:
        _require(type(value) is int and abs(value) < 1 << 63, name)
    else:
        _require(isinstance(value, kind), name)


def _require(is_so: bool, what: str) -> None:
    if not is_so:
        raise ValueError(f"unexpected value of {what}")


def _check_columns(columns: Iterable[int], n: int | None, what: str) -> None:
    """Require different columns, each one that there is."""
    all_columns = list(columns)
    _require(len(set(all_columns)) == len(all_columns), what)
    _require(all(0 <= column < (_MOST if n is None else n) for column in all_columns), what)


def _check_shape(array: np.ndarray[Any, Any], shape: tuple[int | None, ...], what: str) -> None:
    """Require as many axes, of the same lengths where these are known."""
    _require(array.ndim == len(shape), what)
    _require(all(n in (None, size) for n, size in zip(shape, array.shape, strict=True)), what)


def _check_range(array: Any, least: float, most: float, what: str) -> None:
    """Require numbers in a range; unknown ones are NaN, and pass."""
    values = np.asarray(array, dtype=np.float64)
    numbers = values[~np.isnan(values)]
    _require(not numbers.size or bool(numbers.min() >= least and numbers.max() <= most), what)


def _selection(found: SelectionEvidence, n: int | None) -> None:
    k = len(found.selected)
    _check_columns(found.selected, n, "selected")
    _check_columns(found.candidates, n, "candidates")
    _check_columns([column for group in found.groups for column in group], n, "groups")
    _check_columns(found.required, n, "required")
    _check_range(found.n_queries, 0, _MOST, "n_queries")
    _require(all(map(len, found.groups)), "groups")
    _require(len(set(found.done)) == len(found.done), "done")
    for part, name in ((found.losses, "losses"), (found.changes, "changes"), (found.shares, "shares")):
        _require(part is None or len(part.features) == k, name)
    _require(found.deciding is None or len(found.deciding) == k, "deciding")
    widths = [sets.inclusion.size for sets in found.near_best or ()]
    widths += [] if found.changes is None else [found.changes.added.size]
    widths += [] if found.stability is None else [found.stability.counts.shape[1]]
    _require(len(set(widths)) <= 1, "columns")
    for column in found.exchanges or ():
        _check_columns([column], n, "exchanges")
    for columns in (found.smaller, found.tied):
        _check_columns(columns or (), n, "columns")
    _check_columns(set((found.tied or {}).values()), n, "tied")
    for step in found.deciding or ():
        _require(all(0 <= query < found.n_queries for query in step.queries), "deciding")


def _step(found: DecidedStep, n: int | None) -> None:
    _check_columns([found.feature], n, "feature")
    _check_columns([] if found.instead is None else [found.instead], n, "instead")
    _require(len(set(found.queries)) == len(found.queries), "queries")


def _sized(found: SizedSubset, n: int | None) -> None:
    _check_columns(found.features, n, "features")
    _check_range([found.size, found.n_sets, found.n_evaluated, found.seconds], 0, np.inf, "numbers of sets")
    _check_range(found.share, 0, 1, "share")


def _near_best(found: SizedNearBestSets, n: int | None) -> None:
    _check_shape(found.inclusion, (n,), "inclusion")
    _check_range(found.inclusion, 0, 1, "inclusion")
    _check_range(found.n_evaluated, 0, np.inf, "n_evaluated")
    _require(bool(found.sets), "sets")


def _losses(found: FeatureLosses, n: int | None) -> None:
    _check_columns(found.features, n, "features")
    if found.measure:
        measure(found.measure)
    _check_shape(found.whole, (None,), "whole")
    _check_shape(found.without, (len(found.features), found.whole.size), "without")


def _changes(found: SetChanges, n: int | None) -> None:
    k = len(found.features)
    _check_columns(found.features, n, "features")
    _check_shape(found.added, (n,), "added")
    _check_shape(found.without, (k,), "without")
    _check_shape(found.swapped, (k, found.added.size), "swapped")


def _shares(found: ShapleyShares, n: int | None) -> None:
    _check_columns(found.features, n, "features")
    for part in (found.values, found.in_order):
        _check_shape(part, (len(found.features),), "values")


def _stability(found: StabilitySelection, n: int | None) -> None:
    _check_shape(found.counts, (None, n), "counts")
    _check_shape(found.places, (None, found.counts.shape[1]), "places")
    _check_range(found.counts, 0, found.places.shape[0], "counts")
    _check_range(found.places, 0, found.counts.shape[1], "places")
    _check_range(found.n_candidates, 0, found.counts.shape[1], "n_candidates")


def _significance(found: StepSignificance, n: int | None) -> None:
    k = len(found.selected)
    _check_columns(found.selected, n, "selected")
    _check_shape(found.drops, (k,), "drops")
    _check_shape(found.permuted, (None, k), "permuted")


def _repeated(found: RepeatedLeftOut, n: int | None) -> None:
    _check_shape(found.empty, (None,), "empty")
    _check_shape(found.usual, (found.empty.size, None), "usual")
    _check_shape(found.repeated, found.usual.shape, "repeated")
    _require(len(found.selected) == found.empty.size, "selected")
    for columns in found.selected:
        _check_columns(columns, n, "selected")


def _permutation(found: PermutationImportance, n: int | None) -> None:
    _check_columns([column for group in found.groups for column in group], n, "groups")
    _require(all(map(len, found.groups)), "groups")
    _check_shape(found.baseline, (None,), "baseline")
    _check_shape(found.loss, (len(found.groups), found.baseline.size), "loss")
    _require(0 < found.level < 1, "level")


def _importance(found: MeasuredImportance, n: int | None) -> None:
    _require(found.part in ("validation", "training"), "part")
    _check_range(found.n_features, 0, _MOST if n is None else n, "n_features")
    convention(found.convention)


def _columns(found: SetDifference | NearBestSet, n: int | None) -> None:
    _check_columns(found.features, n, "features")


def _exchange(found: Exchange, n: int | None) -> None:
    _check_columns([found.column], n, "column")


_RULES: Mapping[type[Any], Callable[[Any, int | None], None]] = {
    SelectionEvidence: _selection,
    DecidedStep: _step,
    SizedSubset: _sized,
    SizedNearBestSets: _near_best,
    NearBestSet: _columns,
    SetDifference: _columns,
    Exchange: _exchange,
    FeatureLosses: _losses,
    SetChanges: _changes,
    ShapleyShares: _shares,
    StabilitySelection: _stability,
    StepSignificance: _significance,
    RepeatedLeftOut: _repeated,
    PermutationImportance: _permutation,
    MeasuredImportance: _importance,
}
