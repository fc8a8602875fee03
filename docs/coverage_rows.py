"""The rows of docs/coverage.md: their counts, and whether tests reach the code.

``docs/generate.py`` writes the counts into the pages. The test
``tests/docs/test_coverage.py`` fails where a row names an absent file, a
test that does not reach the code, or a status without a reason.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, get_args

from rankstudio.engine.methods.catalog import methods

ROOT = Path(__file__).resolve().parents[1]
Status = Literal["done", "in part", "missing"]

_CELL_BORDER = re.compile(r"(?<!\\)\|")
_PATH = re.compile(r"`([^`]+)`")
# "done", "done, from Python" and "done: where", but not "done for some of it"
_STATUS = re.compile(r"(done(?=$|[,:;])|in part(?=: .)|missing(?=: .))")


@dataclass(frozen=True)
class CoverageRow:
    """One item of a source, with the files that implement and test it.

    Attributes
    ----------
    source : str
        Heading of the table.
    item : str
    code, tests : tuple of str
        Paths below the folder of the project.
    status : {"done", "in part", "missing"} or None
        None if the row states none of these.
    """

    source: str
    item: str
    code: tuple[str, ...]
    tests: tuple[str, ...]
    status: Status | None


def coverage_rows(page: str) -> tuple[CoverageRow, ...]:
    """Return the rows of all tables with the columns item, code, test and status."""
    rows = []
    heading = ""
    for line in page.splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        cells = [cell.strip() for cell in _CELL_BORDER.split(line)[1:-1]]
        # The table of counts stands before the first heading.
        is_item = len(cells) == 4 and cells[0] not in ("Item", "---")
        if heading and is_item:
            rows.append(_row(heading, *cells))
    return tuple(rows)


def _row(source: str, item: str, code: str, test: str, status: str) -> CoverageRow:
    """Return the row of a table's cells."""
    match = _STATUS.match(status)
    return CoverageRow(
        source,
        item,
        tuple(map(_path_of_code, _PATH.findall(code))),
        tuple(_PATH.findall(test)),
        next((kind for kind in get_args(Status) if match and match[0] == kind), None),
    )


def _path_of_code(name: str) -> str:
    """Return the path of a code file, which the page gives below the engine."""
    if name.startswith("resources/"):
        return name
    home = "rankstudio" if name.startswith("plugins/") else "rankstudio/engine"
    return f"{home}/{name}"


# Counts


def count_table(rows: tuple[CoverageRow, ...]) -> list[str]:
    """Return the lines of the table that counts the items of each source by status."""
    lines = ["| Source | done | in part | missing |", "|---|---|---|---|"]
    for source in dict.fromkeys(row.source for row in rows):
        counts = Counter(row.status for row in rows if row.source == source)
        lines.append(_count_line(source, counts))
    return [*lines, _count_line("all", Counter(row.status for row in rows))]


def _count_line(name: str, counts: Counter[Status | None]) -> str:
    """Return the line of a table with the items of each status."""
    cells = (str(counts[status]) for status in get_args(Status))
    return f"| {name} | {' | '.join(cells)} |"


def count_sentence(rows: tuple[CoverageRow, ...]) -> str:
    """Return how many items there are, and how many of each status, as a sentence."""
    counts = Counter(row.status for row in rows)
    return (
        f"{len(rows)} items: {counts['done']} done, {counts['in part']} in part, "
        f"{counts['missing']} missing"
    )


# Checks


def faults_of(row: CoverageRow) -> list[str]:
    """Return the faults of a row, as texts.

    Files of an ability whose folder is absent are not looked for.
    """
    faults = [] if row.status else ["no status: done, in part: why, or missing: why"]
    if row.status == "missing":
        return [*faults, *(f"{path} of a missing item" for path in row.code)]
    if not (row.code and row.tests):
        faults.append("no code or no test")
    present = [path for path in (*row.code, *row.tests) if _ability_is_here(path)]
    absent = [path for path in present if not (ROOT / path).is_file()]
    faults += [f"{path} is absent" for path in absent]
    if absent or len(present) < len(row.code) + len(row.tests):
        return faults
    reached = {module for path in row.tests for module in reached_modules(path)}
    return faults + [
        f"{path} is not reached from {', '.join(row.tests)}"
        for path in row.code
        if path.endswith(".py") and _module_of(path) not in reached
    ]


def _ability_is_here(path: str) -> bool:
    """Return whether a path is of no ability, or of one whose folder is there."""
    ability = re.match(r"(tests|rankstudio)/plugins/\w+", path)
    return ability is None or (ROOT / ability[0]).is_dir()


def reached_modules(test: str) -> frozenset[str]:
    """Return the modules that a test file names, what these import, and their parts.

    A file names a module by importing it or one of its names, also through a
    package that passes the name on, by the key of a method in the catalog, or
    as a program of ``benchmarks``. Parts are imported modules of the same folder.

    This check needs no run, and is weak: it finds a test of other code, but not
    a test that holds nothing about the result. ``tests/mutations.py`` looks for
    those.

    Parameters
    ----------
    test : str
        Path of the file below the folder of the project.
    """
    named = _named_modules(ROOT / test)
    reached = named.union(*(_named_modules(file) for file in _files_of(named)))
    # The parts of an implementation are modules of one folder.
    while True:
        parts = {
            part
            for file in _files_of(reached)
            for part in _named_modules(file)
            if part.rpartition(".")[0]
            == _module_of(_below_root(file)).rpartition(".")[0]
        }
        if parts <= reached:
            return frozenset(reached)
        reached |= parts


def _below_root(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def _files_of(modules: frozenset[str]) -> list[Path]:
    """Return the files of the modules of the project among some names."""
    return [file for module in modules for file in _file_of(module)]


@cache
def _named_modules(path: Path) -> frozenset[str]:
    """Return the modules of the project that a file names."""
    text = path.read_text(encoding="utf-8")
    return frozenset(_modules_in(ast.parse(text)))


def _modules_in(tree: ast.AST) -> Iterator[str]:
    """Yield the modules of the project that a program names."""
    method_modules = _modules_of_methods()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (_home_of(node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # a method by its key, or a module in a table of names
            yield method_modules.get(node.value, node.value.partition(":")[0])
            if (ROOT / "benchmarks" / node.value).suffix == ".py":
                yield f"benchmarks.{node.value.removesuffix('.py')}"


@cache
def _modules_of_methods() -> dict[str, str]:
    """Return the module of each method's estimator by the key of the method."""
    return {entry.key: entry.estimator.partition(":")[0] for entry in methods()}


@cache
def _home_of(package: str, name: str) -> str:
    """Return the module that defines a name, which a package may pass on."""
    if not package.startswith("rankstudio"):
        return package
    if find_spec(package) and _file_of(f"{package}.{name}"):
        return f"{package}.{name}"
    value = getattr(importlib.import_module(package), name, None)
    return str(getattr(value, "__module__", package))


def _file_of(module: str) -> list[Path]:
    """Return the file of a module of the project, or nothing for other texts."""
    if not re.fullmatch(r"(rankstudio|benchmarks)(\.\w+)+", module):
        return []
    path = ROOT / Path(*module.split("."))
    files = [path.with_suffix(".py"), path / "__init__.py"]
    return [file for file in files if file.is_file()]


def _module_of(path: str) -> str:
    """Return the name of the module in a file."""
    return path.removesuffix(".py").replace("/", ".")
