"""Compiled kernels on the disk: damaged, not writable, nowhere."""

from __future__ import annotations

import errno
import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from numba.core import caching, codegen, config
from wording import naming

from rankstudio.engine.errors import CacheWarning
from rankstudio.engine.support import jit as compiled_kernels
from rankstudio.engine.support.compilation import announced
from rankstudio.engine.support.jit import kernel

READ_ONLY = """
import tempfile
from numba.core import caching

own = caching._CacheLocator.ensure_cache_path

def refuse(self):
    if "rankstudio-" not in self.get_cache_path():
        raise PermissionError("read-only")
    own(self)

caching._CacheLocator.ensure_cache_path = refuse
"""


def doubled() -> Callable[[int], int]:
    def twice(value: int) -> int:
        return 2 * value

    twice.__module__ = "rankstudio.engine.support.compilation"
    return kernel(twice)


def compiled() -> bool:
    """Return whether a kernel had to be compiled; its result is checked."""
    told: list[str] = []
    with announced(told.append):
        assert doubled()(21) == 42
    return bool(told)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # numba reads the environment anew when it compiles, where that has changed.
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "numba"))
    return tmp_path / "numba"


@pytest.fixture
def shipped(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have the kernel compiled, and brought along by a program that has compiled nothing yet."""
    assert compiled()
    (made,) = folder.iterdir()
    kernels = made.rename(tmp_path / "kernels")
    monkeypatch.setattr(compiled_kernels, "shipped_folder", lambda module: kernels)
    return kernels


@pytest.fixture
def read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let numba write nowhere but in a new folder for temporary files, which is returned."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    own = caching._CacheLocator.ensure_cache_path

    def refuse(locator: caching._CacheLocator) -> None:
        if not Path(locator.get_cache_path()).is_relative_to(temporary):
            raise PermissionError("read-only")
        own(locator)

    monkeypatch.setattr(caching._CacheLocator, "ensure_cache_path", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv(compiled_kernels.VARIABLE, str(tmp_path / "other"))
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "other"))
    compiled_kernels._use_temporary_folder.cache_clear()
    return temporary


# with the lowest version of numba, whose classes the cache stands on
@pytest.mark.smoke
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("how", ["a bit", "zeros", "cut", "empty", "gone"])
def test_what_is_damaged_is_compiled_anew(folder: Path, suffix: str, how: str) -> None:
    assert compiled()
    assert not compiled()
    (path,) = folder.rglob(f"*.{suffix}")
    content = path.read_bytes()
    half = len(content) // 2
    damaged = {
        "a bit": content[:half] + bytes([content[half] ^ 4]) + content[half + 1 :],
        "zeros": bytes(len(content)),
        "cut": content[:half],
        "empty": b"",
    }
    path.unlink()
    if how in damaged:
        path.write_bytes(damaged[how])
    assert compiled()
    assert not compiled()


def test_code_of_another_source_is_compiled_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compiled()
    (code,) = folder.rglob("*.nbc")
    old = code.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(compiled_kernels, "_source_digest", lambda _: "another")
        assert compiled()
        # as when the new index was written, and the code was not any more
        code.write_bytes(old)
        assert compiled()


def test_code_is_of_the_source_of_the_kernels_of_other_modules_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    jit = "from rankstudio.engine.support.jit import inlined\n\n\n@inlined\n"
    inner, outer = tmp_path / "inner_kernel.py", tmp_path / "outer_kernel.py"
    inner.write_text(f"{jit}def once(value):\n    return value\n")
    outer.write_text(
        f"from inner_kernel import once\n{jit}def twice(value):\n    return 2 * once(value)\n"
    )
    twice = importlib.import_module("outer_kernel").twice.py_func
    before = compiled_kernels._source_digest(twice)
    assert compiled_kernels._source_digest(twice) == before
    inner.write_text(inner.read_text().replace("return value", "return value + 1"))
    assert compiled_kernels._source_digest(twice) != before


def test_code_of_another_kernel_or_for_other_types_is_compiled_anew(
    folder: Path,
) -> None:
    def thrice(value: float) -> float:
        return 3 * value

    assert (doubled()(21), kernel(thrice)(7), kernel(thrice)(0.5)) == (42, 21, 1.5)
    other, one, two = sorted(
        folder.rglob("*.nbc"), key=lambda path: (path.name.split(".")[1], path.name)
    )
    for path, code in (
        (one, two.read_bytes()),
        (two, one.read_bytes()),
        (one, other.read_bytes()),
    ):
        path.write_bytes(code)
        assert (kernel(thrice)(7), kernel(thrice)(0.5)) == (21, 1.5)


def test_an_index_that_names_the_code_of_other_types_is_not_believed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # both processes find no index, and write the same names
    with monkeypatch.context() as patch:
        patch.setattr(compiled_kernels._CheckedFiles, "_load_index", lambda _: {})
        assert (doubled()(0.25), doubled()(21)) == (0.5, 42)
        (code,) = folder.rglob("*.nbc")
        whole = code.read_bytes()
        assert doubled()(0.25) == 0.5
    code.write_bytes(whole)
    assert (doubled()(0.25), doubled()(21)) == (0.5, 42)


def test_what_came_with_the_program_is_neither_compiled_nor_written(
    shipped: Path, folder: Path
) -> None:
    before = {path: path.read_bytes() for path in shipped.iterdir()}
    assert not compiled()
    assert {path: path.read_bytes() for path in shipped.iterdir()} == before
    assert not [*folder.rglob("*.nb?")]


def test_what_came_with_the_program_is_not_believed_of_another_source_or_processor(
    shipped: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(compiled_kernels, "_source_digest", lambda _: "another")
        assert compiled()
        assert not compiled(), "what was compiled here is kept as ever"
    shutil.rmtree(folder)
    with monkeypatch.context() as patch:
        other = ("x86_64-unknown-linux-gnu", "another", "+avx1024")
        patch.setattr(codegen.CPUCodegen, "magic_tuple", lambda _: other)
        assert compiled()
    shutil.rmtree(folder)
    assert not compiled()


def test_what_came_with_the_program_and_is_damaged_is_compiled_anew(
    shipped: Path,
) -> None:
    (code,) = shipped.glob("*.nbc")
    code.write_bytes(code.read_bytes()[:-1])
    assert compiled()
    assert not compiled()


def test_where_the_disk_is_full_nothing_is_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_open_for_write", full)
    assert compiled()
    assert compiled()


def test_where_nothing_can_be_written_a_temporary_folder_serves(
    read_only: Path,
) -> None:
    with pytest.warns(CacheWarning, match=naming("NUMBA_CACHE_DIR")) as warned:
        assert compiled()
        assert not compiled()
    assert len(warned) == 1
    (folder,) = read_only.iterdir()
    assert os.environ[compiled_kernels.VARIABLE] == str(folder)
    assert len([*folder.rglob("*.nbc")]) == 1


def test_without_temporary_files_nothing_is_kept(read_only: Path) -> None:
    read_only.rmdir()
    with pytest.warns(CacheWarning) as warned:
        assert compiled()
        assert compiled()
    assert len(warned) == 1


def test_processes_share_the_temporary_folder_and_it_goes_with_their_owner(
    tmp_path: Path,
) -> None:
    (tmp_path / "sitecustomize.py").write_text(READ_ONLY)
    script = (
        "import os\n"
        "from rankstudio.engine.experiment.execution.executors import on_processes\n"
        "with on_processes(2) as pool:\n"
        "    found = [pool.submit(os.getenv, 'NUMBA_CACHE_DIR').result() for _ in range(4)]\n"
        "    print(*{os.getenv('NUMBA_CACHE_DIR'), *found})\n"
    )
    environment = {
        name: value
        for name, value in os.environ.items()
        if name != compiled_kernels.VARIABLE
    }
    environment |= {
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path.cwd()}",
        "TMPDIR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    (folder,) = done.stdout.split()
    assert Path(folder).parent == tmp_path
    assert not Path(folder).exists()
    assert done.stderr.count("CacheWarning") == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such modes")
def test_a_folder_that_others_can_write_to_is_not_unpickled_from(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compiled() and not compiled()
    (place,) = (
        path for path in folder.rglob("*") if path.is_dir() and any(path.glob("*.nbi"))
    )
    read: list[object] = []
    monkeypatch.setattr(compiled_kernels.pickle, "loads", read.append)
    compiled_kernels._use_temporary_folder.cache_clear()
    place.chmod(0o777)
    with pytest.warns(CacheWarning, match=re.escape(str(place))):
        assert compiled()
    assert not read


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such modes")
def test_who_may_write_to_a_trusted_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source.py"
    source.touch()
    for mode, trusted in (
        (0o700, True),
        (0o755, True),
        (0o775, True),
        (0o757, False),
        (0o1777, False),
    ):
        (tmp_path / oct(mode)).mkdir()
        (tmp_path / oct(mode)).chmod(mode)
        assert compiled_kernels.only_ours(tmp_path / oct(mode), source) is trusted
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    assert compiled_kernels.only_ours(tmp_path, source)  # of who installed the program
    monkeypatch.setattr(os, "geteuid", lambda: own)
    monkeypatch.setattr(os, "getegid", lambda: 12345)
    (tmp_path / oct(0o775)).chmod(0o775)
    if (tmp_path / oct(0o775)).stat().st_gid:
        assert not compiled_kernels.only_ours(tmp_path / oct(0o775), source)
