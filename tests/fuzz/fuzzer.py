"""Fuzzing: damaged files by the thousand, of which each is read as it stands or refused by a sentence.

A test gives an *attempt*, which writes one damaged input into a folder of its own and has the program read
it. It returns what came of it, and raises for anything that must not be: an error that is no sentence, a
wrong value. The inputs are numbered; seed and number make the same input again::

    pytest tests/fuzz -k scores --fuzz-seed 5 --fuzz-input 1234
"""

from __future__ import annotations

import random
import shutil
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Protocol

from rankstudio.engine.errors import RankStudioError

MOST_MEMORY = 2 << 30
"""What a reader may take beyond what the process has already, in bytes."""

LONGEST = 500
"""Characters of a sentence, beside the names of files in it."""

MOST_FAULTS = 20
"""How many different faults of a kind are collected in a long run."""


class Outcome(Enum):
    """What came of an input."""

    READ = "read"
    REFUSED = "refused"


Attempt = Callable[[random.Random, Path], Outcome]
"""Writes an input into the folder, has it read, and returns what came of it."""


class Fuzz(Protocol):
    """What the fixture ``fuzz`` gives: a function that tries inputs of a kind; called once in a test."""

    def __call__(
        self, kind: str, attempt: Attempt, checks: int, most: int | None = None
    ) -> None: ...


@dataclass(frozen=True)
class Budget:
    """How much is tried of a kind of file: a number of inputs, or seconds.

    Attributes
    ----------
    seed : int
    seconds : float or None
        None for the number of inputs that the test says.
    only : int or None
        The number of the one input to try.
    most : int or None
        How many are tried at most, however many seconds there are.
    """

    seed: int = 0
    seconds: float | None = None
    only: int | None = None
    most: int | None = None

    def numbers(self, checks: int) -> Iterator[int]:
        """Yield the numbers of the inputs to try."""
        if self.only is not None:
            yield self.only
        elif self.seconds is None:
            yield from range(checks)
        else:
            end = time.monotonic() + self.seconds
            number = 0
            while number == 0 or (time.monotonic() < end and number != self.most):
                yield number
                number += 1


@dataclass
class Tally:
    """What came of the inputs of one kind, as plain values for the table at the end."""

    kind: str
    seed: int
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: int = 0
    slowest: float = 0.0
    slowest_number: int = 0

    def add(self, number: int, outcome: str, seconds: float) -> None:
        """Count one input."""
        self.outcomes[outcome] += 1
        if seconds > self.slowest:
            self.slowest, self.slowest_number = seconds, number

    def values(self) -> dict[str, str | int | float]:
        """Return the row of the table."""
        return {
            "kind": self.kind,
            "inputs": self.outcomes.total(),
            "read": self.outcomes[Outcome.READ.value],
            "refused": self.outcomes[Outcome.REFUSED.value],
            "faults": self.faults,
            "seed": self.seed,
            "slowest": f"{self.slowest:.2f} s (input {self.slowest_number})",
        }


def generator(seed: int, kind: str, number: int) -> random.Random:
    """Return the random numbers of one input, which depend on nothing else."""
    return random.Random(f"{seed}:{kind}:{number}")


def run(
    tally: Tally, attempt: Attempt, budget: Budget, checks: int, folder: Path
) -> None:
    """Try inputs; raise the fault of the first that must not be, in a long run the different ones together.

    The files of a faulty input stay in ``folder / "kind-seed-number"``; the others are removed.
    """
    faults: dict[str, Exception] = {}
    for number in budget.numbers(checks):
        own = folder / f"{tally.kind.replace(' ', '-')}-{tally.seed}-{number}"
        own.mkdir()
        begin = time.monotonic()
        try:
            outcome = attempt(generator(tally.seed, tally.kind, number), own)
        except BaseException as error:
            tally.add(number, "fault", time.monotonic() - begin)
            tally.faults += 1
            error.add_note(
                f"{tally.kind}: --fuzz-seed {tally.seed} --fuzz-input {number}; files in {own}"
            )
            if budget.seconds is None or not isinstance(error, Exception):
                raise
            faults.setdefault(_place(error), error)
            if len(faults) >= MOST_FAULTS:
                break
            continue
        tally.add(number, outcome.value, time.monotonic() - begin)
        shutil.rmtree(own)
    if faults:
        raise ExceptionGroup(
            f"{tally.kind}: {len(faults)} different faults", list(faults.values())
        )


def refusal(error: RankStudioError, *names: str | Path) -> Outcome:
    """Return that an input was refused, after making sure that it was by one readable sentence.

    Parameters
    ----------
    error : RankStudioError
        What was raised.
    names : str or Path
        What the sentence has to name: files, and whatever else it should tell.
    """
    text = str(error)
    rest = text
    for name in names:
        assert str(name) in text, f"a sentence that does not name {name}: {text!r}"
        rest = rest.replace(str(name), "")
    assert rest.isprintable(), f"a sentence with characters that are none: {text!r}"
    assert len(rest) <= LONGEST, f"a sentence of {len(rest)} characters: {text!r}"
    assert rest.rstrip().endswith((".", "?", "!")), (
        f"a sentence without an end: {text!r}"
    )
    return Outcome.REFUSED


@contextmanager
def limited_memory(most: int = MOST_MEMORY) -> Iterator[None]:
    """Let this process have so many more bytes and no more, on Linux: who asks for all fails at once."""
    if sys.platform != "linux":
        yield
        return
    import resource  # noqa: PLC0415 - not on Windows

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + most
    limit = limit if soft == resource.RLIM_INFINITY else min(limit, soft)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _place(error: Exception) -> str:
    """Return where an error comes from, so that the same fault is told once."""
    places = []
    cause: BaseException | None = error
    while cause is not None:
        last = traceback.extract_tb(cause.__traceback__)[-1:]
        places += [
            f"{type(cause).__name__} {frame.filename}:{frame.lineno}" for frame in last
        ]
        cause = cause.__cause__ or cause.__context__
    return " ".join(places)
