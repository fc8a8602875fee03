"""The file for citations names the papers of all methods."""

from __future__ import annotations

import re
from pathlib import Path

from rankstudio.engine.methods.catalog import methods

CITATION = Path(__file__).resolve().parents[2] / "CITATION.cff"


def test_the_paper_of_every_method_can_be_cited() -> None:
    text = CITATION.read_text(encoding="utf-8")
    found = dict(re.findall(r'title: "([^"]+)"\n {4}year: (\d{4})\n', text))
    for entry in methods():
        paper = entry.description
        year = found.get(paper.title)
        assert year is not None, f"CITATION.cff does not name {paper.title}"
        assert paper.citation.endswith(year), (
            f"{paper.title} is of {year} there, of {paper.citation} here"
        )


def test_every_reference_has_what_the_format_asks_for() -> None:
    text = CITATION.read_text(encoding="utf-8")
    head, *references = text.split("  - type: ")
    for key in ("cff-version: 1.2.0", "message: ", "title: ", "authors:\n  - name: "):
        assert key in head
    assert references
    for reference in references:
        for key in ("title: ", "authors:\n      - family-names: "):
            assert key in reference
