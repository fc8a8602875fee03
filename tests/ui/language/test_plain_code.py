"""The check of how code reads."""

from __future__ import annotations

import pytest
from plain_code import KINDS, LIMITS, ROOT, CodeReader, figures, package_of


@pytest.mark.parametrize(
    ("code", "offences"),
    [
        ("def f(found, scores): ...", [("vague", "found")]),
        ("def f(scores):\n    return [one for one in scores]", [("vague", "one")]),
        ("def f(left, right): ...", []),
        ("def f():\n    result = 1", [("generic", "result")]),
        ("found = 1\nclass Fold:\n    given = 2", []),
        ("low, high = 0, n", [("tuples", "low, high = (0, n)")]),
        ("low, high = high, low", []),
        ("low, high = high, low + high", []),
        ("low, high = limits()", []),
        ("f(*(a, b))", [("splats", "*(a, b)")]),
        (
            "def f():\n    arguments = a, b\n    g(*arguments)",
            [("splats", "*arguments")],
        ),
        ("def f(*arguments):\n    g(*arguments)", []),
        ("a if b else (c if d else e)", [("nested", "a if b else c if d else e")]),
        ("(x for a in b for x in a)", []),
        (
            "(x for a in b for c in a for x in c)",
            [("nested", "(x for a in b for c in a for x in c)")],
        ),
        ('"""Which of them fits."""', [("docs", "Which of them fits.")]),
        ('"""Return what fits."""', [("docs", "Return what fits.")]),
        ('"""Return whether it fits."""', []),
        ("fits = 1  # nobody asks", [("docs", "nobody")]),
    ],
)
def test_an_offence_is_listed(code: str, offences: list[tuple[str, str]]) -> None:
    assert [
        (offence.kind, offence.excerpt) for offence in CodeReader(code).offences
    ] == offences


def test_figures_are_shares_of_names_and_lines() -> None:
    reader = CodeReader("def f(found, scores):\n    low, high = 0, 1\n")
    assert dict(zip(KINDS, figures([reader]), strict=True)) == {
        "vague": 25.0,
        "generic": 0.0,
        "tuples": 500.0,
        "splats": 0.0,
        "nested": 0.0,
        "docs": 0.0,
        "width": 20.5,
    }


@pytest.mark.shipped
def test_each_folder_with_limits_is_there() -> None:
    assert [folder for folder in LIMITS if not (ROOT / folder).is_dir()] == []
    assert (
        package_of(ROOT / "rankstudio/engine/support/files.py")
        == "rankstudio/engine/support"
    )
    assert package_of(ROOT / "rankstudio/plugins/new/files.py") == ""
