"""Files, folders and names of the program that the pages mention are there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from rankstudio.engine.plugins.plugin import GROUP

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "benchmarks" / "README.md",
]
_PATH = re.compile(
    r"(?<![\w/.-])(?:rankstudio|resources|tests|docs|benchmarks)/[\w./-]*\w"
)
_NAME = re.compile(r"(?<![\w/.-])rankstudio(?:\.[A-Za-z_]\w*)+")


def is_there(name: str) -> bool:
    """Return whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.shipped
def test_what_a_page_names_is_there() -> None:
    missing = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        missing += [
            (page.name, path)
            for path in sorted(set(_PATH.findall(text)))
            if not (ROOT / path).exists()
        ]
        # a group of entry points is no module
        names = sorted(set(_NAME.findall(text)) - {GROUP})
        missing += [(page.name, name) for name in names if not is_there(name)]
    assert missing == []


def test_names_are_found_and_looked_up() -> None:
    text = "`rankstudio/engine/errors.py`, rankstudio.engine.errors.PlanError. study.rankstudio /rankstudio/x"
    assert _PATH.findall(text) == ["rankstudio/engine/errors.py"]
    assert _NAME.findall(text) == ["rankstudio.engine.errors.PlanError"]
    assert is_there("rankstudio.engine.errors.PlanError")
    assert not is_there("rankstudio.engine.errors.Plan")
    assert not is_there("rankstudio.engine.no_such")
