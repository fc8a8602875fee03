"""Opening of a dataset: a folder with folds, a folder with parts, or one file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.cost_files import costs_beside
from rankstudio.engine.data.dataset import (
    Fold,
    FoldedDataset,
    RankingDataset,
    changed_parts,
)
from rankstudio.engine.data.feature_names import set_mismatch, with_feature_set
from rankstudio.engine.data.feature_sets import read_feature_set
from rankstudio.engine.data.file_access import regular_file_size
from rankstudio.engine.data.fold_files import (
    FOLD,
    PARTS,
    FilesOfFold,
    find_folds,
    name_of_folder,
)
from rankstudio.engine.data.formats.format_catalog import format_of_key, named_format
from rankstudio.engine.data.formats.part_reader import FileContents, Files, PartReader
from rankstudio.engine.data.judgments import PartJudgments
from rankstudio.engine.data.known_datasets import identify
from rankstudio.engine.data.origin import DatasetOrigin
from rankstudio.engine.data.read_progress import Progress, ReadProgress
from rankstudio.engine.data.splitting.shared_rows import share_rows
from rankstudio.engine.data.table import Missing, Normalize, ReadAs, check_options
from rankstudio.engine.data.tabular.recognition import misplaced_part
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.language import tr
from rankstudio.engine.support.extensions import Extensions

# folders of results are named after the data
_WITHOUT_SLASHES = str.maketrans("/\\", "__")


def open_dataset(
    path: str | os.PathLike[str],
    *,
    columns: DataColumns | Mapping[str, Any] | None = None,
    missing: Missing = "query_min",
    normalize: Normalize = False,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    cache: bool = True,
) -> FoldedDataset:
    """Open a file or a folder as one dataset.

    Parameters
    ----------
    path : str or path-like
        A file in any format of `rankstudio.engine.data.formats` (one
        fold with only a train part), a folder with the parts of one
        fold, a folder with Fold1 … FoldK, or a folder around one of
        these. Parts are recognised by the beginning of their names, or
        of the text after a dot: train, vali/valid/validation/dev, test.
    columns : DataColumns or Mapping, optional
        Columns of tables, such as ``{"qid": "query_id", "label":
        "grade"}``, if their names are not recognised; with
        ``{"ids_from": 0}`` the ids of SVMlight text start at 0.
        ``{"labels": ["alice", "bob"], "label": "bob"}`` names the
        labels of several judges and the one in use. ``{"judgments":
        "ratings.csv"}`` and ``{"feature_set": "featureset.json"}`` name
        files that are not next to the data.
    missing, normalize, progress, cancelled, cache
        See `rankstudio.engine.data.formats.data_file.load_letor`;
        ``progress`` counts the bytes of all files.

    Returns
    -------
    FoldedDataset
        Features are named if the dataset is known or a ``features.csv``
        is next to the files.

    Raises
    ------
    DatasetError
        If there is nothing to open, the parts are ambiguous, or their
        features differ.
    FileAccessError
        If a file cannot be read.
    FormatError
        At the first invalid line of a file.
    MissingValueError
        At the first missing value, with ``missing="refuse"``.
    Cancelled
        If ``cancelled`` returned True.
    ParameterError
        For an unknown option.
    """
    check_options(missing, normalize)
    path = Path(path)
    specified = DataColumns.of(columns or {})
    # Find the files of each fold and part.
    try:
        folds = find_folds(path, judged=bool(specified.judgments))
    except DatasetError:
        # a missing plug-in is the reason: no file has its format
        named_format(specified.format, path)
        raise
    # Read the files; all parts of a dataset need the same features.
    part_files = [part for fold in folds for part in fold.parts.values()]
    total = sum(regular_file_size(file) for part in part_files for file in part)
    reading = ReadProgress(progress, cancelled, total)
    reader = PartReader(
        path,
        part_files,
        reading,
        specified,
        missing,
        normalize,
        cache=cache,
        several_folds=len(folds) > 1,
    )
    tables, width = _with_the_same_features(reader.read())
    first = tables[part_files[0]]
    opened_folds = [_opened_fold(path, fold, reader, tables, width) for fold in folds]
    judgments = (
        PartJudgments(tuple(map(reader.judgments, opened_folds[0].parts.values())))
        if specified.judges
        else None
    )
    # Folds whose parts overlap share their rows in memory.
    opened_folds = share_rows(opened_folds)
    # Known datasets have a convention and names of their features.
    identity = identify(part_files[0][0].absolute(), opened_folds[0].train)
    named_folds = [
        *changed_parts(opened_folds, replace(identity, warnings=()).name_features)
    ]
    # The first train part keeps the warnings about all files.
    train = named_folds[0].train
    warnings = (*train.warnings, *identity.warnings, *reader.notes(named_folds))
    named_folds[0] = replace(named_folds[0], train=replace(train, warnings=warnings))
    # The name of the dataset tells which judge is in use.
    judge = (
        f" ({specified.label.translate(_WITHOUT_SLASHES)})" if specified.judges else ""
    )
    as_read = first.read_as
    if specified.labels:
        as_read = replace(as_read, label=specified.label)
    dataset = FoldedDataset(
        name=_dataset_name(path, folds) + judge,
        path=path,
        folds=tuple(named_folds),
        convention=identity.convention,
        origin=DatasetOrigin(
            known=identity.known,
            checksum=first.source.checksum,
            read_as=as_read,
            columns=replace(
                specified, format=_recorded_format(first.read_as, specified)
            ),
        ),
        extensions=Extensions([identity.feature_set, judgments]),
    )
    if specified.feature_set:
        dataset = with_feature_set(
            dataset, read_feature_set(Path(specified.feature_set))
        )
        named_folds = list(dataset.folds)
    # The costs of features may be in a file next to the data.
    costs, unused_costs_note = costs_beside(dataset)
    notes = tuple(filter(None, (set_mismatch(dataset), unused_costs_note)))
    if notes:
        train = replace(named_folds[0].train, warnings=(*warnings, *notes))
        named_folds[0] = replace(named_folds[0], train=train)
    return replace(dataset, folds=tuple(named_folds)).extended(costs)


def _with_the_same_features(
    tables: dict[Files, FileContents],
) -> tuple[dict[Files, FileContents], int]:
    """Give the contents of all parts the same columns.

    ``tables`` has the contents of each part by its files. Return
    (contents with the union of the feature ids, largest number of
    features). Raise DatasetError if the files do not have the same
    features.
    """
    # The first file of a part stands for the part in messages.
    names = {
        part[0]: file_contents.table.feature_names
        for part, file_contents in tables.items()
    }
    _check_names(names)
    # Files without stored zeros lack the columns of some ids: give all
    # of them the same. ``ids`` of an array are those with a value other
    # than 0.
    if any(file_contents.table.feature_ids.size for file_contents in tables.values()):
        ids = reduce(
            np.union1d, (file_contents.table.ids for file_contents in tables.values())
        )
        tables = {
            part: replace(file_contents, table=file_contents.table.with_ids(ids))
            for part, file_contents in tables.items()
        }
    widths = {
        part[0]: (file_contents.table.X.shape[1], file_contents.table.dense)
        for part, file_contents in tables.items()
    }
    _check_widths(widths)
    return tables, max(width for width, _ in widths.values())


def _opened_fold(
    path: Path,
    fold: FilesOfFold,
    reader: PartReader,
    tables: dict[Files, FileContents],
    width: int,
) -> Fold:
    """Make a fold from the contents of its files, which are removed from ``tables``.

    So the memory of the contents is free once the datasets are made.

    Parameters
    ----------
    path : Path
        The dataset, for messages.
    fold : FilesOfFold
        Number of the fold, and the files of its parts.
    reader : PartReader
        Makes datasets of contents.
    tables : dict of Files to FileContents
        Contents of each part, by its files.
    width : int
        Number of features of the whole dataset; narrower parts get
        columns of zeros, with a note.

    Raises
    ------
    DatasetError
        If a part occurs twice, or there is no training part.
    """
    parts: dict[str, RankingDataset] = {}
    for name, part_files in fold.parts.items():
        file_contents = tables.pop(part_files)
        notes = _widening_note(part_files[0], file_contents.table.X.shape[1], width)
        for index, (part, data) in enumerate(
            reader.datasets(part_files, file_contents, name, width).items()
        ):
            if part in parts:
                raise misplaced_part(
                    part_files[0], part, tr("documents of this part in one file only")
                )
            # Several parts may come from one file: only the first has its warnings.
            parts[part] = replace(
                data, warnings=() if index else (*data.warnings, *notes)
            )
    if "train" not in parts:
        raise misplaced_part(
            path, next(iter(parts)), tr("documents of the training part, too")
        )
    return Fold(fold.number, **parts)


def _check_widths(widths: dict[Path, tuple[int, bool]]) -> None:
    """Raise `DatasetError` if a dense file has fewer features than another file.

    ``widths`` has (number of features, whether dense) by file. A dense
    file has a value for every feature, so that its features cannot be
    completed with zeros.
    """
    dense = {file: width for file, (width, is_dense) in widths.items() if is_dense}
    greatest = max(widths, key=lambda file: widths[file][0])
    for file, width in dense.items():
        if width < widths[greatest][0]:
            raise DatasetError(
                tr(
                    "{file} has {width} features in every line, but {greatest} has {widths}; expected "
                    "the same features in all files of a dataset."
                ).format(
                    file=file,
                    width=width,
                    greatest=greatest,
                    widths=widths[greatest][0],
                )
            )


def _check_names(names: dict[Path, tuple[str, ...]]) -> None:
    """Raise `DatasetError` if files do not have the same features in the same order.

    ``names`` has the names of the features by file; () for a file
    without names, which agrees with any other.
    """
    first, *other_files = names
    for file in other_files:
        pairs = zip_longest(names[first], names[file], fillvalue="")
        differing = next(((a, b) for a, b in pairs if a != b), None)  # the first pair
        # Files whose ids count from 0 may have different numbers of
        # features: their names are "id 0" and so on.
        count_from_zero = names[first][:1] == names[file][:1] == ("id 0",)
        if differing and names[first] and names[file] and not count_from_zero:
            a, b = (f'"{name}"' if name else "no more features" for name in differing)
            raise DatasetError(
                f"{file}: found {b} where {first} has {a}; expected the same features in the same order "
                "in all files of a dataset."
            )


def _widening_note(file: Path, width: int, to: int) -> tuple[str, ...]:
    """Return a note that the last features are 0 in a file, if any."""
    if width == to:
        return ()
    return (
        f"{file}: the last feature is {width}; features {width + 1} to {to} are 0 in this file.",
    )


def _recorded_format(read_as: ReadAs, specified: DataColumns) -> str:
    """Return the format for a plan: a plug-in's format with its package, any other format as specified."""
    form = format_of_key(read_as.format)
    return form.recorded if form.package else specified.format


def _dataset_name(path: Path, folds: list[FilesOfFold]) -> str:
    """Return the name of a dataset: that of its file, or of the folder with its folds or parts.

    A file named after a part, such as train.txt, gets the name of its
    folder, too.
    """
    path = path.absolute()
    if not path.is_dir():
        stem = path.name.split(".")[0] or path.name
        is_part = any(pattern.match(stem) for pattern in PARTS.values())
        return f"{name_of_folder(path.parent)} {stem}" if is_part else stem
    # The folder of the first file, or the one above if it is that of a fold.
    first_folder = next(iter(folds[0].parts.values()))[0].absolute().parent
    return name_of_folder(
        first_folder.parent
        if first_folder != path and FOLD.fullmatch(first_folder.name)
        else first_folder
    )
