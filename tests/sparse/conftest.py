"""How many runs are drawn."""

from __future__ import annotations

import secrets

import pytest

CHECKS = 3


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each drawn run, so that a failure names its number."""
    if "sparse_number" in metafunc.fixturenames:
        option = metafunc.config.getoption
        only = option("--sparse-number")
        numbers = range(option("--sparse-runs") or CHECKS) if only is None else [only]
        metafunc.parametrize("sparse_number", numbers)


@pytest.fixture(scope="session")
def sparse_seed(pytestconfig: pytest.Config) -> int:
    """The seed of the runs: as given, 0 in the checks, and a fresh one if more are asked for."""
    seed = pytestconfig.getoption("--sparse-seed")
    if seed is not None:
        return int(seed)
    return secrets.randbelow(10**9) if pytestconfig.getoption("--sparse-runs") else 0
