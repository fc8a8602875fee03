"""How many studies are drawn, and the runs that they are drawn from."""

from __future__ import annotations

import secrets

import pytest
from drawn_studies import PooledRun, pooled_runs

CHECKS = 16


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each random study, so that a failure names its number."""
    if "study_number" in metafunc.fixturenames:
        option = metafunc.config.getoption
        only = option("--study-number")
        numbers = (
            range(option("--random-studies") or CHECKS) if only is None else [only]
        )
        metafunc.parametrize("study_number", numbers)


@pytest.fixture(scope="session")
def studies_seed(pytestconfig: pytest.Config) -> int:
    """The seed of the studies: as given, 0 in the checks, and a fresh one if more are asked for."""
    seed = pytestconfig.getoption("--studies-seed")
    if seed is not None:
        return int(seed)
    return secrets.randbelow(10**9) if pytestconfig.getoption("--random-studies") else 0


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> tuple[PooledRun, ...]:
    """Small finished runs on all data, in every way."""
    return pooled_runs(tmp_path_factory.mktemp("data"))
