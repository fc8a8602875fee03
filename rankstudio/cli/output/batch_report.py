"""The tables of a comparison: averages with published numbers beside, and the tests of each dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rankstudio.cli.output.comparison_tables import as_dict, k_of, said_of, tests, tests_table
from rankstudio.cli.output.text_tables import Section, as_json, document
from rankstudio.engine.analysis.batch import Comparison, Entry, comparison_table
from rankstudio.engine.analysis.significance import RunComparison
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import measure


def write(
    comparison: Comparison, entries: Sequence[Entry], out: Path, tested: Sequence[RunComparison] = ()
) -> None:
    """Write the tables into a folder, as Markdown and as CSV; tests where they are made already.

    Raises
    ------
    OutputError
        Where something cannot be written.
    """
    from rankstudio.engine.export.tables import save_csv
    from rankstudio.engine.support.files import write_text

    save_csv(out / "comparison.csv", *comparison_table(entries))
    page = document(_sections(entries, tested), "markdown")
    write_text(out / "comparison.md", f"# {comparison.title}\n\n{page}\n")
    if tested:
        save_csv(out / "tests.csv", *tests_table(tested))


def shown(
    comparison: Comparison, entries: Sequence[Entry], tested: Sequence[RunComparison], json: bool
) -> str:
    """Return the tables as text, or as one document in JSON."""
    if not json:
        return "\n\n".join(filter(None, [comparison.title, document(_sections(entries, tested))]))
    names, values = comparison_table(entries)
    rows: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in values]
    return as_json({"title": comparison.title, "rows": rows, "tests": [as_dict(c, 0) for c in tested]})


def _sections(entries: Sequence[Entry], tested: Sequence[RunComparison]) -> Iterator[Section]:
    of = {compared.data: compared for compared in tested}
    for section, data in averages(entries):
        yield section
        if data in of:
            yield tests(of[data])


def averages(entries: Sequence[Entry]) -> Iterator[tuple[Section, str]]:
    """Yield the table of each dataset, and its name: averages, what was printed, the difference.

    The best average of each measure bears a star.
    """
    for data in dict.fromkeys(e.result.data_name for e in entries):
        own = [e for e in entries if e.result.data_name == data]
        first = own[0].result
        names = first.plan.measures
        compared = [name for name in names if any(e.printed.get(name) for e in own)]
        best = {name: _best(own, name) for name in names}
        header = ["method", "ranked by", "k", *names]
        for name in compared:
            header += [f"printed {name}", "difference"]
        header.append("source")
        rows = [row for e in own for row in _rows(e, names, compared, best)]
        single = [f"{first.baseline[name]:.4f} " for name in names]
        rows.append(["best single feature", "", "1", *single, *[""] * (2 * len(compared) + 1)])
        rules = convention(first.plan.convention).label
        title = f"{data}: test averages of {len(first.folds)} folds, {rules} convention"
        yield Section(title, header, rows, (0, 1, len(header) - 1)), data


def _rows(e: Entry, names: Sequence[str], compared: Sequence[str], best: dict[str, float]) -> list[list[str]]:
    """Return one row for each source that printed something about a run; one without any."""
    plan, average = e.result.plan, e.result.average
    ours = [f"{average[name]:.4f}{'*' if average[name] == best[name] else ' '}" for name in names]
    ranker = said_of(plan.ranker_entry, plan.ranker_parameters) if plan.ranker_entry else ""
    head = [said_of(plan.entry, plan.parameters), ranker, k_of(e.result), *ours]
    sources = {(p.label, p.source) for printed in e.printed.values() for p in printed}
    if not sources:
        return [[*head, *[""] * (2 * len(compared) + 1)]]
    rows: list[list[str]] = []
    for label, source in sorted(sources, key=lambda s: s[1]):
        cells = []
        for name in compared:
            found = [p.value for p in e.printed.get(name, ()) if (p.label, p.source) == (label, source)]
            cells += [f"{found[0]:.4f}", f"{average[name] - found[0]:+.4f}"] if found else ["", ""]
        rows.append([*(head if not rows else [""] * len(head)), *cells, f"{label}, {source}"])
    return rows


def _best(entries: Sequence[Entry], name: str) -> float:
    better = max if measure(name).higher_is_better else min
    return better(e.result.average[name] for e in entries)
