"""The program, loaded once: for each line of the input a copy of it carries out a command."""

from __future__ import annotations

import atexit
import builtins
import errno
import io
import json
import mmap
import os
import resource
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

from rankstudio.__main__ import main
from rankstudio.cli import main as cli


def warm_up(folder: str, data: str) -> None:
    """Load what commands load, so that copies need not."""
    study, printed = f"{folder}/study.rankstudio", io.StringIO()
    options = ["--data", data, "--study", study]
    commands = [
        ["run", "--lambda", "1 2", "--out", f"{folder}/out", *options],
        ["run", "--lambda", "4", *options],
        ["compare", study],
        ["convert", data, f"{folder}/data"],
        ["report", study, "--out", f"{folder}/report.html"],
    ]
    with redirect_stdout(printed), redirect_stderr(printed):
        done = [cli(command) for command in commands]
    assert not any(done), printed.getvalue()


def carry_out(order: dict[str, Any]) -> dict[str, Any]:
    """Have a copy of this process carry a command line out; return how it ended and what it printed."""
    files = {
        name: Path(order["scratch"]) / name for name in ("stdout", "stderr", "calls")
    }
    for file in files.values():
        file.write_bytes(b"")
        file.chmod(0o666)
    child = os.fork()
    if child == 0:
        _become(order, files)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {
        "status": status,
        **{name: file.read_text("utf-8") for name, file in files.items()},
    }


def _become(order: dict[str, Any], files: dict[str, Path]) -> None:
    """Make this copy a process as a shell starts it, carry the command line out, and end."""
    status = 99
    try:
        for number, name in enumerate(("stdout", "stderr"), start=1):
            os.dup2(
                os.open(order.get(name) or files[name], os.O_WRONLY | os.O_APPEND),
                number,
            )
        sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = sys.__stderr__ = os.fdopen(
            2, "w", buffering=1, encoding="utf-8", closefd=False
        )
        for name, value in order.get("environment", {}).items():
            os.environ.update({name: value}) if value is not None else os.environ.pop(
                name, None
            )
        tempfile.tempdir = order.get("temporary")
        os.chdir(order["folder"])
        # of its addresses
        filled = mmap.mmap(-1, order["filled"]) if order.get("filled") else None
        for name, limit in order.get("limits", {}).items():
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (limit, limit))
        calls = os.open(files["calls"], os.O_WRONLY)
        fail_at = order.get("fail_at")
        counted = _Calls(fail_at) if fail_at is not None else None
        sys.argv = ["rankstudio", *order["arguments"]]
        try:
            status = main()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        except BaseException:
            status = 1
            traceback.print_exc()
        sys.stdout.flush()
        atexit._run_exitfuncs()
        sys.stderr.flush()
        del filled
        if counted is not None:
            os.pwrite(calls, str(counted.count).encode(), 0)
    except BaseException as error:
        status = 120
        with suppress(OSError):
            os.pwrite(2, f"Exception ignored at the end: {error!r}\n".encode(), 0)
    finally:
        os._exit(status)


class _Calls:
    """Counts the calls with which Python changes a disk; one of them finds it full.

    Parameters
    ----------
    fail_at : int
        Which one, counted from 1.
    """

    def __init__(self, fail_at: int) -> None:
        self.count, self._fail_at = 0, fail_at
        for name in (
            "fsync",
            "mkdir",
            "replace",
            "rename",
            "truncate",
            "ftruncate",
            "utime",
        ):
            setattr(os, name, self._counting(getattr(os, name)))
        opened, tell = os.open, self.tell

        def open_counted(path: Any, flags: int, *rest: Any, **options: Any) -> int:
            if flags & os.O_CREAT:
                tell()
            return opened(path, flags, *rest, **options)

        class Counted(io.FileIO):
            def write(self, data: Any, /) -> int:
                tell()
                return super().write(data)

        open_file = io.open

        def open_any(file: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
            if not set(mode) & set("wxa+") or (isinstance(file, int) and file < 3):
                return open_file(file, mode, *rest, **options)
            raw = Counted(
                file,
                mode.replace("b", "").replace("t", ""),
                opener=options.get("opener"),
            )
            if rest[:1] == (0,) or options.get("buffering") == 0:
                return raw
            buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            return (
                buffered
                if "b" in mode
                else io.TextIOWrapper(buffered, options.get("encoding"))
            )

        os.open, io.open, builtins.open = open_counted, open_any, open_any  # type: ignore[assignment]

    def tell(self) -> None:
        """Count a call; fail where it is the one."""
        self.count += 1
        if self.count == self._fail_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _counting(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **options: Any) -> Any:
            self.tell()
            return call(*given, **options)

        return counted


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    warm_up(*sys.argv[1:])
    for line in sys.stdin:
        print(json.dumps(carry_out(json.loads(line))), file=answers, flush=True)
