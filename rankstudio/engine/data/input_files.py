"""Files that are read, so that no output replaces one of them: by whichever name, symbolic or hard link."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from rankstudio.engine.data.fold_files import find_folds
from rankstudio.engine.data.formats.group_sizes import sizes_file
from rankstudio.engine.errors import OutputError, RankStudioError
from rankstudio.engine.language import tr


def refuse_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Refuse to write a file that is read.

    Parameters
    ----------
    outputs : iterable of Path
        Files to be written, or folders, in which case only their names are compared.
    inputs : iterable of Path
        Files, folders of data, of models or of scores.

    Raises
    ------
    OutputError
        The text names both.
    """
    wanted = {identity: path for path in outputs for identity in _identities(path)}
    for given in inputs if wanted else ():
        for path in (given, *_files_of(given)):
            output = next((wanted[i] for i in _identities(path) if i in wanted), None)
            if output is not None and not path.is_dir():
                raise OutputError(
                    tr("{path}: this would overwrite the input {input}. Choose another file.").format(
                        path=output, input=path
                    )
                )


def _identities(path: Path) -> Iterator[tuple[int, int] | Path]:
    """Yield by what a file is known: where it really is, and its number, which hard links share."""
    with suppress(OSError, RuntimeError, ValueError):  # a circle of links, a name that no file has
        yield path.resolve()
        status = path.stat()
        yield status.st_dev, status.st_ino


def _files_of(place: Path) -> Iterator[Path]:
    """Yield the files of a folder: those of its data, where there are any, else all."""
    if not place.is_dir():
        return
    try:
        found = [path for fold in find_folds(place) for paths in fold.parts.values() for path in paths]
    except RankStudioError:  # scores, or models
        found = []
    for path in found:
        yield from filter(None, (path, sizes_file(path)))
    for folder, _, names in os.walk(place) if not found else ():
        yield from (Path(folder, name) for name in sorted(names))
