"""Models in files to rank the documents of a dataset by: one for all folds, or one for each."""

from __future__ import annotations

import hashlib
from pathlib import Path

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.formats.data_format import format_of_name
from rankstudio.engine.data.given_scores import GivenFiles
from rankstudio.engine.errors import DataError, DatasetError, FileAccessError, shown, shown_path
from rankstudio.engine.export.model_folder import json_files, models_in
from rankstudio.engine.export.model_scores import check_columns
from rankstudio.engine.export.models import Model, load_model
from rankstudio.engine.language import tr


def find_models(place: Path, dataset: FoldedDataset) -> GivenFiles[Model]:
    """Read the models to rank the documents of a dataset by.

    Parameters
    ----------
    place : Path
        A file, whose model ranks in all folds; or a folder with ``fold1.json`` and so on, of which each
        ranks in its own fold, or with one file.
    dataset : FoldedDataset
        Its features have to be those of the models.

    Raises
    ------
    DataError
        Where a file cannot be read, is no model, or does not fit the features.
    """
    if not place.exists():
        raise FileAccessError(place, tr("file or folder not found."))
    paths = _paths(place, [fold.number for fold in dataset.folds])
    read = {path: load_model(path) for path in dict.fromkeys(paths.values())}
    for path, model in read.items():
        _check_features(model, path, dataset)
    checksums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in read}
    left_out = tuple(fold.number for fold in dataset.folds if fold.number not in paths)
    return GivenFiles({n: read[path] for n, path in paths.items()}, checksums, left_out)


def _paths(place: Path, numbers: list[int]) -> dict[int, Path]:
    """Return which file has the model of which fold."""
    if not place.is_dir():
        return dict.fromkeys(numbers, place)
    by_fold = models_in(place)
    if not by_fold:
        there = json_files(place)
        if len(there) == 1:
            return dict.fromkeys(numbers, there[0])
        raise DatasetError(
            tr("{folder}: found {n} files .json, expected fold1.json and so on, or one model.").format(
                folder=shown_path(place), n=len(there)
            )
        )
    kept = {n: by_fold[n] for n in numbers if n in by_fold}
    if not kept:
        raise DatasetError(
            tr("{folder}: found models of fold {found}, expected one of fold {folds}.").format(
                folder=shown_path(place), found=_few(list(by_fold)), folds=_few(numbers)
            )
        )
    return kept


def _few(numbers: list[int]) -> str:
    """Return numbers in a sentence; the first and the last of many."""
    return ", ".join(map(str, numbers)) if len(numbers) < 10 else f"{numbers[0]} … {numbers[-1]}"


def _check_features(model: Model, path: Path, dataset: FoldedDataset) -> None:
    """Refuse a model that asks for a feature which the data do not have, or have elsewhere."""
    train, ids = dataset.folds[0].train, set(dataset.feature_ids.tolist())
    absent = sorted(model.needed - ids)
    # Of a file that leaves zeros out, a feature that is never there is 0, and adds nothing to a sum.
    if absent and (model.beyond or not train.sparse):
        names = {feature.id: feature.name for feature in model.features}
        raise DatasetError(
            tr("{file}: features: found {id} ({name}), expected ids of {data}'s {n} features, {ids}.").format(
                file=shown_path(path),
                id=absent[0],
                name=shown(names.get(absent[0], "")),
                data=dataset.name,
                n=len(ids),
                ids=f"{min(ids)} … {max(ids)}",
            )
        )
    if train.source is not None and format_of_name(train.source.path.name).is_table:
        try:
            check_columns(model, train, train.source.path)
        except DataError as error:
            raise DatasetError(f"{shown_path(path)}: {error}") from error
