"""Reads the parts of an ONNX graph: operators with their attributes, and constants with their data.

Domain, version and attributes determine what an operator does. An
operator that differs in any of these from those in :data:`OPERATORS` is
refused.
"""

from __future__ import annotations

import math
import stat
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.engine.errors import one_line
from rankstudio.engine.export.foreign.parsed_model import (
    UnreadableModelError,
    unreadable,
)
from rankstudio.engine.language import tr

if TYPE_CHECKING:
    import onnx

ONNX = "ONNX"
STANDARD = ""
ML = "ai.onnx.ml"
_MAX_NAME = 60
_MAX_BYTES = 1 << 31  # of a constant, as of a whole ONNX file


@dataclass(frozen=True)
class Operator:
    """The forms of an operator of ONNX that can be read.

    Attributes
    ----------
    domain : str
    versions : range
        Versions of the domain in which the operator computes the same as RankStudio.
    attributes : Mapping of str to str
        Kinds of the values in ONNX, by the names of all allowed attributes.
    inputs : range
        Allowed numbers of inputs.
    """

    domain: str
    versions: range
    attributes: Mapping[str, str]
    inputs: range = range(1, 2)


_VERSIONS = range(7, 26)
_TREE_INTS = ("featureids", "truenodeids", "falsenodeids", "missing_value_tracks_true")
_REGRESSOR = {
    **dict.fromkeys(
        (f"nodes_{key}" for key in (*_TREE_INTS, "treeids", "nodeids")), "INTS"
    ),
    **dict.fromkeys(
        ("nodes_values", "nodes_hitrates", "target_weights", "base_values"), "FLOATS"
    ),
    **dict.fromkeys(("target_treeids", "target_nodeids", "target_ids"), "INTS"),
    **dict.fromkeys(("nodes_values_as_tensor", "nodes_hitrates_as_tensor"), "TENSOR"),
    **dict.fromkeys(("target_weights_as_tensor", "base_values_as_tensor"), "TENSOR"),
    "nodes_modes": "STRINGS",
    "n_targets": "INT",
    "aggregate_function": "STRING",
    "post_transform": "STRING",
}
_ENSEMBLE = {
    **dict.fromkeys(
        (f"nodes_{key}" for key in (*_TREE_INTS, "trueleafs", "falseleafs")), "INTS"
    ),
    **dict.fromkeys(("tree_roots", "leaf_targetids"), "INTS"),
    **dict.fromkeys(
        ("nodes_splits", "nodes_modes", "nodes_hitrates", "leaf_weights"), "TENSOR"
    ),
    **dict.fromkeys(("n_targets", "aggregate_function", "post_transform"), "INT"),
}
_LINEAR = {
    "coefficients": "FLOATS",
    "intercepts": "FLOATS",
    "targets": "INT",
    "post_transform": "STRING",
}

SCORING: Mapping[str, Operator] = {
    "MatMul": Operator(STANDARD, _VERSIONS, {}, inputs=range(2, 3)),
    "LinearRegressor": Operator(ML, range(1, 6), _LINEAR),
    "TreeEnsembleRegressor": Operator(ML, range(1, 5), _REGRESSOR),
    "TreeEnsemble": Operator(ML, range(5, 6), _ENSEMBLE),
}
OPERATORS: Mapping[str, Operator] = {
    **SCORING,
    "Identity": Operator(STANDARD, _VERSIONS, {}),
    # "saturate" and "round_mode" only concern types to which a cast is refused.
    "Cast": Operator(
        STANDARD, _VERSIONS, {"to": "INT", "saturate": "INT", "round_mode": "STRING"}
    ),
    "Reshape": Operator(STANDARD, _VERSIONS, {"allowzero": "INT"}, inputs=range(2, 3)),
    "Flatten": Operator(STANDARD, _VERSIONS, {"axis": "INT"}),
    "Squeeze": Operator(STANDARD, _VERSIONS, {"axes": "INTS"}, inputs=range(1, 3)),
    "Constant": Operator(STANDARD, _VERSIONS, {"value": "TENSOR"}, inputs=range(1)),
}


def of_file(text: str) -> str:
    """Return a name from a file, safe to use in a sentence.

    The name is on one line, and cut if it is long.
    """
    return one_line(text if len(text) <= _MAX_NAME else f"{text[:_MAX_NAME]}…")


def refused(node: onnx.NodeProto, problem: str, expected: str) -> UnreadableModelError:
    """Return the error for an operator with a property that cannot be read; the caller raises it.

    ``problem`` is what the operator has, and ``expected`` what it
    should have, both as parts of a sentence.
    """
    text = tr(
        "the operator {operator} of the ONNX model has {what}; expected {expected}."
    )
    return UnreadableModelError(
        text.format(operator=of_file(node.op_type), what=problem, expected=expected)
    )


def checked_operator(node: onnx.NodeProto, versions: Mapping[str, int]) -> str:
    """Return the name of an operator, after a check that it is known in its domain and version.

    Parameters
    ----------
    node : onnx.NodeProto
    versions : Mapping of str to int
        Versions of the domains that the model imports.

    Raises
    ------
    UnreadableModelError
        For any other operator.
    """
    operator = OPERATORS.get(node.op_type)
    domain = standard_name(node.domain)

    # Only functions that are defined in the model have overloads.
    is_function = bool(node.overload)
    if operator is None or operator.domain != domain or is_function:
        text = tr(
            "the ONNX model has the operator {operator}, which is not read; expected {expected}."
        )
        full_name = f"{domain}.{node.op_type}" if domain else node.op_type
        raise UnreadableModelError(
            text.format(operator=of_file(full_name), expected=", ".join(OPERATORS))
        )
    version = versions.get(domain, 0)
    if version not in operator.versions:
        expected = tr("a version from {first} to {last}")
        bounds = {"first": operator.versions.start, "last": operator.versions.stop - 1}
        raise refused(
            node,
            tr("version {version}").format(version=version),
            expected.format(**bounds),
        )

    # ONNX leaves out optional inputs at the end, or writes "" for them.
    if len(node.input) not in operator.inputs or len(node.output) != 1:
        problem = tr("{n} inputs").format(n=len(node.input))
        expected = tr("{n} inputs").format(n=operator.inputs.start)
        raise refused(node, problem, expected)
    return str(node.op_type)


def standard_name(domain: Any) -> str:
    """Return one name for a domain of ONNX operators.

    The domain of the standard operators has two names, "" and
    "ai.onnx", of which one is returned. Other names stay.
    """
    return STANDARD if domain == "ai.onnx" else str(domain)


def attributes_of(node: onnx.NodeProto, folder: Path) -> dict[str, Any]:
    """Return the attributes of an operator by name, tensors as arrays.

    ``folder`` is that of the model, in which tensors may have files of their own.

    Raises
    ------
    UnreadableModelError
        For an attribute that is unknown, of another kind, or repeated.
    """
    import onnx  # noqa: PLC0415 - an extra

    allowed = OPERATORS[node.op_type].attributes
    counts = Counter(attribute.name for attribute in node.attribute)
    values: dict[str, Any] = {}
    for attribute in node.attribute:
        name = attribute.name
        kind = onnx.AttributeProto.AttributeType.Name(attribute.type)

        # An attribute that refers to another one only occurs in functions.
        if allowed.get(name) != kind or counts[name] > 1 or attribute.ref_attr_name:
            text = tr("the attribute {name}").format(name=of_file(name))
            raise refused(node, text, ", ".join(allowed) or tr("no attributes"))
        value = onnx.helper.get_attribute_value(attribute)
        values[name] = array_of(value, folder) if kind == "TENSOR" else value
    return values


def array_of(tensor: onnx.TensorProto, folder: Path) -> np.ndarray[Any, Any]:
    """Return the values of a constant, which may be in another file in the model's folder.

    Raises
    ------
    UnreadableModelError
        If the values are elsewhere, or if their number differs from the
        size of the constant.
    """
    import onnx  # noqa: PLC0415 - an extra

    types = (
        onnx.TensorProto.FLOAT,
        onnx.TensorProto.DOUBLE,
        onnx.TensorProto.INT64,
        onnx.TensorProto.UINT8,
    )
    if tensor.data_type not in types or any(n < 0 for n in tensor.dims):
        raise unreadable(ONNX, tr("constants that are numbers"))

    # Values within the model need no file.
    if tensor.data_location != onnx.TensorProto.EXTERNAL:
        return np.asarray(onnx.numpy_helper.to_array(tensor))

    # Otherwise, the model says where the values are; they are little-endian.
    dtype = np.dtype(
        onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    ).newbyteorder("<")
    size = math.prod(tensor.dims) * dtype.itemsize
    entries = [(entry.key, entry.value) for entry in tensor.external_data]
    storage = dict(entries)  # "location", "offset" and "length" of the values

    # The same error for each of the ways in which the other file can be wrong.
    text = tr(
        "the ONNX model has values in the file {file}; expected {n} bytes in the model's folder."
    )
    error = UnreadableModelError(
        text.format(file=of_file(storage.get("location", "")), n=size)
    )
    if len(storage) != len(entries) or not storage.keys() <= {
        "location",
        "offset",
        "length",
        "checksum",
    }:
        raise error

    # The file must be in the model's folder and the length must be that of the shape.
    offset = _n_bytes(storage.get("offset", "0"))
    length = _n_bytes(storage.get("length", str(size)))
    path = _file_inside(folder, storage.get("location", ""))
    if path is None or length != size or offset is None or size > _MAX_BYTES:
        raise error
    with path.open("rb") as stream:
        stream.seek(offset)
        content = stream.read(size)
    if len(content) != size:
        raise error
    return np.frombuffer(content, dtype).reshape(tuple(tensor.dims))


def _n_bytes(text: str) -> int | None:
    """Return the number of bytes that a text of digits stands for, such as an offset in a file.

    Return None for any text that is not such a number.
    """
    return (
        int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None
    )


def _file_inside(folder: Path, location: str) -> Path | None:
    """Return the file at a location in a folder; None if it is outside the folder or not a file.

    The location is from a file that may be malicious. One that any
    operating system takes for a place outside the folder is refused on
    all systems.
    """
    names = (PurePosixPath(location), PureWindowsPath(location))
    if not location.isprintable() or any(
        name.anchor or ".." in name.parts for name in names
    ):
        return None

    # Symbolic links are followed, and lead to RuntimeError if they form a circle.
    try:
        path = (folder / location).resolve(strict=True)
        is_file = stat.S_ISREG(path.stat().st_mode)
    except (OSError, RuntimeError, ValueError):
        return None
    return path if is_file and path.is_relative_to(folder.resolve()) else None
