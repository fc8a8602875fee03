"""Programs in any language as selectors: they read the training part, and write an order or scores."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.errors import MethodError, PlanError, one_line, shown
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.methods.catalog.method import CandidateScore, Method, Seconds
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.methods.catalog.shared import LEAVE_QUERY_OUT, RANKING_LAMBDA, SIZE
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, whole_need
from rankstudio.engine.methods.selection.base import Ordering, PathSelector, best_first
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.support.work import Note, Waiting, WorkProgress

PREFIX = "command:"
"""Beginning of the key of a program."""

TIME_LIMIT = "time_limit"
MEMORY_LIMIT = "memory_limit"

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_SETTING = re.compile(r"([a-z][a-z0-9_]{0,30})=([^{}]*)")
_FILES = ("train", "order", "scores")
_NUMBERS = ("k", "seed")
_PROGRESS = re.compile(rb"\s*progress\s+([0-9.]+)\s*")
_POLL = 0.05  # seconds between looks at the program, and so until Stop ends it
_GRACE = 2.0  # seconds for a program to end by itself
_MOST_MESSAGES = 20_000  # bytes of what a program prints that are kept
_MOST_RESULT = 64 << 20
_LONGEST = 1000

_LIMITS = (
    Parameter(
        TIME_LIMIT,
        translatable("time limit"),
        Kind.NUMBER,
        3600.0,
        translatable("Seconds that the program may take for a fold; it is then ended."),
        basic=False,
        offers_several=False,
        low=0.0,
        open_low=True,
    ),
    Parameter(
        MEMORY_LIMIT,
        translatable("memory limit"),
        Kind.NUMBER,
        None,
        translatable("Gigabytes that the program may use; not on Windows."),
        basic=False,
        offers_several=False,
        low=0.0,
        open_low=True,
        none_label="none",
    ),
)


@dataclass(frozen=True)
class ProgramMethod(Method):
    """A program as a method; its key is the whole command line."""

    def load(self) -> type[Any]:
        """Return the estimator's class; see :meth:`Method.load`."""
        if self.lacking:
            raise PlanError(self.lacking)
        from rankstudio.engine.methods.foreign.guard import guarded  # noqa: PLC0415 - as a method is used

        base = type(self.label, (ProgramSelector,), {"entry": self})
        return guarded(base, self)


def method_of_command(key: str) -> Method:
    """Return the method of a command line.

    Parameters
    ----------
    key : str
        ``"command:Rscript my.R {train} {order}"``. Placeholders: ``{train}``, a file in LETOR's format with
        features 1 to n; ``{order}``, a file to write the features in, best first; or ``{scores}``, a file to
        write one score per feature in; ``{k}``, the number of features; ``{seed}``; and parameters with
        their defaults, ``{depth=3}``.

    Raises
    ------
    PlanError
        If it is empty, cannot be split into words, or has an unknown placeholder, or no result.
    """
    words = _words(key)
    settings: dict[str, Parameter] = {}
    names: set[str] = set()
    for name in (name for word in words for name in _PLACEHOLDER.findall(word)):
        setting = _SETTING.fullmatch(name)
        if setting is not None:
            settings.setdefault(setting[1], _parameter(setting[1], setting[2]))
        elif name in (*_FILES, *_NUMBERS):
            names.add(name)
        else:
            known = ", ".join(f"{{{known}}}" for known in (*_FILES, *_NUMBERS))
            text = tr("{key}: unknown placeholder {name}; expected {known}, or a parameter as in {example}.")
            told = {"key": one_line(key), "name": shown(name), "known": known, "example": "{depth=3}"}
            raise PlanError(text.format(**told))
    if "train" not in names or ("order" in names) == ("scores" in names):
        text = tr("{key}: expected {{train}}, and either {{order}} or {{scores}}.")
        raise PlanError(text.format(key=one_line(key)))
    scripts = [Path(word).name for word in words[1:] if "." in word and "{" not in word]
    label = scripts[0] if scripts else Path(words[0]).name
    scored = "scores" in names
    return ProgramMethod(
        key=key,
        label=label,
        family="selector",
        citation=Path(words[0]).name,
        title=one_line(key.removeprefix(PREFIX).strip())[:300],
        summary=tr("Runs a program on the training part of each fold; RankRLS ranks with its features."),
        criterion=LEAVE_QUERY_OUT,
        per_document=True,
        ranks_with="RankRLS",
        estimator="",
        candidate_score=CandidateScore(tr("score"), "", from_zero=False) if scored else None,
        parameters=(RANKING_LAMBDA, SIZE, *settings.values(), *_LIMITS),
        takes=("groups", "seed") if "seed" in names else ("groups",),
        origin=Origin(OriginKind.COMMAND, Path(words[0]).name, ""),
        seconds=Seconds(5.0, 0.1),
    )


def _words(key: str) -> list[str]:
    text = key.removeprefix(PREFIX)
    try:
        words = shlex.split(text) if key.isprintable() and len(key) <= _LONGEST else []
    except ValueError:
        words = []
    if not words:
        text = tr("{key}: expected a command line after “command:”.")
        raise PlanError(text.format(key=shown(key)))
    return words


def _parameter(name: str, default: str) -> Parameter:
    label = name.replace("_", " ")
    about = tr("Parameter {name} of the program.").format(name=name)
    return Parameter(name, label, Kind.TEXT, default.strip(), about)


class ProgramSelector(PathSelector):
    """Features in the order that a program gives them; RankRLS ranks with them."""

    entry: ClassVar[Method]

    def __init__(self, **values: Any) -> None:
        self.values = values
        self.n_features_to_select = values.get("n_features_to_select")
        self.regularization = values.get("regularization", 1.0)
        self.groups = values.get("groups", ())

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: D102 - inherited
        return dict(self.values)

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return whole_need(shape)

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:  # noqa: D102 - inherited
        documents: QueryData = data.whole(self.entry.label)
        n = data.X.shape[1]
        with tempfile.TemporaryDirectory(prefix="rankstudio-") as name:
            folder = Path(name)
            save_letor(_dataset(documents), folder / "train.txt", comments=False)
            messages = yield from self._run(folder, k)
            if messages:
                yield Note(tr("{label} printed: {text}").format(label=self.entry.label, text=messages))
            scores_file = folder / "scores.txt"
            if scores_file.exists() or self._wants("scores"):
                scores = self._numbers(scores_file, n)
                return Ordering(best_first(scores, n)[:k], scores)
            return Ordering(self._ordered_columns(folder / "order.txt", n)[:k], np.full(n, np.nan))

    def _wants(self, name: str) -> bool:
        return f"{{{name}}}" in self.entry.key

    def _run(self, folder: Path, k: int) -> Waiting[str]:
        """Run the program, with its progress; return what it printed, on one line."""
        what = tr("running {label}").format(label=self.entry.label)
        with _started(self._arguments(folder, k), folder, self.entry.label) as program:
            ends_at = time.monotonic() + float(self.values.get(TIME_LIMIT, 3600.0))
            yield WorkProgress(what, 0.0)
            while program.process.poll() is None:
                if time.monotonic() > ends_at:
                    seconds = self.values.get(TIME_LIMIT, 3600.0)
                    text = tr("it took more than {seconds:g} seconds and was ended")
                    raise MethodError(self.entry.label, text.format(seconds=seconds))
                time.sleep(_POLL)
                yield WorkProgress(what, program.share)
            program.reader.join(_GRACE)
            messages = program.messages()
            if program.process.returncode:
                text = tr("it ended with status {status}: {messages}")
                said = messages or tr("it printed nothing")
                problem = text.format(status=program.process.returncode, messages=said)
                raise MethodError(self.entry.label, problem)
            return messages

    def _arguments(self, folder: Path, k: int) -> list[str]:
        """Return the words of the command with values in place of the placeholders."""
        values = {name: str(folder / f"{name}.txt") for name in _FILES}
        values |= {"k": str(k), "seed": str(self.values.get("seed", 0))}

        def value(match: re.Match[str]) -> str:
            setting = _SETTING.fullmatch(match[1])
            if setting:
                return str(self.values.get(setting[1], setting[2]))
            return values[match[1]]

        words = [_PLACEHOLDER.sub(value, word) for word in _words(self.entry.key)]
        gigabytes = self.values.get(MEMORY_LIMIT)
        if gigabytes is None or os.name != "posix":
            return words
        kilobytes = round(float(gigabytes) * 1e6)
        return ["/bin/sh", "-c", 'ulimit -v "$0" && exec "$@"', str(kilobytes), *words]

    def _numbers(self, path: Path, n: int) -> Floats:
        """Return the scores that a program wrote, one per feature."""
        words = self._read(path)
        try:
            scores = np.array(words, dtype=np.float64)
        except ValueError as error:
            raise MethodError(self.entry.label, tr("scores: {error}").format(error=error)) from error
        if scores.size != n or np.isnan(scores).all() or np.isinf(scores).any():
            text = tr("scores: expected {n} finite numbers, got {found}")
            raise MethodError(self.entry.label, text.format(n=n, found=shown(words[:20])))
        return scores

    def _ordered_columns(self, path: Path, n: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the columns that a program wrote as numbers from 1."""
        words = self._read(path)
        numbers = [int(word) for word in words if word.isdecimal()]
        right = len(numbers) == len(words) > 0 and len(set(numbers)) == len(numbers)
        if not right or min(numbers) < 1 or max(numbers) > n:
            text = tr("order: expected different numbers from 1 to {n}, got {found}")
            raise MethodError(self.entry.label, text.format(n=n, found=shown(words[:20])))
        return np.array(numbers, dtype=np.int64) - 1

    def _read(self, path: Path) -> list[str]:
        try:
            if path.stat().st_size > _MOST_RESULT:
                raise MethodError(self.entry.label, tr("it wrote a file of more than 64 MB"))
            return path.read_text(encoding="utf-8").replace(",", " ").split()
        except FileNotFoundError as error:
            raise MethodError(self.entry.label, tr("it wrote no {name}").format(name=path.name)) from error
        except ValueError as error:
            raise MethodError(self.entry.label, tr("{name} is no text").format(name=path.name)) from error


class _Program:
    """A running program, and what it prints."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.share = 0.0
        self._printed = bytearray()
        self.reader = threading.Thread(target=self._read, name="rankstudio-program", daemon=True)
        self.reader.start()

    def _read(self) -> None:
        stream: IO[bytes] | None = self.process.stdout
        assert stream is not None
        with suppress(OSError, ValueError):  # it was closed
            for line in iter(lambda: stream.readline(_MOST_MESSAGES), b""):
                progress = _PROGRESS.fullmatch(line)
                if progress:
                    with suppress(ValueError):
                        self.share = min(max(float(progress[1]), 0.0), 1.0)
                elif len(self._printed) < _MOST_MESSAGES:
                    self._printed += line

    def messages(self) -> str:
        """Return what was printed besides progress, on one line."""
        text = self._printed[:_MOST_MESSAGES].decode("utf-8", "replace")
        return one_line(" ".join(text.split()))[:_LONGEST]


@contextmanager
def _started(arguments: list[str], folder: Path, label: str) -> Iterator[_Program]:
    """Run a program in a process group of its own, which ends with the block, however that ends."""
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
        raise MethodError(label, text.format(program=one_line(arguments[0]), reason=reason)) from error
    program = _Program(process)
    try:
        yield program
    finally:
        _end(process)
        program.reader.join(_GRACE)
        if process.stdout is not None:
            process.stdout.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all processes that it started."""
    kill_group = getattr(os, "killpg", None)
    with suppress(OSError):  # all have ended
        if kill_group is not None:
            kill_group(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def _dataset(data: QueryData) -> RankingDataset:
    """Return grouped documents as a dataset with features 1 to n."""
    n_queries = data.ptr.size - 1
    n = data.X.shape[1]
    ids = np.arange(1, n + 1)
    names = tuple(f"feature {i}" for i in range(1, n + 1))
    queries = tuple(str(q) for q in range(1, n_queries + 1))
    return RankingDataset(np.asarray(data.X), np.asarray(data.y), data.ptr, queries, ids, names)
