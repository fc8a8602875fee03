"""What is compiled on first use, and that whoever waits is told of it."""

from __future__ import annotations

import gc
import io
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numba
import pytest

from rankstudio.engine.support.compilation import SAMPLE_KERNELS, announce, announced
from rankstudio.engine.support.jit import kernel

# with helpers, three of which kernels of shards share, and with what numba brings of its own library; was 146
MOST_COMPILATIONS = 66

STUDY = """
import json, sys
from collections import Counter
from numba.core import event
from rankstudio.cli import main
from rankstudio.engine.support.compilation import announced

class Counting(event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        compiled[function.__module__, function.__qualname__] += 1

    def on_end(self, event):
        pass

told, compiled = [], Counter()
event.register("numba:compile", Counting())
with announced(told.append):
    main(["run", "--sample", "--folds", "1", "--out", sys.argv[1]])
print(json.dumps([told, [[*name, times] for name, times in compiled.items()]]))
"""


def _study(folder: Path, out: str) -> tuple[list[str], dict[str, int], dict[str, int]]:
    """Run the sample's study in a process; return the sentences, and what was compiled, own and foreign."""
    caches = {
        "NUMBA_CACHE_DIR": str(folder / "numba"),
        "RANKSTUDIO_CACHE_DIR": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", STUDY, str(folder / out)],
        env=os.environ | caches,
        capture_output=True,
        text=True,
        check=True,
    )
    told, compiled = json.loads(done.stdout.splitlines()[-1])
    assert ("Compiling" in done.stderr) == bool(told)
    own = {
        name: times
        for module, name, times in compiled
        if module.startswith("rankstudio")
    }
    return (
        told,
        own,
        {
            name: times
            for module, name, times in compiled
            if not module.startswith("rankstudio")
        },
    )


def test_the_sample_compiles_few_kernels_for_one_signature_each_and_only_once(
    tmp_path: Path,
) -> None:
    told, own, foreign = _study(tmp_path, "first")
    assert len(told) == len(SAMPLE_KERNELS)
    for number in range(1, len(SAMPLE_KERNELS) + 1):
        assert (
            f"Compiling for this computer (first use only): kernel {number} of {len(SAMPLE_KERNELS)}"
            in told
        )
    assert {name for name, times in own.items() if times > 1} == set()
    assert sum(own.values()) + sum(foreign.values()) <= MOST_COMPILATIONS
    assert not {"_cascade", "_area", "_disagreement"} & set(own), (
        "nobody asked for these measures"
    )
    assert _study(tmp_path, "second") == ([], {}, {})


def _kernel() -> Callable[[int], int]:
    def doubled(value: int) -> int:
        return 2 * value

    doubled.__module__ = "rankstudio.engine.support.compilation"
    return kernel(doubled)


def test_a_kernel_is_announced_when_it_is_compiled_and_not_when_it_is_read_from_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    for expected in (
        ["Compiling for this computer (first use only): kernel doubled"],
        [],
    ):
        told: list[str] = []
        with announced(told.append):
            compiled = _kernel()
            assert compiled(3) == 6
            assert compiled(4) == 8
        assert told == expected


def test_garbage_is_not_searched_for_during_a_compilation_and_is_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    searched: list[bool] = []
    with announced(lambda _: searched.append(gc.isenabled())):
        assert _kernel()(3) == 6
    assert searched == [False]
    assert gc.isenabled()


def test_only_who_listens_is_told() -> None:
    told: list[str] = []
    with announced(told.append):
        announce(SAMPLE_KERNELS[0])
    announce(SAMPLE_KERNELS[1])
    assert told == [
        f"Compiling for this computer (first use only): kernel 1 of {len(SAMPLE_KERNELS)}"
    ]


def test_an_index_that_names_what_is_gone_is_as_good_as_none(tmp_path: Path) -> None:
    """numba unpickles the whole index of a kernel before it looks how old it is."""
    module = tmp_path / "kept.py"
    module.write_text(
        "from rankstudio.engine.support.jit import kernel\n\n\n"
        "@kernel\ndef twice(x: float) -> float:\n    return 2.0 * x\n"
    )
    call = [sys.executable, "-c", "import kept; print(kept.twice(4.0))"]
    env = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
        "PYTHONPATH": f"{tmp_path}:{Path.cwd()}",
    }
    assert (
        subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout
        == "8.0\n"
    )
    [index] = (tmp_path / "numba").rglob("*.nbi")
    version = io.BytesIO(index.read_bytes())
    pickle.load(version)
    gone = b"\x80\x04cnumba\nRulesOfYesterday\n."
    index.write_bytes(index.read_bytes()[: version.tell()] + gone)
    assert (
        subprocess.run(call, env=env, capture_output=True, text=True, check=True).stdout
        == "8.0\n"
    )
