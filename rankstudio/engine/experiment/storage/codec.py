"""Stored form of units and folds, restored bit by bit. Nothing in it is executed.

A path is an ``.npz`` archive in memory: a header in JSON, and arrays.
Linear steps are stored completely. Of the nonlinear models of a path,
only one keeps its definition, in the form of an exported model. The
others cannot score after they were stored (see `StoredStep`): the
definitions of all rounds of a boosting would take memory in the square
of the number of rounds.
"""

from __future__ import annotations

import io
import json
import math
import struct
import threading
import zipfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.results.path_steps import PathSteps, packed
from rankstudio.engine.experiment.results.results import (
    Baseline,
    Chosen,
    FoldResult,
    PathResult,
)
from rankstudio.engine.experiment.results.subset_choices import SubsetChoices
from rankstudio.engine.experiment.storage.study_rows import (
    IMPOSSIBLE,
    array,
    check_column_rows,
    checksum,
    exactly,
    measures,
    sequence,
)
from rankstudio.engine.export.models import StoredStep, checked_beyond
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.methods.given_scores import GivenScores, stored_scores
from rankstudio.engine.steps import Iteration, Step
from rankstudio.engine.support import memory
from rankstudio.engine.support.frozen_mapping import FrozenMapping
from rankstudio.engine.support.work import Note

Arrays = Mapping[str, NDArray[Any]]

_NUMPY_LOCK = threading.Lock()
"""Held while numpy reads arrays.

numpy parses the header of an array with the parser of Python, which in Python
3.11 sometimes raises a SystemError if two threads use it at a time
(python/cpython#106905).
"""


# Classes of steps by name, as the header of a path names them.
_LINEAR_CLASSES: dict[str, type[Step]] = {
    cls.__name__: cls for cls in (Step, Iteration)
}
_STEP_CLASSES: dict[str, type[Step]] = {
    **_LINEAR_CLASSES,
    **{cls.__name__: cls for cls in (StoredStep, GivenScores)},
}
# Types of attributes that only some classes have, and their names by class.
_EXTRA_TYPES: dict[str, type[Any]] = {"gap": float, "converged": bool}
_EXTRAS_BY_CLASS = {
    name: [field.name for field in fields(cls) if field.name in _EXTRA_TYPES]
    for name, cls in _LINEAR_CLASSES.items()
}

_MAX_COMPRESSION = 1040  # bytes of data for each compressed byte, at most
# numpy's format 1.0; two bytes with the length of the header follow
_MAGIC = b"\x93NUMPY\x01\x00"
_MAX_COPIED_BYTES = 1e6  # bytes of an array that may be in memory twice
_UNCHECKED_BYTES = 1e8  # bytes that are allocated without checking the free memory


def pack_path(path: PathResult, model: Step, ids: Sequence[int]) -> bytes:
    """Return a path, all models of one combination of parameters on one fold, as bytes.

    Parameters
    ----------
    path : PathResult
        Path of any method. Linear steps of unknown classes become plain `Step` objects.
    model : Step
        Step of the path that is stored completely, so that it can score
        documents even if it is nonlinear.
    ids : sequence of int of length n
        1-based id of the feature in each column.

    Notes
    -----
    O(K n) for K steps, before compression. Zero weights are not stored.
    """
    # The bytes are a zip archive of arrays; the header in JSON is one of them.
    steps = tuple(path.steps)
    arrays: dict[str, Any] = {
        "header": np.frombuffer(
            json.dumps(_path_header(path, steps, model, ids)).encode(), dtype=np.uint8
        ),
        **_path_arrays(path, steps),
    }
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def _path_header(
    path: PathResult, steps: Sequence[Step], model: Step, ids: Sequence[int]
) -> dict[str, Any]:
    """Return all of a path except its arrays, as plain values for JSON, by key.

    A path has the models of one combination of parameters' values on a
    fold, one per step.

    The keys are those of the stored format. "kinds" has the class of
    each step, and "extras" the fields that only this class has.
    "beyond" has what defines a nonlinear step besides its weights: it
    is empty for all steps but `model`. `ids`, of length n, has the
    1-based id of the feature in each column.
    """
    # Keys that would be empty are left out, and the measures with
    # standard errors if they are all measures.
    is_partial = bool(path.standard_errors) and list(path.standard_errors) != list(
        path.validation
    )
    return {
        "divisor": path.divisor,
        "along": path.step_kind.value,
        "measures": list(path.validation),
        **({"errors_of": list(path.standard_errors)} if is_partial else {}),
        **({"p_values_of": list(path.p_values)} if path.p_values else {}),
        **({"choices_of": list(path.choices.per_query)} if path.choices else {}),
        "kinds": [_stored_class(step).__name__ for step in steps],
        "extras": [
            {
                name: _python_value(getattr(step, name))
                for name in _extra_names(_stored_class(step))
            }
            for step in steps
        ],
        "notes": [note.what for note in path.notes],
        "beyond": [
            step.beyond_weights(ids) if step.number == model.number else {}
            for step in steps
        ],
    }


def _path_arrays(path: PathResult, steps: Sequence[Step]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a path by name, in the order of the archive.

    `steps` are the K steps of the path. The last axis of an array has
    one value per step. Rows of different lengths, such as "weights",
    are joined to one array, with the lengths in a second one.

    "before" is the criterion before each step, "n" the number of
    features, and "used" has the columns with weights.
    """
    # Of weights only those that are not 0 are stored, with their columns.
    sparse_weights = [_nonzero_weights(step.coef) for step in steps]
    # Types of the arrays: floats and integers of 8 bytes, the lowest
    # byte first.
    return {
        "validation": np.array(list(path.validation.values()), dtype="<f8"),
        "number": np.array([step.number for step in steps], dtype="<i8"),
        "criterion": np.array([step.criterion for step in steps], dtype="<f8"),
        "before": np.array([step.before for step in steps], dtype="<f8"),
        "n": np.array([step.coef.size for step in steps], dtype="<i8"),
        "errors": np.array(list(path.standard_errors.values()), dtype="<f8"),
        **(
            {"p_values": np.array(list(path.p_values.values()), dtype="<f8")}
            if path.p_values
            else {}
        ),
        **(_choices_arrays(path.choices) if path.choices else {}),
        **_joined_rows(
            "selected", [np.array(step.selected, dtype="<i8") for step in steps], "<i8"
        ),
        **_joined_rows("used", [columns for columns, _ in sparse_weights], "<i8"),
        **_joined_rows("weights", [weights for _, weights in sparse_weights], "<f8"),
        **_joined_rows("candidates", [step.candidates for step in steps], "<f8"),
    }


def unpack_path(
    content: bytes, unit: Unit, ids: Sequence[int], source: str = "a study"
) -> PathResult:
    """Return the path of a unit from the bytes that `pack_path` made.

    `unit` has the fold and the parameters' values. `ids`, of length n,
    has the 1-based id of the feature in each column. `source` names the
    study in later messages about the models of the path.

    Raises
    ------
    StoreError
        If the bytes are damaged.
    """
    # Where the models are stored, for messages; people count from 1.
    stored = f"{source}, fold {unit.fold} with combination {unit.position + 1}"

    # The archive has a header in JSON, and arrays.
    try:
        arrays = archived_arrays(content)
        header = json.loads(arrays["header"].tobytes())
        names = sequence(header["measures"], str)
        # Earlier versions had standard errors of the same measures only.
        errors_of = sequence(header.get("errors_of", header["measures"]), str)
        errors = arrays["errors"]
        return PathResult(
            unit=unit,
            steps=_parsed_steps(header, arrays, tuple(ids), stored),
            validation=FrozenMapping(
                _values_by_measure(names, arrays["validation"], len(header["kinds"]))
            ),
            divisor=_checked_divisor(header["divisor"]),
            step_kind=StepKind(header["along"]),
            notes=tuple(map(Note, sequence(header["notes"], str))),
            standard_errors=FrozenMapping(
                _values_by_measure(errors_of, errors, len(header["kinds"]))
                if errors.size
                else {}
            ),
            p_values=FrozenMapping(_p_values(header, arrays)),
            choices=_parsed_choices(header, arrays),
        )
    # These are the errors that damaged bytes may raise.
    except (
        *IMPOSSIBLE,
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        AssertionError,
    ) as error:
        raise StoreError(
            f"the stored results of fold {unit.fold} with combination {unit.position + 1} are damaged."
        ) from error


def fold_values(result: FoldResult) -> dict[str, Any]:
    """Return the results of a fold as plain values for JSON, without its paths.

    "chosen" identifies the chosen model: the position of its
    combination, and the number of its step on the path.
    """
    baseline = result.baseline
    grade = result.greatest_grade

    # Values that are empty or NaN are left out; `fold_from_values` puts
    # the same defaults in their place.
    return {
        "chosen": {
            "position": result.chosen.unit.position,
            "number": result.chosen.step.number,
        },
        "selected": list(result.selected),
        "validation": dict(result.validation),
        "test": dict(result.test),
        "baseline": {
            **vars(baseline),
            "validation": dict(baseline.validation),
            "test": dict(baseline.test),
        },
        "per_query": _per_query_values(result.per_query),
        **({} if math.isnan(grade) else {"greatest_grade": grade}),
        **({"constant": list(result.constant)} if result.constant else {}),
        **(
            {"cross_fitted": _per_query_values(result.cross_fitted)}
            if result.cross_fitted
            else {}
        ),
        **({"data": result.data_digest} if result.data_digest else {}),
        **(
            {"validation_queries": result.n_validation_queries}
            if result.n_validation_queries
            else {}
        ),
    }


def fold_from_values(
    fold: int,
    values: Mapping[str, Any],
    units: Mapping[tuple[int, int], PathResult],
    names: Collection[str],
    ids: Sequence[int],
) -> FoldResult:
    """Return the results of a fold from its plain values and the paths of its units.

    Parameters
    ----------
    fold : int
        Number of the fold.
    values : Mapping
        Values of `fold_values`, read from JSON.
    units : Mapping
        Paths by the number of the fold and the position of the combination.
    names : collection of str
        Measures of the plan.
    ids : sequence of int of length n
        1-based id of the feature in each column.

    Raises
    ------
    IMPOSSIBLE
        Any exception of the tuple `IMPOSSIBLE`, if `values` cannot be
        the results of a fold with these units.
    """
    # The chosen step is stored by its number on the path of its unit.
    path = units[fold, values["chosen"]["position"]]
    step = path.steps[path.steps.position(values["chosen"]["number"])]
    if values["selected"] != [ids[column] for column in step.selected]:
        raise ValueError("expected the features of the chosen step")

    # Values that earlier versions did not store have a default.
    return FoldResult(
        fold=fold,
        chosen=Chosen(path.unit, step),
        selected=sequence(values["selected"], int),
        validation=measures(values["validation"], names),
        test=measures(values["test"], names),
        paths=tuple(
            path for (number, _), path in sorted(units.items()) if number == fold
        ),
        baseline=_parsed_baseline(values["baseline"], names, ids),
        per_query=_checked_query_values(values["per_query"], names),
        greatest_grade=exactly(values["greatest_grade"], float)
        if "greatest_grade" in values
        else math.nan,
        constant=_checked_ids(values.get("constant", []), ids),
        cross_fitted=_checked_query_values(values.get("cross_fitted", {}), names),
        data_digest=checksum(values["data"]) if "data" in values else "",
        n_validation_queries=exactly(values.get("validation_queries", 0), int),
    )


def _per_query_values(measures: Mapping[str, Floats]) -> dict[str, list[float]]:
    """Return the values of each measure in each query, shape (Q,), as lists."""
    return {name: values.tolist() for name, values in measures.items()}


def _checked_query_values(
    values: Mapping[str, Any], names: Collection[str]
) -> FrozenMapping[str, Floats]:
    """Return each measure in each query, shape (Q,), from lists of JSON.

    The result is {} for no measures. Raise a ValueError for other names
    than those of the plan's measures, and for arrays of unequal
    lengths.
    """
    queries = {name: np.array(sequence(row, float)) for name, row in values.items()}
    has_other_names = bool(queries) and set(queries) != set(names)
    n_lengths = len({row.size for row in queries.values()})
    if has_other_names or n_lengths > 1:
        raise ValueError("expected each measure in each query")
    return FrozenMapping(queries)


def _checked_ids(values: Any, ids: Collection[int]) -> tuple[int, ...]:
    """Return ids of features from a list of JSON.

    `ids` has the ids of the data's features. ValueError is raised for
    any other id.
    """
    parsed_ids = sequence(values, int)
    if not set(parsed_ids) <= set(ids):
        raise ValueError("expected features of the data")
    return parsed_ids


def _parsed_baseline(
    values: Mapping[str, Any], names: Collection[str], ids: Collection[int]
) -> Baseline:
    """Return the baseline of a fold, its best single feature, from plain values of JSON.

    `ids` has the ids of the data's features, and `names` the names of
    the plan's measures. ValueError is raised for other features or
    measures.
    """
    if values["feature"] not in ids:
        raise ValueError("expected a feature of the data")
    return Baseline(
        feature=exactly(values["feature"], int),
        name=exactly(values["name"], str),
        descending=exactly(values["descending"], bool),
        validation=measures(values["validation"], names),
        test=measures(values["test"], names),
    )


def archived_arrays(
    content: bytes, max_bytes: float = math.inf
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a compressed archive of NumPy by name, after checking its sizes.

    Parameters
    ----------
    content : bytes
        What ``numpy.savez_compressed`` writes.
    max_bytes : float
        Bytes that the arrays may take together.

    Raises
    ------
    ValueError
        If the arrays take more than `max_bytes`, or more bytes than the
        compressed content can hold.
    MemoryError
        If the free memory is too small for the arrays.
    """
    with _NUMPY_LOCK, np.load(io.BytesIO(content), allow_pickle=False) as archive:
        # One thread at a time reads: Python's parser, which numpy uses,
        # may fail in two threads at a time. The sizes come from the
        # file and may be wrong, so they are checked before anything is
        # allocated.
        size = sum(entry.file_size for entry in archive.zip.infolist())
        if size > min(max_bytes, _MAX_COMPRESSION * len(content)):
            raise ValueError(
                f"{len(content)} bytes cannot contain {size} bytes of data"
            )
        if size > _UNCHECKED_BYTES and size > memory.available():
            raise MemoryError(f"{memory.size(size)} are needed for the stored data")
        return {name: _read_array(archive, name) for name in archive.files}


def _read_array(archive: Any, name: str) -> NDArray[Any]:
    """Return the array with a name from an open archive of NumPy.

    A study has thousands of small arrays: their equal headers are
    parsed only once. numpy itself reads all other arrays, and those
    with an unexpected header, for which it raises the error.
    """
    # Arrays that are unusual or large are read by NumPy.
    try:
        entry = archive.zip.getinfo(f"{name}.npy")
    except KeyError:
        return cast("NDArray[Any]", archive[name])
    if entry.file_size > _MAX_COPIED_BYTES:
        return cast("NDArray[Any]", archive[name])
    content = archive.zip.read(entry)

    # The content is: magic bytes, the length of the header in two
    # bytes, the header, the values.
    header_offset = len(_MAGIC) + 2
    values_offset = header_offset + int.from_bytes(
        content[len(_MAGIC) : header_offset], "little"
    )
    if not content.startswith(_MAGIC) or values_offset > len(content):
        return cast("NDArray[Any]", archive[name])  # numpy raises the error, if any

    # Shape and type must fit the length of the content.
    shape, is_fortran, dtype = _array_header(content[len(_MAGIC) : values_offset])
    count = math.prod(shape)
    is_invalid = (
        dtype.hasobject or not dtype.itemsize or any(length < 0 for length in shape)
    )
    if is_invalid or values_offset + count * dtype.itemsize > len(content):
        return cast("NDArray[Any]", archive[name])
    # In Fortran order the first axis varies fastest: read with the axes
    # in reverse order, then transpose. The copy can be written to, and
    # the content can be freed. "K" keeps the order of the axes in
    # memory.
    flat: NDArray[Any] = np.frombuffer(content, dtype, count, values_offset)
    return (flat.reshape(shape[::-1]).T if is_fortran else flat.reshape(shape)).copy(
        "K"
    )


@lru_cache(maxsize=4096)
def _array_header(content: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, the Fortran order and the type in the header of a NumPy array.

    The result is cached, because parsing is slower than reading.
    """
    header: tuple[tuple[int, ...], bool, np.dtype[Any]]
    header = np.lib.format.read_array_header_1_0(io.BytesIO(content))
    return header


def _values_by_measure(
    names: Sequence[str], stored: NDArray[Any], n_steps: int
) -> dict[str, NDArray[Any]]:
    """Return each measure after each step of a path, shape (K,), from its stored rows.

    `names` are those of the measures, one per row of `stored`, and
    `n_steps` is K. ValueError is raised for an array of another shape.
    """
    shape = (len(names), n_steps) if names else (0,)
    return dict(zip(names, array(stored, "<f8", shape), strict=True))


def _p_values(header: Mapping[str, Any], arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Return the p-values of a stored path, shape (K,) for K steps, by measure.

    They compare each model with the best one of the path. `header` and
    `arrays` are the two parts of a stored path. The result is {} for a
    path that an earlier version stored; ValueError is raised for
    damaged values.
    """
    if "p_values_of" not in header:
        return {}
    names = sequence(header["p_values_of"], str)
    p_values = _values_by_measure(names, arrays["p_values"], len(header["kinds"]))
    if any(((values < 0) | (values > 1)).any() for values in p_values.values()):
        raise ValueError("expected numbers from 0 to 1")
    return p_values


def _choices_arrays(choices: SubsetChoices) -> dict[str, NDArray[Any]]:
    """Return arrays, by name, of a path's choices on subsets of the validation queries.

    They are the position of the chosen step, and the best gain, for
    each subset, and the stored measures, shape (measures, D, Q): for D
    chosen steps in Q queries.
    """
    return {
        "choices": choices.positions.astype("<i8"),
        "choice_gains": choices.gains.astype("<f8"),
        "choice_measures": np.array(list(choices.per_query.values()), dtype="<f8"),
    }


def _parsed_choices(header: Mapping[str, Any], arrays: Arrays) -> SubsetChoices | None:
    """Return the models that the plan's rule chose on subsets of the validation queries.

    `header` and `arrays` are the two parts of a stored path of models.
    The result is None if validation queries did not choose, or in older
    studies; ValueError is raised for damaged values.
    """
    if "choices_of" not in header:
        return None
    names = sequence(header["choices_of"], str)
    positions = arrays["choices"]
    # Called for its errors only: positions are a row of integers.
    array(positions, "<i8", (positions.size,))
    if (
        not positions.size
        # -1 is no step: the rule allows none there.
        or positions.min() < -1
        or positions.max() >= len(header["kinds"])
    ):
        raise ValueError("expected positions of steps")
    gains = array(arrays["choice_gains"], "<f8", positions.shape)
    choices = SubsetChoices(positions, gains)
    # The measures are stored only for models that cannot be measured again.
    if not names:
        return choices
    n_queries = arrays["choice_measures"].shape[-1]
    values = array(
        arrays["choice_measures"], "<f8", (len(names), choices.distinct.size, n_queries)
    )
    return replace(
        choices, per_query=FrozenMapping(dict(zip(names, values, strict=True)))
    )


def _checked_divisor(value: Any) -> float:
    """Return a finite divisor above 0; ValueError otherwise."""
    if type(value) not in (int, float) or not 0 < value < math.inf:
        raise ValueError("expected a divisor")
    number: float = value
    return number


def _parsed_steps(
    header: Mapping[str, Any], arrays: Arrays, ids: tuple[int, ...], stored: str
) -> PathSteps:
    """Return the steps of a stored path, each a model, from its header and arrays.

    `ids` has the 1-based id of the feature in each column. `stored`
    names the study in later messages. ValueError is raised if the
    header or the arrays are invalid.
    """
    # Arrays of variable length are stored one after another, with the
    # size for each step.
    selected = _split_rows("selected", arrays, "<i8")
    candidates = _split_rows("candidates", arrays, "<f8")
    used_columns = _split_rows("used", arrays, "<i8")
    weights = _split_rows("weights", arrays, "<f8")

    # Check the arrays before steps are made of them.
    kinds = header["kinds"]
    n = len(ids)
    for name in ("used", "selected"):
        check_column_rows(arrays[name], arrays[f"{name}_sizes"], n)
    for name, dtype in {
        "number": "<i8",
        "n": "<i8",
        "criterion": "<f8",
        "before": "<f8",
    }.items():
        array(arrays[name], dtype, (len(kinds),))

    # Candidates are stored for all features of a step, or for none.
    if (
        np.any(arrays["n"] != n)
        or not np.isin(arrays["candidates_sizes"], (0, n)).all()
    ):
        raise ValueError(f"expected {n} features")
    numbers = arrays["number"].tolist()
    criteria = arrays["criterion"].tolist()
    earlier_criteria = arrays["before"].tolist()

    # Make each step as an object of its own class.
    steps: list[Step] = []
    for k, kind in enumerate(kinds):
        coef = np.zeros(n)
        coef[used_columns[k]] = weights[k]
        cls = _STEP_CLASSES.get(kind, Step)
        plain_extras = header["extras"][k]
        extras: dict[str, Any] = {
            name: exactly(plain_extras[name], _EXTRA_TYPES[name])
            for name in _extra_names(cls)
        }
        # Given scores and stored models have fields that are not plain values.
        if kind == GivenScores.__name__:
            name, parts = stored_scores(header["beyond"][k])
            extras = {"name": name, "parts": FrozenMapping(parts)}
        if kind == StoredStep.__name__:
            beyond = dict(header["beyond"][k])
            if beyond:
                beyond = checked_beyond(beyond, set(ids))
            location = f"{stored}, step {numbers[k]}"
            extras = {"beyond": FrozenMapping(beyond), "ids": ids, "stored": location}
        steps.append(
            cls(
                number=numbers[k],
                selected=tuple(selected[k].tolist()),
                coef=coef,
                criterion=criteria[k],
                candidates=candidates[k].copy(),
                before=earlier_criteria[k],
                **extras,
            )
        )
    return packed(steps)


def _nonzero_weights(coef: Floats) -> tuple[Ints, Floats]:
    """Return the columns of the weights other than 0, and these weights, as two arrays.

    `coef` has the weights of a model. -0.0 counts as other than
    0.
    """
    # The bits of a number are all 0 for 0.0 only.
    columns = np.flatnonzero(np.ascontiguousarray(coef).view(np.int64))
    return columns, coef[columns]


def _stored_class(step: Step) -> type[Step]:
    """Return the class that a step has after it was stored and read."""
    if isinstance(step, GivenScores):
        return GivenScores
    return _LINEAR_CLASSES.get(type(step).__name__, Step) if step.linear else StoredStep


def _extra_names(cls: type[Step]) -> list[str]:
    """Return the names of the fields that only a class of linear steps has."""
    return _EXTRAS_BY_CLASS.get(cls.__name__, [])


def _python_value(value: Any) -> Any:
    """Return a number of numpy as a number of Python."""
    return value.item() if isinstance(value, np.generic) else value


def _joined_rows(
    name: str, rows: Sequence[NDArray[Any]], dtype: str
) -> dict[str, NDArray[Any]]:
    """Return rows of any lengths as one array, and an array of their lengths."""
    flat = np.concatenate([np.empty(0, dtype=dtype), *rows]).astype(dtype)
    return {
        name: flat,
        f"{name}_sizes": np.array([len(row) for row in rows], dtype="<i8"),
    }


def _split_rows(name: str, arrays: Arrays, dtype: str) -> list[NDArray[Any]]:
    """Return views of the rows that are stored one after the other in the array `name`.

    The lengths of the rows are in another array, with "_sizes" behind
    the name. ValueError is raised if the lengths are wrong, or the
    values are not of the type `dtype`.
    """
    flat = arrays[name]
    sizes = arrays[f"{name}_sizes"]
    # Called for its errors only: there is one row per step.
    array(sizes, "<i8", (len(arrays["n"]),))
    if sizes.size and not 0 <= sizes.min() <= sizes.max() <= flat.size:
        raise ValueError("expected row lengths")
    # Called for its errors only: the rows fill the array.
    array(flat, dtype, (int(sizes.sum()),))
    ends = np.cumsum(sizes).tolist()
    return [flat[begin:end] for begin, end in pairwise([0, *ends])]
