"""How much memory there is, whatever limits it, and that running out of it ends in a sentence."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.errors import OutOfMemoryError, ParameterError
from rankstudio.engine.support import memory

GIB = 1 << 30
MEMINFO = f"MemTotal: {8 * GIB // 1024} kB\nMemFree: 5 kB\nMemAvailable: {6 * GIB // 1024} kB\n"


def system(
    monkeypatch: pytest.MonkeyPatch, own: float | None = None, **files: str
) -> None:
    """Let the files of the system hold something else, by their names with _ for any other sign."""
    monkeypatch.setattr(
        memory,
        "_system_file",
        lambda file: files.get(file.replace("/", "_").replace(".", "_"), ""),
    )
    monkeypatch.setattr(memory, "_address_space", lambda: own)


def test_what_is_free_on_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    system(monkeypatch, proc_meminfo=MEMINFO)
    assert memory.available() == 6 * GIB


def test_a_control_group_has_less_and_gives_pages_of_files_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = {
        "sys_fs_cgroup_memory_max": f"{2 * GIB}\n",
        "sys_fs_cgroup_memory_current": f"{GIB}\n",
    }
    system(monkeypatch, proc_meminfo=MEMINFO, **group)
    assert memory.available() == GIB
    stat = f"anon 1\ninactive_file {GIB // 2}\n"
    system(monkeypatch, proc_meminfo=MEMINFO, **group, sys_fs_cgroup_memory_stat=stat)
    assert memory.available() == 1.5 * GIB
    system(monkeypatch, proc_meminfo=MEMINFO, sys_fs_cgroup_memory_max="max\n")
    assert memory.available() == 6 * GIB


@pytest.mark.parametrize("version", [1, 2])
def test_the_groups_around_that_of_the_process_limit_it_too(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, most, taken = (
        ("0::/user.slice/one", "memory.max", "memory.current")
        if version == 2
        else (
            "4:cpu,memory:/user.slice/one",
            "memory/memory.limit_in_bytes",
            "memory/memory.usage_in_bytes",
        )
    )
    files = {"proc/meminfo": MEMINFO, "proc/self/cgroup": f"9:pids:/none\n{own}\n"}

    def put(group: str, name: str, value: int) -> None:
        folder, _, last = name.rpartition("/")
        files[f"sys/fs/cgroup/{folder}/{group}/{last}".replace("//", "/")] = (
            f"{value}\n"
        )

    monkeypatch.setattr(memory, "_address_space", lambda: None)
    monkeypatch.setattr(
        memory,
        "_system_file",
        lambda file: files.get(file.replace("//", "/").replace("/./", "/"), ""),
    )
    assert memory.available() == 6 * GIB
    put("user.slice", most, 3 * GIB)
    put("user.slice", taken, GIB)
    assert memory.available() == 2 * GIB
    put("user.slice/one", most, GIB)
    put("user.slice/one", taken, GIB // 2)
    assert memory.available() == GIB // 2
    put("user.slice/one", most, 5 * GIB)
    assert memory.available() == 2 * GIB


def test_an_address_space_without_room_for_the_program_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for limit in (None, 4.0 * GIB):
        system(monkeypatch, limit)
        memory.refuse_small_limit()
    system(monkeypatch, 0.5 * GIB)
    with pytest.raises(OutOfMemoryError, match=naming("536.9 MB -v")):
        memory.refuse_small_limit()


def test_a_limit_of_the_address_space_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    status = f"VmPeak: 1 kB\nVmSize: {GIB // 1024} kB\n"
    system(monkeypatch, 3.0 * GIB, proc_meminfo=MEMINFO, proc_self_status=status)
    assert memory.available() == 2 * GIB
    system(monkeypatch, 0.5 * GIB, proc_meminfo=MEMINFO, proc_self_status=status)
    assert memory.available() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no such limit")
def test_the_limit_of_a_real_process() -> None:
    code = "from rankstudio.engine.support import memory; print(memory.available())"
    limited = f"ulimit -v 3000000; exec {sys.executable} -c '{code}'"
    said = subprocess.run(
        ["bash", "-c", limited], capture_output=True, text=True, check=True
    ).stdout
    assert 0 < float(said) < 3000000 * 1024


def test_running_out_of_memory_becomes_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2.5e9)
    with (
        pytest.raises(OutOfMemoryError) as refused,
        memory.sufficient("RankRLS on fold 1"),
    ):
        np.empty(1 << 58)
    assert str(refused.value) == (
        "RankRLS on fold 1: not enough memory: Unable to allocate 2.00 EiB for an array with shape "
        "(288230376151711744,) and data type float64; 2.5 GB are free. Use fewer workers, features or "
        "documents, or a method that needs less."
    )
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    with (
        pytest.raises(OutOfMemoryError, match=naming("2.5 GB")),
        memory.sufficient("Toy"),
    ):
        raise MemoryError


def test_a_budget_is_half_of_what_is_free_unless_somebody_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available", lambda: 8e9)
    assert memory.budget() == 4e9
    with memory.within(1e9):
        assert memory.budget() == 1e9
        with memory.within(None):
            assert memory.budget() == 1e9
    assert memory.budget() == 4e9


def test_the_variable_says_how_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKSTUDIO_MEMORY", "1.5 gib")
    assert memory.budget() == 1.5 * 2**30
    with memory.within(1e9):
        assert memory.budget() == 1e9
    for text in ("4", "GB", "-1GB", "1e3GB", "0.5MB", "4 G", "4GB4GB"):
        monkeypatch.setenv("RANKSTUDIO_MEMORY", text)
        with pytest.raises(ParameterError, match=naming("RANKSTUDIO_MEMORY 1MB")):
            memory.budget()
