"""Which files of scores or of models a plan ranks by, as plain values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rankstudio.engine.errors import DatasetError, PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import FROM_FILES
from rankstudio.engine.support.frozen_mapping import FrozenMapping


def checked_scores(values: Any, method: str) -> FrozenMapping[str, Any]:
    """Return what a plan says of scores, or of models, in canonical form.

    Raises
    ------
    PlanError
        Where the method has none and there are some, or a value is not a text.
    """
    expected = tr(
        "a table with the texts name and path, and with files, the SHA-256 of each file by its name"
    )
    if not isinstance(values, Mapping):
        raise _wrong(values, expected)
    given = dict(values)
    if method not in FROM_FILES:
        if given:
            raise _wrong(given, tr("none with the method {method}").format(method=method))
        return FrozenMapping({})
    if not given:  # they are missed when it is to be run
        return FrozenMapping({})
    files = given.get("files", {})
    named = all(isinstance(given.get(name), str) and given[name].strip() for name in ("name", "path"))
    if not named or set(given) - {"name", "path", "files"} or not isinstance(files, Mapping):
        raise _wrong(given, expected)
    if not all(isinstance(text, str) for item in files.items() for text in item):
        raise _wrong(given, expected)
    name = " ".join(given["name"].split())
    return FrozenMapping({"name": name, "path": given["path"], "files": FrozenMapping(dict(files))})


def check_found(
    scores: Mapping[str, Any], checksums: Mapping[str, str], asked: Sequence[int], there: Collection[int]
) -> None:
    """Refuse files that are not those of a plan any more, or that have nothing for one of its folds.

    Parameters
    ----------
    scores : Mapping
        What the plan says of them.
    checksums : Mapping of str to str
        Of the files that were read.
    asked : sequence of int
        The numbers of the folds to run.
    there : collection of int
        Those that the files have something for.

    Raises
    ------
    DatasetError
        For a file with other contents.
    PlanError
        For a fold that has nothing.
    """
    files = scores["files"]
    for file, checksum in checksums.items():
        if files and files.get(file) != checksum:
            raise DatasetError(
                tr("{file}: the file has changed since the plan named it for {name}. Add it again.").format(
                    file=file, name=scores["name"]
                )
            )
    for number in asked:
        if number not in there:
            raise PlanError(
                tr("folds: {name} has nothing for fold {fold}. Add it, or choose other folds.").format(
                    name=scores["name"], fold=number
                )
            )


def _wrong(value: object, expected: str) -> PlanError:
    text = tr("{name}: expected {expected}, got {value}.")
    return PlanError(text.format(name="scores", expected=expected, value=shown(value)))
