"""Methods without a package: a class or function of a Python file, or of an installed library."""

from __future__ import annotations

import hashlib
import inspect
import linecache
import re
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import ModuleType
from typing import Any

from rankstudio.engine.errors import PlanError, nearest, one_line, shown
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog.method import (
    CandidateScore,
    Criterion,
    Description,
    Method,
    Seconds,
)
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.methods.catalog.shared import (
    LEAVE_QUERY_OUT,
    RANKING_LAMBDA,
    SIZE,
)
from rankstudio.engine.methods.foreign.adapters import CENTRED, SEED, adapter, selects
from rankstudio.engine.methods.foreign.command import method_of_command
from rankstudio.engine.methods.foreign.program import PREFIX
from rankstudio.engine.methods.foreign.signature import (
    DATA,
    parameters_of,
    size_argument,
    summary_of,
)
from rankstudio.engine.methods.selection.base import PathSelector, Selector
from rankstudio.engine.plugins.guard import called
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.support.files import read_text
from rankstudio.engine.support.stop_request import stop_if_asked

SUFFIX = ".py"
_MOST_BYTES = 4 << 20
_CHECKSUM_DIGITS = 12  # digits of a file's checksum in the method's key
_DOTTED_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
PATIENCE = 60.0
"""Seconds that a file may take to run, or a library to be imported.

Some libraries take half a minute.
"""

# By a file's checksum or an import path: each is imported by one thread at a time.
_IMPORT_LOCKS: dict[str, threading.RLock] = {}

_CENTRED_PARAMETER = Parameter(
    name=CENTRED,
    label=translatable("centred features"),
    kind=Kind.SWITCH,
    default=True,
    help=translatable(
        "Whether the method gets each feature minus its mean in the query, so that only differences within "
        "queries count."
    ),
)


@dataclass(frozen=True)
class Code:
    """A class or a function that the user named: where it is, and how to import it.

    Attributes
    ----------
    origin : Origin
        The file, or the installed package.
    name : str
        Name of the class or the function in the file, or its import path.
    source : str
        Text of the file, which workers get with the plan; "" for an import path.
    """

    origin: Origin
    name: str
    source: str = ""

    @property
    def key(self) -> str:
        """Key in plans: ``my_method.py:MRMR@`` and the beginning of its SHA-256, or the import path."""
        if self.origin.kind is OriginKind.FILE:
            return f"{self.origin.name}:{self.name}@{self.origin.version_or_checksum[:_CHECKSUM_DIGITS]}"
        return self.name

    def target(self) -> Callable[..., Any]:
        """Import and return the class or the function.

        Raises
        ------
        PlanError
            If the code cannot be imported; for a syntax error, the
            message contains the line of the file.
        """
        is_file = self.origin.kind is OriginKind.FILE
        with _IMPORT_LOCKS.setdefault(
            self.origin.version_or_checksum if is_file else self.name, threading.RLock()
        ):
            return _class_or_function(self)


@dataclass(frozen=True)
class LocalMethod(Method):
    """A method of a class or a function that the user named by its code.

    Attributes
    ----------
    code : Code or None
        The class or the function.
    """

    code: Code | None = None

    def load(self) -> type[Any]:
        """Import and return the class of the estimator, which checks its steps.

        Raises a PlanError if the code cannot be imported.
        """
        if self.lacking or self.code is None:
            raise PlanError(self.lacking)
        return _guarded_estimator(self)


@cache
def _guarded_estimator(entry: LocalMethod) -> type[Any]:
    """Return the estimator class of a method of the user's code, whose steps are checked.

    A class of another library, or a function, is wrapped as an
    estimator. The class of each method is made once.
    """
    from rankstudio.engine.methods.foreign.guard import guarded  # noqa: PLC0415 - on first use

    assert entry.code is not None
    target = entry.code.target()
    if isinstance(target, type) and issubclass(target, LinearRanker):
        return guarded(target, entry)
    return guarded(adapter(target, entry, size_argument(target)), entry)


def method_of(text: str) -> Method:
    """Import the code that a user names, and return its method.

    Parameters
    ----------
    text : str
        ``"my_method.py:MRMR"``, ``"my_method.py"`` for a file with one
        method, or an import path such as
        ``"sklearn.feature_selection.SelectKBest"``, or a command line
        after ``"command:"``.

    Raises
    ------
    PlanError
        If the code cannot be imported, or is no method.
    """
    if text.startswith(PREFIX):  # "command:"
        return method_of_command(text)
    if names_file(text):
        path, name = _file_and_name(text)
        code = code_of_file(path, name)
        # In a plan, the beginning of the file's checksum follows after
        # "@". A file with another checksum has changed; without "@",
        # the beginning is "", which fits any. For a file, the origin
        # has its checksum.
        if not code.origin.version_or_checksum.startswith(file_key(text).digest):
            raise changed_since(path)
        return entry_of(code)
    return entry_of(code_of_import(text))


def changed_since(path: Path) -> PlanError:
    """Return the error for a file that has changed since a plan was made."""
    text = tr(
        "{path} has changed since the plan was made, so it is another method. Add it as a new one."
    )
    return PlanError(text.format(path=path))


def names_code(key: str) -> bool:
    """Return whether a method's key names code instead of an entry of the catalog."""
    return (
        key.startswith(PREFIX)
        or names_file(key)
        or _DOTTED_NAME.fullmatch(key) is not None
    )


@dataclass(frozen=True)
class FileKey:
    """Parts of a method's key that names a Python file.

    Attributes
    ----------
    name : str
        Name of the file without its folder.
    method : str
        Name of the class or function; "" if the key does not name it,
        as the file has only one.
    digest : str
        Beginning of the file's SHA-256; "" if the key has none.
    """

    name: str
    method: str
    digest: str


def file_key(key: str) -> FileKey:
    """Return the parts of a key that names a file: the file's name, the method and the checksum.

    The folder of the file is dropped.
    """
    path, method_name = _file_and_name(key)
    _, separator, digest = key.rpartition("@")
    return FileKey(
        name=path.name, method=method_name, digest=digest if separator else ""
    )


def _origin_and_source(path: Path) -> tuple[Origin, str]:
    """Read a Python file, and return its origin, which contains its checksum, and its text.

    Raises a PlanError if the file cannot be read.
    """
    try:
        source = read_text(path, _MOST_BYTES)
    except (OSError, ValueError) as error:
        # The reason of the system without the path, which the text has already.
        reason = getattr(error, "strerror", None) or error
        text = tr("{path}: the file cannot be read: {reason}.")
        raise PlanError(text.format(path=path, reason=reason)) from error
    digest = hashlib.sha256(source.encode()).hexdigest()
    return Origin(
        kind=OriginKind.FILE,
        name=path.name,
        version_or_checksum=digest,
        path=str(path.absolute()),
    ), source


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's text, as in keys.

    The result is "" if the file cannot be read.
    """
    try:
        return hashlib.sha256(read_text(path, _MOST_BYTES).encode()).hexdigest()
    except (OSError, ValueError):
        return ""


def names_file(key: str) -> bool:
    """Return whether a method's key names a Python file."""
    if key.startswith(PREFIX):
        return False
    file = key.rpartition(":")[0] if not key.endswith(SUFFIX) else key
    return file.endswith(SUFFIX)


def _file_and_name(text: str) -> tuple[Path, str]:
    """Split ``FILE.py:NAME@CHECKSUM`` into the file and the name, which may be missing."""
    if text.endswith(SUFFIX):
        return Path(text), ""
    file, _, name = text.rpartition(":")
    return Path(file), name.partition("@")[0]


def code_of_file(path: Path, name: str = "") -> Code:
    """Run a Python file, and return the code of a class or function in it: its name, and the file's text.

    Parameters
    ----------
    path : Path
        The file.
    name : str
        Name of the class or function; "" if the file has only one that can be a method.

    Raises
    ------
    PlanError
        If the file cannot be read or run, or has no such name.
    """
    origin, source = _origin_and_source(path)
    module = _run_file(origin, source)
    # The name has to exist; similar names are suggested.
    names = [candidate for candidate, _ in _candidates(module)]
    if name and not hasattr(module, name):
        close = nearest(name, names)
        hint = (
            tr("did you mean {name}?").format(name=close) if close else ", ".join(names)
        )
        raise PlanError(
            tr("{path} has no {name}; {hint}").format(path=path, name=name, hint=hint)
        )
    # Without a name, the file has to have exactly one candidate.
    if not name and len(names) != 1:
        names_text = ", ".join(f"{path.name}:{candidate}" for candidate in names)
        text = tr(
            "{path}: expected one class with fit or function scores(X, y, qid), found {n}: {names}"
        )
        raise PlanError(
            text.format(path=path, n=len(names), names=names_text or tr("none"))
        )
    return Code(origin=origin, name=name or names[0], source=source)


def codes_of_file(
    path: Path, fits: Callable[[object], bool] | None = None
) -> tuple[Code, ...]:
    """Run a Python file, and return the code of its public classes and functions that ``fits`` accepts.

    Parameters
    ----------
    path : Path
        The file.
    fits : callable, optional
        Returns whether to include a class or function; by default
        whether it can be a method.

    Raises
    ------
    PlanError
        If the file cannot be read or run.
    """
    origin, source = _origin_and_source(path)
    public = _public(_run_file(origin, source))
    return tuple(
        Code(origin=origin, name=name, source=source)
        for name, value in public
        if (fits or _can_be_method)(value)
    )


def code_of_import(path: str) -> Code:
    """Return the code of a class or function of an installed library, by its import path.

    Raises
    ------
    PlanError
        If the class or function cannot be imported.
    """
    if not _DOTTED_NAME.fullmatch(path):
        text = tr(
            "{path}: expected a method of the catalog, a Python file, or an import path such as {example}."
        )
        raise PlanError(
            text.format(
                path=shown(path), example="sklearn.feature_selection.SelectKBest"
            )
        )
    # The package that has the module, which may have another name, and
    # its version. Several packages may share a module; the first one is
    # shown. A module of Python itself is its own package, without a
    # version.
    top_module, _, _ = path.partition(".")
    package, *_ = packages_distributions().get(top_module, [top_module])
    try:
        package_version = version(package)
    except PackageNotFoundError:
        package_version = ""
    code = Code(
        Origin(
            kind=OriginKind.IMPORT, name=package, version_or_checksum=package_version
        ),
        path,
    )
    # Called for its errors only: the import is tried at once, so that a
    # mistake is known before a run.
    code.target()
    return code


def entry_of(code: Code) -> Method:
    """Return the entry in the catalog for a class or a function.

    The class may declare its entry. Otherwise the entry is made from
    the signature.

    Raises
    ------
    PlanError
        If the class or function is no method.
    """
    target = code.target()
    # A class may declare its entry, as the attribute ``entry``.
    declared_entry = getattr(target, "entry", None)
    if isinstance(declared_entry, Method):
        fields = {
            name: getattr(declared_entry, name)
            for name in declared_entry.__dataclass_fields__
        }
        # Key and origin, which come last, replace the declared ones:
        # they say which file or library the class is from.
        return LocalMethod(
            **{**fields, "key": code.key, "origin": code.origin, "code": code}
        )
    # Without one: RankStudio's own kind of estimator, or anything that can be wrapped.
    if isinstance(target, type) and issubclass(target, LinearRanker):
        return _estimator_entry(code, target)
    if not callable(target) or (
        isinstance(target, type) and not hasattr(target, "fit")
    ):
        text = tr(
            "{name}: expected a class with fit(X, y), or a function scores(X, y, qid)."
        )
        raise PlanError(text.format(name=code.name))
    return _wrapped_entry(code, target)


def _shared_fields(
    code: Code, target: Callable[..., Any], *, selects: bool
) -> dict[str, Any]:
    """Return the fields of a catalog entry that all kinds of classes and functions have, by name.

    ``selects`` says whether the code selects features or only ranks.
    ``code`` says where the class or function ``target`` is from.
    """
    # The name of the class or function, without the path of its module.
    label = code.name.rpartition(".")[2]
    return {
        "key": code.key,
        "label": label,
        "family": "selector" if selects else "ranker",
        "description": Description(
            citation=code.origin.text,
            title=label,
            summary=one_line(summary_of(target)) or label,
        ),
        "estimator": "",
        "origin": code.origin,
        "code": code,
        # The real durations are not known before a run.
        "seconds": Seconds(fold=0.1, fit=0.1),
    }


def _estimator_entry(code: Code, target: type[LinearRanker]) -> LocalMethod:
    """Return the catalog entry of an estimator of RankStudio's kind that declares none.

    ``code`` says where the class ``target`` is from.
    """
    # The features of a PathSelector are ranked by RankRLS, whose
    # parameter is λ. Any other estimator has a criterion of its own.
    is_path = issubclass(target, PathSelector)
    # The skipped arguments have ready-made parameters, such as
    # RANKING_LAMBDA and SIZE, the number of features, or are options of
    # a plan.
    parameters = parameters_of(
        target, skip=("regularization", "groups", "costs", "budget")
    )
    size = (SIZE,) if size_argument(target) else ()
    takes_groups = is_path and "groups" in inspect.signature(target).parameters
    return LocalMethod(
        **_shared_fields(code, target, selects=issubclass(target, Selector)),
        criterion=LEAVE_QUERY_OUT if is_path else Criterion(tr("criterion")),
        ranks_with="RankRLS" if is_path else "",
        parameters=(*((RANKING_LAMBDA,) if is_path else ()), *size, *parameters),
        takes=("groups",) if takes_groups else (),
    )


def _wrapped_entry(code: Code, target: Callable[..., Any]) -> LocalMethod:
    """Return the catalog entry of a class of another library, or of a function.

    ``code`` says where the class or function ``target`` is from.
    """
    is_selector = selects(target)
    # The data, the seed and what RankStudio sets itself are no
    # parameters of the method. SEED and DATA have their usual names as
    # arguments.
    seeds = [name for name in SEED if name in inspect.signature(target).parameters]
    parameters = parameters_of(
        target, skip=(*DATA, *seeds, "regularization", "groups", CENTRED)
    )
    seed = ("seed",) if seeds else ()
    shared_fields = _shared_fields(code, target, selects=is_selector)
    # A ranker has only its own parameters. After a selector, RankRLS
    # ranks with the features, so its λ is a parameter, too.
    if not is_selector:
        return LocalMethod(**shared_fields, parameters=parameters, takes=seed)
    return LocalMethod(
        **shared_fields,
        criterion=LEAVE_QUERY_OUT,
        ranks_with="RankRLS",
        candidate_score=CandidateScore(tr("score"), "", from_zero=False),
        parameters=(RANKING_LAMBDA, SIZE, *parameters, _CENTRED_PARAMETER),
        takes=("groups", *seed),
    )


@cache
def _class_or_function(code: Code) -> Callable[..., Any]:
    """Import and return the class or function of a method's code.

    Raises a PlanError if the code cannot be imported.
    """
    # A method of a file: the file is run once.
    if code.origin.kind is OriginKind.FILE:
        return getattr(_run_file(code.origin, code.source), code.name)  # type: ignore[no-any-return]
    # A method of a package: the import may take too long, fail, or be
    # cancelled. So it runs on another thread, with a time limit.
    module, _, name = code.name.rpartition(".")
    try:
        target = called(
            lambda: getattr(import_module(module), name), PATIENCE, stop_if_asked
        )
    except (RuntimeError, TimeoutError) as error:
        text = tr("{name} cannot be imported: {error}.")
        # An exception of the import is the cause, and its type is
        # named. Without a cause, the time limit was exceeded, which the
        # error says by itself.
        cause = error.__cause__ or error
        reason = (
            f"{type(cause).__name__}: {cause}"
            if error.__cause__ is not None
            else str(error)
        )
        raise PlanError(text.format(name=code.name, error=one_line(reason))) from error
    if not callable(target):
        raise PlanError(
            tr(
                "{name}: expected a class with fit(X, y), or a function scores(X, y, qid)."
            ).format(name=code.name)
        )
    return target  # type: ignore[no-any-return]


@cache
def _run_file(origin: Origin, source: str) -> ModuleType:
    """Run the text of a Python file as a new module, and return the module.

    The same text is run once. Raises a PlanError for a mistake in the
    file, or if it runs for too long. ``source`` is this text, and
    ``origin`` says which file it is from.
    """
    # The module has a name of its own for each version of the file.
    name = f"rankstudio_file_{origin.version_or_checksum[:_CHECKSUM_DIGITS]}"
    module = ModuleType(name, tr("Methods of {file}.").format(file=origin.name))
    module.__file__ = origin.path
    file = origin.path or origin.name
    # Tracebacks read lines from this cache. So they show the lines that
    # were run, also in a worker on a computer without the file.
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    sys.modules[name] = module
    # `called` runs it on another thread, with a time limit.
    try:
        called(
            lambda: exec(compile(source, file, "exec"), module.__dict__),
            PATIENCE,
            stop_if_asked,
        )
    except BaseException as error:  # Cancelled and KeyboardInterrupt included
        # A failed module must not stay among the imported ones.
        sys.modules.pop(name, None)
        cause = error.__cause__
        # A mistake in the syntax of this file is shown with its line.
        if isinstance(cause, SyntaxError) and cause.filename == file:
            text = tr("{file}, line {line}: {problem}.")
            raise PlanError(
                text.format(file=file, line=cause.lineno, problem=cause.msg)
            ) from cause
        if isinstance(error, RuntimeError | TimeoutError):
            raise PlanError(
                tr("{file} cannot be run: {error}.").format(file=file, error=error)
            ) from cause
        raise
    return module


def _candidates(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public classes and functions of a file that can be methods."""
    return ((name, value) for name, value in _public(module) if _can_be_method(value))


def _public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of the public classes and functions that a file itself defines."""
    # Imported ones belong to another module.
    for name, value in vars(module).items():
        if (
            not name.startswith("_")
            and getattr(value, "__module__", "") == module.__name__
        ):
            yield name, value


def _can_be_method(value: object) -> bool:
    """Return whether a class has ``fit``, or the first arguments of a function are X and y."""
    if isinstance(value, type):
        return hasattr(value, "fit") or issubclass(value, LinearRanker)
    return inspect.isfunction(value) and list(inspect.signature(value).parameters)[
        :2
    ] == ["X", "y"]
