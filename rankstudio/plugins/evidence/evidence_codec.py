"""Evidence as bytes, as a study keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from io import BytesIO
from struct import error as struct_error
from typing import Any, TypeVar
from zipfile import BadZipFile
from zlib import error as zlib_error

import numpy as np

from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.storage.codec import archived_arrays
from rankstudio.engine.experiment.storage.study_rows import IMPOSSIBLE
from rankstudio.engine.metrics.names import Measure, measure
from rankstudio.plugins.evidence.best_subset import BestSubset, SizedSubset
from rankstudio.plugins.evidence.decided_step import DecidedStep
from rankstudio.plugins.evidence.evidence_checks import check_evidence
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
from rankstudio.plugins.evidence.verdicts import Exchange, SetDifference, VerdictRules

Kind = TypeVar("Kind")

_CLASSES_BY_NAME: Mapping[str, type[Any]] = {
    known.__name__: known
    for known in (
        *(
            SelectionEvidence,
            VerdictRules,
            StabilitySelection,
            FeatureLosses,
            SetChanges,
            ShapleyShares,
        ),
        *(
            DecidedStep,
            BestSubset,
            SizedSubset,
            Exchange,
            SetDifference,
            NearBestSet,
            SizedNearBestSets,
        ),
        *(StepSignificance, RepeatedLeftOut, MeasuredImportance, PermutationImportance),
        *(MeasuredValidity, RankingValidity),
    )
}
# bytes of evidence, of which most is a number for each query and
# selected feature
_MAX_BYTES = 1 << 29
# bytes beyond: 1000 halves, and the exchanges of as many selected features
_MAX_BYTES_PER_FEATURE = 1 << 14
_CLASS_KEY = "class"
_ARRAY_KEY = "array"
_ITEMS_KEY = "items"
_VALUES_KEY = "values"
_MEASURE_KEY = "measure"


StoredEvidence = SelectionEvidence | MeasuredImportance | MeasuredValidity


def pack_evidence(evidence: StoredEvidence) -> bytes:
    """Return evidence as bytes for the function that unpacks its kind, such as :func:`unpack_evidence`."""
    # An archive of arrays: "tree" is JSON as bytes, and refers to the
    # others by their number.
    arrays: list[Any] = []
    tree = json.dumps(_as_json_value(evidence, arrays)).encode()
    buffer = BytesIO()
    named = {f"a{index}": values for index, values in enumerate(arrays)}
    np.savez_compressed(buffer, tree=np.frombuffer(tree, dtype=np.uint8), **named)
    return buffer.getvalue()


def unpack_evidence(content: bytes, n_features: int | None = None) -> SelectionEvidence:
    """Return the evidence that is packed in bytes.

    Parameters
    ----------
    content : bytes
    n_features : int, optional
        Number of columns of the data; evidence for other columns is an error.

    Raises
    ------
    StoreError
        If the bytes are not the evidence for a selection, or cannot be
        that of these data.
    """
    return _unpacked_evidence(content, SelectionEvidence, n_features)


def unpack_importance(
    content: bytes, n_features: int | None = None
) -> MeasuredImportance:
    """Return the importance of a model's features that is packed in bytes.

    Parameters
    ----------
    content : bytes
    n_features : int, optional
        Number of columns of the data; importance of other columns is an error.

    Raises
    ------
    StoreError
        If the bytes are none, or cannot be that of these data.
    """
    return _unpacked_evidence(content, MeasuredImportance, n_features)


def unpack_validity(content: bytes, n_features: int | None = None) -> MeasuredValidity:
    """Return the validity of a model's features that is packed in bytes.

    Parameters
    ----------
    content : bytes
    n_features : int, optional
        Number of columns of the data; sets with other columns are an error.

    Raises
    ------
    StoreError
        If the bytes are none, or cannot be that of these data.
    """
    return _unpacked_evidence(content, MeasuredValidity, n_features)


def _unpacked_evidence(
    content: bytes, kind: type[Kind], n_features: int | None
) -> Kind:
    """Return evidence from its bytes; StoreError unless it is a valid ``kind``.

    ``kind`` is the class of the evidence. ``n_features`` is the number
    of columns of the data, or None if the number is unknown. The number
    also limits how many bytes are unpacked.
    """
    try:
        stored = archived_arrays(
            content, _MAX_BYTES + _MAX_BYTES_PER_FEATURE * (n_features or 0)
        )
        evidence = _from_json_value(json.loads(stored["tree"].tobytes()), stored)
        if isinstance(evidence, kind):
            check_evidence(evidence, n_features)
    # Damaged bytes can raise any of these.
    except (*IMPOSSIBLE, BadZipFile, zlib_error, struct_error) as error:
        raise StoreError(f"evidence: {error}") from error
    if not isinstance(evidence, kind):
        raise StoreError(
            f"evidence: found {type(evidence).__name__}, expected {kind.__name__}"
        )
    return evidence


def _as_json_value(value: Any, arrays: list[Any]) -> Any:
    """Return a value of the evidence as JSON can store it; arrays are appended to ``arrays``.

    JSON has no arrays, measures, dataclasses and no mapping whose keys
    are not texts: each becomes a dict with a key that says which of
    these it is.
    """
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {_ARRAY_KEY: len(arrays) - 1}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return [_as_json_value(member, arrays) for member in value]
    if isinstance(value, Measure):
        return {_MEASURE_KEY: value.name}
    if isinstance(value, Mapping):
        return {
            _ITEMS_KEY: [
                [_as_json_value(key, arrays), _as_json_value(member, arrays)]
                for key, member in value.items()
            ]
        }
    if is_dataclass(value):
        values = {
            field.name: _as_json_value(getattr(value, field.name), arrays)
            for field in fields(value)
        }
        return {_CLASS_KEY: type(value).__name__, _VALUES_KEY: values}
    return value


def _from_json_value(plain: Any, stored: Mapping[str, Any]) -> Any:
    """Return the value that `_as_json_value` converted to JSON values.

    ``plain`` are the JSON values, and ``stored`` has the arrays as "a0", "a1",
    ... Lists become tuples, as the fields of the dataclasses are.
    """
    if isinstance(plain, list):
        return tuple(_from_json_value(member, stored) for member in plain)
    if not isinstance(plain, dict):
        return plain
    if _ARRAY_KEY in plain:
        return stored[f"a{plain[_ARRAY_KEY]}"]
    if _MEASURE_KEY in plain:
        return measure(plain[_MEASURE_KEY])
    if _ITEMS_KEY in plain:
        return {
            _from_json_value(key, stored): _from_json_value(member, stored)
            for key, member in plain[_ITEMS_KEY]
        }
    return _CLASSES_BY_NAME[plain[_CLASS_KEY]](
        **{
            name: _from_json_value(member, stored)
            for name, member in plain[_VALUES_KEY].items()
        }
    )
