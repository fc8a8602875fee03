"""The numbers of the random plans, and their seed."""

from __future__ import annotations

import secrets

import pytest

CHECKS = 20


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each random plan."""
    if "plan_number" in metafunc.fixturenames:
        option = metafunc.config.getoption
        only = option("--plan-number")
        numbers = range(option("--random-plans") or CHECKS) if only is None else [only]
        metafunc.parametrize("plan_number", numbers)


@pytest.fixture(scope="session")
def plans_seed(pytestconfig: pytest.Config) -> int:
    """The seed of the plans: as it is given, 0 in the checks, and a fresh one where more are asked for."""
    given = pytestconfig.getoption("--plans-seed")
    if given is not None:
        return int(given)
    return secrets.randbelow(10**9) if pytestconfig.getoption("--random-plans") else 0
