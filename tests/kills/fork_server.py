"""A process that has everything loaded and starts programs as copies of itself, to be killed at some moment.

It reads requests from its input, a line of JSON each, and answers each with one. It has one thread and no
application of Qt, so that a copy is whole; a copy runs the program's own ``main`` from its first line on.
"""

from __future__ import annotations

import atexit
import json
import multiprocessing
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import system_calls
import warm_engine
from numba.core import config

from rankstudio import cli
from rankstudio.__main__ import main as program
from rankstudio.cli.progress_bar import ProgressBar
from rankstudio.engine.support import jit

_SECONDS = 200


@dataclass(frozen=True)
class Moment:
    """When a signal is sent.

    Attributes
    ----------
    line, seconds : int, float
        After so many lines of what the program tells, and then so many seconds; at once where it is 0.
    call : int
        Before so many system calls that write; then lines and seconds do not count.
    """

    line: int = 0
    seconds: float = 0.0
    call: int = 0


@dataclass(frozen=True)
class Request:
    """A program to be started, and what ends it.

    Attributes
    ----------
    program : str
        "terminal", "window" or "kernel".
    arguments : tuple of str
    environment : dict of str to str
        What is added to this process's own.
    printed : str
        The file for what it prints.
    moment : Moment or None
        None for no signal at all.
    signal : int
    victim : int
        The process that the signal is sent to; 0 for the program, -1, -2 … for one of its workers.
    count : bool
        Whether its system calls are counted.
    """

    program: str
    arguments: tuple[str, ...]
    environment: dict[str, str]
    printed: str
    moment: Moment | None = None
    signal: int = int(signal.SIGKILL)
    victim: int = 0
    count: bool = False


@dataclass(frozen=True)
class Ended:
    """How a program ended.

    Attributes
    ----------
    status : int
        The exit status, the negative number of the signal where one ended it.
    told : tuple of str
        The lines that it told.
    seconds : float
    calls : int
        Its system calls that write, where they were counted.
    workers : tuple of int
        The processes that it started.
    """

    status: int
    told: tuple[str, ...]
    seconds: float
    calls: int = 0
    workers: tuple[int, ...] = ()


Tell = Callable[[str], None]


def start(request: Request) -> Ended:
    """Start a program, send the signal, and wait for its end."""
    heard, said = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(heard)
        _be(request, said)
    os.close(said)
    calls = 0
    if request.count or (request.moment and request.moment.call):
        calls, status = system_calls.follow(
            child, request.moment.call if request.moment else None
        )
        seconds = time.monotonic() - began
        with os.fdopen(heard) as pipe:
            lines = pipe.read().splitlines()
    else:
        lines = _listen(request, child, heard)
        status = os.waitpid(child, 0)[1]
        seconds = time.monotonic() - began
    told = tuple(line for line in lines if not line.startswith("Workers"))
    workers = tuple(
        int(pid)
        for line in lines
        if line.startswith("Workers")
        for pid in line.split()[1:]
    )
    return Ended(os.waitstatus_to_exitcode(status), told, seconds, calls, workers)


def _listen(request: Request, child: int, heard: int) -> list[str]:
    """Send the signal at its moment; return all lines that were told."""
    moment, text, due = request.moment, b"", None
    while True:
        lines = text.decode().splitlines()
        workers = [
            int(pid)
            for line in lines
            if line.startswith("Workers")
            for pid in line.split()[1:]
        ]
        reached = (
            moment is not None
            and len(lines) >= moment.line
            and len(workers) >= -request.victim
        )
        if reached and due is None:
            assert moment is not None
            due = time.monotonic() + moment.seconds
        timeout = None if due is None else max(due - time.monotonic(), 0.0)
        if due is None or select.select([heard], [], [], timeout)[0]:
            piece = os.read(heard, 1 << 16)
            if not piece:
                break
            text += piece
        else:
            victim = (
                workers[-1 - request.victim]
                if request.victim < 0
                else request.victim or child
            )
            with suppress(ProcessLookupError):
                os.kill(victim, request.signal)
            moment, due = None, None
    os.close(heard)
    return text.decode().splitlines()


def _be(request: Request, said: int) -> None:
    """Become the program."""
    status = 70
    try:
        with Path(request.printed).open("ab") as printed:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
        os.environ.update(request.environment)
        signal.alarm(_SECONDS)  # whatever it waits for
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if request.count or (request.moment and request.moment.call):
            system_calls.be_followed()

        def tell(line: str) -> None:
            os.write(said, f"{line}\n".encode())

        status = PROGRAMS[request.program](request.arguments, tell)
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:  # to be found among what was printed
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def terminal(arguments: tuple[str, ...], tell: Tell) -> int:
    """Carry a command line out, telling of every event after it was shown."""
    show, carry_out = ProgressBar.show, cli.main

    def shown(self: ProgressBar, event: Any) -> None:
        show(self, event)
        tell(event_line(event))

    def begun() -> int:
        tell("Begun")
        return carry_out()

    ProgressBar.show = shown  # type: ignore[method-assign]
    cli.main = begun  # type: ignore[assignment]
    _start_workers_here(tell)
    sys.argv = ["rankstudio", *arguments]
    return program()


def window(arguments: tuple[str, ...], tell: Tell) -> int:
    """Open the window as its user does, and run a plan, or go on with the run of the last time."""
    _start_workers_here(tell)
    return int(import_module("window_user").use(*arguments, tell=tell, line=event_line))


def event_line(event: Any) -> str:
    """Return what is told of an event: its name, and where there is one its unit."""
    unit = getattr(event, "unit", None)
    return type(event).__name__ + (
        "" if unit is None else f" {unit.fold} {unit.position}"
    )


def kernel(arguments: tuple[str, ...], tell: Tell) -> int:
    """Compile a kernel, or find it compiled; the status tells whether its result is right."""

    def twice(value: int) -> int:
        return 2 * value

    config.CACHE_DIR = arguments[0]
    twice.__module__ = "rankstudio.engine.support.compilation"
    right = jit.kernel(twice)(21) == 42
    tell("Called")
    return 0 if right else 1


def _start_workers_here(tell: Tell) -> None:
    """Have worker processes started as copies of a process that has everything loaded, and tell of them."""
    executors = warm_engine.executors
    get_context = multiprocessing.get_context
    multiprocessing.get_context = lambda _=None: get_context("forkserver")  # type: ignore[assignment]
    forkserver._forkserver.ensure_running = lambda: None  # type: ignore[attr-defined]
    ready = executors._Processes._adjust_process_count  # type: ignore[attr-defined]

    def adjust(pool: Any) -> None:
        before = set(pool._processes)
        ready(pool)
        for pid in set(pool._processes) - before:
            tell(f"Workers {pid}")

    executors._Processes._adjust_process_count = adjust  # type: ignore[attr-defined]


PROGRAMS = {"terminal": terminal, "window": window, "kernel": kernel}


def main() -> None:
    """Serve until the input ends."""
    with os.fdopen(os.dup(1), "w", buffering=1) as answers:
        os.dup2(2, 1)
        for module in sys.argv[1:]:
            # an extra, or Qt without its libraries: who needs it fails
            with suppress(ImportError):
                import_module(module)
        multiprocessing.set_forkserver_preload(["warm_engine"])
        forkserver.ensure_running()
        tasks = [path.name for path in Path("/proc/self/task").iterdir()]
        print(
            json.dumps(
                {"threads": len(tasks), "followed": system_calls.can_be_followed()}
            ),
            file=answers,
        )
        for line in sys.stdin:
            values = json.loads(line)
            moment = values.pop("moment")
            request = Request(
                **values, moment=None if moment is None else Moment(**moment)
            )
            print(json.dumps(asdict(start(request))), file=answers)


if __name__ == "__main__":
    main()
