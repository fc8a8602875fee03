"""The fixture that tries damaged inputs."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from fuzz_report import PROPERTY
from fuzzer import Attempt, Budget, Fuzz, Tally, limited_memory, run

_LONGER = 240
"""Seconds that a kind may take beyond its share before it counts as hanging."""


@pytest.hookimpl(trylast=True)  # what -k leaves out has no share
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Share the seconds equally by the kinds of file."""
    kinds = [item for item in items if "fuzz" in getattr(item, "fixturenames", ())]
    seconds = config.getoption("--fuzz-seconds")
    for item in kinds if seconds is not None else ():
        share = seconds / len(kinds)
        item.add_marker(pytest.mark.fuzz_share(share))
        item.add_marker(pytest.mark.timeout(share + _LONGER))


@pytest.fixture
def fuzz(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Fuzz]:
    """Return a function that tries so many inputs of a kind, or as many as the seconds allow."""
    option = request.config.getoption
    share = request.node.get_closest_marker("fuzz_share")
    seconds = share.args[0] if share else None
    given = option("--fuzz-seed")
    seed = (
        given
        if given is not None
        else 0
        if seconds is None
        else secrets.randbelow(10**9)
    )

    def attempts(
        kind: str, attempt: Attempt, checks: int, most: int | None = None
    ) -> None:
        tally = Tally(kind, seed)
        folder = tmp_path / "fuzz"
        folder.mkdir(exist_ok=True)
        try:
            with limited_memory():
                budget = Budget(seed, seconds, option("--fuzz-input"), most)
                run(tally, attempt, budget, checks, folder)
        finally:
            request.node.user_properties.append((PROPERTY, tally.values()))

    yield attempts
