"""Which methods the default run tries where each of them is tried in the thorough one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

REPRESENTATIVES = (
    "greedy-rankrls",
    "gas",
    "fsmrank",
    "rankrls",
    "kernel-rankrls",
    "rankboost",
)
"""Selection with steps of its own, a filter, iterations, one step, a kernel, and a model beyond weights."""


def every(name: str, cases: Mapping[str, object]) -> pytest.MarkDecorator:
    """Parametrise by cases whose keys are those of methods."""
    found = []
    for key, case in cases.items():
        marks = () if key in REPRESENTATIVES else pytest.mark.thorough
        found.append(pytest.param(case, id=key, marks=marks))
    return pytest.mark.parametrize(name, found)
