"""The layout of the package: what lies where, and unique names (see docs/architecture.md)."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from runpy import run_path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "rankstudio"
MODULES = sorted(PACKAGE.rglob("*.py"))


@cache
def nodes() -> list[tuple[str, ast.Module | ast.ClassDef | ast.FunctionDef]]:
    """Return the modules, classes and functions of the package, each with its file."""
    found = []
    for path in MODULES:
        waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
        for node in waiting:
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                found.append((str(path.relative_to(ROOT)), node))
            # Definitions stand among statements, whose expressions hold none.
            waiting += [inside for inside in ast.iter_child_nodes(node) if not isinstance(inside, ast.expr)]
    return found


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
    for path, node in nodes():
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            homes[node.name].append(path)
    assert {name: at for name, at in homes.items() if len(at) > 1} == {}


def test_modules_are_nouns() -> None:
    gerunds = {path.stem for path in MODULES if path.stem.endswith("ing")}
    assert gerunds <= {"escaping", "frozen_mapping", "query_grouping", "scoring"}, "nouns that end so"


def test_every_mutation_has_its_place_in_the_core() -> None:
    """Nothing else runs ``tests/mutations.py``, which is for whoever changes the core."""
    faults = run_path(str(ROOT / "tests" / "mutations.py"))["MUTATIONS"]
    texts = {one.name: (PACKAGE / "engine" / one.module).read_text("utf-8") for one in faults}
    places = {one.name: texts[one.name].count(one.right) for one in faults}
    assert {name: count for name, count in places.items() if count != 1} == {}


def _ill_formed(docstring: str) -> list[str]:
    """Return the entries of a docstring's sections that numpydoc would not read as entries."""
    lines, found = docstring.split("\n"), []
    section = ""
    for line, below in pairwise([*lines, ""]):
        if re.fullmatch("-{4,}", below):
            section = line
        elif section in ("Parameters", "Attributes", "Raises") and re.match(r"[\w*]", line):
            names = r"[\w.*]+(, [\w.*]+)*" + ("" if section == "Raises" else r"( : .+|:.+)?")
            found += [] if re.fullmatch(names, line) else [line]
        elif section in ("Returns", "Yields") and re.match(r"\S", line):
            found += (
                [line]
                if line.endswith(".")
                or re.search(" [A-Z`][a-z]* [a-z]+ ", re.sub(" and WorkProgress| for L values.*", "", line))
                else []
            )
    return found


def test_sections_of_docstrings_have_entries() -> None:
    """Catches "DataError If the file cannot be read" in one line, which a site shows as a name."""
    ill_formed = {
        f"{path}: {line}" for path, node in nodes() for line in _ill_formed(ast.get_docstring(node) or "")
    }
    assert ill_formed == set()
