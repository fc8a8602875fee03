"""Sentences of the engine in another language, and what stays English there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from gettext import NullTranslations
from pathlib import Path
from threading import Thread

import pytest

from rankstudio.engine import language
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.language import in_english, install, tr, trn
from rankstudio.engine.methods.catalog import method
from rankstudio.engine.support.number_format import count_text, significant
from rankstudio.engine.support.resources import resource


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(language, "_language", language._Language())
    install("de", resource("languages", "de.mo"))
    yield


def test_texts_are_english_before_a_catalog_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(language, "_language", language._Language())
    assert tr("Why it is in the model") == "Why it is in the model"
    assert isinstance(language._language.catalog, NullTranslations)


def test_a_wrong_value_is_told_in_german(german: None) -> None:
    size = next(
        p for p in method("greedy-rankrls").parameters if p.kind.name == "INTEGER"
    )
    with pytest.raises(ParameterError, match="erwartet eine ganze Zahl ab 1"):
        size.validate("-3")


def test_what_is_written_for_everybody_stays_english_on_its_thread(
    german: None,
) -> None:
    elsewhere: list[str] = []
    with in_english():
        assert tr("Why it is in the model") == "Why it is in the model"
        assert trn("{n} run", "{n} runs", 2) == "{n} runs"
        thread = Thread(target=lambda: elsewhere.append(tr("Why it is in the model")))
        thread.start()
        thread.join()
        with in_english(False):  # what the window shows meanwhile
            assert tr("Why it is in the model") == "Warum im Modell"
    assert elsewhere == [tr("Why it is in the model")] == ["Warum im Modell"]


def test_texts_and_counts_group_digits_as_their_language_does(german: None) -> None:
    assert trn("{n:,} query", "{n:,} queries", 9630).format(n=9630) == "9.630 Anfragen"
    assert (
        tr("In {share:.0f} % of the sets that are as good as the best")
        .format(share=12.5)
        .startswith("In 12 %")
    )
    assert count_text(1234567) == "1.234.567" and significant(
        1192.0
    ) == "1\u202f192" != significant(1.192, 4)
    with in_english():
        assert (
            trn("{n:,} query", "{n:,} queries", 9630).format(n=9630) == "9,630 queries"
        )
        assert count_text(9630) == "9,630" and significant(1192.0) == "1,192"


def looked_up_on_import(node: ast.AST) -> Iterator[int]:
    """Yield the lines on which texts are looked up while a module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if (
            isinstance(child, ast.Call)
            and isinstance(child.func, ast.Name)
            and child.func.id in ("tr", "trn")
        ):
            yield child.lineno
        yield from looked_up_on_import(child)


def test_a_text_that_is_looked_up_on_import_is_found() -> None:
    source = "A = tr('a')\nclass B:\n    c = trn('one', 'two', 2)\ndef f():\n    return tr('late')"
    assert list(looked_up_on_import(ast.parse(source))) == [1, 3]


def test_importing_the_engine_or_the_terminal_looks_no_text_up() -> None:
    package = Path(language.__file__).parents[1]
    modules = [
        *package.glob("engine/**/*.py"),
        *package.glob("cli/**/*.py"),
        package / "ui/process/settings.py",
    ]
    assert len(modules) > 100
    texts = {path: path.read_text(encoding="utf-8") for path in modules}
    trees = {
        path: ast.parse(text)
        for path, text in texts.items()
        if re.search(r"\btrn?\(", text)
    }
    assert {
        str(path): lines
        for path, tree in trees.items()
        if (lines := [*looked_up_on_import(tree)])
    } == {}
