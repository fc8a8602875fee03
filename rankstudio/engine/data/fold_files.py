"""The files of a dataset: folds, their parts, the files of each part; and their protection from outputs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rankstudio.engine.data.file_access import (
    children,
    regular_file_size,
    without_ending,
)
from rankstudio.engine.data.formats.format_catalog import data_endings
from rankstudio.engine.data.formats.joined_files import holds_logs, logs_in
from rankstudio.engine.data.formats.judgments import judgment_files
from rankstudio.engine.data.formats.query_sizes import sizes_file
from rankstudio.engine.data.formats.trec import is_qrels_name, runs_beside
from rankstudio.engine.errors import (
    DatasetError,
    OutputError,
    RankStudioError,
    SeveralDatasetsError,
)
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.support.files import is_there

FOLD = re.compile(r"fold[-_ ]?(\d+)", re.IGNORECASE)
_VERSION = re.compile(
    r"QueryLevelNorm|Feature[-_ ]?(null|min)|NULL|min|data|sets?", re.IGNORECASE
)
PARTS = {
    "train": re.compile(r"train", re.IGNORECASE),
    "vali": re.compile(r"vali|valid|validation|dev", re.IGNORECASE),
    "test": re.compile(r"test", re.IGNORECASE),
}
_NUMBER = re.compile(r"(?<=[-_.])(\d+)(?=[-_.]|$)")
_EXPECTED_FILES = translatable(
    "folders named Fold1, Fold2 … that contain train, vali and test files, or such files "
    "themselves (train.txt, trainingset.txt, vali.csv, test.txt.gz); or feature logs (.json, .ndjson) next "
    "to judgments (qrels.txt, ratings.csv)"
)


@dataclass(frozen=True)
class FilesOfFold:
    """Files of one fold.

    Attributes
    ----------
    number : int
        Number of the fold, from 1.
    parts : dict from str to tuple of Path
        Files of each part, in order, by the part's name: "train",
        "vali" or "test". The part "train" is present.
    """

    number: int
    parts: dict[str, tuple[Path, ...]]


def path_to_open(paths: Sequence[str]) -> str:
    """Return the path to open for files that the user opens together.

    Files with the sizes of queries, and judgments of logs, are ignored.
    One file with data is the path itself; several logs, or the parts of
    one fold, are opened by their folder.

    Raises
    ------
    DatasetError
        If the files are not exactly the training, validation and test
        part of one fold.
    """
    if len(paths) == 1:
        return paths[0]
    candidates = [Path(path) for path in paths]
    # A file with the sizes of queries is found beside its data.
    size_files = {sizes_file(file) for file in candidates}
    data_files = [file for file in candidates if file not in size_files]
    path = _path_of_logs(data_files)
    if path is not None:
        return str(path)
    if len(data_files) == 1:
        return str(data_files[0])
    # All parts of one fold are opened by their folder.
    folders = {file.parent for file in data_files}
    folder = data_files[0].parent
    if len(folders) == 1 and all(file.is_file() for file in data_files):
        files_of_parts = {file for part in _parts_in(folder).values() for file in part}
        if files_of_parts == set(data_files):
            return str(folder)
    raise DatasetError(
        tr(
            "{files}: found {n_files} files. Expected one file, or the parts of one fold in one folder, "
            "whose names begin with train, vali and test."
        ).format(files=_names_text(data_files), n_files=len(data_files))
    )


def _path_of_logs(files: Sequence[Path]) -> Path | None:
    """Return the path to open for feature logs: the only log file, or the folder.

    Feature logs are responses of a search engine with feature values.
    They may be opened together with their judgments, which are found
    again beside the logs. Return None if there are no logs, or other
    files among them.
    """
    logs = [file for file in files if holds_logs(file)]
    if not logs:
        return None
    judgments = judgment_files(logs[0].parent)
    if not all(file in judgments for file in files if file not in logs):
        return None
    return logs[0] if len(logs) == 1 else logs[0].parent


def first_file(path: Path) -> Path:
    """Return a file itself, or the first file of the training part in a folder.

    Raises
    ------
    DatasetError, FileAccessError
        If there is no such file.
    """
    return find_folds(path)[0].parts["train"][0]


def is_part_file(path: Path) -> bool:
    """Return whether a file name is that of a fold's part: train.txt, set1.test.txt.gz, but not test_x.py.

    Parameters
    ----------
    path : Path
        Path whose last component is the name.

    Returns
    -------
    bool
        Whether name and ending are those of a part; the file is not read.
    """
    words = re.split("[._-]", path.name)
    named = any(pattern.match(word) for pattern in PARTS.values() for word in words)
    return named and _is_data(path) and path.is_file()


def find_folds(path: Path, *, judged: bool = False) -> list[FilesOfFold]:
    """Find the files of each fold of a dataset, looking one folder deeper if needed.

    ``path`` is a data file or a folder. A folder of feature logs
    (responses of a search engine) needs judgments in it, unless it is
    ``judged`` by a file elsewhere: then it is one training part. Raise
    DatasetError if there is no dataset or several, FileAccessError for
    a missing file.
    """
    # A file is one fold with a training part only; it has to exist.
    if not is_there(path) or not path.is_dir():
        # Called for its errors only.
        regular_file_size(path)
        return [FilesOfFold(1, {"train": (path,)})]
    logs = logs_in(path) if judged else ()
    if logs:
        return [FilesOfFold(1, {"train": logs})]
    folds = folds_in(path)
    if folds:
        return folds
    # Otherwise one folder within has to contain a dataset.
    folds_of_child: dict[Path, list[FilesOfFold]] = {}
    for child in children(path):
        child_folds = folds_in(child) if child.is_dir() else []
        if child_folds:
            folds_of_child[child] = child_folds
    if len(folds_of_child) > 1:
        raise SeveralDatasetsError(path, tuple(folds_of_child))
    if not folds_of_child:
        raise DatasetError(
            tr("{path}: found no dataset, expected {looked_for}.").format(
                path=path, looked_for=tr(_EXPECTED_FILES)
            )
        )
    return next(iter(folds_of_child.values()))


def folds_in(folder: Path) -> list[FilesOfFold]:
    """Return the files of each fold of the dataset in a folder, in the order of the folds' numbers.

    Return [] if the folder has no dataset.

    Raises
    ------
    DatasetError, FileAccessError
        If the files of a part are ambiguous, a training part is
        missing, or the folder cannot be read.
    """
    # Folders with numbers, such as Fold1, contain one fold each.
    numbered = _numbered_folders(folder)
    if numbered:
        folds = [
            FilesOfFold(number, _parts_in(child))
            for number, child in sorted(numbered.items())
        ]
        for fold in folds:
            if "train" not in fold.parts:
                raise DatasetError(
                    tr(
                        "{numbered}: found no training file, expected one such as train.txt."
                    ).format(numbered=numbered[fold.number])
                )
        return folds
    # A file of judgments, such as qrels.txt, stands for data whose
    # features are in other files of the folder.
    qrels = [
        child
        for child in children(folder)
        if is_qrels_name(child.name) and child.is_file()
    ]
    if len(qrels) == 1:
        # Judgments of feature logs, or of TREC runs. Runs beside it
        # take precedence; their reader opens the file of judgments.
        judges_logs = not runs_beside(qrels[0]) and judgment_files(folder) == qrels
        logs = _logs_in(folder) if judges_logs else {}
        return [FilesOfFold(1, logs or {"train": (qrels[0],)})]
    # Otherwise the folder itself contains the parts of one fold.
    parts = _parts_in(folder) or _logs_in(folder)
    if parts and "train" not in parts:
        raise DatasetError(
            tr(
                "{folder}: found {values} and no training file, expected one such as train.txt."
            ).format(
                folder=folder,
                values=_names_text(file for part in parts.values() for file in part),
            )
        )
    if not parts:
        return []
    # The folder may be named after its fold, such as Fold3; otherwise it is fold 1.
    match = FOLD.fullmatch(folder.name)
    return [FilesOfFold(int(match[1]) if match else 1, parts)]


def _logs_in(folder: Path) -> dict[str, tuple[Path, ...]]:
    """Return the feature logs in a folder, with judgments beside them, as the part "train".

    Feature logs are responses of a search engine. Return {} if the
    folder has no logs with judgments.
    """
    logs = logs_in(folder) if judgment_files(folder) else ()
    return {"train": logs} if logs else {}


def _numbered_folders(folder: Path) -> dict[int, Path]:
    """Return the folders Fold1, Fold2 … in a folder by their numbers.

    Raise DatasetError if two have the same number, such as Fold1 and fold_1.
    """
    numbered: dict[int, Path] = {}
    for child in children(folder):
        match = FOLD.fullmatch(child.name)
        if match and child.is_dir():
            # The folder itself, or an earlier one with its number.
            existing = numbered.setdefault(int(match[1]), child)
            if existing is not child:
                raise DatasetError(
                    tr(
                        "{folder}: found {value} for fold {number}, expected one."
                    ).format(
                        folder=folder,
                        value=_names_text([existing, child]),
                        number=int(match[1]),
                    )
                )
    return numbered


def _parts_in(folder: Path) -> dict[str, tuple[Path, ...]]:
    """Return the files of one fold by part ("train", "vali", "test"), each in order.

    A part is one file such as train.txt, numbered files such as
    train-01.txt, or the files in a folder called train. Parts without
    files are left out. Raise DatasetError if several files could be the
    part.
    """
    parts: dict[str, tuple[Path, ...]] = {}
    data = [child for child in children(folder) if child.is_file() and _is_data(child)]
    for name, pattern in PARTS.items():
        candidates = [
            child_file for child_file in data if pattern.match(child_file.name)
        ]
        # Otherwise any word of the name may be that of the part:
        # Yahoo's set1.train.txt.
        if not candidates:
            candidates = [
                child_file
                for child_file in data
                if any(map(pattern.match, re.split("[._-]", child_file.name)))
            ]
        # The files of a part are in the folder, or in one of their own.
        in_order = (
            _numbered_files(candidates, pattern)
            if candidates
            else _files_below(folder, pattern)
        )
        if len(candidates) > 1 and not in_order:
            raise DatasetError(
                tr(
                    "{folder}: found {candidates} for the {name} part, expected one file."
                ).format(folder=folder, candidates=_names_text(candidates), name=name)
            )
        if in_order:
            parts[name] = in_order
    return parts


def _files_below(folder: Path, pattern: re.Pattern[str]) -> tuple[Path, ...]:
    """Return the data files in the subfolder of ``folder`` that is named like a part, in order.

    Programs for large data write such subfolders:
    train/part-0001.parquet and so on. ``pattern`` matches the name of
    the part. Return () if there is no such subfolder.
    """
    for child in children(folder):
        if pattern.fullmatch(child.name) and child.is_dir():
            # Names with "." or "_" in front are those of hidden files
            # and of notes such as _SUCCESS.
            data = [
                file
                for file in children(child)
                if file.is_file() and file.name[0] not in "._" and _is_data(file)
            ]
            # Some endings of data are empty, but a name such as README
            # with neither ending nor number is no part.
            if ordered := _numbered_files(
                [file for file in data if file.suffix or _NUMBER.search(file.name)]
            ):
                return ordered
    return ()


def _numbered_files(
    candidates: Sequence[Path], word: re.Pattern[str] | None = None
) -> tuple[Path, ...]:
    """Return files whose names differ only in a number, in the order of that number.

    A single file needs no number. Return () if some of several files
    has no number, or if their names also differ in something else. In a
    name that contains ``word``, the number must follow it:
    set_1.train-02.txt is number 2 for "train".
    """
    if len(candidates) < 2:
        return tuple(candidates)
    numbered: list[tuple[int, Path]] = []
    names = set()
    for path in candidates:
        word_match = word.search(path.name) if word is not None else None
        match = _NUMBER.search(path.name, word_match.end() if word_match else 0)
        if match is None:
            return ()
        # Without the number, all names have to be the same.
        names.add(path.name[: match.start(1)] + path.name[match.end(1) :])
        numbered.append((int(match[1]), path))
    return tuple(path for _, path in sorted(numbered)) if len(names) == 1 else ()


def _is_data(path: Path) -> bool:
    """Return whether a file has the ending of data, packed or not."""
    return Path(without_ending(path.name.lower())).suffix in data_endings()


def _names_text(paths: Iterable[Path]) -> str:
    """Return the names of files for a message: "a, b and c"."""
    names = [path.name for path in paths]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def name_of_folder(folder: Path) -> str:
    """Return "MQ2008" for MQ2008, "MQ2008 Fold1" for MQ2008/Fold1, and so for OHSUMED/QueryLevelNorm."""
    if FOLD.fullmatch(folder.name) and folder.parent.name:
        return f"{name_of_folder(folder.parent)} {folder.name}"
    if _VERSION.fullmatch(folder.name) and folder.parent.name:
        return f"{folder.parent.name} {folder.name}"
    return folder.name


def refuse_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raise an error if an output file is also an input file, which would be overwritten.

    Parameters
    ----------
    outputs : iterable of Path
        Output files, or folders, for which only names are compared.
    inputs : iterable of Path
        Input files, or folders of data, models or scores.

    Raises
    ------
    OutputError
        If an output is an input. The message names both.
    """
    # A file has several identities, such as its path and its number on the disk.
    output_of_identity = {
        identity: path for path in outputs for identity in _identities(path)
    }
    # Without outputs, the inputs need not be searched.
    for source in inputs if output_of_identity else ():
        for path in (source, *_files_to_protect(source)):
            output = next(
                (
                    output_of_identity[i]
                    for i in _identities(path)
                    if i in output_of_identity
                ),
                None,
            )
            # New files may be written into a folder of inputs.
            if output is not None and not path.is_dir():
                raise OutputError(
                    tr(
                        "{path}: this would overwrite the input {input}. Choose another file."
                    ).format(path=output, input=path)
                )


def _identities(path: Path) -> Iterator[tuple[int, int] | Path]:
    """Yield the identities of a file, by which two paths of the same file are recognised.

    The identities are the resolved path, and the file's device and
    inode, which hard links share.
    """
    # a circle of links, a name that no file has
    with suppress(OSError, RuntimeError, ValueError):
        yield path.resolve()
        status = path.stat()
        yield status.st_dev, status.st_ino


def _files_to_protect(source: Path) -> Iterator[Path]:
    """Yield the input files that belong to a file or folder, and must not be overwritten.

    ``source`` itself, if it is a file, is not included. The files are
    the judgments of a log, the data files of a folder with their query
    sizes and judgments, or all files of a folder without data.
    """
    if not source.is_dir():
        yield from judgment_files(source.parent) if holds_logs(source) else ()
        return
    try:
        parts = [paths for fold in find_folds(source) for paths in fold.parts.values()]
        data_files = [path for paths in parts for path in paths]
    except RankStudioError:  # a folder of scores or models
        data_files = []
    for path in data_files:
        yield from filter(None, (path, sizes_file(path)))
        yield from judgment_files(path.parent) if holds_logs(path) else ()
    # Without data files, all files of the folder, also of those within.
    for folder, _, names in os.walk(source) if not data_files else ():
        yield from (Path(folder, name) for name in sorted(names))
