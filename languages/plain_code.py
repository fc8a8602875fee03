"""Count the names and sentences that make code hard to read: the rules are in CONTRIBUTING.md, under "Style".

python languages/plain_code.py              print the figures of all packages; exit 1 above a limit
python languages/plain_code.py --list PATH  list the offenders in a file or folder
"""

from __future__ import annotations

import argparse
import ast
import gc
import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (
    "rankstudio",
    "tests",
    "benchmarks",
    "docs",
    "examples",
    "languages",
    "packaging",
)
KINDS = ("vague", "generic", "tuples", "splats", "nested", "docs", "width")

# The most that a package may have: vague and generic names in percent of its local names and parameters;
# tuples, splats, nested expressions and docstrings per 1,000 lines; characters per line,
# of code, comments and docstrings. Limits only go down; that of the width goes up where
# explanations are added, whose lines are longer than those of code: all of the program has
# 36.8 characters a line, its code without docstrings and comments 33.4. A folder that is not
# listed has those of the folder around it, and a new one those of new code.
LIMITS: dict[str, tuple[float, ...]] = {
    "": (0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 36.1),
    "rankstudio/engine/support": (0.5, 8.0, 0.0, 0.0, 0.0, 0.0, 34.0),
    "rankstudio/engine/statistics": (0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 35.0),
    "rankstudio/engine/metrics": (0.0, 7.0, 0.0, 0.0, 0.0, 0.0, 36.5),
    "rankstudio/engine/data": (0.0, 4.5, 0.0, 0.0, 0.0, 0.0, 36.5),
    "rankstudio/engine/plugins": (0.0, 17.0, 0.0, 0.0, 0.0, 0.0, 33.5),
    "rankstudio/engine/arithmetic": (0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 36.5),
    "rankstudio/engine/methods": (0.0, 7.5, 0.0, 0.0, 0.0, 0.0, 39.0),
    "rankstudio/engine/export": (0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 36.0),
    "rankstudio/engine/experiment": (0.0, 7.5, 0.0, 0.0, 0.0, 0.0, 37.5),
    "rankstudio/engine/analysis": (0.2, 6.5, 0.0, 0.0, 0.2, 0.0, 36.0),
    "rankstudio/engine": (1.6, 4.0, 0.0, 0.0, 0.0, 0.0, 34.5),
    "rankstudio/plugins/baselines": (0.0, 8.5, 0.0, 0.0, 0.0, 0.0, 37.5),
    "rankstudio/plugins/cluster": (0.0, 3.5, 0.0, 0.0, 0.0, 0.0, 37.0),
    "rankstudio/plugins/drift": (0.0, 7.0, 0.0, 0.0, 0.0, 0.0, 37.5),
    "rankstudio/plugins/evidence": (0.2, 3.5, 0.0, 0.0, 0.0, 0.1, 37.0),
    "rankstudio/plugins/exports": (0.0, 2.5, 0.0, 0.0, 0.0, 0.0, 34.5),
    "rankstudio/plugins/features": (0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 38.0),
    "rankstudio/plugins/foreign_models": (0.0, 6.0, 0.0, 0.0, 0.0, 0.0, 38.5),
    "rankstudio/plugins/judges": (0.0, 7.0, 0.0, 0.0, 0.0, 0.0, 36.5),
    "rankstudio/plugins/kernels": (0.0, 8.5, 0.0, 0.0, 0.0, 0.0, 38.0),
    "rankstudio/plugins/lab": (0.0, 6.5, 0.0, 0.0, 0.3, 0.0, 35.5),
    "rankstudio/plugins/mlflow": (0.0, 12.0, 0.0, 0.0, 0.0, 0.0, 37.5),
    "rankstudio/plugins/papers": (0.0, 11.0, 0.0, 0.0, 0.0, 0.0, 36.0),
    "rankstudio/plugins/queries": (0.0, 2.5, 0.0, 0.0, 0.0, 0.0, 36.5),
    "rankstudio/plugins/report": (0.0, 3.5, 0.0, 0.0, 0.4, 0.0, 36.0),
    "rankstudio/plugins/search_engines": (0.0, 5.0, 0.0, 0.0, 0.4, 0.0, 36.5),
    "rankstudio/plugins/tables": (0.0, 4.5, 0.0, 0.0, 0.0, 0.0, 35.5),
    "rankstudio/plugins/trees": (0.0, 7.5, 0.0, 0.0, 0.0, 0.0, 38.0),
    "rankstudio/api": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 44.0),
    "rankstudio/cli": (0.0, 9.0, 0.2, 0.0, 0.3, 0.0, 36.0),
    "rankstudio/testing": (0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 38.0),
    "rankstudio/ui": (0.0, 3.0, 0.2, 0.0, 0.1, 0.0, 37.5),
    "tests/cli": (11.4, 4.5, 3.5, 1.1, 0.2, 1.3, 34.0),
    "tests/engine": (8.6, 6.5, 8.1, 0.4, 0.2, 1.7, 36.5),
    "tests/plugins": (12.0, 4.5, 8.1, 0.1, 0.3, 1.3, 37.0),
    "tests/ui": (8.7, 3.0, 7.7, 0.3, 0.2, 4.2, 35.5),
    "tests": (8.8, 8.0, 5.2, 0.1, 0.3, 7.3, 34.5),
    "benchmarks": (7.3, 4.5, 12.5, 0.0, 0.0, 5.7, 36.0),
    "docs": (7.9, 6.5, 3.7, 0.0, 0.0, 2.5, 35.5),
    "examples": (1.7, 6.5, 5.0, 0.0, 0.0, 0.7, 37.0),
    "languages": (9.1, 1.5, 0.9, 0.0, 0.9, 4.4, 38.5),
    "packaging": (9.9, 5.0, 5.6, 0.0, 0.0, 5.6, 34.0),
}

# Pronouns, participles and adverbs. A reader wants the noun of the field: `scores`, `path` or `curves`.
_VAGUE = re.compile(
    "found|told|said|known|given|kept|taken|left|asked|wanted|shown|own|one|some|others|both|place|at|there|"
    "what|whole|beside|such|whose|made|done|here|which|where|why|it|they|them|this|that|these|those|each|every|"
    "same|several|few|more|most|again|now|alone|seen|held|nothing|something|anything|everything"
)
_GENERIC = re.compile(
    "results?|data|values?|items?|things?|objects?|obj|info|contents?|elements?|entry|entries|stuff|res|ret|"
    "val|te?mp"
)
_OPENING = re.compile(
    r"\s*([A-Z][a-z]+ what(?:ever)?\b|(?:Of|Which|What|Whatever|Whose|Whoever)\b)"
)
_IDIOM = re.compile(
    r"\b(look(?:s|ed|ing)? at|nobody|somebody|let(?:s|ting)? go|none any more|hold(?:s|ing)? up|"
    r"(?:is|are|was|were|be) told|so many)\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"(?:^|\s)#:? (.*)")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, *_COMPREHENSIONS)
_MOST_LOOPS = 2


@dataclass(frozen=True)
class Offence:
    """Something that makes code hard to read.

    Attributes
    ----------
    kind : str
        One of `KINDS` but the last.
    line : int
        Its line, from 1.
    excerpt : str
        The name, or the beginning of the code or text.
    """

    kind: str
    line: int
    excerpt: str


@dataclass
class _Scope:
    """The local names of a function, lambda or comprehension, with the line that binds each first.

    A module and a class have no local names. `splats` are the names that calls unpack, with their lines.
    """

    is_local: bool
    names: dict[str, int] = field(default_factory=dict)
    tuples: set[str] = field(default_factory=set)
    splats: list[tuple[str, int]] = field(default_factory=list)

    def bind(self, name: str, line: int) -> None:
        """Add a name that is bound in a line."""
        if self.is_local:
            self.names[name] = min(line, self.names.get(name, line))

    def offences(self) -> Iterator[Offence]:
        """Yield the names that say little, and calls fed by a tuple that was made for them."""
        for name, line in self.names.items():
            is_side = name == "left" and "right" in self.names
            if _VAGUE.fullmatch(name) and not is_side:
                yield Offence("vague", line, name)
            elif _GENERIC.fullmatch(name):
                yield Offence("generic", line, name)
        for name, line in self.splats:
            if name in self.tuples:
                yield Offence("splats", line, f"*{name}")


class CodeReader:
    """Collects the offences of one module in one walk over its syntax tree.

    Attributes
    ----------
    offences : list of Offence
        Names, expressions and docstrings, in no order.
    n_names : int
        Local names and parameters; one that two functions have counts twice.
    n_lines, n_characters : int
        Size of the module.
    """

    def __init__(self, source: str) -> None:
        lines = source.splitlines()
        self.offences: list[Offence] = []
        self.n_names = 0
        self.n_lines = len(lines)
        self.n_characters = sum(map(len, lines))
        for number, line in enumerate(lines, start=1):
            if "#" in line and (comment := _COMMENT.search(line)):
                self._read_text(comment[1], number)
        self._walk(ast.parse(source))

    def _walk(self, tree: ast.Module) -> None:
        scopes = [_Scope(is_local=False)]
        stack: list[tuple[ast.AST, _Scope]] = [(tree, scopes[0])]
        while stack:
            node, scope = stack.pop()
            kind = type(node)
            if kind in _SCOPES:
                self._count_loops(node)
                scopes.append(_Scope(is_local=True))
                scope = scopes[-1]
            elif kind is ast.ClassDef:
                scope = scopes[0]
            elif kind in _READERS:
                _READERS[kind](self, node, scope)
            for name in node._fields:
                child = getattr(node, name)
                if type(child) is list:
                    stack.extend(
                        (part, scope) for part in child if isinstance(part, ast.AST)
                    )
                elif isinstance(child, ast.AST):
                    stack.append((child, scope))
        self.n_names = sum(len(scope.names) for scope in scopes)
        self.offences += [offence for scope in scopes for offence in scope.offences()]

    def _add(self, kind: str, node: ast.expr | ast.stmt) -> None:
        self.offences.append(Offence(kind, node.lineno, ast.unparse(node)[:100]))

    def _count_loops(self, node: ast.AST) -> None:
        if isinstance(node, _COMPREHENSIONS) and len(node.generators) > _MOST_LOOPS:
            self._add("nested", node)

    def _read_name(self, node: ast.Name, scope: _Scope) -> None:
        if type(node.ctx) is ast.Store:
            scope.bind(node.id, node.lineno)

    def _read_parameter(self, node: ast.arg, scope: _Scope) -> None:
        scope.bind(node.arg, node.lineno)

    def _read_capture(
        self, node: ast.ExceptHandler | ast.MatchAs, scope: _Scope
    ) -> None:
        if node.name is not None:
            scope.bind(node.name, node.lineno)

    def _read_assignment(self, node: ast.Assign, scope: _Scope) -> None:
        if not isinstance(node.value, ast.Tuple):
            return
        target = node.targets[0]
        if isinstance(target, ast.Name):
            scope.tuples.add(target.id)
        elif isinstance(target, ast.Tuple):
            targets = {ast.unparse(part) for part in target.elts}
            # `a, b = b, a` and `a, b = b, a + b` need the old values: two statements would be wrong
            if not any(
                ast.unparse(part) in targets
                for part in ast.walk(node.value)
                if _is_place(part)
            ):
                self._add("tuples", node)

    def _read_call(self, node: ast.Call, scope: _Scope) -> None:
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                if isinstance(argument.value, ast.Tuple):
                    self._add("splats", argument)
                elif isinstance(argument.value, ast.Name):
                    scope.splats.append((argument.value.id, argument.lineno))

    def _read_condition(self, node: ast.IfExp, scope: _Scope) -> None:
        if any(
            isinstance(part, ast.IfExp) for part in ast.walk(node) if part is not node
        ):
            self._add("nested", node)

    def _read_statement(self, node: ast.Expr, scope: _Scope) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            docstring = node.value.value
            if _OPENING.match(docstring):
                self.offences.append(
                    Offence(
                        "docs", node.lineno, docstring.strip()[:100].partition("\n")[0]
                    )
                )
            for number, line in enumerate(docstring.splitlines(), start=node.lineno):
                self._read_text(line, number)

    def _read_text(self, text: str, line: int) -> None:
        self.offences += [
            Offence("docs", line, idiom[1]) for idiom in _IDIOM.finditer(text)
        ]


def _is_place(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript)


_READERS = {
    ast.Name: CodeReader._read_name,
    ast.arg: CodeReader._read_parameter,
    ast.ExceptHandler: CodeReader._read_capture,
    ast.MatchAs: CodeReader._read_capture,
    ast.Assign: CodeReader._read_assignment,
    ast.Call: CodeReader._read_call,
    ast.IfExp: CodeReader._read_condition,
    ast.Expr: CodeReader._read_statement,
}


def package_of(module: Path) -> str:
    """Return the name in `LIMITS` of the folder that a module is in."""
    folders = [parent.as_posix() for parent in module.relative_to(ROOT).parents]
    return next((folder for folder in folders if folder in LIMITS), "")


def figures(readers: list[CodeReader]) -> tuple[float, ...]:
    """Return the figures of a package, in the order and units of `LIMITS`, rounded up to a tenth."""
    counts = dict.fromkeys(KINDS, 0)
    for reader in readers:
        for offence in reader.offences:
            counts[offence.kind] += 1
    n_names = max(1, sum(reader.n_names for reader in readers))
    n_lines = max(1, sum(reader.n_lines for reader in readers))
    names = [1000 * counts[kind] / n_names for kind in KINDS[:2]]
    code = [10_000 * counts[kind] / n_lines for kind in KINDS[2:-1]]
    width = 10 * sum(reader.n_characters for reader in readers) / n_lines
    return tuple(math.ceil(figure) / 10 for figure in (*names, *code, width))


def list_offences(path: Path) -> None:
    """Write the offences in a file or folder, one a line, and the figures of all of it."""
    readers = {}
    for module in [path] if path.is_file() else sorted(path.rglob("*.py")):
        readers[module] = CodeReader(module.read_text(encoding="utf-8"))
        for offence in sorted(
            readers[module].offences, key=lambda offence: offence.line
        ):
            sys.stdout.write(
                f"{module}:{offence.line}: {offence.kind}: {offence.excerpt}\n"
            )
    totals = zip(KINDS, figures(list(readers.values())), strict=True)
    sys.stdout.write(
        ", ".join(f"{kind} {figure:.1f}" for kind, figure in totals) + "\n"
    )


def check() -> bool:
    """Write the figures of all packages, each with its limit where it is above; return whether one is."""
    packages: dict[str, list[CodeReader]] = defaultdict(list)
    for folder in FOLDERS:
        for module in sorted((ROOT / folder).rglob("*.py")):
            packages[package_of(module)].append(
                CodeReader(module.read_text(encoding="utf-8"))
            )
    sys.stdout.write("".join(f"{kind:>8}" for kind in KINDS) + "\n")
    is_above = False
    for package, limits in LIMITS.items():
        totals = figures(packages[package])
        above = [
            f"{kind} {figure} > {limit}"
            for kind, figure, limit in zip(KINDS, totals, limits, strict=True)
            if figure > limit
        ]
        is_above |= bool(above)
        sys.stdout.write(
            "".join(f"{figure:8.1f}" for figure in totals) + f"  {package or 'other'}"
        )
        sys.stdout.write(f"  ABOVE: {', '.join(above)}\n" if above else "\n")
    return is_above


def main() -> int:
    """Check all packages, or list the offences in a path; 1 where a package is above a limit."""
    parser = argparse.ArgumentParser(description="Check how code reads.")
    parser.add_argument(
        "--list",
        type=Path,
        metavar="PATH",
        help="list the offenders in a file or folder",
    )
    path = parser.parse_args().list
    # syntax trees have no cycles worth a search, which would take as long as the check
    gc.disable()
    if path is not None:
        list_offences(path)
        return 0
    return int(check())


if __name__ == "__main__":
    sys.exit(main())
