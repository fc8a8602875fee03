"""The guide is true: generated pages are current, links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def generator() -> Any:
    spec = importlib.util.spec_from_file_location(
        "generate", ROOT / "docs" / "generate.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.shipped
@pytest.mark.parametrize(
    "pages", ["catalog", pytest.param("simulations", marks=pytest.mark.thorough)]
)
def test_the_generated_pages_are_those_of_the_present_program(pages: str) -> None:
    for name, page in generator().PAGES.items():
        # two seconds of simulations
        if (name == "estimates-details.md") == (pages == "simulations"):
            assert (ROOT / "docs" / name).read_text(encoding="utf-8") == page(), (
                "run python docs/generate.py"
            )


def test_every_link_and_picture_is_there() -> None:
    for page in (*PAGES, *ROOT.glob("*.md")):
        for target in re.findall(
            r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")
        ):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_is_reached_from_the_first() -> None:
    first = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert {p.name for p in PAGES} - {"index.md"} == set(
        re.findall(r"\((\w[\w-]*\.md)\)", first)
    )
