"""The findings of ``rankstudio reproduce airola-2011`` as text and as plain values."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankstudio.cli.output.text_tables import as_text

if TYPE_CHECKING:
    from rankstudio.engine.analysis.airola_2011 import Experiment, PrintedExperiment
    from rankstudio.engine.analysis.published import Reproduction

_WIDTH = 110


def found_in(experiments: Mapping[str, Experiment]) -> list[PrintedExperiment]:
    """Carry experiments out, telling on the error stream which one it is."""
    found: list[PrintedExperiment] = []
    for name, work in experiments.items():
        print(name, file=sys.stderr, flush=True)
        found += work()
    return found


def shown_findings(paper: Reproduction, data: str, found: Sequence[PrintedExperiment]) -> str:
    """Return the findings, what has to be known of them, and what there are no data for."""
    from rankstudio.engine.analysis.airola_2011 import absent

    parts = [f"{paper.title}, on {data}", *(_shown(one) for one in found)]
    parts.append(_paragraphs(f"{note}." for note in paper.notes))
    missing = [f"{name}: {why}." for name, why in absent().items()]
    parts.append("Not run:\n" + _paragraphs(missing))
    cells = [agrees for one in found for agrees in one.agrees]
    if cells:
        parts.append(f"{sum(cells)} of {len(cells)} cells agree to the last printed digit.")
    return "\n\n".join(parts)


def _shown(one: PrintedExperiment) -> str:
    header = [column.title for column in one.columns]
    left = [at for at, values in enumerate(zip(*one.rows, strict=True)) if isinstance(values[0], str)]
    table = as_text(header, one.text_rows(), left)
    return f"{one.source}: {one.title}\n{table}\n{_paragraphs(one.said)}"


def _paragraphs(sentences: Any) -> str:
    return "\n".join(textwrap.fill(sentence, _WIDTH, subsequent_indent="  ") for sentence in sentences)


def findings_as_dict(paper: Reproduction, data: str, found: Sequence[PrintedExperiment]) -> dict[str, Any]:
    """Return everything as plain values."""
    from rankstudio.engine.analysis.airola_2011 import absent

    cells = [agrees for one in found for agrees in one.agrees]
    return {
        "paper": paper.title,
        "data": data,
        "findings": [one.as_dict() for one in found],
        "notes": list(paper.notes),
        "absent": absent(),
        "promised": {"cells": len(cells), "agree": sum(cells)},
    }
