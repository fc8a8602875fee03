"""The page on coverage counts its rows, and each names files that exist and a test that reaches the code."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def coverage() -> ModuleType:
    """Return the program that reads and counts the rows, which lies beside the page."""
    spec = importlib.util.spec_from_file_location(
        "coverage_rows", ROOT / "docs" / "coverage_rows.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["coverage_rows"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")


def test_the_page_has_rows_of_all_four_sources(coverage: ModuleType, page: str) -> None:
    rows = coverage.coverage_rows(page)
    sources = " ".join(dict.fromkeys(row.source for row in rows))
    for source in (
        "Pahikkala et al. 2010",
        "Lai et al. 2013",
        "Gupta and Rosso 2012",
        "Airola 2011",
    ):
        assert f"({source})" in sources
    # each line of the tables is a row: none is left out for its form
    lines = [line for line in page.splitlines() if line.count("`tests/")]
    assert len(rows) == len(lines) > 120
    assert len({row.item for row in rows}) == len(rows), "an item is listed twice"


@pytest.mark.shipped
def test_files_are_there_and_tests_reach_the_code(
    coverage: ModuleType, page: str
) -> None:
    faults = {row.item: coverage.faults_of(row) for row in coverage.coverage_rows(page)}
    assert not {item: found for item, found in faults.items() if found}


def test_the_counts_are_those_of_the_rows(coverage: ModuleType, page: str) -> None:
    rows = coverage.coverage_rows(page)
    statuses = [row.status for row in rows]
    done = statuses.count("done")
    part = statuses.count("in part")
    missing = statuses.count("missing")
    sentence = f"{len(rows)} items: {done} done, {part} in part, {missing} missing"
    for name in ("docs/coverage.md", "docs/index.md", "README.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert sentence in text, f"{name}: run python docs/generate.py"
    for source in {row.source for row in rows}:
        own = [row.status for row in rows if row.source == source]
        cells = (own.count(kind) for kind in ("done", "in part", "missing"))
        assert f"| {source} | {' | '.join(map(str, cells))} |" in page


ROW = "## A source\n| an item | `methods/selection/gas.py` | `{test}` | {status} |\n"
GAS = "tests/engine/methods/selection/test_gas.py"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("done", "done"),
        ("done, from Python", "done"),
        ("done: where", "done"),
        ("in part: why", "in part"),
        ("in part", None),
        ("done for text", None),
        ("missing", None),
        ("nearly", None),
    ],
)
def test_a_status_says_why(coverage: ModuleType, status: str, kind: str | None) -> None:
    (row,) = coverage.coverage_rows(ROW.format(test=GAS, status=status))
    assert row.source == "A source"
    assert row.item == "an item"
    assert row.status == kind
    assert coverage.faults_of(row) == [] or kind is None


def test_a_row_that_is_wrong_is_found(coverage: ModuleType) -> None:
    (row,) = coverage.coverage_rows(ROW.format(test=GAS, status="done"))
    assert coverage.faults_of(row) == []
    other = "tests/engine/statistics/test_density.py"
    for wrong, fault in (
        (replace(row, tests=(other,)), "is not reached"),
        (replace(row, tests=("tests/engine/test_absent.py",)), "is absent"),
        (replace(row, code=("rankstudio/engine/absent.py",)), "is absent"),
        (replace(row, tests=()), "no test"),
        (replace(row, status="missing"), "missing"),
    ):
        assert any(fault in found for found in coverage.faults_of(wrong)), fault


def test_a_test_reaches_what_it_names(coverage: ModuleType, tmp_path: Path) -> None:
    engine = "rankstudio.engine.methods"
    for text, module in (
        ("from rankstudio.engine import GreedyRankRLS", "greedy_rankrls.estimator"),
        ("estimator = of_key('gas')", "gas"),
        ("from rankstudio.engine.methods.selection import gas", "gas"),
    ):
        (tmp_path / "test_one.py").write_text(text)
        named = coverage._named_modules(tmp_path / "test_one.py")
        assert f"{engine}.selection.{module}" in named
        coverage._named_modules.cache_clear()
    (tmp_path / "test_one.py").write_text("# gas\nimport numpy\n")
    assert not [
        m for m in coverage._named_modules(tmp_path / "test_one.py") if "gas" in m
    ]
