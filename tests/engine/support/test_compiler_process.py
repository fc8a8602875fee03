"""Kernels compiled by another process: this one only reads them, and compiles itself where that cannot be."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from numba.core import config, event

from rankstudio.engine.support import jit as compiled_kernels
from rankstudio.engine.support.compilation import announced
from rankstudio.engine.support.compiler_process import CompilerProcess
from rankstudio.engine.support.jit import kernel

MODULE = """
from rankstudio.engine.support.jit import inlined, kernel


@inlined
def once_more(x: float) -> float:
    return x + x


@kernel
def twice(x: float) -> float:
    print("what is printed is no answer") if x < 0 else None
    return once_more(x)


@kernel
def half(x: float) -> float:
    return x / 2
"""


class Compilations(event.Listener):  # type: ignore[misc]
    """Counts what numba compiles in this process."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: event.Event) -> None:
        self.names.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: event.Event) -> None:
        pass


@pytest.fixture
def here() -> Iterator[list[str]]:
    """The names of the functions that are compiled in this process."""
    listener = Compilations()
    with event.install_listener("numba:compile", listener):
        yield listener.names


@pytest.fixture
def process(tmp_path: Path) -> Iterator[CompilerProcess]:
    """The process that compiles for this one, with an empty cache; ended after the test."""
    made = CompilerProcess()
    made.wanted = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_kernels, "compiler_process", lambda: made)
        patch.setenv(compiled_kernels.VARIABLE, str(tmp_path / "numba"))
        config.reload_config()
        yield made
    config.reload_config()
    if made._process is not None:
        made._process.communicate()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module with kernels that nobody has compiled."""
    (tmp_path / "kernels_to_compile.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.reload(importlib.import_module("kernels_to_compile"))


def test_nothing_is_compiled_here_until_the_process_is_gone(
    process: CompilerProcess, module: ModuleType, here: list[str]
) -> None:
    told: list[str] = []
    with announced(told.append):
        assert module.twice(4.0) == 8.0
        assert module.twice(3) == 6  # another signature
    assert here == []
    assert len(told) == 2
    first = process._process
    assert first is not None
    first.kill()
    first.wait()
    assert module.half(4.0) == 2.0
    assert "half" in here
    assert not process.wanted


def test_what_another_process_cannot_import_is_compiled_here(
    process: CompilerProcess, here: list[str]
) -> None:
    def thrice(x: float) -> float:
        return 3 * x

    assert kernel(thrice)(2.0) == 6.0
    assert here == ["thrice"]
    assert process.wanted


def test_a_process_that_computes_only_compiles_itself(
    process: CompilerProcess, module: ModuleType, here: list[str]
) -> None:
    process.wanted = False
    assert module.half(4.0) == 2.0
    assert "half" in here
    assert process._process is None


def test_it_ends_without_a_word_where_nobody_waits_for_its_answer() -> None:
    asked = pickle.dumps(("rankstudio.engine.support.blocks", "group_blocks", ()))
    with subprocess.Popen(
        [sys.executable, "-m", "rankstudio.engine.support.compiler_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        assert process.communicate(asked)[1] == b""
    assert process.returncode == 0
