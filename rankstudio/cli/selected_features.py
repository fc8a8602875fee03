"""The features that a run selected, for data with these alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from rankstudio.cli.study_file_option import tell_damage
from rankstudio.engine.errors import PlanError

if TYPE_CHECKING:
    from rankstudio.engine.experiment.storage.study import RunSummary

_SHOWN = 10  # folds in a sentence
_MOST = 1 << 31
_EXPECTED = "a study, the results.json of a run, or a model in JSON"


def add_selection_options(parser: Any) -> None:
    """Add the options that say whose features to keep."""
    parser.add_argument(
        "--selected",
        type=Path,
        metavar="FILE",
        help="keep the features selected by a run: a study, a results.json or a model in JSON",
    )
    parser.add_argument(
        "--selected-run",
        type=int,
        dest="number",
        metavar="N",
        help="number of the run in rankstudio studies; needed only if the study has several",
    )
    parser.add_argument(
        "--selected-fold",
        type=int,
        dest="fold",
        metavar="F",
        help="number of the fold; needed only if there are several",
    )
    parser.add_argument(
        "--renumber",
        action="store_true",
        help="renumber the kept features as 1, 2, … and write features.csv with their original ids",
    )


def selected_features(path: Path, number: int | None, fold: int | None) -> tuple[int, ...]:
    """Return the ids of the features that a run selected in a fold.

    Raises
    ------
    PlanError
        Where the file is nothing of the kind, or has several runs or folds and none is named.
    DataError, StoreError
        Where a model or a study cannot be read.
    """
    if path.suffix.lower() != ".json":
        return _of_fold(path, _folds_of_study(path, number), fold)
    if number is not None:
        raise PlanError(f"--selected-run: expected a study as --selected, got {path}.")
    folds = _folds_of_results(path)
    if folds is not None:
        return _of_fold(path, folds, fold)
    from rankstudio.engine.export.models import load_model

    if fold is not None:
        raise PlanError(f"--selected-fold: expected a study or a results.json as --selected, got {path}.")
    return tuple(sorted(load_model(path).needed))


def _of_fold(path: Path, folds: dict[int, tuple[int, ...]], fold: int | None) -> tuple[int, ...]:
    numbers = ", ".join(map(str, list(folds)[:_SHOWN])) + (" …" if len(folds) > _SHOWN else "")
    if fold is None and len(folds) != 1:
        raise PlanError(f"--selected-fold: {path} has folds {numbers}; expected one of them, got none.")
    ids = folds.get(next(iter(folds)) if fold is None else fold)
    if not ids:
        raise PlanError(
            f"--selected-fold: expected a fold of {path} with selected features ({numbers}), got {fold}."
        )
    return ids


def _folds_of_results(path: Path) -> dict[int, tuple[int, ...]] | None:
    """Return what each fold of a results.json selected; None where it is another file."""
    from rankstudio.engine.support.files import read_text

    try:
        values = json.loads(read_text(path))
    except OSError as error:
        raise PlanError(
            f"{path}: the file cannot be read: {error.strerror}. Expected {_EXPECTED}."
        ) from error
    except (ValueError, RecursionError) as error:
        raise PlanError(f"{path}: expected {_EXPECTED}, found invalid JSON ({error}).") from error
    if not isinstance(values, dict) or "folds" not in values:
        return None
    entries = values["folds"] if isinstance(values["folds"], list) else [None]
    folds = {}
    for place, entry in enumerate(entries, start=1):
        number, ids = (entry.get("fold"), entry.get("selected")) if isinstance(entry, dict) else (None, None)
        if not _is_id(number) or not _are_ids(ids):
            raise PlanError(
                f"{path}: entry {place} of its folds is invalid: expected a number from 1 as fold and a list "
                f"of distinct ids as selected. Expected {_EXPECTED}."
            )
        if number in folds:
            raise PlanError(f"{path}: found fold {number} twice, expected each fold once.")
        folds[number] = tuple(ids)
    if not folds:
        raise PlanError(f"{path}: expected {_EXPECTED}, found results without folds.")
    return folds


def _is_id(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < _MOST


def _are_ids(values: object) -> TypeGuard[list[int]]:
    return isinstance(values, list) and all(map(_is_id, values)) and len(set(values)) == len(values)


def _folds_of_study(path: Path, number: int | None) -> dict[int, tuple[int, ...]]:
    """Return what each fold of a finished run of a study selected."""
    from rankstudio.engine.experiment.storage.study import Study

    with Study.open(path, reading=True) as study:
        runs = study.runs()
        tell_damage(study, runs)
        results = study.finished([_numbered(path, runs, number)])
    if not results:
        raise PlanError(f"--selected-run: expected a completed run of {path}, found an unfinished one.")
    return {fold.fold: fold.selected for fold in results[0].folds}


def _numbered(path: Path, runs: Sequence[RunSummary], number: int | None) -> RunSummary:
    if number is None and len(runs) != 1:
        raise PlanError(f"--selected-run: {path} has {len(runs)} runs; expected the number of one, got none.")
    if number is not None and not 1 <= number <= len(runs):
        raise PlanError(f"--selected-run: expected a run number from 1 to {len(runs)}, got {number}.")
    return runs[0 if number is None else number - 1]
