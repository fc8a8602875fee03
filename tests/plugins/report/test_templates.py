"""Templates: what is in a value stays text, and what is not there is an error."""

from __future__ import annotations

from typing import get_args

import pytest
from jinja2 import UndefinedError

from rankstudio.engine.support.resources import resource
from rankstudio.engine.support.templates import rendered
from rankstudio.plugins.report.document import (
    Block,
    Paragraph,
    Report,
    ReportSection,
    html_page,
)


def test_a_template_without_one_of_its_values_is_not_filled() -> None:
    with pytest.raises(UndefinedError):
        rendered("report.html", version="1")


@pytest.mark.parametrize("name", ["report.html", "rich_text.html"])
def test_templates_know_every_kind_of_block(name: str) -> None:
    text = resource("templates", name).read_text(encoding="utf-8")
    assert all(f'kind == "{kind.__name__}"' in text for kind in get_args(Block))


def test_another_kind_of_block_is_refused() -> None:
    class Drawing(Paragraph):
        pass

    report = Report("x", "x", (ReportSection("data", "x", (Drawing("x"),)),))
    with pytest.raises(UndefinedError, match="no_such_kind_of_block"):
        html_page(report)


@pytest.mark.parametrize(
    "name", sorted(path.name for path in resource("templates").glob("*.html"))
)
def test_only_drawings_of_ours_are_markup(name: str) -> None:
    text = resource("templates", name).read_text(encoding="utf-8")
    marked = [
        line for line in text.splitlines() if "| safe" in line or "autoescape" in line
    ]
    assert [line.strip() for line in marked] == (
        ["{{ block.svg | safe }}", "<script>{{ script | safe }}</script>"]
        if name == "report.html"
        else []
    )
