"""Every message that the page on errors quotes is one that the program can print."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "troubleshooting.md"
_QUOTED = re.compile(r"^> (.*)$", re.MULTILINE)
_VALUE = re.compile(
    r"…|\b\d+\b|\"NULL\"|, expected |, line |, column |found | on line |\. (?=[A-Z])"
)
"""Names and numbers, and what joins the parts of an error on a file."""
_FIELD = re.compile(r"\{[^}]*\}|\b\d+\b")
GAP = "\0"
"""Placeholder of a name or a number in a message."""

LEAST = 8  # characters of a part between two gaps that says something


def quoted_messages() -> list[str]:
    return _QUOTED.findall(PAGE.read_text(encoding="utf-8"))


def parts(message: str) -> list[str]:
    """Return the fixed parts of a message, between its names and numbers."""
    between = (part.strip(" .,:;") for part in _VALUE.split(message))
    return [part for part in between if len(part) >= LEAST]


def texts(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of a module, with gaps for their fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield _FIELD.sub(GAP, node.value)
        elif isinstance(node, ast.JoinedStr):
            pieces = (
                piece.value if isinstance(piece, ast.Constant) else GAP
                for piece in node.values
            )
            yield _FIELD.sub(GAP, "".join(map(str, pieces)))


@cache
def source_texts() -> str:
    files = sorted((ROOT / "rankstudio").rglob("*.py"))
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in files)
    return "\n".join(text for tree in trees for text in texts(tree))


@pytest.mark.parametrize("message", quoted_messages())
def test_a_quoted_message_is_in_the_source(message: str) -> None:
    found = parts(message)
    assert found, message
    missing = [part for part in found if part not in source_texts()]
    assert not missing


def test_a_message_that_is_not_in_the_source_is_noticed() -> None:
    assert parts("…: found 2 datasets, expected none") == ["datasets"]
    assert parts("…, expected an empty folder") == ["an empty folder"]
    assert "expected the query as an adjective" not in source_texts()
    assert len(quoted_messages()) > 15
