"""Permission to run code: code that this user named once may run, code that only a plan names may not.

The permissions are recorded in a file of the user, as the SHA-256 of
each Python file with its path, and as import paths. A changed file has
another SHA-256, and needs a new permission.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

from rankstudio.engine.errors import CodeNotAllowedError, OutputError, PlanError
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import add_entry, find_method
from rankstudio.engine.methods.catalog.method import Method
from rankstudio.engine.methods.foreign.code import (
    Code,
    changed_since,
    code_of_file,
    code_of_import,
    codes_of_file,
    digest_of,
    entry_of,
    file_key,
    method_of,
    names_code,
    names_file,
)
from rankstudio.engine.methods.foreign.measures import (
    FileMeasure,
    can_be_measure,
    measure_of_code,
    measure_of_file,
)
from rankstudio.engine.metrics.measure_entry import MeasureEntry
from rankstudio.engine.metrics.measure_registry import MEASURES
from rankstudio.engine.plugins.origin import OriginKind
from rankstudio.engine.support.files import read_text, write_text
from rankstudio.engine.support.user_folders import data_folder

MEASURE = "measure:"
"""Prefix of the keys of measures of files, among the keys of code that a plan names."""

_MOST_BYTES = 1 << 20
_OWN_LIBRARIES = ("sklearn.",)
"""Import paths of libraries that RankStudio itself uses, which run without being allowed."""


def add_by_user(text: str) -> Method:
    r"""Add the method that a user names by its code, and allow this code permanently.

    Parameters
    ----------
    text : str
        As in :func:`rankstudio.engine.methods.foreign.code.method_of`.

    Returns
    -------
    Method
        The added method; plans refer to it by its key.

    Raises
    ------
    PlanError
        If the code cannot be imported, or is no method.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rankstudio.api import add_method
    >>> _ = Path("my_method.py").write_text("def scores(X, y, qid):\n    return abs(X).sum(axis=0)\n")
    >>> add_method("my_method.py").label
    'scores'
    """
    entry = add_entry(method_of(text))
    allow(entry)
    return entry


def add_user_measure(entry: MeasureEntry | str) -> MeasureEntry:
    """Add a measure for this process, as if a plug-in provided it.

    Parameters
    ----------
    entry : Measure or str
        A measure whose function can be imported, also in worker
        processes; or ``"FILE.py:FUNCTION"``, a function of a Python
        file, whose code is allowed permanently.

    Returns
    -------
    Measure
        The added measure. The name of a file's measure ends with the
        beginning of the file's SHA-256.

    Raises
    ------
    PlanError
        If the entry is invalid, its name is taken, or the file cannot be run.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from rankstudio.api import add_measure
    >>> folder = Path(mkdtemp())
    >>> _ = (folder / "my_measure.py").write_text("def first(labels): return float(labels[0])")
    >>> add_measure(f"{folder}/my_measure.py:first").key
    'first-d8f640'
    """
    if not isinstance(entry, str):
        return MEASURES.add(entry)
    added = MEASURES.add(measure_of_file(entry))
    allow(added)
    return added


def add_file(path: Path) -> tuple[Method | MeasureEntry, ...]:
    """Add all methods and measures of a Python file that the user chose, and allow the file permanently.

    The returned methods come before the measures. A function whose
    first argument is ``labels`` is a measure. If the file has methods,
    such a function may have another purpose, so measures that cannot be
    added are then skipped.

    Raises
    ------
    PlanError
        If the file cannot be run, has neither methods nor measures, or,
        without methods, has a measure with an invalid name.
    """
    entries: list[Method | MeasureEntry] = [
        add_entry(entry_of(code)) for code in codes_of_file(path)
    ]
    # With methods, a function that cannot be a measure is no mistake.
    with suppress(PlanError) if entries else nullcontext():
        entries += [
            MEASURES.add(measure_of_code(code))
            for code in codes_of_file(path, can_be_measure)
        ]
    if not entries:
        text = tr(
            "{path}: expected a class with fit(X, y), a function scores(X, y, qid), or a measure: a function "
            "of the labels of a query, such as half(labels)."
        )
        raise PlanError(text.format(path=path))
    # Allowing one entry allows the file, whose checksum is recorded.
    allow(entries[0])
    return tuple(entries)


def is_allowed_file(path: Path) -> bool:
    """Return whether this user has allowed a file with the same text before."""
    return digest_of(path) in _allowed_code()


def allow(entry: Method | MeasureEntry) -> None:
    """Record permanently that this user allows the code of a method or a measure to run.

    A file is recorded by its checksum, so that a changed file is not
    allowed. Nothing is written if the code is recorded already.
    """
    origin = entry.origin
    assert origin is not None
    # The record has the path of each code, by a file's checksum, or
    # else by the key of the method.
    is_file = origin.kind is OriginKind.FILE
    name = origin.version_or_checksum if is_file else entry.key
    allowed = _allowed_code()
    if allowed.get(name) == origin.path:
        return
    # If it cannot be written, permission is requested again the next time.
    with suppress(OSError, OutputError):
        data_folder().mkdir(parents=True, exist_ok=True)
        write_text(
            _record_path(),
            json.dumps({**allowed, name: origin.path}, indent=1, sort_keys=True),
        )


def is_allowed(key: str) -> bool:
    """Return whether this user has allowed the code that a method's key names."""
    if not names_file(key):
        return key in _allowed_code() or _is_of_own_library(key)
    digest = file_key(key).digest
    return bool(digest) and any(name.startswith(digest) for name in _allowed_code())


def _is_of_own_library(key: str) -> bool:
    """Return whether a key is the path of a public class or function of a library that RankStudio itself uses.

    Such code runs without permission of the user. A function that the
    library only imports from elsewhere does not count.
    """
    # A part that begins with an underscore is private.
    if not key.startswith(_OWN_LIBRARIES) or "._" in key:
        return False
    try:
        target = code_of_import(key).target()
    except PlanError:
        return False
    return str(getattr(target, "__module__", "")).startswith(_OWN_LIBRARIES)


def add_code_of_plan(
    keys: Iterable[str], folders: Sequence[Path] = (), *, allow_code: bool = False
) -> None:
    """Add to the catalog the methods and measures of foreign code that a plan or a study names.

    The keys of foreign code name a Python file, a library or a command.
    The methods and measures are added only if the user allows this code
    to run.

    Parameters
    ----------
    keys : iterable of str
        Keys of methods in plans, and after "measure:" those of
        measures; keys of known methods are skipped.
    folders : sequence of Path
        Folders in which files are searched first, before their recorded paths.
    allow_code : bool
        Whether the user allows the code now.

    Raises
    ------
    CodeNotAllowedError
        If a key names code that the user has not allowed.
    PlanError
        If a file is missing or has changed, or the code cannot be imported.
    """
    for key in keys:
        if key.startswith(MEASURE):
            _add_measure_of_plan(key, folders, allow_code=allow_code)
            continue
        # Methods of the catalog need no code, and neither does one that
        # is there and can be used: `lacking` is the reason why a method
        # cannot.
        method = find_method(key)
        if not names_code(key) or (method is not None and not method.lacking):
            continue
        if not (allow_code or is_allowed(key)):
            raise CodeNotAllowedError(key)
        # A file is searched for; a package or a command is found by its key.
        entry = (
            entry_of(_find_code(key, folders)) if names_file(key) else method_of(key)
        )
        add_entry(entry)
        if allow_code:
            allow(entry)


def _add_measure_of_plan(
    key: str, folders: Sequence[Path], *, allow_code: bool
) -> None:
    """Add to the catalog the measure of a file that a plan names, if the user allows its code to run.

    ``key`` is "measure:" followed by the key of the code, which names
    file, checksum and function. A file is searched for in ``folders``
    first. ``allow_code`` says that the user allows the code now. Raises
    a CodeNotAllowedError if the user has not allowed the code.
    """
    code_key = key.removeprefix(MEASURE)
    # A measure is always from a file, and its key has the file's checksum.
    if not names_file(code_key) or not file_key(code_key).digest:
        return  # the error is raised when the plan is read
    # Nothing is to do if the catalog has this measure.
    file_measures = (
        entry
        for entry in MEASURES.entries()
        if isinstance(entry, FileMeasure) and entry.code is not None
    )
    if any(
        entry.code is not None and entry.code.key == code_key for entry in file_measures
    ):
        return
    if not (allow_code or is_allowed(code_key)):
        raise CodeNotAllowedError(code_key)
    code = _find_code(code_key, folders)
    added = MEASURES.add(measure_of_file(f"{code.origin.path}:{code.name}"))
    if allow_code:
        allow(added)


def _find_code(key: str, folders: Sequence[Path]) -> Code:
    """Find the file that a key of a plan names, run it, and return the code.

    The file is searched for in ``folders``, then among the files that
    the user has allowed. If the key has a checksum, the file must have
    the same. Raises a PlanError for a missing or changed file.
    """
    # First the folders, then the allowed files with the same contents,
    # wherever they are.
    file = file_key(key)
    possible_paths = [folder / file.name for folder in folders]
    if file.digest:
        # In the record of allowed code, the name of a file is its checksum.
        possible_paths += [
            Path(path)
            for name, path in _allowed_code().items()
            if path and name.startswith(file.digest)
        ]
    # The first file with the right contents is taken. One with other
    # contents is only remembered.
    changed_path: Path | None = None
    for path in possible_paths:
        if not path.is_file():
            continue
        if not file.digest or digest_of(path).startswith(file.digest):
            return code_of_file(path, file.method)
        changed_path = path
    # A changed file is a more exact reason than a missing one.
    if changed_path is not None:
        raise changed_since(changed_path)
    text = tr(
        "{file}: the file of the method is not found. Put it beside the plan, or add it as a method."
    )
    raise PlanError(text.format(file=file.name))


def _record_path() -> Path:
    return data_folder() / "allowed-code.json"


def _allowed_code() -> dict[str, str]:
    """Return the path of each code that the user has allowed, by the checksum of its file or else by its key.

    A path is "" for code that is no file. The result is {} if the
    record is absent or damaged.
    """
    with suppress(OSError, ValueError, RecursionError):
        values = json.loads(read_text(_record_path(), _MOST_BYTES))
        if isinstance(values, dict):
            return {
                str(name): path
                for name, path in values.items()
                if isinstance(path, str)
            }
    return {}
