"""The layout of the package: what lies where, and unique names (see docs/architecture.md)."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "rankstudio"
MODULES = sorted(PACKAGE.rglob("*.py"))


def test_the_window_has_two_modules_beside_its_packages() -> None:
    def entries(folder: str) -> set[str]:
        inside = (PACKAGE / folder).iterdir()
        return {entry.name for entry in inside if entry.suffix == ".py" or (entry / "__init__.py").exists()}

    assert {name for name in entries("ui") if name.endswith(".py")} == {
        "__init__.py",
        "app.py",
        "main_window.py",
    }


def test_a_class_has_a_name_of_its_own() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(ROOT)))
    assert {name: at for name, at in homes.items() if len(at) > 1} == {}


def test_modules_are_nouns() -> None:
    gerunds = {path.stem for path in MODULES if path.stem.endswith("ing")}
    assert gerunds <= {"escaping", "frozen_mapping", "query_grouping", "scoring"}, "nouns that end so"
