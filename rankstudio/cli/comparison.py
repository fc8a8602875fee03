"""A comparison in the terminal: many runs one after the other, one table with published numbers beside."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.comparing import k_of, said_of
from rankstudio.cli.keeping import study_at
from rankstudio.cli.running import Going, carry_on
from rankstudio.cli.stopping import Stop, stopping
from rankstudio.cli.tables import as_text
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.comparison import Comparison, Entry, comparison_table, entry
from rankstudio.engine.experiment.plan import CRITERION, Plan
from rankstudio.engine.export.tables import markdown_text
from rankstudio.engine.metrics.conventions import convention

if TYPE_CHECKING:
    from rankstudio.engine.experiment.store import Study


def compare(
    comparison: Comparison, data: Sequence[str], out: Path | None, as_json: bool, study: Path | None = None
) -> bool:
    """Run all plans of a comparison, write and print the table; tell whether it was stopped.

    A plan that cannot be run is named, and the others go on. Finished units are kept in the study, or in one
    beside the results; what is there already is not computed again.
    """
    from rankstudio.engine.files import make_folder

    if out is not None:
        make_folder(out)
    entries: list[Entry] = []
    with study_at(study, out) as kept, stopping() as stop:
        stopped = any(_compare_on(comparison, place, out, entries, kept, stop) for place in data)
    _print(comparison, entries, as_json)
    return stopped


def _compare_on(
    comparison: Comparison,
    place: str,
    out: Path | None,
    entries: list[Entry],
    study: Study | None,
    stop: Stop,
) -> bool:
    """Run all plans on one dataset, adding to the entries; tell whether it was stopped."""
    from rankstudio.engine.experiment.reports import write_results
    from rankstudio.engine.experiment.runner import open_data
    from rankstudio.engine.export.tables import save_csv
    from rankstudio.engine.files import write_text

    plans = comparison.plans(place)
    dataset = open_data(plans[0])
    grouped: dict[int, Any] = {}
    for number, plan in enumerate(plans, start=1):
        if stop.asked:
            return True
        going = Going(_fitting(plan, comparison, dataset), dataset, grouped, study)
        print(f"{dataset.name}, {number} of {len(plans)}: {plan.title}", file=sys.stderr, flush=True)
        try:
            stopped = carry_on(going, stop)
        except PlanError as error:
            print(f"Left out: {error}", file=sys.stderr)
            continue
        result = going.result()
        if result.complete:
            entries.append(entry(result))
            if out is not None:
                write_results(result, out / f"{dataset.name}-{folder_name(plan)}")
                save_csv(out / "comparison.csv", *comparison_table(entries))
                write_text(out / "comparison.md", page(comparison, entries))
        if stopped:
            return True
    return False


def _fitting(plan: Plan, comparison: Comparison, dataset: Any) -> Plan:
    """Follow the data's usual convention and choice where the comparison says nothing of them."""
    if "convention" not in comparison.protocol:
        plan = plan.changed(convention=dataset.convention)
    if "select_by" not in comparison.protocol and all(fold.vali is None for fold in dataset.folds):
        plan = plan.changed(select_by=CRITERION)
    return plan


def folder_name(plan: Plan) -> str:
    """Return the name of a run's folder: short, and another one for other parameters."""
    fixed = [
        str(plan.parameters[p.name])
        for p in plan.entry.parameters
        if p not in plan.entry.grids and plan.parameters[p.name] != p.default
    ]
    return "-".join([plan.method, *([plan.judge] if plan.judge else []), *fixed]).replace("@", "-at-")


def _print(comparison: Comparison, entries: Sequence[Entry], as_json: bool) -> None:
    if as_json:
        names, values = comparison_table(entries)
        shown = [dict(zip(names, row, strict=True)) for row in values]
        print(json.dumps(shown, indent=2, ensure_ascii=False))
        return
    print(comparison.title)
    for title, header, rows in tables(entries):
        print(f"\n{title}\n{as_text(header, rows, left=(0, 1, len(header) - 1))}")


def page(comparison: Comparison, entries: Sequence[Entry]) -> str:
    """Return the tables as Markdown."""
    parts = [
        f"## {title}\n\n{markdown_text(header, rows, left=(0, 1, len(header) - 1))}\n"
        for title, header, rows in tables(entries)
    ]
    return "\n".join([f"# {comparison.title}\n", *parts])


def tables(entries: Sequence[Entry]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield title, header and rows of the table of each dataset: averages, what was printed, the difference.

    The best average of each measure bears a star.
    """
    for data in dict.fromkeys(e.result.data_name for e in entries):
        own = [e for e in entries if e.result.data_name == data]
        first = own[0].result
        names = first.plan.measures
        compared = [name for name in names if any(e.printed.get(name) for e in own)]
        best = {name: max(e.result.average[name] for e in own) for name in names}
        header = ["method", "ranked by", "k", *names]
        for name in compared:
            header += [f"printed {name}", "difference"]
        header.append("source")
        rows = [row for e in own for row in _rows(e, names, compared, best)]
        single = [f"{first.baseline[name]:.4f} " for name in names]
        rows.append(["best single feature", "", "1", *single, *[""] * (2 * len(compared) + 1)])
        rules = convention(first.plan.convention).label
        yield f"{data}: test averages of {len(first.folds)} folds, {rules} convention", header, rows


def _rows(e: Entry, names: Sequence[str], compared: Sequence[str], best: dict[str, float]) -> list[list[str]]:
    """Return one row for each source that printed something about a run; one without any."""
    plan, average = e.result.plan, e.result.average
    ours = [f"{average[name]:.4f}{'*' if average[name] == best[name] else ' '}" for name in names]
    judge = said_of(plan.judge_entry, plan.judge_parameters) if plan.judge_entry else ""
    head = [said_of(plan.entry, plan.parameters), judge, k_of(e.result), *ours]
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
