"""The layout of the package: what lies where, and unique names (see docs/architecture.md)."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import fields
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.catalog.method import Method

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "rankstudio"
MODULES = sorted(PACKAGE.rglob("*.py"))


def found_in_modules(pattern: str) -> list[Any]:
    """Return what `re.findall` finds in the text of the package: to parse it would take seconds."""
    texts = (path.read_text(encoding="utf-8") for path in MODULES)
    return [
        found
        for text in texts
        for found in re.findall(pattern, text, re.MULTILINE | re.DOTALL)
    ]


def test_the_window_has_two_modules_beside_its_packages() -> None:
    def entries(folder: str) -> set[str]:
        inside = (PACKAGE / folder).iterdir()
        return {
            entry.name
            for entry in inside
            if entry.suffix == ".py" or (entry / "__init__.py").exists()
        }

    assert {name for name in entries("ui") if name.endswith(".py")} == {
        "__init__.py",
        "app.py",
        "main_window.py",
    }


def test_a_class_has_a_name_of_its_own() -> None:
    names = Counter(found_in_modules(r"^ *class ([A-Za-z]\w*)[(:\[]"))
    assert len(names) > 500
    assert {name for name, count in names.items() if count > 1} == set()


def test_analysis_has_few_rooms_and_others_use_each() -> None:
    folder = PACKAGE / "engine" / "analysis"
    rooms = {
        path.stem
        for path in folder.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    rooms.discard("__init__")
    assert 0 < len(rooms) <= 10
    imported = found_in_modules(r"rankstudio\.engine\.analysis\.(\w+)")
    own = Counter(
        name
        for path in folder.rglob("*.py")
        for name in re.findall(
            rf"rankstudio\.engine\.analysis\.({path.relative_to(folder).parts[0].removesuffix('.py')})\b",
            path.read_text(encoding="utf-8"),
        )
    )
    assert {room for room in rooms if Counter(imported)[room] <= own[room]} == set()


def test_modules_are_nouns() -> None:
    gerunds = {path.stem for path in MODULES if path.stem.endswith("ing")}
    assert gerunds <= {
        "cross_fitting",
        "escaping",
        "frozen_mapping",
        "query_grouping",
        "scoring",
    }, "nouns that end so"


def test_the_picture_of_the_architecture_has_all_abilities() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = text.partition("## Core and abilities")[2].partition("## Add something")[
        0
    ]
    abilities = {
        folder.parent.name for folder in (PACKAGE / "plugins").glob("*/__init__.py")
    }
    assert picture
    assert {name for name in abilities if name not in picture} == set()


def test_every_mutation_has_its_place_in_the_core() -> None:
    """Nothing else runs ``tests/mutations.py``, which is for whoever changes the core."""
    faults = run_path(str(ROOT / "tests" / "mutations.py"))["MUTATIONS"]
    texts = {
        one.name: (PACKAGE / "engine" / one.module).read_text("utf-8") for one in faults
    }
    places = {one.name: texts[one.name].count(one.right) for one in faults}
    assert {name: count for name, count in places.items() if count != 1} == {}


def _ill_formed(docstring: str) -> list[str]:
    """Return the entries of a docstring's sections that numpydoc would not read as entries."""
    lines, found = docstring.split("\n"), []
    section = ""
    for line, below in pairwise([*lines, ""]):
        if re.fullmatch("-{4,}", below):
            section = line
        elif section in ("Parameters", "Attributes", "Raises") and re.match(
            r"[\w*]", line
        ):
            names = r"[\w.*]+(, [\w.*]+)*" + (
                "" if section == "Raises" else r"( : .+|:.+)?"
            )
            found += [] if re.fullmatch(names, line) else [line]
        elif section in ("Returns", "Yields") and re.match(r"\S", line):
            found += (
                [line]
                if line.endswith(".")
                or re.search(
                    " [A-Z`][a-z]* [a-z]+ ",
                    re.sub(" and WorkProgress| for L values.*", "", line),
                )
                else []
            )
    return found


def test_sections_of_docstrings_have_entries() -> None:
    """Catches "DataError If the file cannot be read" in one line, which a site shows as a name."""
    docstrings = found_in_modules(r'^ *r?"""(.*?)"""')
    assert len(docstrings) > 5000
    assert {
        line for text in docstrings for line in _ill_formed(cleandoc(text))
    } == set()


def _parameter_names(function: ast.FunctionDef) -> set[str]:
    return {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}


def _accepted_names(node: ast.FunctionDef | ast.ClassDef) -> set[str] | None:
    """Return the parameters of a function or class; None if a class takes those of the class it extends."""
    if isinstance(node, ast.FunctionDef):
        return _parameter_names(node)
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            return _parameter_names(statement)
    if node.bases or not node.decorator_list:
        return None
    return {
        statement.target.id
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
    }


def _names_in_class(class_node: ast.ClassDef) -> set[str]:
    """Return the names of methods, fields, parameters and attributes that are set in a class."""
    names = set[str]()
    for node in ast.walk(class_node):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names |= {node.name} | _parameter_names(node)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def _documented_names(
    docstring: str, section_name: str = "Parameters"
) -> Iterator[str]:
    for section in re.findall(
        section_name + r"\n-+\n(.*?)(?:\n\n\w|\Z)", docstring, re.DOTALL
    ):
        for entry in re.findall(
            r"^[\w*]+(?:, [\w*]+)*(?= : |$)", section, re.MULTILINE
        ):
            yield from entry.replace("*", "").split(", ")


def test_documented_parameters_are_in_the_signature() -> None:
    """Catches a parameter that goes and stays in the docstring, which building the site alone would tell."""
    sources = [path.read_text(encoding="utf-8") for path in MODULES]
    nodes = [
        node
        for source in sources
        if "Parameters\n" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    documented = [
        (node.name, set(_documented_names(ast.get_docstring(node) or "")))
        for node in nodes
    ]
    accepted = [_accepted_names(node) for node in nodes]
    assert sum(len(names) for _, names in documented) > 1500
    gone = [
        (name, names - known)
        for (name, names), known in zip(documented, accepted, strict=True)
        if known is not None and names - known
    ]
    assert gone == []


def test_documented_attributes_are_in_the_class() -> None:
    """Catches an attribute that gets another name and keeps the old one in the docstring."""
    classes = [
        node
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    members: dict[str, set[str]] = defaultdict(set)
    bases: dict[str, set[str]] = defaultdict(set)
    for node in classes:
        members[node.name] |= _names_in_class(node)
        bases[node.name] |= {
            ast.unparse(base).partition("[")[0].rpartition(".")[2]
            for base in node.bases
        }

    def members_of(name: str) -> set[str]:
        inherited = (members_of(base) for base in bases[name] - {name})
        return members[name].union(*inherited)

    documented = [
        (node.name, name)
        for node in classes
        for name in _documented_names(ast.get_docstring(node) or "", "Attributes")
    ]
    assert len(documented) > 1000
    assert [entry for entry in documented if entry[1] not in members_of(entry[0])] == []


@pytest.mark.parametrize(
    ("value", "most"), [(Plan, 12), (FoldedDataset, 8), (Method, 18)]
)
def test_what_abilities_add_is_no_field(value: type[Any], most: int) -> None:
    """They have a slot: whoever reads a plan, data or a method need not know them."""
    assert len(fields(value)) <= most


def test_commands_print_in_one_way() -> None:
    """Names are other people's: whatever else prints would let their escape sequences reach the terminal."""
    printing = re.compile(r"(?<![\w.])print\(|(?:stdout|stderr)\.write\(")
    outside = {
        path.name: printing.findall(path.read_text(encoding="utf-8"))
        for path in (PACKAGE / "cli").rglob("*.py")
        # which writes files to the standard output
        if path.name not in ("terminal.py", "streams.py")
    }
    assert not {name: calls for name, calls in outside.items() if calls}
