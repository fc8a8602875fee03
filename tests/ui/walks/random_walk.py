"""A random walk through the real window: hundreds of steps among all commands, and a look after each.

After each step nothing may have been complained of, and what is shown has to belong together. A walk is made
of a seed, and each step of drawn numbers, so that it can be gone again. A walk that fails is made shorter as
long as it still fails in the same way.

    python tests/ui/walks/random_walk.py --seconds 3600 [--seed N]
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

if __name__ == "__main__":  # as a test it finds these by pytest's settings
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["LANGUAGE"] = "en"
    tests = Path(__file__).parents[2]
    sys.path[:0] = [str(tests / folder) for folder in ("ui", "sparse", "plans")]

from PySide6.QtWidgets import QApplication, QWidget
from sparse_draws import stored
from walks.belonging import Truth, mismatches
from walks.complaints import Complaints, Fault, listening
from walks.stage import Places, Stage, write_places
from walks.steps import ACTS, Step, n_numbers, take

from rankstudio.ui.process.memory import collect_due
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Question

LENGTH = 300
"""Steps of a walk: after so many a new window is opened."""

_NUMBERS = 1 << 12  # from so many each number of a step is drawn
_LAST = 8  # steps that are told of a walk that is not made shorter
_MOST_REPLAYS = 250  # of a walk that is made shorter
# the same in the checks, where nobody waits for the shortest: some minutes at most
FEW_REPLAYS = 25


def draw(seed: int, n_steps: int) -> list[Step]:
    """Return the steps of a walk, which depend on nothing but the seed."""
    drawn = random.Random(seed)
    names, weights = list(ACTS), [weight for weight, _ in ACTS.values()]
    steps = []
    for place in range(n_steps):
        # Without data there is little to do.
        name = drawn.choices(names, weights)[0] if place else "open_data"
        steps.append(
            Step(name, tuple(drawn.randrange(_NUMBERS) for _ in range(n_numbers(name))))
        )
    return steps


@dataclass
class Outcome:
    """How a walk ended.

    Attributes
    ----------
    done : list of Step
        The steps that were possible, up to the one that failed.
    faults : list of Fault
        None where all went well.
    """

    done: list[Step] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def walk(steps: Sequence[Step], theme: Theme, places: Places) -> Outcome:
    """Go a walk in a window of its own, until it ends or something is wrong."""
    outcome = Outcome()
    with (
        TemporaryDirectory(prefix="walk-") as folder,
        listening() as complaints,
        _unasked(),
    ):
        data = os.environ.get("RANKSTUDIO_DATA_DIR")
        stage = Stage(theme, Path(folder), places)
        truth = Truth()
        try:
            stage.open()
            for one in steps:
                if take(stage, one):
                    outcome.done.append(one)
                    outcome.faults = _faults(complaints, stage, truth)
                    if outcome.faults:
                        break
                    collect_due()
        except Exception as error:
            complaints.note_error(error)
            outcome.done.append(one)
            outcome.faults = complaints.take()
        finally:
            stage.gate.open()
            stage.close()
            outcome.faults = outcome.faults or complaints.take()
            if data is not None:
                os.environ["RANKSTUDIO_DATA_DIR"] = data
    gc.collect()
    return outcome


def _faults(complaints: Complaints, stage: Stage, truth: Truth) -> list[Fault]:
    """Return what is wrong after a step."""
    return (
        complaints.take() or list(mismatches(stage.window, truth)) or complaints.take()
    )


@contextmanager
def _unasked() -> Iterator[None]:
    """Answer every question with yes."""
    before = Question.ask

    def answer(*_: QWidget | str, **__: str) -> bool:
        return True

    Question.ask = answer  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Question.ask = before  # type: ignore[method-assign]


def shortest(
    steps: Sequence[Step],
    fails: Callable[[Sequence[Step]], bool],
    most_replays: int = _MOST_REPLAYS,
) -> list[Step]:
    """Return a part of a walk that still fails, and of which no step can be left out, after enough replays.

    Parts are left out, half of the walk first, then smaller ones, down to single steps (Zeller and
    Hildebrandt 2002).
    """
    left, n_parts, replays = list(steps), 2, 0
    while len(left) > 1:
        size = -(-len(left) // n_parts)
        for begin in range(0, len(left), size):
            without = left[:begin] + left[begin + size :]
            replays += 1
            if replays > most_replays:
                return left
            if fails(without):
                left, n_parts = without, max(n_parts - 1, 2)
                break
        else:
            if size == 1:
                return left
            n_parts = min(2 * n_parts, len(left))
    return left


def report(
    outcome: Outcome,
    seed: int,
    theme: Theme,
    places: Places,
    most_replays: int = _MOST_REPLAYS,
) -> str:
    """Say what went wrong in a walk, with the shortest walk found on which the same goes wrong."""
    kind = outcome.faults[0].kind

    def fails(steps: Sequence[Step]) -> bool:
        return kind in {fault.kind for fault in walk(steps, theme, places).faults}

    few = (
        shortest(outcome.done, fails, most_replays)
        if most_replays
        else outcome.done[-_LAST:]
    )
    # one may come a hundred times
    texts = list(dict.fromkeys(fault.text for fault in outcome.faults))
    lines = [f"seed {seed}: {kind}", *(f"    {text}" for text in texts)]
    which = f"{len(few)} on which it fails" if most_replays else "the last of them"
    return "\n".join(
        [*lines, f"after {len(outcome.done)} steps; {which}:", *map(str, few)]
    )


def walk_seeds(
    seeds: Iterator[int], theme: Theme, places: Places, n_steps: int
) -> Iterator[tuple[int, Outcome]]:
    """Go walks of so many steps together, each of another seed, and yield how each ended."""
    while n_steps > 0:
        seed = next(seeds)
        length = min(LENGTH, n_steps)
        yield seed, walk(draw(seed, length), theme, places)
        n_steps -= length


@dataclass
class Tally:
    """What an hour of walks came to.

    Attributes
    ----------
    n_walks : int
    steps : Counter of str
        How often each step was done.
    faults : Counter of str
        In how many walks each kind was found.
    """

    n_walks: int = 0
    steps: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        head = f"{self.n_walks} walks, {self.steps.total()} steps, {len(self.faults)} kinds of fault"
        done = [f"{n:8d} {name}" for name, n in sorted(self.steps.items())]
        found = [f"{n:8d} walks: {kind}" for kind, n in self.faults.most_common()]
        return "\n".join([head, *done, *found])


def walk_for(
    seconds: float,
    seed: int,
    theme: Theme,
    places: Places,
    most_replays: int = _MOST_REPLAYS,
) -> Tally:
    """Walk for a while, from one seed after another; tell each kind of fault with its shortest walk."""
    tally = Tally()
    until = time.monotonic() + seconds
    for at in count(seed):
        if time.monotonic() > until:
            break
        outcome = walk(draw(at, LENGTH), theme, places)
        tally.n_walks += 1
        tally.steps.update(one.name for one in outcome.done)
        if outcome.faults:
            kind = outcome.faults[0].kind
            tally.faults[kind] += 1
            if tally.faults[kind] > 1:
                say(f"seed {at}: {kind}, again")
            else:
                say(report(outcome, at, theme, places, most_replays))
        theme.set_mode("light")
    return tally


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """Walk for a while; 1 where something was wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0] if __doc__ else ""
    )
    parser.add_argument(
        "--seconds", type=float, default=600.0, help="how long; default 600"
    )
    parser.add_argument(
        "--seed", type=int, help="of the first walk; those after it count on"
    )
    parser.add_argument(
        "--long", action="store_true", help="make no walk shorter that fails"
    )
    kinds = ("folds", "formats", "odd", "clicked")
    parser.add_argument(
        "--data",
        choices=kinds,
        default="folds",
        help="what is opened; odd data teach nothing",
    )
    given = parser.parse_args()
    seed = (
        given.seed
        if given.seed is not None
        else random.SystemRandom().randrange(1 << 30)
    )
    app = QApplication.instance() or QApplication(["rankstudio-walks"])
    assert isinstance(app, QApplication)
    gc.disable()  # as in the program, garbage is searched for at rest
    theme = Theme("light")
    theme.apply(app)
    is_sparse = stored(sparse=True) if given.data == "clicked" else nullcontext()
    with TemporaryDirectory(prefix="walks-") as folder, is_sparse:
        os.environ.setdefault("RANKSTUDIO_DATA_DIR", str(Path(folder) / "user"))
        places = write_places(Path(folder), given.data)
        tally = walk_for(
            given.seconds, seed, theme, places, 0 if given.long else _MOST_REPLAYS
        )
    say(str(tally))
    return bool(tally.faults)


if __name__ == "__main__":
    sys.exit(main())
