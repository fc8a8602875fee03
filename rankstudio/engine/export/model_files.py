"""Models in files: one model, or a folder with a model for each fold."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset, default_names
from rankstudio.engine.data.file_access import children
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.formats.format_catalog import format_of_name
from rankstudio.engine.data.formats.joined_files import holds_logs
from rankstudio.engine.data.given_scores import GivenFiles
from rankstudio.engine.data.table import Missing, scaling
from rankstudio.engine.errors import (
    DataError,
    DatasetError,
    FileAccessError,
    shown,
    shown_path,
)
from rankstudio.engine.export.exported_names import FEATURE_SET
from rankstudio.engine.export.foreign.model_readers import (
    ENDINGS,
    foreign_model,
    is_foreign_text,
    model_in_data,
    own_model,
    parsed_file,
)
from rankstudio.engine.export.foreign.plugin_models import (
    is_plugin_model,
    may_be_plugin_model,
    plugin_model,
)
from rankstudio.engine.export.models import Model
from rankstudio.engine.language import tr
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.shard import shards_of
from rankstudio.engine.support.sparse_rows import SparseRows

FOLDER = "models"
"""Name of the folder of a run's models, next to its other results."""

_RESULTS_FILE = "results.json"
_FOLD_FILE_NAME = re.compile(r"fold[ ._-]?([0-9]{1,6})", re.IGNORECASE)
# files of a folder that are examined: a home folder, for example, would take minutes
_MAX_FILES = 20_000


def read_for(
    model: Model,
    path: Path,
    columns: Mapping[str, Any] | None = None,
    *,
    labels: bool = True,
) -> RankingDataset:
    """Read a data file in the way in which the data of a model's training were read.

    Missing values are treated and values scaled in the same way.

    Parameters
    ----------
    model : Model
        Model that records the treatment of missing values, and the scaling.
    path : Path
        Data file.
    columns : Mapping, optional
        Names of the columns of a table, as `Plan` has them; by default
        those of the model's plan.
    labels : bool
        Whether the documents need labels.

    Raises
    ------
    DataError
        If the file cannot be read, or a feature of the model is in
        another column.
    """
    table_columns = columns or model.plan.get("columns", {})
    data = load_data(
        path,
        columns=table_columns,
        missing=cast(Missing, model.missing),
        normalize=scaling(model.normalize),
        labels=labels,
    )
    # In tables and logs of a search engine, the id of a feature is the
    # number of its column, which may have moved.
    if format_of_name(path.name).is_table or holds_logs(path):
        check_columns(model, data, path)
    return data


def score_file(
    model_path: Path,
    data_path: Path,
    columns: Mapping[str, Any] | None = None,
    *,
    labels: bool = False,
) -> tuple[Floats, RankingDataset, tuple[str, ...]]:
    """Score the documents of a data file with the model in another file.

    Parameters
    ----------
    model_path, data_path : Path
        File of the model, and file of the data.
    columns : Mapping, optional
        Names of the columns of a table, as `Plan` has them; by default
        those of the model's plan.
    labels : bool
        Whether to read labels. Otherwise all labels are 0, and the file
        need not have any.

    Returns
    -------
    tuple
        Scores in row order, shape (m,); the data; and notes on the
        model and the data for the user, as sentences.

    Raises
    ------
    DataError
        If a file cannot be read, or the model cannot score the data.
    """
    model, data = model_and_data(model_path, data_path, columns, labels=labels)
    return model_scores(model, data), data, other_names(model, data)


def model_and_data(
    model_path: Path,
    data_path: Path,
    columns: Mapping[str, Any] | None = None,
    *,
    labels: bool = True,
) -> tuple[Model, RankingDataset]:
    """Read a model, of RankStudio or of another program, and the documents to score.

    `columns` names the columns of a table, by default as in the model's
    plan; `labels` says whether the documents need labels. DataError is
    raised if a file cannot be read, or the model does not fit the data.
    """
    # None for a file that is not a model of another program.
    parsed_model = parsed_file(model_path)
    if parsed_model is None:
        # The file may be in the format of a plug-in, otherwise it is RankStudio's.
        if may_be_plugin_model(model_path):
            data = load_data(data_path, columns=columns, labels=labels)
            model_of_plugin = plugin_model(model_path, FoldedDataset.of(data))
            if model_of_plugin is not None:
                return model_of_plugin, data
        model = own_model(model_path)
        return model, read_for(model, data_path, columns, labels=labels)
    # The model of another program.
    data = load_data(data_path, columns=columns, labels=labels)
    return model_in_data(parsed_model, FoldedDataset.of(data), model_path), data


def check_columns(model: Model, data: RankingDataset, path: Path) -> None:
    """Raise a DatasetError if a column of a table has moved since a model was trained.

    A column has moved if a feature of the model is in the data under
    its name, but with another id. `path` is the path of the table, for
    the message.
    """
    names = data.feature_names
    by_name = dict(zip(names, data.feature_ids.tolist(), strict=True))
    for feature in model.features:
        data_id = by_name.get(feature.name, feature.id)
        if data_id != feature.id and names.count(feature.name) == 1:
            raise DatasetError(
                f"{shown_path(path)}: found {feature.name} as feature {data_id}, expected it as feature "
                f"{feature.id}, as in the training data of the model. List the columns in that order "
                "(--columns)."
            )


def other_names(model: Model, data: RankingDataset) -> tuple[str, ...]:
    """Return a note on the first feature with different names in model and data.

    Features are matched by id. If a table has other columns, or in
    another order, its ids belong to other features. The result is ()
    without such a feature.
    """
    # The name of each feature by its id, and the name it would have by default.
    ids = data.feature_ids
    names_by_id = dict(
        zip(
            ids.tolist(),
            zip(data.feature_names, default_names(ids), strict=True),
            strict=True,
        )
    )
    for feature in model.features:
        # Names by default only number the features, and are no
        # contradiction. A feature that the data do not have is compared
        # with itself.
        name, default = names_by_id.get(feature.id, (feature.name, ""))
        if name != feature.name and default not in (name, feature.name):
            return (
                f"Feature {feature.id} is {feature.name!r} in the model and {name!r} in the data; both are "
                "treated as the same feature.",
            )
    return ()


def model_scores(model: Model, data: RankingDataset) -> Floats:
    """Return the scores of all documents of a dataset by a model.

    Parameters
    ----------
    model : Model
        Model to score with.
    data : RankingDataset
        Data filled and scaled as the model requires. For a file that
        omits zeros, features without values count as 0.

    Returns
    -------
    ndarray of shape (m,)
        Scores in row order.

    Raises
    ------
    DataError
        If a feature is missing, or a score cannot be computed.
    """
    ids = data.feature_ids
    # Sparse files leave out features that are always 0: columns of
    # zeros are added for them.
    absent = sorted(model.needed - set(ids.tolist())) if data.sparse else []
    ids = np.concatenate([ids, np.array(absent, dtype=ids.dtype)])
    scores = []
    # One range of queries after the other, so that large data need little memory.
    for shard in shards_of(data.query_ptr):
        X = data.X[shard.rows]
        all_columns: Any = X
        if isinstance(X, SparseRows):
            all_columns = X.widened(ids.size)
        elif absent:
            all_columns = np.column_stack([X, np.zeros((X.shape[0], len(absent)))])
        scores.append(model.predict(all_columns, ids))
        release(X)  # frees the memory of rows mapped from a file
    return scores[0] if len(scores) == 1 else np.concatenate(scores)


def fold_of_name(path: Path) -> int | None:
    """Return the number of the fold in the name of a model's file; None if it has none.

    Examples
    --------
    >>> fold_of_name(Path("models/fold2.json")), fold_of_name(Path("models/all.json"))
    (2, None)
    """
    match = _FOLD_FILE_NAME.fullmatch(path.stem)
    if match and path.suffix.lower() not in ENDINGS and not is_plugin_model(path):
        return None
    return int(match[1]) if match else None


def models_in(folder: Path) -> dict[int, Path]:
    """Return the paths of the models of folds in a folder, by fold number.

    The files may also be in the folder's subfolder "models". The result
    is {} without models.

    Raises
    ------
    FileAccessError
        If the folder cannot be read.
    DatasetError
        If a fold has two models.
    """
    # Files whose name has the number of a fold: an error if two have the same.
    models_by_fold: dict[int, Path] = {}
    for path in files_of_models(folder):
        number = fold_of_name(path)
        if number is not None and number in models_by_fold:
            raise DatasetError(
                tr(
                    "{folder}: found {a} and {b} for fold {fold}, expected one model."
                ).format(
                    folder=shown_path(folder),
                    a=models_by_fold[number].name,
                    b=path.name,
                    fold=number,
                )
            )
        if number is not None:
            models_by_fold[number] = path
    # A folder of results has its models in a folder of their own.
    subfolder = folder / FOLDER
    if not models_by_fold and subfolder.is_dir():
        return models_in(subfolder)
    return dict(sorted(models_by_fold.items()))


def holds_models(path: Path) -> bool:
    """Return whether a file may be a model, or a folder has models of folds.

    A file is judged by the ending of its name and its first bytes; any
    JSON file may be a model.
    """
    try:
        if not path.is_dir():
            return (
                path.suffix.lower() == ".json"
                or is_foreign_text(path)
                or is_plugin_model(path)
            )
        # Models of folds in the folder, or in the subfolder of a run's results.
        has_models = any(
            fold_of_name(child) is not None for child in files_of_models(path)
        )
        return has_models or (
            (path / _RESULTS_FILE).is_file() and bool(models_in(path))
        )
    except (OSError, DatasetError, FileAccessError):
        return False


def files_of_models(folder: Path) -> list[Path]:
    """Return the paths of the files in a folder that may be models.

    These are JSON files and models of other programs. Hidden files and
    feature sets of search engines are left out.

    Raises
    ------
    FileAccessError
        If the folder cannot be read.
    """
    paths = [path for path in children(folder) if not path.name.startswith(".")]
    paths = [path for path in paths if not path.name.endswith(FEATURE_SET)]
    # Files with an ending of models, and files in formats of plug-ins.
    files = [
        path
        for path in paths[:_MAX_FILES]
        if path.suffix.lower() in ENDINGS and path.is_file()
    ]
    plugin_paths = [
        path
        for path in paths[:_MAX_FILES]
        if path not in files and is_plugin_model(path)
    ]
    # Other files than JSON must begin like a model of another program.
    model_paths = [
        path
        for path in files
        if path.suffix.lower() == ".json" or is_foreign_text(path)
    ]
    return [*model_paths, *plugin_paths]


def find_models(location: Path, dataset: FoldedDataset) -> GivenFiles[Model]:
    """Read the models that rank the documents of a dataset.

    Parameters
    ----------
    location : Path
        A file with one model for all folds; or a folder with
        ``fold1.json`` and so on, one per fold, or with a single file.
    dataset : FoldedDataset
        Data with the features of the models.

    Returns
    -------
    GivenFiles
        The model of each fold by its number, the checksum of each file,
        and the numbers of the folds without a model.

    Raises
    ------
    DataError
        If a file cannot be read, is not a model, or does not match the features.
    """
    if not location.exists():
        raise FileAccessError(location, tr("file or folder not found."))
    # Each file is read and checked once, even if it is that of all folds.
    paths = _paths_by_fold(location, [fold.number for fold in dataset.folds])
    models = {
        path: _read_model(path, dataset) for path in dict.fromkeys(paths.values())
    }
    for path, model in models.items():
        _check_features(model, path, dataset)
    checksums = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in models
    }
    left_out = tuple(fold.number for fold in dataset.folds if fold.number not in paths)
    return GivenFiles(
        {n: models[path] for n, path in paths.items()}, checksums, left_out
    )


def _read_model(path: Path, dataset: FoldedDataset) -> Model:
    """Read a model of another program, of a plug-in, or of RankStudio."""
    return (
        foreign_model(path, dataset) or plugin_model(path, dataset) or own_model(path)
    )


def _paths_by_fold(location: Path, numbers: list[int]) -> dict[int, Path]:
    """Return the path of the model's file for each fold, by fold number.

    `location` is a file for all folds, or a folder, and `numbers` has
    the numbers of the folds. Folds without a model are left out;
    DatasetError is raised if all folds lack a model.
    """
    # One model for all folds.
    if not location.is_dir():
        return dict.fromkeys(numbers, location)

    # A folder needs a model for each fold, or a single model.
    by_fold = models_in(location)
    if not by_fold:
        files = files_of_models(location)
        if len(files) == 1:
            return dict.fromkeys(numbers, files[0])
        raise DatasetError(
            tr(
                "{folder}: found {n} files of models, expected fold1.json and so on, or one model."
            ).format(folder=shown_path(location), n=len(files))
        )

    # A folder with models of other folds only is an error.
    fold_paths = {n: by_fold[n] for n in numbers if n in by_fold}
    if not fold_paths:
        raise DatasetError(
            tr(
                "{folder}: found models of fold {found}, expected one of fold {folds}."
            ).format(
                folder=shown_path(location),
                found=_numbers_text(list(by_fold)),
                folds=_numbers_text(numbers),
            )
        )
    return fold_paths


def _numbers_text(numbers: list[int]) -> str:
    """Return numbers of folds as a text for a message.

    The text has all numbers, or the first and the last of ten or more.
    """
    return (
        ", ".join(map(str, numbers))
        if len(numbers) < 10
        else f"{numbers[0]} … {numbers[-1]}"
    )


def _check_features(model: Model, path: Path, dataset: FoldedDataset) -> None:
    """Raise a DatasetError if the data lack a feature of a model.

    The error is also raised if the data have the feature in another
    column. `path` is the path of the model, for the message.
    """
    train = dataset.folds[0].train
    ids = set(dataset.feature_ids.tolist())
    absent = sorted(model.needed - ids)

    # A feature that never occurs in files without zeros is always 0,
    # and adds nothing to a weighted sum.
    if absent and (model.beyond or not train.sparse):
        names = {feature.id: feature.name for feature in model.features}
        raise DatasetError(
            tr(
                "{file}: features: found {id} ({name}), expected ids of {data}'s {n} features, {ids}."
            ).format(
                file=shown_path(path),
                id=absent[0],
                name=shown(names.get(absent[0], "")),
                data=dataset.name,
                n=len(ids),
                ids=f"{min(ids)} … {max(ids)}",
            )
        )
    # In a table, also one that a protocol divides, the id of a feature
    # is the number of its column.
    table_path = train.source.path if train.source else dataset.path
    # Only tables have a source of the labels, `read_as.label`.
    if dataset.origin.read_as.label and table_path is not None:
        try:
            check_columns(model, train, table_path)
        except DataError as error:
            raise DatasetError(f"{shown_path(path)}: {error}") from error
