from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
from visible_text import template, unwrapped

UI = Path(__file__).resolve().parents[3] / "rankstudio" / "ui"


def found(source: str) -> list[str]:
    """Return the texts in a piece of source that are read and not looked up."""
    return [template(node) for node in unwrapped(ast.parse(source))]


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('label.setText("No data open")', ["No data open"]),
        ('label.setText(f"fold {number}")', ["fold {}"]),
        ('return "ahead of" if better else "behind"', ["ahead of"]),
        ('word = "ahead of" if better else "behind"', ["ahead of", "behind"]),
        ('Column("weight", "weight", "right", tone="muted", tooltip="In it")', ["weight", "In it"]),
        ('Segmented([("scatter", "scatter")], "plot type")', ["scatter", "plot type"]),
        ('raise OutputError(f"{path}: it could not be written.")', ["{}: it could not be written."]),
        ('"".join(f" or {name}" for name in names)', [" or {}"]),
    ],
)  # fmt: skip
def test_what_a_user_reads_is_found(source: str, texts: list[str]) -> None:
    assert found(source) == texts


@pytest.mark.parametrize(
    "source",
    [
        'label.setText(tr("No data open"))',
        'label.setText(tr("fold {number}").format(number=number))',
        'label.setText(trn("{n} run", "{n} runs", n).format(n=n))',
        'named(label, "data-name", role="muted")',
        'if state == "one standard error": pass',
        'names["one standard error"]',
        '_log.info("The settings in %s are lost.", path)',
        'label.setStyleSheet("QHeaderView::section { border: none; }")',
        'raise ValueError("values do not fit")',
        '"""A docstring of several words."""',
        'def f(mode: Literal["left out"]) -> None: pass',
        'text = f"{name} = {value}"',
        'names = ["MAP", "NDCG@10"]',
        'settings.set("window/text-size", 1)',
    ],
)
def test_what_only_the_program_reads_is_not(source: str) -> None:
    assert found(source) == []


@cache
def modules() -> dict[str, ast.Module]:
    """Return all modules of the window, parsed."""
    paths = {path.relative_to(UI).as_posix(): path for path in UI.rglob("*.py")}
    for path in UI.parent.glob("plugins/*/window/*.py"):
        paths[path.relative_to(UI.parent).as_posix()] = path
    return {name: ast.parse(path.read_text("utf-8")) for name, path in paths.items()}


def test_every_text_of_the_window_is_looked_up() -> None:
    missing = [
        (module, node)
        for module, tree in modules().items()
        for node in unwrapped(tree, module)
    ]
    assert [
        f"{module}:{node.lineno} {template(node)!r} without tr"
        for module, node in missing
    ] == []


def test_what_is_looked_up_is_a_template_and_no_f_string() -> None:
    """A text with values in it already is in no catalog."""
    calls = (
        (module, node)
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("tr", "trn")
    )
    filled = [
        (module, call)
        for module, call in calls
        if any(isinstance(a, ast.JoinedStr) for a in call.args)
    ]
    assert [f"{module}:{call.lineno}" for module, call in filled] == []
