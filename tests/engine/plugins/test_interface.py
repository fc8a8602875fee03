"""The interface for others: complete for built-in selectors, and fast to import."""

from __future__ import annotations

import ast
import re
import sys
from importlib import import_module
from pathlib import Path
from subprocess import run
from types import FunctionType, ModuleType

import pytest

import rankstudio
from rankstudio import api
from rankstudio.engine.methods.catalog import methods

ROOT = Path(rankstudio.__file__).parents[1]
SELECTION = "rankstudio.engine.methods.selection"
OWN = {
    "lambdamart-top": (
        "rankstudio.plugins.trees.lambdamart",
        "rankstudio.plugins.trees.retrained_trees",
        "rankstudio.engine.methods.two_stage",
    ),
    "lambdamart-rfe": (
        "rankstudio.plugins.trees.lambdamart",
        "rankstudio.plugins.trees.retrained_trees",
        "rankstudio.engine.methods.two_stage",
    ),
    "catboost-select": (
        "rankstudio.plugins.trees.converted_trees",
        "rankstudio.engine.support.lightgbm_library",
    ),
    "greedy-rankrls": (
        "rankstudio.engine.methods.pair_learners",
        "rankstudio.engine.methods.permuted_labels",
    ),
    "fs-bfs": ("rankstudio.engine.methods.shards.ascent_search",),
}
"""Modules of a method that a selector is made of, beside arithmetic: its own, rather than everybody's."""
KERNELS = (
    "rankstudio.engine.arithmetic.optimisers",
    "rankstudio.engine.methods.shards.pair_losses",
    # those of two selectors: combined_models and deviations
    "rankstudio.engine.methods.shards.sums",
)
ENTRIES = "rankstudio.engine.methods.catalog"
SELECTORS = [entry for entry in methods() if entry.origin is None and entry.selects]


def imported(module: str) -> set[tuple[str, str]]:
    """Return what a module imports of the engine, wherever in its text: homes and names."""
    path = ROOT / Path(*module.split(".")).with_suffix(".py")
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {
        (node.module, name.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        and node.module
        and node.module.startswith("rankstudio.")
        for name in node.names
    }


def lacking(module: str, own: tuple[str, ...]) -> set[tuple[str, str]]:
    """Return what a module imports that others could not import, but for what is its own."""
    offered = {id(getattr(api, name)) for name in api.__all__}
    there = set()
    for home, name in imported(module):
        value = getattr(import_module(home), name, None)
        of_entries = home.startswith(ENTRIES) or home.endswith(".entries")
        is_entry = of_entries and (name.isupper() or isinstance(value, ModuleType))
        is_own = home.startswith((SELECTION, *KERNELS, *own)) or is_entry
        if not is_own and id(value) not in offered:
            there.add((home, name))
    return there


@pytest.mark.parametrize("entry", SELECTORS, ids=lambda entry: entry.key)
def test_a_built_in_selector_uses_what_others_can_use(entry: object) -> None:
    """It imports objects that :mod:`rankstudio.api` exports, from the modules where they stand.

    It does not import the interface itself: that stands above the engine, and to import it from below would
    be a circle, which another contract forbids.
    """
    module = entry.estimator.partition(":")[0]  # type: ignore[attr-defined]
    assert lacking(module, OWN.get(entry.key, ())) == set()  # type: ignore[attr-defined]


def test_what_is_not_offered_is_found() -> None:
    assert ("rankstudio.engine.methods.pair_learners", "pair_rows") in lacking(
        "rankstudio.engine.methods.selection.greedy_rankrls.estimator", ()
    )


def test_every_name_is_there_and_documented() -> None:
    for name in api.__all__:
        value = getattr(api, name)
        assert not isinstance(value, type) or value.__doc__, name
    assert len(set(api.__all__)) == len(api.__all__)


def has_example(name: str) -> bool:
    """Return whether a name has an example: in its text, or in the interface's if it is a value or a type."""
    value = getattr(api, name)
    if ">>>" in (value.__doc__ or "") and isinstance(value, type | FunctionType):
        return True
    is_described = isinstance(value, type | FunctionType) and bool(value.__doc__)
    lines = [
        line for line in api.__doc__.splitlines() if line.startswith((">>>", "..."))
    ]
    return not is_described and any(re.search(rf"\b{name}\b", line) for line in lines)


def test_every_name_has_an_example() -> None:
    """The examples are run with those of all other modules."""
    assert [name for name in api.__all__ if not has_example(name)] == []


def test_the_interface_imports_no_computation() -> None:
    """Authors' packages import it at start, where nothing is computed yet."""
    program = "import sys; import rankstudio.api; print(*sorted(set(sys.modules) & {'numpy', 'numba', 'scipy'}))"
    ended = run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert ended.stdout.split() == []
