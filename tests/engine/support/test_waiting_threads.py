"""The settings by which threads of OpenMP and OpenBLAS sleep while they wait."""

import json
import os
import subprocess
import sys

import pytest

VARIABLES = ("GOMP_SPINCOUNT", "OPENBLAS_THREAD_TIMEOUT")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ["1000", "4"]),
        ({"GOMP_SPINCOUNT": "7"}, ["7", "4"]),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, [None, None]),
    ],
)
def test_threads_that_wait_sleep_soon_unless_the_user_has_set_how(
    given: dict[str, str], expected: list[str | None]
) -> None:
    code = (
        "import json, os, rankstudio; "
        f"print(json.dumps([os.environ.get(name) for name in {VARIABLES}]))"
    )
    settings = {*VARIABLES, "OMP_WAIT_POLICY"}
    environment = {k: v for k, v in os.environ.items() if k not in settings}
    answer = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | given,
        capture_output=True,
        check=True,
        text=True,
    )
    assert json.loads(answer.stdout) == expected
