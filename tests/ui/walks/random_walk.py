"""A random walk through the real window: hundreds of steps among all commands, and a look after each.

After each step nothing may have been complained of, and what is shown has to belong together. A walk is made
of a seed, and each step of drawn numbers, so that it can be gone again. A walk that fails is made shorter as
long as it still fails in the same way.

    python tests/ui/walks/random_walk.py --seconds 3600 [--seed N]
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

if __name__ == "__main__":  # as a test it finds these by pytest's settings
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["LANGUAGE"] = "en"
    sys.path.insert(0, str(Path(__file__).parents[1]))

import gc

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from walks.belonging import Truth, mismatches
from walks.complaints import Complaints, Fault, listening
from walks.stage import Places, Stage, write_places
from walks.steps import ACTS, Step, n_numbers, take

from rankstudio.ui.process.garbage_collection import collect_due
from rankstudio.ui.style.theme import Theme

LENGTH = 300
"""Steps of a walk: after so many a new window is opened."""

_NUMBERS = 1 << 12  # from so many each number of a step is drawn
_MOST_REPLAYS = 250  # of a walk that is made shorter


def draw(seed: int, n_steps: int) -> list[Step]:
    """Return the steps of a walk, which depend on nothing but the seed."""
    drawn = random.Random(seed)
    names = list(ACTS)
    chosen = drawn.choices(names, [ACTS[name][0] for name in names], k=n_steps)
    # Without data there is little to do.
    chosen[:1] = ["open_data"] * bool(chosen)
    return [Step(name, tuple(drawn.randrange(_NUMBERS) for _ in range(n_numbers(name)))) for name in chosen]


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


def walk(
    steps: Sequence[Step], theme: Theme, places: Places, told: Callable[[Step], object] = lambda _: None
) -> Outcome:
    """Go a walk in a window of its own, until it ends or something is wrong."""
    outcome = Outcome()
    with TemporaryDirectory(prefix="walk-") as folder, listening() as complaints, _unasked():
        data = os.environ.get("RANKSTUDIO_DATA_DIR")
        stage = Stage(theme, Path(folder), places)
        truth = Truth()
        try:
            stage.open()
            for one in steps:
                told(one)
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
    return complaints.take() or list(mismatches(stage.window, truth)) or complaints.take()


@contextmanager
def _unasked() -> Iterator[None]:
    """Answer every question with yes."""
    before = QMessageBox.question

    def answer(*_: QWidget | str) -> QMessageBox.StandardButton:
        return QMessageBox.StandardButton.Yes

    QMessageBox.question = answer  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        QMessageBox.question = before  # type: ignore[method-assign]


def shortest(steps: Sequence[Step], fails: Callable[[Sequence[Step]], bool]) -> list[Step]:
    """Return a part of a walk that still fails, and of which no step can be left out.

    Parts are left out, half of the walk first, then smaller ones, down to single steps (Zeller and
    Hildebrandt 2002).
    """
    left, n_parts, replays = list(steps), 2, 0
    while len(left) > 1:
        size = -(-len(left) // n_parts)
        for begin in range(0, len(left), size):
            without = left[:begin] + left[begin + size :]
            replays += 1
            if replays > _MOST_REPLAYS:
                return left
            if fails(without):
                left, n_parts = without, max(n_parts - 1, 2)
                break
        else:
            if size == 1:
                return left
            n_parts = min(2 * n_parts, len(left))
    return left


def report(outcome: Outcome, seed: int, theme: Theme, places: Places) -> str:
    """Say what went wrong in a walk, with the shortest walk on which the same goes wrong."""
    kind = outcome.faults[0].kind

    def fails(steps: Sequence[Step]) -> bool:
        return kind in {fault.kind for fault in walk(steps, theme, places).faults}

    few = shortest(outcome.done, fails)
    lines = [f"seed {seed}: {kind}", *(f"    {fault.text}" for fault in outcome.faults)]
    return "\n".join([*lines, f"after {len(outcome.done)} steps; the shortest walk:", *map(str, few)])


def walk_seeds(
    seeds: Iterator[int], theme: Theme, places: Places, n_steps: int
) -> Iterator[tuple[int, Outcome]]:
    """Go walks of so many steps together, each of another seed, and yield how each ended."""
    while n_steps > 0:
        seed = next(seeds)
        length = min(LENGTH, n_steps)
        yield seed, walk(draw(seed, length), theme, places)
        n_steps -= length


def main(arguments: Sequence[str] | None = None) -> int:
    """Walk for a while; print each kind of fault once, with its shortest walk, and what was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long; default 600")
    parser.add_argument("--seed", type=int, help="of the first walk; those after it count on")
    parser.add_argument("--length", type=int, default=LENGTH, help="steps of a walk")
    parser.add_argument("--walks", type=int, help="at most so many")
    parser.add_argument("--show", action="store_true", help="print each step")
    parser.add_argument("--whole", action="store_true", help="make no failed walk shorter")
    given = parser.parse_args(arguments)
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 30)
    app = QApplication.instance() or QApplication(["rankstudio-walks"])
    gc.disable()
    theme = Theme("light")
    theme.apply(app)  # type: ignore[arg-type]
    counts: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    n_walks = n_drawn = 0
    until = time.monotonic() + given.seconds
    with TemporaryDirectory(prefix="walks-") as folder:
        os.environ.setdefault("RANKSTUDIO_DATA_DIR", str(Path(folder) / "user"))
        places = write_places(Path(folder))
        while time.monotonic() < until and (given.walks is None or n_walks < given.walks):
            steps = draw(seed, given.length)
            told = (lambda one: print(f"  {one}", flush=True)) if given.show else (lambda _: None)
            outcome = walk(steps, theme, places, told)
            n_walks, n_drawn = n_walks + 1, n_drawn + len(steps)
            counts.update(one.name for one in outcome.done)
            if outcome.faults:
                kind = outcome.faults[0].kind
                kinds[kind] += 1
                if kinds[kind] == 1 and not given.whole:
                    print(report(outcome, seed, theme, places), flush=True)
                else:
                    print(f"seed {seed}: {kind}, after {len(outcome.done)} steps", flush=True)
                    if given.whole:
                        print("\n".join(fault.text for fault in outcome.faults), flush=True)
            seed += 1
            theme.set_mode("light")
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    print(f"{n_walks} walks, {sum(counts.values())} steps done, {len(kinds)} kinds of fault")
    for name, n in sorted(counts.items()):
        print(f"  {n:6d} {name}")
    for kind, n in kinds.most_common():
        print(f"  {n:6d} walks: {kind}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
