"""The house: how large its rooms are, and which words name them (see docs/architecture.md)."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "rankstudio"
MODULES = sorted(PACKAGE.rglob("*.py"))

OLD_WORDS = frozenset(
    """
    judge judges judged judging shelf shelves keeping reopening desk bench crew hire hired spreading shipping
    shipment dividing remembering sliding told take takes taking working tradeoff agreement across policies
    diagnosis watch place places setting prepared preparing prepare choosing choose grouped along
    """.split()  # noqa: SIM905 - a list of words reads better so
)
"""What the left columns of the two tables of words in docs/architecture.md say, as words of names."""

IN_PAIRS = {"front": {"pareto"}, "known": {"datasets", "dataset"}, "mapped": {"memory"}}
"""Old words that stand in a term of the field together with another one."""


def words(name: str) -> list[str]:
    """Return the words of a name in any of Python's spellings."""
    apart = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return [word.lower() for word in apart.split("_") if word]


def old_words(name: str) -> set[str]:
    """Return the old words in a name."""
    found = words(name)
    paired = {old for old, beside in IN_PAIRS.items() if old in found and not beside & set(found)}
    return (OLD_WORDS & set(found)) | paired


def definitions(path: Path) -> Iterator[str]:
    """Yield the names of a module's classes, public functions and public methods."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) or (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_")
        ):
            yield node.name


def test_old_words_are_found_in_any_spelling() -> None:
    assert old_words("PreparedFold") == {"prepared"}
    assert old_words("judge_parameters") == {"judge"}
    assert old_words("Settings") == old_words("pareto_front") == old_words("known_datasets") == set()
    assert old_words("front_layers") == {"front"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_class_or_public_function_bears_an_old_word(path: Path) -> None:
    names = [*path.relative_to(PACKAGE).with_suffix("").parts, *definitions(path)]
    assert {name: sorted(old) for name in names if (old := old_words(name))} == {}


def test_rooms_are_small() -> None:
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES
    }
    assert {name: n for name, n in sizes.items() if n > 700} == {}
    folders: dict[str, int] = defaultdict(int)
    for path in MODULES:
        folders[str(path.parent.relative_to(ROOT))] += 1
    assert {folder: n for folder, n in folders.items() if n > 20} == {}


def test_the_upper_floors_have_few_doors() -> None:
    def entries(folder: str) -> set[str]:
        inside = (PACKAGE / folder).iterdir()
        return {entry.name for entry in inside if entry.suffix == ".py" or (entry / "__init__.py").exists()}

    assert len(entries("engine")) <= 15
    assert len(entries("engine/experiment")) <= 12
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
    assert gerunds <= {"frozen_mapping", "query_grouping", "scoring"}, "nouns that end so"
