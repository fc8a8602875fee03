"""The tables of a comparison: averages with published numbers beside, and the tests of each dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankstudio.cli.output.comparison_tables import as_dict, method_text, tests, tests_table
from rankstudio.cli.output.text_tables import as_json, document
from rankstudio.engine.analysis.batch import Comparison, comparison_table
from rankstudio.engine.analysis.published import Published, printed_of
from rankstudio.engine.analysis.significance import RunComparison, best_run, by_dataset
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.export.tables import TextTable, range_text, save_csv
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.support.files import write_text

Printed = Mapping[str, tuple[Published, ...]]


def write(
    comparison: Comparison, results: Sequence[RunResult], out: Path, tested: Sequence[RunComparison] = ()
) -> None:
    """Write the tables into a folder, as Markdown and as CSV; tests where they are made already.

    Raises
    ------
    OutputError
        Where something cannot be written.
    """
    save_csv(out / "comparison.csv", *comparison_table(results))
    page = document(_sections(results, tested), "markdown")
    write_text(out / "comparison.md", f"# {comparison.title}\n\n{page}\n")
    if tested:
        save_csv(out / "tests.csv", *tests_table(tested))


def shown(
    comparison: Comparison, results: Sequence[RunResult], tested: Sequence[RunComparison], json: bool
) -> str:
    """Return the tables as text, or as one document in JSON."""
    if not json:
        return "\n\n".join(filter(None, [comparison.title, document(_sections(results, tested))]))
    names, values = comparison_table(results)
    rows: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in values]
    return as_json({"title": comparison.title, "rows": rows, "tests": [as_dict(c, 0) for c in tested]})


def _sections(results: Sequence[RunResult], tested: Sequence[RunComparison]) -> Iterator[TextTable]:
    of = {compared.data: compared for compared in tested}
    for data, own in by_dataset(results).items():
        yield averages(data, own)
        if data in of:
            yield tests(of[data])


def averages(data: str, own: Sequence[RunResult]) -> TextTable:
    """Return the table of a dataset: averages, what was printed, the difference.

    The best average of each measure bears a star.
    """
    first, names = own[0], own[0].plan.measures
    printed = [printed_of(result) for result in own]
    compared = [name for name in names if any(found.get(name) for found in printed)]
    best = {name: found.average[name] for name in names if (found := best_run(own, name))}
    header = ["method", "ranked by", "k", *names]
    for name in compared:
        header += [f"printed {name}", "difference"]
    header.append("source")
    rows = [
        row
        for result, found in zip(own, printed, strict=True)
        for row in _rows(result, found, names, compared, best)
    ]
    single = [f"{first.baseline[name]:.4f} " for name in names]
    rows.append(["best single feature", "", "1", *single, *[""] * (2 * len(compared) + 1)])
    rules = convention(first.plan.convention).label
    title = f"{data}: test averages of {len(first.folds)} folds, {rules} convention"
    return TextTable(title, header, rows, (0, 1, len(header) - 1))


def _rows(
    result: RunResult,
    printed: Printed,
    names: Sequence[str],
    compared: Sequence[str],
    best: Mapping[str, float],
) -> list[list[str]]:
    """Return one row for each source that printed something about a run; one without any."""
    plan, average = result.plan, result.average
    ours = [f"{average[name]:.4f}{'*' if average[name] == best[name] else ' '}" for name in names]
    ranker = method_text(plan.ranker_entry, plan.ranker_parameters) if plan.ranker_entry else ""
    head = [method_text(plan.entry, plan.parameters), ranker, range_text(result.sizes), *ours]
    sources = {(p.label, p.source) for of_measure in printed.values() for p in of_measure}
    if not sources:
        return [[*head, *[""] * (2 * len(compared) + 1)]]
    rows: list[list[str]] = []
    for label, source in sorted(sources, key=lambda s: s[1]):
        cells = []
        for name in compared:
            found = [p.value for p in printed.get(name, ()) if (p.label, p.source) == (label, source)]
            cells += [f"{found[0]:.4f}", f"{average[name] - found[0]:+.4f}"] if found else ["", ""]
        rows.append([*(head if not rows else [""] * len(head)), *cells, f"{label}, {source}"])
    return rows
