"""Checks of stored evidence: values have their types, columns exist, and sizes agree.

Evidence of a study may be another person's file. A wrong type or size
would fail far from here, in a page or a figure, or be shown as though
it were a result.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import Measure, measure
from rankstudio.plugins.evidence.best_subset import SizedSubset
from rankstudio.plugins.evidence.decided_step import DecidedStep
from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
from rankstudio.plugins.evidence.feature_losses import FeatureLosses
from rankstudio.plugins.evidence.model_importance import MeasuredImportance
from rankstudio.plugins.evidence.model_validity import MeasuredValidity
from rankstudio.plugins.evidence.near_best_sets import NearBestSet, SizedNearBestSets
from rankstudio.plugins.evidence.permutation_importance import PermutationImportance
from rankstudio.plugins.evidence.ranking_validity import RankingValidity
from rankstudio.plugins.evidence.repeated_left_out import RepeatedLeftOut
from rankstudio.plugins.evidence.set_changes import SetChanges
from rankstudio.plugins.evidence.shapley_shares import ShapleyShares
from rankstudio.plugins.evidence.stability_selection import StabilitySelection
from rankstudio.plugins.evidence.step_significance import StepSignificance
from rankstudio.plugins.evidence.verdicts import Exchange, SetDifference

# bound of columns, queries and features where the data are not known
_MAX_COUNT = 1 << 31
_ROUNDING = 1e-9  # by which a correlation may be outside its range
_DTYPE_KINDS = {np.dtype(np.float64): "f", np.dtype(np.int64): "i"}


def check_evidence(value: Any, n_features: int | None) -> None:
    """Raise ValueError if evidence, or a part of it, is invalid.

    Parameters
    ----------
    value : dataclass
        The evidence. The dataclasses that it contains are checked first.
    n_features : int or None
        Number of columns of the data; None if it is unknown, so that
        only the sizes within the evidence are compared with each other.
    """
    for name, kind in _field_types(type(value)).items():
        _check_type(getattr(value, name), kind, name)
    for part in _dataclasses_in(vars_of(value).values()):
        check_evidence(part, n_features)

    # Some types have a check of their own, beyond the types of their fields.
    rule = _CHECKS_BY_TYPE.get(type(value))
    if rule is not None:
        rule(value, n_features)


def vars_of(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


_KNOWN_FIELD_TYPES: dict[type, dict[str, Any]] = {}


def _field_types(kind: type[Any]) -> dict[str, Any]:
    """Return the types of the fields of a dataclass, by name; they are read once per class."""
    if kind not in _KNOWN_FIELD_TYPES:
        hints = get_type_hints(kind)
        _KNOWN_FIELD_TYPES[kind] = {
            field.name: hints[field.name] for field in fields(kind)
        }
    return _KNOWN_FIELD_TYPES[kind]


def _dataclasses_in(values: Iterable[Any]) -> Iterable[Any]:
    """Yield the dataclasses among some values, and those in tuples and mappings among the values.

    Objects of :class:`Measure` are left out. The fields of the
    dataclasses are not searched.
    """
    for value in values:
        if is_dataclass(value) and not isinstance(value, Measure):
            yield value
        elif isinstance(value, tuple):
            yield from _dataclasses_in(value)
        elif isinstance(value, Mapping):
            yield from _dataclasses_in(value.values())


def _check_type(value: Any, kind: Any, name: str) -> None:
    """Raise a ValueError unless a value has the type of its annotation, members included.

    ``kind`` is the annotation, and ``name`` the name of the field in the error.
    """
    # tuple[int, ...] has the origin tuple and the arguments (int, ...)
    origin = get_origin(kind)
    arguments = get_args(kind)
    if origin in (Union, types.UnionType):  # all unions here are of one type and None
        matching = [
            alternative
            for alternative in arguments
            if (value is None) == (alternative is type(None))
        ]
        _require(bool(matching), name)
        if value is not None:
            _check_type(value, matching[0], name)
    elif origin is np.ndarray:  # arguments are the shape and dtype[scalar type]
        dtype = np.dtype(get_args(arguments[1])[0])

        # Floats and integers of any width are accepted, by the letter
        # of their kind; other types exactly.
        letter = _DTYPE_KINDS.get(dtype)
        _require(
            isinstance(value, np.ndarray)
            and (value.dtype.kind == letter or value.dtype == dtype),
            name,
        )
    elif origin is tuple:
        _require(isinstance(value, tuple), name)

        # the type of each member: tuple[int, ...] repeats one type
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
        # no bool, which is an int, too
        _require(type(value) is int and abs(value) < 1 << 63, name)
    else:
        _require(isinstance(value, kind), name)


def _require(is_valid: bool, description: str) -> None:
    """Raise ValueError with the description unless the value is valid."""
    if not is_valid:
        raise ValueError(f"unexpected value of {description}")


# In all checks, `n` is the number of columns of the data, or None if it
# is unknown.


def _check_columns(columns: Iterable[int], n: int | None, description: str) -> None:
    """Raise ValueError unless columns are distinct and below ``n``, the number of columns of the data.

    If ``n`` is None, the number is unknown, and only absurd columns are
    refused. ``description`` names the columns in the error.
    """
    all_columns = list(columns)
    _require(len(set(all_columns)) == len(all_columns), description)
    _require(
        all(0 <= column < (_MAX_COUNT if n is None else n) for column in all_columns),
        description,
    )


def _check_shape(
    array: np.ndarray[Any, Any], shape: tuple[int | None, ...], description: str
) -> None:
    """Raise ValueError unless an array has this shape, in which None stands for any length.

    ``description`` names the array in the error.
    """
    _require(array.ndim == len(shape), description)
    _require(
        all(n in (None, size) for n, size in zip(shape, array.shape, strict=True)),
        description,
    )


def _check_range(array: Any, least: float, greatest: float, description: str) -> None:
    """Raise ValueError unless numbers are from ``least`` to ``greatest``; NaN, an unknown number, passes.

    ``array`` has the numbers, and ``description`` names them in the error.
    """
    values = np.asarray(array, dtype=np.float64)
    numbers = values[~np.isnan(values)]
    _require(
        not numbers.size or bool(numbers.min() >= least and numbers.max() <= greatest),
        description,
    )


def _check_selection(evidence: SelectionEvidence, n: int | None) -> None:
    """Raise ValueError if columns or lengths of the evidence do not fit a selection of k features.

    ``n`` is the number of columns of the data, or None if it is unknown.
    """
    k = len(evidence.selected)
    _check_columns(evidence.selected, n, "selected")
    _check_columns(evidence.candidates, n, "candidates")
    _check_columns(
        [column for group in evidence.groups for column in group], n, "groups"
    )
    _check_columns(evidence.required, n, "required")
    _check_range(evidence.n_queries, 0, _MAX_COUNT, "n_queries")
    _check_range(evidence.n_documents or 0, 0, _MAX_COUNT, "n_documents")
    _require(all(map(len, evidence.groups)), "groups")  # no group is empty
    _require(len(set(evidence.done)) == len(evidence.done), "done")

    for part, name in (
        (evidence.losses, "losses"),
        (evidence.changes, "changes"),
        (evidence.shares, "shares"),
    ):
        _require(part is None or len(part.features) == k, name)

    _require(evidence.deciding is None or len(evidence.deciding) == k, "deciding")

    # All arrays with a value for each column of the data have the same width.
    widths = [sets.inclusion.size for sets in evidence.near_best or ()]
    widths += [] if evidence.changes is None else [evidence.changes.added.size]
    widths += [] if evidence.stability is None else [evidence.stability.counts.shape[1]]
    _require(len(set(widths)) <= 1, "columns")

    # The keys of these mappings are columns, and so are the values of `tied`.
    for column in evidence.exchanges or ():
        _check_columns([column], n, "exchanges")

    for columns in (evidence.smaller, evidence.tied):
        _check_columns(columns or (), n, "columns")

    # Several features may be tied with the same column, so the values
    # may repeat.
    _check_columns(set((evidence.tied or {}).values()), n, "tied")

    for step in evidence.deciding or ():
        _require(
            all(0 <= query < evidence.n_queries for query in step.queries), "deciding"
        )


def _check_step(step: DecidedStep, n: int | None) -> None:
    """Check the deciding queries of a step on data with ``n`` columns (None: unknown)."""
    _check_columns([step.feature], n, "feature")
    _check_columns([] if step.instead is None else [step.instead], n, "instead")
    _require(len(set(step.queries)) == len(step.queries), "queries")


def _check_sized_subset(subset: SizedSubset, n: int | None) -> None:
    """Check the best set of one size among ``n`` columns (None: unknown)."""
    _check_columns(subset.features, n, "features")
    _check_range(
        [subset.size, subset.n_sets, subset.n_evaluated, subset.seconds],
        0,
        np.inf,
        "numbers of sets",
    )
    _check_range(subset.share, 0, 1, "share")


def _check_near_best(near_best: SizedNearBestSets, n: int | None) -> None:
    """Check the near-best sets of a size among ``n`` columns (None: unknown)."""
    _check_shape(near_best.inclusion, (n,), "inclusion")
    _check_range(near_best.inclusion, 0, 1, "inclusion")
    _check_range(near_best.n_evaluated, 0, np.inf, "n_evaluated")
    _require(bool(near_best.sets), "sets")


def _check_losses(losses: FeatureLosses, n: int | None) -> None:
    """Check the losses without features of data with ``n`` columns (None: unknown)."""
    _check_columns(losses.features, n, "features")
    if losses.measure:
        measure(losses.measure)
    _check_shape(losses.whole, (None,), "whole")
    _check_shape(losses.without, (len(losses.features), losses.whole.size), "without")


def _check_changes(changes: SetChanges, n: int | None) -> None:
    """Check the errors of changed sets of ``n`` columns (None: unknown)."""
    k = len(changes.features)
    _check_columns(changes.features, n, "features")
    _check_shape(changes.added, (n,), "added")
    _check_shape(changes.without, (k,), "without")
    _check_shape(changes.swapped, (k, changes.added.size), "swapped")


def _check_shares(shares: ShapleyShares, n: int | None) -> None:
    """Check the features' shares of the gain; the data have ``n`` columns (None: unknown)."""
    _check_columns(shares.features, n, "features")
    for part in (shares.values, shares.in_order):
        _check_shape(part, (len(shares.features),), "values")


def _check_stability(stability: StabilitySelection, n: int | None) -> None:
    """Check the selections on halves of data with ``n`` columns (None: unknown)."""
    _check_shape(stability.counts, (None, n), "counts")
    _check_shape(stability.places, (None, stability.counts.shape[1]), "places")
    _check_range(stability.counts, 0, stability.places.shape[0], "counts")
    _check_range(stability.places, 0, stability.counts.shape[1], "places")
    _check_range(stability.n_candidates, 0, stability.counts.shape[1], "n_candidates")


def _check_significance(significance: StepSignificance, n: int | None) -> None:
    """Check the tests of the steps on data with ``n`` columns (None: unknown)."""
    k = len(significance.selected)
    _check_columns(significance.selected, n, "selected")
    _check_shape(significance.drops, (k,), "drops")
    _check_shape(significance.permuted, (None, k), "permuted")


def _check_repeated(repeated: RepeatedLeftOut, n: int | None) -> None:
    """Raise ValueError unless left-out errors have one number per query, or one per query and step.

    For Q queries, the errors without features have the shape (Q,), and
    those of the two paths (Q, steps). The selection was repeated
    without each query, so there is one set per query. ``n`` is the
    number of columns of the data, or None if it is unknown.
    """
    _check_shape(repeated.empty, (None,), "empty")
    _check_shape(repeated.usual, (repeated.empty.size, None), "usual")
    _check_shape(repeated.repeated, repeated.usual.shape, "repeated")
    _require(len(repeated.selected) == repeated.empty.size, "selected")
    for columns in repeated.selected:
        _check_columns(columns, n, "selected")


def _check_permutation(importance: PermutationImportance, n: int | None) -> None:
    """Raise ValueError unless there is a loss for each group of columns in each query.

    ``n`` is the number of columns of the data, or None if it is unknown.
    """
    _check_columns(
        [column for group in importance.groups for column in group], n, "groups"
    )
    _require(all(map(len, importance.groups)), "groups")  # no group is empty

    # The baseline is the measure of each of Q queries, and `level` that
    # of the confidence intervals.
    _check_shape(importance.baseline, (None,), "baseline")
    _check_shape(
        importance.loss, (len(importance.groups), importance.baseline.size), "loss"
    )
    _require(0 < importance.level < 1, "level")


def _check_importance(measured: MeasuredImportance, n: int | None) -> None:
    """Check part, number of features (at most ``n``, if known) and convention of an importance."""
    _require(measured.part in ("validation", "training"), "part")
    _check_range(measured.n_features, 0, _MAX_COUNT if n is None else n, "n_features")
    convention(measured.convention)


def _check_validity(validity: RankingValidity, n: int | None) -> None:
    for columns in validity.sets:
        _check_columns(columns, n, "sets")
    for values in (validity.validity, validity.completeness):
        _check_shape(values, (len(validity.sets), validity.validity.shape[-1]), "sets")
        _check_range(values, -1 - _ROUNDING, 1 + _ROUNDING, "validity")


def _check_measured_validity(measured: MeasuredValidity, n: int | None) -> None:
    """Raise ValueError unless each set has the features of the set before it, and more.

    ``n``, the number of columns of the data, is not used: all checks
    are called alike.
    """
    _require(measured.part in ("validation", "training"), "part")
    sets = measured.found.sets
    _require(bool(sets) and all(map(len, sets)), "sets")
    for smaller, larger in pairwise(sets):
        is_nested = len(smaller) < len(larger) and larger[: len(smaller)] == smaller
        _require(is_nested, "sets")


def _check_feature_set(feature_set: SetDifference | NearBestSet, n: int | None) -> None:
    """Check that a set has columns below ``n``, if that is known."""
    _check_columns(feature_set.features, n, "features")


def _check_exchange(exchange: Exchange, n: int | None) -> None:
    """Check that the column of an exchange is below ``n``, if that is known."""
    _check_columns([exchange.column], n, "column")


_CHECKS_BY_TYPE: Mapping[type[Any], Callable[[Any, int | None], None]] = {
    SelectionEvidence: _check_selection,
    DecidedStep: _check_step,
    SizedSubset: _check_sized_subset,
    SizedNearBestSets: _check_near_best,
    NearBestSet: _check_feature_set,
    SetDifference: _check_feature_set,
    Exchange: _check_exchange,
    FeatureLosses: _check_losses,
    SetChanges: _check_changes,
    ShapleyShares: _check_shares,
    StabilitySelection: _check_stability,
    StepSignificance: _check_significance,
    RepeatedLeftOut: _check_repeated,
    PermutationImportance: _check_permutation,
    MeasuredImportance: _check_importance,
    RankingValidity: _check_validity,
    MeasuredValidity: _check_measured_validity,
}
