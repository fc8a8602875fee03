"""Open what a researcher calls a dataset: a folder with folds, a folder with parts, or one file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.formats.data_format import DATA_ENDINGS
from rankstudio.engine.data.formats.file_reader import FileContents, read_data_file
from rankstudio.engine.data.formats.group_sizes import sizes_file
from rankstudio.engine.data.known_datasets import Identity, identify
from rankstudio.engine.data.letor import file_access as files
from rankstudio.engine.data.letor.compression import without_ending
from rankstudio.engine.data.letor.missing_values import Missing, Normalize, check_options
from rankstudio.engine.data.letor.progress import Progress, ReadProgress
from rankstudio.engine.data.letor.reader import make_dataset
from rankstudio.engine.data.tabular.parts import misplaced_part, tables_by_part
from rankstudio.engine.data.trec.qrels import is_qrels_name
from rankstudio.engine.errors import DatasetError, FileAccessError, ZeroIdError
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.support import memory
from rankstudio.engine.support.files import is_there

_FOLD = re.compile(r"fold[-_ ]?(\d+)", re.IGNORECASE)
_PARTS = {
    "train": re.compile(r"train", re.IGNORECASE),
    "vali": re.compile(r"vali|valid|validation|dev", re.IGNORECASE),
    "test": re.compile(r"test", re.IGNORECASE),
}
_VERSION = re.compile(r"QueryLevelNorm|Feature[-_ ]?(null|min)|NULL|min|data|sets?", re.IGNORECASE)
_LOOKED_FOR = translatable(
    "folders named Fold1, Fold2 … with files named train, vali and test in them, or such files themselves "
    "(train.txt, trainingset.txt, vali.csv, test.txt.gz and the like)"
)


@dataclass(frozen=True)
class _FoldFiles:
    """The files of one fold, by part; train is always there."""

    number: int
    parts: dict[str, Path]


def open_dataset(
    path: str | os.PathLike[str],
    *,
    missing: Missing = "query_min",
    normalize: Normalize = False,
    columns: DataColumns | Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    cache: bool = True,
) -> FoldedDataset:
    """Open a file or a folder as one dataset.

    Parameters
    ----------
    path : str or path-like
        A file of any format of `rankstudio.engine.data.formats` (one fold that has only a train part), a
        folder that holds the parts of one fold, a folder that
        holds Fold1 … FoldK, or a folder around one of these. Parts are recognised by how their names (or what
        follows a dot in them) begin: train, vali/valid/validation/dev, test.
    columns : DataColumns or Mapping, optional
        What the columns of tables are, such as ``{"qid": "query_id", "label": "grade"}``, where common names
        do not tell; with ``{"ids_from": 0}`` the ids of SVMlight text begin at 0.
    missing, normalize, progress, cancelled, cache
        See `rankstudio.engine.data.letor.reader.load_letor`; progress is over the bytes of all files.

    Returns
    -------
    FoldedDataset
        Its features are named where the dataset is known or a ``features.csv`` stands beside the files.

    Raises
    ------
    DatasetError
        If there is nothing to open, it is not clear which file is which part, or the parts do not have the
        same features.
    FileAccessError, FormatError, MissingValueError, Cancelled, ParameterError
        As `load_letor` raises them.
    """
    check_options(missing, normalize)
    path = Path(path)
    folds = _find_folds(path)
    paths = [file for fold in folds for file in fold.parts.values()]
    reading = ReadProgress(progress, cancelled, sum(files.regular_file_size(file) for file in paths))
    told = DataColumns.of(columns or {})
    try:
        tables = _read(path, paths, reading, told, refuse=missing == "refuse", cache=cache, folds=len(folds))
    except ZeroIdError:
        if told.ids_from is not None:
            raise
        told = replace(told, ids_from=0)  # in all files alike, also where nothing has that id
        tables = _read(path, paths, reading, told, refuse=missing == "refuse", cache=cache, folds=len(folds))
    width = max(found.table.X.shape[1] for found in tables.values())
    _check_names({file: found.table.feature_names for file, found in tables.items()})
    _check_widths({file: (found.table.X.shape[1], found.table.dense) for file, found in tables.items()})
    first = tables[paths[0]]
    made = []
    for fold in folds:
        parts: dict[str, RankingDataset] = {}
        for name, file in fold.parts.items():
            reading.check()
            found = tables.pop(file)
            notes = _widening(file, found.table.X.shape[1], width)
            for place, (part, table) in enumerate(tables_by_part(found.table, name).items()):
                if part in parts:
                    raise misplaced_part(file, part, tr("those of one file alone"))
                data = make_dataset(
                    table, found.source, missing=missing, n_features=width, normalize=normalize
                )
                parts[part] = replace(data, warnings=() if place else (*data.warnings, *notes))
        if "train" not in parts:
            raise misplaced_part(path, next(iter(parts)), tr("some of the training part too"))
        made.append(Fold(fold.number, **parts))
    identity = identify(paths[0].absolute(), made[0].train)
    named = [_named(identity, fold) for fold in made]
    train = named[0].train
    named[0] = replace(named[0], train=replace(train, warnings=train.warnings + identity.warnings))
    return FoldedDataset(
        name=_name(path, folds),
        path=path,
        folds=tuple(named),
        convention=identity.convention,
        known=identity.known,
        checksum=first.source.checksum,
        read_as=first.read_as,
        columns=DataColumns.of(columns or {}),
    )


def _named(identity: Identity, fold: Fold) -> Fold:
    """Return a fold with the names that its features are known by."""
    plain = replace(identity, warnings=())
    return Fold(fold.number, **{name: plain.name_features(part) for name, part in fold.parts.items()})


def _read(
    path: Path,
    paths: Sequence[Path],
    reading: ReadProgress,
    told: DataColumns,
    *,
    refuse: bool,
    cache: bool,
    folds: int,
) -> dict[Path, FileContents]:
    """Read the files of a dataset."""
    found: dict[Path, FileContents] = {}
    for file in paths:
        found[file] = read_data_file(file, reading, told, refuse=refuse, cache=cache)
        _check_memory(path, sum(read.table.X.nbytes for read in found.values()), folds > 1)
    return found


def one_of(paths: Sequence[str]) -> str:
    """Return what stands for several files that are opened at once: the folder that they are the parts of.

    Raises
    ------
    DatasetError
        Where they are not the training, validation and test part of one fold, or not all that there are.
    """
    if len(paths) == 1:
        return paths[0]
    every = [Path(path) for path in paths]
    beside = {sizes_file(file) for file in every}
    files = [file for file in every if file not in beside]
    if len(files) == 1:
        return str(files[0])
    folders = {file.parent for file in files}
    folder = files[0].parent
    if (
        len(folders) == 1
        and all(file.is_file() for file in files)
        and set(_parts_in(folder).values()) == set(files)
    ):
        return str(folder)
    raise DatasetError(
        tr(
            "{files}: found {n_files} files, expected one, or all parts of one fold: files of "
            "one folder whose names begin with train, vali and test."
        ).format(files=_listed(files), n_files=len(files))
    )


def first_file(path: Path) -> Path:
    """Return the file itself, or the first training part of a folder.

    Raises
    ------
    DatasetError, FileAccessError
        Where there is none.
    """
    return _find_folds(path)[0].parts["train"]


def is_part_file(path: Path) -> bool:
    """Tell whether a file would be read as a part of a fold: train.txt, set1.test.txt.gz, but no test_x.py.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool
        By its name and ending alone: it is not looked into.
    """
    words = re.split("[._-]", path.name)
    named = any(pattern.match(word) for pattern in _PARTS.values() for word in words)
    return named and _is_data(path) and path.is_file()


def _find_folds(path: Path) -> list[_FoldFiles]:
    """Find the files of a dataset, looking one folder deeper if there is just one way to go."""
    if not is_there(path) or not path.is_dir():
        files.regular_file_size(path)
        return [_FoldFiles(1, {"train": path})]
    found = _folds_in(path)
    if found:
        return found
    deeper = {child: folds for child in _children(path) if child.is_dir() and (folds := _folds_in(child))}
    if len(deeper) > 1:
        raise DatasetError(
            tr(
                "{path}: found {n_deeper} datasets here ({deeper}), expected one; please open one of them."
            ).format(path=path, n_deeper=len(deeper), deeper=_listed(deeper))
        )
    if not deeper:
        raise DatasetError(
            tr("{path}: found nothing to open, expected {looked_for}.").format(
                path=path, looked_for=tr(_LOOKED_FOR)
            )
        )
    return next(iter(deeper.values()))


def _folds_in(folder: Path) -> list[_FoldFiles]:
    """Return the folds that a folder holds, in the order of their numbers; none if it holds none."""
    numbered: dict[int, Path] = {}
    for child in _children(folder):
        match = _FOLD.fullmatch(child.name)
        if match and child.is_dir():
            number = int(match[1])
            if number in numbered:
                raise DatasetError(
                    tr("{folder}: found {value} for fold {number}, expected one.").format(
                        folder=folder, value=_listed([numbered[number], child]), number=number
                    )
                )
            numbered[number] = child
    if numbered:
        folds = [_FoldFiles(number, _parts_in(child)) for number, child in sorted(numbered.items())]
        for fold in folds:
            if "train" not in fold.parts:
                raise DatasetError(
                    tr("{numbered}: found no training file, expected one such as train.txt.").format(
                        numbered=numbered[fold.number]
                    )
                )
        return folds
    qrels = [child for child in _children(folder) if is_qrels_name(child.name) and child.is_file()]
    if len(qrels) == 1:
        return [_FoldFiles(1, {"train": qrels[0]})]
    parts = _parts_in(folder)
    if parts and "train" not in parts:
        raise DatasetError(
            tr("{folder}: found {values} and no training file, expected one such as train.txt.").format(
                folder=folder, values=_listed(parts.values())
            )
        )
    return (
        [_FoldFiles(int(match[1]) if (match := _FOLD.fullmatch(folder.name)) else 1, parts)] if parts else []
    )


def _parts_in(folder: Path) -> dict[str, Path]:
    """Return the files of one fold by part."""
    parts: dict[str, Path] = {}
    data = [child for child in _children(folder) if child.is_file() and _is_data(child)]
    for name, pattern in _PARTS.items():
        candidates = [c for c in data if pattern.match(c.name)]
        if not candidates:  # Yahoo's set1.train.txt
            candidates = [c for c in data if any(map(pattern.match, re.split("[._-]", c.name)))]
        if len(candidates) > 1:
            raise DatasetError(
                tr("{folder}: found {candidates} for the {name} part, expected one file.").format(
                    folder=folder, candidates=_listed(candidates), name=name
                )
            )
        if candidates:
            parts[name] = candidates[0]
    return parts


def _is_data(path: Path) -> bool:
    return Path(without_ending(path.name.lower())).suffix in DATA_ENDINGS


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise FileAccessError(
            folder, tr("the folder could not be read: {strerror}.").format(strerror=error.strerror)
        ) from None


def _listed(paths: Iterable[Path]) -> str:
    names = [path.name for path in paths]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _check_memory(path: Path, needed: int, several: bool) -> None:
    """Raise `DatasetError` before the parts read so far are more than the machine can hold."""
    free = memory.available()
    if needed > 0.9 * (needed + free):
        advice = tr("open a single fold") if several else tr("leave out unused features, or number them anew")
        raise DatasetError(
            tr(
                "{path}: more memory is needed than there is: {size} are taken by what is read, and "
                "{size_2} are free; please {advice}."
            ).format(path=path, size=memory.size(needed), size_2=memory.size(free), advice=advice)
        )


def _check_widths(widths: dict[Path, tuple[int, bool]]) -> None:
    """Raise `DatasetError` where files that leave nothing out have different numbers of features."""
    dense = {file: width for file, (width, is_dense) in widths.items() if is_dense}
    greatest = max(widths, key=lambda file: widths[file][0])
    for file, width in dense.items():
        if width < widths[greatest][0]:
            raise DatasetError(
                tr(
                    "{file} has {width} features in every line, but {greatest} has {widths}; expected "
                    "the same features in all files of a dataset."
                ).format(file=file, width=width, greatest=greatest, widths=widths[greatest][0])
            )


def _check_names(names: dict[Path, tuple[str, ...]]) -> None:
    """Raise `DatasetError` where tables do not have the same columns in the same order."""
    first, *others = names
    for file in others:
        pairs = zip_longest(names[first], names[file], fillvalue="")
        differing = next(((a, b) for a, b in pairs if a != b), None)
        if differing and names[first] and names[file] and not names[first][0] == names[file][0] == "id 0":
            a, b = (f'"{name}"' if name else "no more features" for name in differing)
            raise DatasetError(
                f"{file}: found {b} where {first} has {a}, expected the same features in the same order "
                "in all files of a dataset."
            )


def _widening(file: Path, width: int, to: int) -> tuple[str, ...]:
    if width == to:
        return ()
    return (
        f"{file}: no feature after {width} occurs here; features {width + 1} to {to} are 0 in this file.",
    )


def _name(path: Path, folds: list[_FoldFiles]) -> str:
    """Return what to call a dataset: its folder's name, with what is needed to tell it from others."""
    path = path.absolute()
    if not path.is_dir():
        stem = path.name.split(".")[0] or path.name
        is_part = any(pattern.match(stem) for pattern in _PARTS.values())
        return f"{_name_of_folder(path.parent)} {stem}" if is_part else stem
    first = next(iter(folds[0].parts.values())).absolute().parent
    return _name_of_folder(first.parent if first != path and _FOLD.fullmatch(first.name) else first)


def _name_of_folder(folder: Path) -> str:
    """Return "MQ2008" for MQ2008, "MQ2008 Fold1" for MQ2008/Fold1, and so for OHSUMED/QueryLevelNorm."""
    if _FOLD.fullmatch(folder.name) and folder.parent.name:
        return f"{_name_of_folder(folder.parent)} {folder.name}"
    if _VERSION.fullmatch(folder.name) and folder.parent.name:
        return f"{folder.parent.name} {folder.name}"
    return folder.name
