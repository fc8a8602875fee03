"""Decorators that compile functions by numba, and keep their types for the type checker.

Compiled code is cached on disk. It runs without the interpreter lock,
so that a window in the same process continues while a kernel works. A
kernel is compiled again if its file has changed, or the file of a
kernel that it imports. A changed constant of a module without kernels
is not noticed.

The first run on a computer waits for the compiler. A function that only
kernels call is neither wrapped for Python nor cached on disk, which
halves the time of compilation. Assignments to slices, ``reshape`` and
error messages each compile seconds of numba's own library; loops do
not.

Faulty files of kernels neither end a run nor change a result. numba
itself does not check them. Here no folder is used that another user can
write to, and each file ends with a digest of its bytes, its name, the
version of numba and the compiled source. Code is stored for its types
and its processor. If it does not fit, it is compiled again.

A bundled program contains kernels in a folder that is only read, and
checked in the same way. If no folder can be written, a temporary one is
used for this process and those it starts. If that fails, too, nothing
is cached.
"""

from __future__ import annotations

import gc
import hashlib
import inspect
import logging
import os
import pickle
import stat
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar

from numba import njit
from numba.core import config, event
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache

from rankstudio.engine.errors import CacheWarning
from rankstudio.engine.language import tr
from rankstudio.engine.support.compilation import announce
from rankstudio.engine.support.compiler_process import compiler_process
from rankstudio.engine.support.files import temporary_folder
from rankstudio.engine.support.resources import resource

VARIABLE = "NUMBA_CACHE_DIR"

_DIGEST_BYTES = 32  # bytes of SHA-256
_log = logging.getLogger(__name__)


def kernel_cache(function: Callable[..., Any]) -> Any:
    """Return the cache of a function's compiled code, for numba's dispatcher.

    The code is stored in a folder that other users cannot write. If no
    such folder can be written, a temporary one is used from now on or,
    without such a folder, a cache that stores nothing.
    """
    try:
        return _checked_cache(_KernelCache(function), function)
    except RuntimeError as error:
        # numba has no folder that it could write to, or other users can
        # write to it (_UntrustedError, whose text is the reason).
        _use_temporary_folder(str(error) if isinstance(error, _UntrustedError) else "")
    try:
        return _checked_cache(_KernelCache(function), function)
    except RuntimeError:
        return NullCache()


class _UntrustedError(RuntimeError):
    """Another user may have written the code that would be run."""


def _checked_cache(
    candidate: _KernelCache, function: Callable[..., Any]
) -> _KernelCache:
    """Return ``candidate``, a cache for the code of a function, if its folder is safe from other users.

    Only this user, or the one who installed the program, may be able to
    write there. The files of the folder are unpickled and run. The
    digest in each file shows damage, but not malicious code.

    Raises
    ------
    _UntrustedError
        If other users could write to the folder.
    """
    if not only_ours(Path(candidate.cache_path), Path(inspect.getfile(function))):
        text = tr(
            "{folder}: compiled kernels are not stored here, because other users can write to this folder."
        )
        raise _UntrustedError(text.format(folder=candidate.cache_path))
    return candidate


def only_ours(folder: Path, source: Path) -> bool:
    """Return whether a folder is safe from other users' writing.

    Only this user, the system and the owner of the file ``source`` may own it.

    The user's own group may also write, because on many systems it has
    no other members. Return True on Windows.
    """
    if not hasattr(os, "geteuid"):
        return True  # Windows keeps a user's folders to itself
    # User 0 and group 0 are those of the system.
    status = folder.stat()
    owners = {os.geteuid(), 0, source.stat().st_uid}
    all_can_write = bool(status.st_mode & stat.S_IWOTH)
    group_can_write = bool(status.st_mode & stat.S_IWGRP) and status.st_gid not in (
        os.getegid(),
        0,
    )
    return status.st_uid in owners and not all_can_write and not group_can_write


@cache
def _use_temporary_folder(reason: str = "") -> None:
    """Warn, and make numba store kernels in a temporary folder, if possible.

    Processes that this one starts use it, too. ``reason`` is the
    warning's first sentence; "" for the usual one. For each reason this
    happens only once.
    """
    default = "Compiled kernels cannot be cached: neither the program folder nor the user cache is writable."
    warnings.warn(
        f"{reason or default} Kernels are compiled again at each start. Set {VARIABLE} to another folder.",
        CacheWarning,
        stacklevel=3,
    )
    # numba reads the variable again.
    with suppress(OSError):
        os.environ[VARIABLE] = str(temporary_folder())
        config.reload_config()


def shipped_folder(module: str) -> Path:
    """Return the location of precompiled kernels of a module shipped with the program, if any."""
    return resource("kernels", module.rpartition(".")[0])


def _source_digest(function: Callable[..., Any]) -> str:
    """Return a digest of the source of a function.

    The digest covers the source files of the function and of all
    kernels that it may call.
    """
    files: dict[str, Path] = {}
    _add_sources(function, files)
    return hashlib.sha256(
        b"".join(files[module].read_bytes() for module in sorted(files))
    ).hexdigest()


def _add_sources(function: Callable[..., Any], files: dict[str, Path]) -> None:
    """Add the file of a function, and those of the kernels that its module imports, by module."""
    files[function.__module__] = Path(inspect.getfile(function))
    for value in [*function.__globals__.values()]:
        called = getattr(value, "py_func", None)
        if called is not None and called.__module__ not in files:
            _add_sources(called, files)


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """numba's cache of a function, which also reads shipped kernels.

    If a file of the cache cannot be written, no error is raised.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        """Find the folder of the cache, and that of the kernels shipped with the program.

        The names of files have a digest of the source of ``function``,
        which is the kernel.
        """
        # numba's class finds the folder, `_cache_path`, and the names of files.
        super().__init__(function)
        name = self._impl.filename_base
        digest = _source_digest(function)
        self._cache_file = _CheckedFiles(self._cache_path, name, digest)
        shipped = shipped_folder(function.__module__)
        # A file that others may have written must not be loaded.
        is_usable = shipped.is_dir() and only_ours(
            shipped, Path(inspect.getfile(function))
        )
        self._shipped = _CheckedFiles(str(shipped), name, digest) if is_usable else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for some types of arguments (``sig``), or None.

        It comes from the cache, from the kernels shipped with the
        program, or from another process that compiles it now. After
        None, numba compiles it in this process. ``target_context`` is
        numba's, for the processor.
        """
        # The cache counts first; then the shipped kernels; then the
        # other process, which writes to the cache.
        code = super().load_overload(sig, target_context) or self._load_shipped(
            sig, target_context
        )
        if code is None and compiler_process().compile(self._py_func, sig):
            code = super().load_overload(sig, target_context)
        return code

    def _load_shipped(self, sig: Any, target_context: Any) -> Any:
        """Return the code shipped with the program for some types of arguments (``sig``).

        Return None if there is no such code, or only for another
        processor. ``target_context`` is numba's, for the processor.
        """
        if self._shipped is None:
            return None
        data = self._shipped.load(self._index_key(sig, target_context.codegen()))
        return None if data is None else self._impl.rebuild(target_context, data)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save compiled code; an error only prevents that."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _log.debug("the code of %s was not kept: %s", sig, error)


class _CheckedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """numba's index and data of a function, each with a digest at its end."""

    def save(self, key: Any, data: Any) -> None:
        """Save code together with its key."""
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        """Return the code of a key; None if there is none."""
        # If two processes write at the same time, the index may be from
        # one and the code from the other.
        saved_key, data = super().load(key) or (None, None)
        return data if saved_key == key else None

    def _save_index(self, overloads: dict[Any, str]) -> None:
        """Write the names of files by key."""
        self._write(self._index_path, overloads)

    def _save_data(self, name: str, data: Any) -> None:
        """Write the code to a file."""
        self._write(self._data_path(name), data)

    def _write(self, path: str, obj: Any) -> None:
        """Write an object and its digest."""
        content: bytes = self._dump(obj)
        with self._open_for_write(path) as file:
            file.write(content + self._digest(path, content))

    def _load_index(self) -> dict[Any, str]:
        """Return the names of files by key."""
        try:
            return dict(self._load(self._index_path))
        except OSError:
            return {}

    def _load_data(self, name: str) -> Any:
        """Return the code in a file."""
        return self._load(self._data_path(name))

    def _load(self, path: str) -> Any:
        """Return the object that a file of kernels has, unpickled.

        Raises
        ------
        OSError
            If the digest of the file does not fit; numba then compiles again.
        """
        content = Path(path).read_bytes()
        if content[-_DIGEST_BYTES:] != self._digest(path, content[:-_DIGEST_BYTES]):
            raise OSError(f"{path} is damaged or of another version")
        return pickle.loads(content[:-_DIGEST_BYTES])

    def _digest(self, path: str, content: bytes) -> bytes:
        """Return the digest of a file of this source."""
        origin = f"{Path(path).name} {self._version} {self._source_stamp!r}\n"
        return hashlib.sha256(
            origin.encode("utf-8", "surrogateescape") + content
        ).digest()


P = ParamSpec("P")
R = TypeVar("R")

_CACHED: dict[str, Any] = {"is_cached": True}
_INSIDE = {"no_cpython_wrapper": True}
_INLINED = {"no_cpython_wrapper": True, "forceinline": True}
_FUSED: dict[str, Any] = {"fastmath": {"contract"}}
_REORDERED: dict[str, Any] = {"fastmath": {"contract", "reassoc"}}


class _Compilations(event.Listener):  # type: ignore[misc]
    """Announces the kernels that numba compiles, and disables garbage collection during compilation.

    A kernel and the library code that it needs make hundreds of
    thousands of objects. Repeated searches among all objects took a
    sixth of the time, and each blocked the window for 100 ms.
    """

    def __init__(self) -> None:
        # compilations, which are nested for kernels that call others
        self._n_active = 0
        self._was_enabled = False

    def on_start(self, event: event.Event) -> None:
        """Announce a kernel that is compiled now; numba calls this."""
        # Garbage collection is disabled at the outermost compilation;
        # one may start another.
        if self._n_active == 0:
            self._was_enabled = gc.isenabled()
            gc.disable()
        self._n_active += 1
        dispatcher = event.data["dispatcher"]
        # A kernel with the option "no_cpython_wrapper" is only called
        # from other kernels, and is compiled as a part of them.
        is_ours = dispatcher.py_func.__module__.startswith("rankstudio.")
        if is_ours and "no_cpython_wrapper" not in dispatcher.targetoptions:
            announce(dispatcher.py_func.__name__)

    def on_end(self, event: event.Event) -> None:
        """Enable garbage collection after the last compilation; numba calls this."""
        self._n_active -= 1
        if self._n_active == 0 and self._was_enabled:
            gc.enable()


event.register("numba:compile", _Compilations())


class _Compiler(Protocol):
    """A decorator that keeps the type of what it decorates."""

    def __call__(self, function: Callable[P, R], /) -> Callable[P, R]: ...


def _compiler(is_cached: bool = False, **options: Any) -> _Compiler:
    """Return a decorator that compiles a function by numba when it is first called.

    ``is_cached`` is whether the code is stored on disk, ``options`` are
    those of numba. Division by zero follows IEEE, as in NumPy, and
    other threads can run meanwhile.
    """
    compiler = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)

    # The text of the decorators is below their names, not a docstring here.
    def compile_cached(function: Any) -> Any:
        dispatcher = compiler(function)
        # In place of numba's own cache.
        dispatcher._cache = kernel_cache(function)
        return dispatcher

    return compile_cached if is_cached else compiler


kernel = _compiler(**_CACHED)
"""Compile a function that Python calls."""

subroutine = _compiler(**_INSIDE)
"""Compile a function that kernels alone call; a call from Python would end the process."""

inlined = _compiler(**_INLINED)
"""Compile a function like :func:`subroutine`, and have LLVM put it into its callers."""

fused = _compiler(**_CACHED, **_FUSED)
"""Compile a function like :func:`kernel`, with a multiplication and an addition rounded as one.

Sums keep their order: results do not depend on how the loops are cut.
"""

fused_inlined = _compiler(**_INLINED, **_FUSED)
"""Compile a function like :func:`fused`, and have LLVM put it into its callers."""

fused_subroutine = _compiler(**_INSIDE, **_FUSED)
"""Compile a function like :func:`fused` that only kernels call.

It is compiled once for all its callers.
"""

reordered = _compiler(**_CACHED, **_REORDERED)
"""Compile a function like :func:`fused`, with sums in the order that suits the processor's vectors.

The order depends on the length of a sum alone: equal calls give equal results.
"""
