"""A folder of models, one for each fold, as a run writes it: which file is the model of which fold."""

from __future__ import annotations

import re
from pathlib import Path

from rankstudio.engine.data.file_access import children
from rankstudio.engine.errors import DatasetError, FileAccessError, shown_path
from rankstudio.engine.language import tr

FOLDER = "models"
"""In which a run writes the models of its folds, beside its other results."""

_RESULTS = "results.json"
_FOLD = re.compile(r"fold[ ._-]?([0-9]{1,6})", re.IGNORECASE)
_MOST_FILES = 20_000  # somebody chose their home: reading it all would take minutes


def fold_of_name(path: Path) -> int | None:
    """Return the fold whose model a file is, as its name tells; None where it tells none.

    Examples
    --------
    >>> fold_of_name(Path("models/fold2.json")), fold_of_name(Path("models/all.json"))
    (2, None)
    """
    found = _FOLD.fullmatch(path.stem) if path.suffix.lower() == ".json" else None
    return int(found[1]) if found else None


def models_in(folder: Path) -> dict[int, Path]:
    """Return the models of folds in a folder, or in the folder of models in it, by the folds' numbers.

    Raises
    ------
    FileAccessError
        Where it cannot be looked into.
    DatasetError
        Where a fold has two.
    """
    found: dict[int, Path] = {}
    for path in json_files(folder):
        number = fold_of_name(path)
        if number is not None and number in found:
            raise DatasetError(
                tr("{folder}: found {a} and {b} for fold {fold}, expected one model.").format(
                    folder=shown_path(folder), a=found[number].name, b=path.name, fold=number
                )
            )
        if number is not None:
            found[number] = path
    inside = folder / FOLDER
    return dict(sorted(found.items())) if found or not inside.is_dir() else models_in(inside)


def holds_models(path: Path) -> bool:
    """Tell whether a file, or a folder, looks as if it were a model, or had those of folds."""
    try:
        if not path.is_dir():
            return path.suffix.lower() == ".json"
        own = any(fold_of_name(child) is not None for child in path.iterdir())
        return own or ((path / _RESULTS).is_file() and bool(models_in(path)))
    except (OSError, DatasetError, FileAccessError):
        return False


def json_files(folder: Path) -> list[Path]:
    """Return the files of JSON in a folder, but for hidden ones.

    Raises
    ------
    FileAccessError
        Where it cannot be looked into.
    """
    paths = [path for path in children(folder) if not path.name.startswith(".")]
    return [path for path in paths[:_MOST_FILES] if path.suffix.lower() == ".json" and path.is_file()]
