"""Processes that run a method's program: started for a fold, watched, limited and ended."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, ClassVar

from rankstudio.engine.errors import MethodError, PlanError, one_line, shown
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.method import Method
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, whole_need
from rankstudio.engine.support.work import Waiting, WorkProgress

PREFIX = "command:"
"""Beginning of the key of a method that runs a program."""

TIME_LIMIT = "time_limit"
MEMORY_LIMIT = "memory_limit"

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
# Placeholder of a parameter: name=default.
SETTING = re.compile(r"([a-z][a-z0-9_]{0,30})=([^{}]*)")
FILES = ("train", "order", "scores", "model", "documents")
"""Placeholders that stand for files."""

THEN = ";"
"""Word between the command that trains a model and the one that scores documents with it."""

NUMBERS = ("k", "seed")
"""Placeholders that stand for numbers."""

_PROGRESS = re.compile(rb"\s*progress\s+([0-9.]+)\s*")
# Seconds between polls of the program, and the longest time until Stop ends it.
_POLL_SECONDS = 0.05
_GRACE_SECONDS = 2.0  # seconds to wait for the rest of a program's output
_MOST_MESSAGES = 20_000  # bytes of a program's output that are kept
_MOST_RESULT = 64 << 20  # bytes of a file that a program writes
_MAX_LENGTH = 1000  # characters of a command line, and of messages


def command_words(key: str) -> list[str]:
    """Return the words of the command line after "command:" in the key of a method.

    Raises
    ------
    PlanError
        If the command line is empty, too long, or cannot be split into words.
    """
    text = key.removeprefix(PREFIX)
    # An empty list stands for an invalid command line.
    try:
        words = (
            shlex.split(text) if key.isprintable() and len(key) <= _MAX_LENGTH else []
        )
    except ValueError:
        words = []
    if not words:
        text = tr("{key}: expected a command line after “command:”.")
        raise PlanError(text.format(key=shown(key)))
    return words


class RunsProgram:
    """Base class of methods with a program: runs its commands, and reads the files that it writes."""

    entry: ClassVar[Method]
    values: dict[str, Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the values of the parameters by name; ``deep`` has no effect."""
        return dict(self.values)

    def memory_need(self, shape: DataShape) -> MemoryNeed:
        """Return the memory requirements: those of all training documents at once."""
        return whole_need(shape)

    def wants(self, name: str) -> bool:
        """Return whether the command line has the placeholder ``name``."""
        return f"{{{name}}}" in self.entry.key

    def run_words(self, words: Sequence[str], folder: Path, k: int) -> Waiting[str]:
        """Run a command, yield its progress, and return its output on one line.

        ``words`` may have placeholders for files in ``folder``, for the
        number of features k, and for parameters of the method. Raises a
        MethodError if the command fails, or takes longer than the time
        limit.
        """
        activity = tr("running {label}").format(label=self.entry.label)
        with _running_program(
            self._arguments(words, folder, k), folder, self.entry.label
        ) as program:
            # The program runs by itself, and is asked a few times per
            # second whether it has ended.
            time_limit = self.values.get(TIME_LIMIT, 3600.0)
            ends_at = time.monotonic() + float(time_limit)
            yield WorkProgress(activity, 0.0)
            while program.process.poll() is None:
                if time.monotonic() > ends_at:
                    text = tr("it took more than {seconds:g} seconds and was ended")
                    raise MethodError(self.entry.label, text.format(seconds=time_limit))
                time.sleep(_POLL_SECONDS)
                yield WorkProgress(activity, program.share)
            # The reader gets the rest of the output after the program's end.
            program.reader.join(_GRACE_SECONDS)
            messages = program.messages()
            # A status other than 0 is a failure; what the program
            # printed is the best explanation.
            if program.process.returncode:
                text = tr("it ended with status {status}: {messages}")
                output = messages or tr("it printed nothing")
                problem = text.format(
                    status=program.process.returncode, messages=output
                )
                raise MethodError(self.entry.label, problem)
            return messages

    def _arguments(self, words: Sequence[str], folder: Path, k: int) -> list[str]:
        """Return the words of a command with values in place of the placeholders.

        The values are paths of files in ``folder``, the number of
        features k, the seed, and parameters of the method. If the user
        limits the memory, the words begin with those of a shell that
        sets the limit.
        """
        # FILES are the placeholders of files, such as "train".
        values = {name: str(folder / f"{name}.txt") for name in FILES}
        values |= {"k": str(k), "seed": str(self.values.get("seed", 0))}

        def value(match: re.Match[str]) -> str:
            """Return the text that replaces a matched placeholder in a word of a command.

            A placeholder ``{name=default}`` gets the value of the
            parameter with this name, or the default. The texts of other
            placeholders are in the dict ``values`` of the enclosing
            method.
            """
            placeholder = match[1]
            setting = SETTING.fullmatch(placeholder)
            if setting:
                name, default = setting.groups()
                return str(self.values.get(name, default))
            return values[placeholder]

        words = [PLACEHOLDER.sub(value, word) for word in words]
        gigabytes = self.values.get(MEMORY_LIMIT)
        if gigabytes is None or os.name != "posix":
            return words
        # A shell sets the limit of memory, and then becomes the
        # command. After the script, the shell's first argument is $0,
        # here the limit, and "$@" are the others, here the words of the
        # command.
        kilobytes = round(float(gigabytes) * 1e6)
        return ["/bin/sh", "-c", 'ulimit -v "$0" && exec "$@"', str(kilobytes), *words]

    def written_words(self, path: Path) -> list[str]:
        """Return the words of a file that the program wrote.

        Commas separate words like spaces. Raises a MethodError if the
        file at ``path`` does not exist, is too large, or is no text.
        """
        return " ".join(self.written_lines(path)).replace(",", " ").split()

    def written_lines(self, path: Path) -> list[str]:
        """Return the lines of a file that the program wrote; MethodError if there is no such text."""
        try:
            return self.written_bytes(path).decode("utf-8").splitlines()
        except ValueError as error:
            raise MethodError(
                self.entry.label, tr("{name} is no text").format(name=path.name)
            ) from error

    def written_bytes(self, path: Path) -> bytes:
        """Return the contents of a file that the program wrote.

        Raises
        ------
        MethodError
            If the file does not exist, or is too large.
        """
        try:
            if path.stat().st_size > _MOST_RESULT:
                raise MethodError(
                    self.entry.label, tr("it wrote a file of more than 64 MB")
                )
            return path.read_bytes()
        except FileNotFoundError as error:
            raise MethodError(
                self.entry.label, tr("it wrote no {name}").format(name=path.name)
            ) from error


class _Program:
    """A running program of the user, and what it prints.

    A thread reads the output, which may contain the share of the work done.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Start a thread that reads the output of the process, so that the process never waits for a reader."""
        self.process = process
        self.share = 0.0  # of the work that is done, as the program prints it
        self._output = bytearray()
        self.reader = threading.Thread(
            target=self._read, name="rankstudio-program", daemon=True
        )
        self.reader.start()

    def _read(self) -> None:
        """Read lines until the program ends, on the reader's thread.

        A line such as "progress 0.5" sets ``share``; other lines are
        added to the output, up to a limit.
        """
        stream: IO[bytes] | None = self.process.stdout
        assert stream is not None
        with suppress(OSError, ValueError):  # the stream was closed meanwhile
            # Lines of limited length, until the end of the stream, an
            # empty one.
            for line in iter(lambda: stream.readline(_MOST_MESSAGES), b""):
                progress = _PROGRESS.fullmatch(line)
                if progress:
                    with suppress(ValueError):
                        self.share = min(max(float(progress[1]), 0.0), 1.0)
                elif len(self._output) < _MOST_MESSAGES:
                    self._output += line

    def messages(self) -> str:
        """Return the printed lines without progress, on one line."""
        text = self._output[:_MOST_MESSAGES].decode("utf-8", "replace")
        return one_line(" ".join(text.split()))[:_MAX_LENGTH]


@contextmanager
def _running_program(
    arguments: list[str], folder: Path, label: str
) -> Iterator[_Program]:
    """Run a program in a process group of its own, which is killed at the end of the block.

    ``arguments`` are the words of its command. ``folder`` has the files
    of the program, which finds the folder's path in the environment as
    RANKSTUDIO_FOLDER. ``label`` is the method's, for errors.
    """
    # A session of its own, so that the program is killed with all that it starts.
    try:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "RANKSTUDIO_FOLDER": str(folder)},
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        text = tr("{program} cannot be started: {reason}")
        raise MethodError(
            label, text.format(program=one_line(arguments[0]), reason=reason)
        ) from error
    program = _Program(process)
    try:
        yield program
    finally:
        # At the end of the block, also after an error: no process and
        # no open pipe remains.
        _kill_with_children(process)
        program.reader.join(_GRACE_SECONDS)
        if process.stdout is not None:
            process.stdout.close()


def _kill_with_children(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and all processes that it started, and wait for its end."""
    # Windows has no process groups.
    kill_group = getattr(os, "killpg", None)
    with suppress(OSError):  # all processes have already ended
        if kill_group is not None:
            kill_group(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
