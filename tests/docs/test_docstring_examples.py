"""The examples of docstrings give what they say, in an empty folder."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import rankstudio

ROOT = Path(rankstudio.__file__).parent
WITH_EXAMPLES = [
    path
    for path in sorted(ROOT.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=name_of)
def test_examples_of_a_module(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = name_of(path)
    if name.startswith(("rankstudio.ui", "rankstudio.api.window")):
        pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)
    result = doctest.testmod(import_module(name), optionflags=FLAGS)
    assert result.attempted or "Examples" not in path.read_text(encoding="utf-8")
    assert result.failed == 0
