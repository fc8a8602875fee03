"""The user's own importance and similarity of features: arrays, functions of the documents, or CSV files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.feature_groups import read_feature_file
from rankstudio.engine.errors import DatasetError, ParameterError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.parameter import Parameter
from rankstudio.engine.methods.shards.training_data import TrainingData

# Squares and sums of larger numbers could leave the floating-point range.
_MAX_SIZE = 1e50
OwnValues = ArrayLike | Callable[[Floats, Floats, Ints], ArrayLike]
"""Numbers of the features, or a function of X (m, n), y (m,) and their queries (m,) that returns them."""


def own_importance(
    value: OwnValues, data: TrainingData, *, with_negatives: bool = True
) -> Floats:
    """Return the importance that a user gives to the n features of some training data.

    Parameters
    ----------
    value : array-like or callable
        One number from 0 up for each feature, shape (n,). If
        ``with_negatives``, the shape may also be (2n,), with the
        importance of the features' negatives last. A function of
        features, labels and queries returns such numbers.
    data : TrainingData
        The documents.
    with_negatives : bool, default True
        Whether the result includes the features' negatives. By default,
        a negative has the importance of its feature.

    Returns
    -------
    ndarray of shape (2n,), or (n,) without ``with_negatives``
        Importance of each feature.

    Raises
    ------
    ParameterError
        For another shape, or a number that is negative or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import QueryData, own_importance, training_data
    >>> X = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [4.0, 0.0]])
    >>> data = training_data(QueryData(X, np.array([0.0, 1.0, 0.0, 2.0]), np.array([0, 2, 4])))
    >>> own_importance([0.5, 2.0], data).tolist()  # of features, then of their negatives
    [0.5, 2.0, 0.5, 2.0]
    """
    n = data.X.shape[1]
    importance = _as_numbers("importance", value, data)
    # One number per feature also counts for the feature's negative.
    if importance.shape == (n,) and with_negatives:
        importance = np.tile(importance, 2)
    expected_shape = (2 * n,) if with_negatives else (n,)
    if importance.shape != expected_shape:
        expected = tr("one number for each of the {n} features").format(n=n)
        raise ParameterError("importance", _shape_text(importance), expected)
    is_valid = np.isfinite(importance) & (importance >= 0)
    if not is_valid.all():
        first_invalid = importance[~is_valid][0]
        raise ParameterError(
            "importance", float(first_invalid), tr("finite numbers from 0 up")
        )
    return importance


def own_similarity(value: OwnValues, data: TrainingData) -> Floats:
    """Return the similarities that a user gives to the pairs of n features, shape (n, n).

    ``value`` is an array, or a function of features, labels and queries
    that returns one. The returned matrix is exactly symmetric.

    Raises
    ------
    ParameterError
        For another shape, a number that is not finite or too large, a
        negative number on the diagonal, or a matrix that is not
        symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import QueryData, own_similarity, training_data
    >>> X = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [4.0, 0.0]])
    >>> data = training_data(QueryData(X, np.array([0.0, 1.0, 0.0, 2.0]), np.array([0, 2, 4])))
    >>> own_similarity(lambda X, y, qid: np.eye(X.shape[1]), data).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    n = data.X.shape[1]
    similarity = _as_numbers("similarity", value, data)
    if similarity.shape != (n, n):
        expected = tr("a row and a column for each of the {n} features").format(n=n)
        raise ParameterError("similarity", _shape_text(similarity), expected)
    is_finite = np.isfinite(similarity)
    if not is_finite.all():
        raise ParameterError(
            "similarity", float(similarity[~is_finite][0]), tr("finite numbers")
        )
    if (size := float(np.abs(similarity).max())) > _MAX_SIZE:
        raise ParameterError(
            "similarity", size, tr("numbers up to {most:g}").format(most=_MAX_SIZE)
        )
    if (least := float(np.diag(similarity).min())) < 0.0:
        expected = tr("similarities of features with themselves from 0 up")
        raise ParameterError("similarity", least, expected)
    # The pair of features whose two similarities differ most.
    i, j = np.unravel_index(
        int(np.argmax(np.abs(similarity - similarity.T))), similarity.shape
    )
    # Differences by rounding are allowed, and removed at the end.
    if not np.isclose(similarity[i, j], similarity[j, i], rtol=1e-9, atol=1e-12):
        text = tr("{a:g} and {b:g} for features {i} and {j}").format(
            a=similarity[i, j], b=similarity[j, i], i=i + 1, j=j + 1
        )
        raise ParameterError("similarity", text, tr("a symmetric matrix"))
    return np.asarray((similarity + similarity.T) / 2.0)


def _as_numbers(name: str, value: OwnValues, data: TrainingData) -> Floats:
    """Return the numbers of an array, or those that a function returns for the documents.

    ``value`` is the array or the function. ``name`` is that of the
    parameter, for errors. The function gets the features (m, n), the
    labels (m,) and the number of each document's query (m,), from 0.
    Raises a ParameterError for anything but numbers. ``data`` are the
    training documents.
    """
    if callable(value):
        query_data = data.whole(name)
        queries = np.repeat(np.arange(query_data.ptr.size - 1), np.diff(query_data.ptr))
        value = value(query_data.X, query_data.y, queries)
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(name, value, tr("an array of numbers")) from None


def _shape_text(array: Floats) -> str:
    return tr("an array of shape {shape}").format(shape=array.shape)


def read_own_values(
    parameter: Parameter, path: str, columns: Mapping[int, int]
) -> tuple[Any, ...]:
    """Read the numbers of a CSV file for a parameter, in the order of the columns of the data.

    Parameters
    ----------
    parameter : Parameter
        The parameter, by which the form of the file differs. For an
        importance, it is a table with the columns ``feature``, the id,
        and ``importance``. For a similarity, it has a first row of ids,
        and then a row for each feature that begins with the feature's
        id.
    path : str
        Path of the file.
    columns : Mapping of int to int
        Column of each feature of the data by its id, in the order of the columns.

    Returns
    -------
    tuple
        For an importance, a number per feature. For a similarity, a
        tuple of numbers per feature, a row of the matrix.

    Raises
    ------
    DatasetError
        If the file does not have this form, or a feature of the data is
        missing; the message names the line.
    FileAccessError
        If the file cannot be read.
    """
    is_matrix = parameter.name == "similarity"
    # The form of the file, for error messages.
    if is_matrix:
        expected = tr("a row of feature ids, and a row for each feature, its id first")
    else:
        expected = tr("the columns feature (an id) and {name}").format(
            name=parameter.name
        )
    header, rows = _table_rows(path, expected)
    # Feature id of each number of a row, in a matrix from the header
    # after its first cell. A row of importance has one number, which
    # needs no id: the 0 only gives the list its length.
    number_ids = (
        [_feature_id(path, 1, item, expected) for item in header[1:]]
        if is_matrix
        else [0]
    )
    if not is_matrix and [item.strip().lower() for item in header[:2]] != [
        "feature",
        parameter.name,
    ]:
        raise DatasetError(
            _problem_text(path, 1, ",".join(header) or tr("nothing"), expected)
        )
    # The numbers of each row by the feature's id. Line 1 of the file is the header.
    feature_rows: dict[int, list[float]] = {}
    for number, row in enumerate(rows, start=2):
        feature = _feature_id(path, number, row[0], expected)
        feature_rows[feature] = _numbers_after(
            path, number, row, len(number_ids), expected
        )
    # The file may have features that the data do not have, but not the
    # reverse. A feature of a matrix needs both a row and a column.
    known_ids = (
        feature_rows.keys() & set(number_ids) if is_matrix else feature_rows.keys()
    )
    missing_features = [i for i in columns if i not in known_ids]
    if missing_features:
        text = tr(
            "{path}: found no {what} of feature {feature}, expected that of all {n} features of the data."
        )
        raise DatasetError(
            text.format(
                path=path,
                what=tr(parameter.label),
                feature=missing_features[0],
                n=len(columns),
            )
        )
    # From the order of the file to that of the data's columns.
    if not is_matrix:
        return tuple(feature_rows[i][0] for i in columns)
    column_order = [number_ids.index(i) for i in columns]
    return tuple(
        tuple(feature_rows[i][index] for index in column_order) for i in columns
    )


def _table_rows(path: str, expected: str) -> tuple[list[str], list[list[str]]]:
    """Return the first row of a CSV file, and the other rows; empty lines are skipped.

    ``expected`` describes the form of the file, for errors. Raises a
    FileAccessError if the file cannot be read, or a DatasetError if the
    file is too large.
    """
    text = read_feature_file(Path(path), expected)
    lines = [row for row in csv.reader(text.splitlines()) if row]
    return (lines[0], lines[1:]) if lines else ([], [])


def _numbers_after(
    path: str, line: int, row: list[str], size: int, expected: str
) -> list[float]:
    """Return the ``size`` numbers of a row after the id of its feature.

    ``row`` has the cells of the row as texts, and ``line`` is its
    number in the file. Raises a DatasetError that names the line and
    the ``expected`` form of the file.
    """
    if len(row) != size + 1:
        raise DatasetError(
            _problem_text(path, line, tr("{n} cells").format(n=len(row)), expected)
        )
    try:
        return [float(cell) for cell in row[1:]]
    except ValueError:
        raise DatasetError(
            _problem_text(path, line, ",".join(row), tr("numbers after the id"))
        ) from None


def _feature_id(path: str, line: int, text: str, expected: str) -> int:
    """Return the feature id in a cell with a ``text``.

    Raises a DatasetError that names the line and the ``expected`` form of the file.
    """
    try:
        return int(text)
    except ValueError:
        raise DatasetError(_problem_text(path, line, text, expected)) from None


def _problem_text(path: str, line: int, cells: str, expected: str) -> str:
    """Return the message that a line of a file has these cells, and not what was expected."""
    text = tr("{path}, line {line}: found {found}, expected {expected}.")
    return text.format(path=path, line=line, found=shown(cells), expected=expected)
