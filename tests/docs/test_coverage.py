"""The page on coverage names files and tests that exist, and a reason for everything that is not done."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("|") and not line.startswith(("| Item", "|---"))
]


def test_the_page_has_rows_of_all_four_sources() -> None:
    text = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    for source in (
        "Pahikkala et al. 2010",
        "Lai et al. 2013",
        "Gupta and Rosso 2012",
        "Airola 2011",
    ):
        assert f"({source})" in text
    assert len(ROWS) > 80
    assert all(len(row) == 4 and all(row) for row in ROWS)


def test_named_files_and_tests_exist() -> None:
    for item, code, test, _ in ROWS:
        for cell, home in ((code, ROOT / "rankstudio" / "engine"), (test, ROOT)):
            named = re.findall(r"`([^`]+)`", cell)
            assert named or cell == "–", item
            for name in named:
                folder = ROOT / "rankstudio" if name.startswith("plugins/") else home
                ability = re.match(r"(tests/)?plugins/\w+", name)
                # else the folder is absent
                if ability is None or (folder / ability[0]).is_dir():
                    assert (folder / name).is_file(), f"{item}: {name}"


def test_what_is_not_done_says_why_and_what_is_done_has_a_test() -> None:
    for item, code, test, status in ROWS:
        kind = status.partition(":")[0]
        assert kind in ("in part", "missing") or status.startswith("done"), item
        if kind in ("in part", "missing"):
            assert status.partition(":")[2].strip(), item
        if status.startswith("done"):
            assert code != "–" and test.startswith("`tests/"), item
        if kind == "missing":
            assert code == test == "–", item


def test_no_item_is_listed_twice() -> None:
    items = [row[0] for row in ROWS]
    assert len(items) == len(set(items))
