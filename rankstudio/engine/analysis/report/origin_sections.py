"""Where the numbers are from: looks at the test part, versions, and how to run everything again."""

from __future__ import annotations

from collections.abc import Iterator

from rankstudio.engine.analysis.report.document import Block, CodeText, Paragraph
from rankstudio.engine.analysis.report.source import ReportedRun, ReportSource
from rankstudio.engine.analysis.report.texts import runs_text
from rankstudio.engine.experiment.plan.as_code import as_command
from rankstudio.engine.experiment.plan.toml import plan_as_toml
from rankstudio.engine.experiment.storage.study_contents import seal_text
from rankstudio.engine.export.tables import TextTable


def seal_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield how often the test part was looked at while choosing."""
    marks = source.seal_marks
    if not marks:
        yield Paragraph("The test part was never sealed in this study.")
        return
    text = seal_text(marks)
    yield Paragraph(f"{text[0].upper()}{text[1:]}.")
    rows = tuple(
        (str(number), _moment(mark.happened), "sealed" if mark.sealed else "seal broken")
        for number, mark in enumerate(marks, start=1)
    )
    yield TextTable("Seals", ("", "when (UTC)", "what"), rows, (1, 2))


def version_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the versions that computed the runs."""
    kinds: dict[tuple[tuple[str, str], ...], list[ReportedRun]] = {}
    for run in source.runs:
        kinds.setdefault(tuple(run.result.versions.items()), []).append(run)
    names = list(dict.fromkeys(name for kind in kinds for name, _ in kind))
    rows = tuple((name, *(dict(kind).get(name, "") for kind in kinds)) for name in names)
    yield TextTable("Computed with", ("", *(runs_text(runs) for runs in kinds.values())), rows, (0,))


def rerun_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the plan of each run: for the terminal, and as TOML."""
    yield Paragraph(
        "With the same data and versions, each plan gives identical results. Save a plan as plan.toml and "
        "open it in the window, or run it with: rankstudio run plan.toml"
    )
    for run in source.runs:
        yield CodeText(f"Run {run.number}, {run.title}: the command", as_command(run.plan))
        yield CodeText(f"Run {run.number}: plan.toml", plan_as_toml(run.plan).rstrip("\n"))


def _moment(text: str) -> str:
    """Return a moment without its time zone: "2026-11-22 02:30:00"."""
    return text.partition("+")[0].replace("T", " ")
