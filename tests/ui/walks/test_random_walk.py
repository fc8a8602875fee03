"""Random walks through the real window, and whether a walk that fails is made shorter."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import pytest
from walks.random_walk import FEW_REPLAYS, draw, report, shortest, walk_seeds
from walks.stage import Places, write_places
from walks.steps import ACTS, Step, n_numbers

from rankstudio.ui.model import measured_runs
from rankstudio.ui.style.theme import Theme

FIXED = 22
"""The seed of the walk that is always the same."""

FEW = 25
"""Steps of the walk of the default run: a step takes a quarter of a second of processor."""

PACKAGE = Path(__file__).resolve().parents[3] / "rankstudio"


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    return write_places(tmp_path_factory.mktemp("places"))


def seeds(pytestconfig: pytest.Config) -> Iterator[int]:
    """Return the seed that was asked for, and those after it; by default one that changes with the program.

    A walk is a new one with every change of the package, and a check that failed fails again.
    """
    given = pytestconfig.getoption("--walk-seed")
    if given is not None:
        return count(given)
    seed = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        seed = zlib.crc32(path.read_bytes(), seed)
    return count(seed)


def test_a_random_walk(theme: Theme, places: Places) -> None:
    walk(count(FIXED), FEW, theme, places)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["folds", "formats"])
def test_a_long_random_walk(
    theme: Theme,
    tmp_path: Path,
    kind: str,
    pytestconfig: pytest.Config,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # all that goes on in the background does
    monkeypatch.setattr(measured_runs, "_QUIET_MILLISECONDS", 0)
    n_steps = pytestconfig.getoption("--walk-steps")
    walk(seeds(pytestconfig), n_steps, theme, write_places(tmp_path, kind))


def walk(chosen: Iterator[int], n_steps: int, theme: Theme, places: Places) -> None:
    for seed, outcome in walk_seeds(chosen, theme, places, n_steps):
        if outcome.faults:
            pytest.fail(
                report(outcome, seed, theme, places, FEW_REPLAYS), pytrace=False
            )


def test_a_walk_depends_on_its_seed_alone() -> None:
    assert draw(3, 50) == draw(3, 50) != draw(4, 50)
    assert draw(3, 50)[:20] == draw(3, 20)
    assert all(len(step.numbers) == n_numbers(step.name) for step in draw(5, 200))


def test_every_step_is_drawn() -> None:
    assert {step.name for step in draw(0, 5000)} == set(ACTS)


def test_a_walk_that_fails_is_made_as_short_as_can_be() -> None:
    steps = [Step("run", (number,)) for number in range(100)]
    wanted = {steps[7], steps[50], steps[51]}
    tried = []

    def fails(some: Sequence[Step]) -> bool:
        tried.append(len(some))
        return wanted <= set(some)

    assert set(shortest(steps, fails)) == wanted
    assert len(tried) < 100
