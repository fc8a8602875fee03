"""``rankstudio reproduce``: a paper's protocol on a dataset, and its tables beside ours."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rankstudio.cli.running import Going, carry_on
from rankstudio.cli.stopping import stopping
from rankstudio.cli.tables import as_text
from rankstudio.cli.workers import add_worker_options, workers
from rankstudio.engine.experiment.reproduction import Table, load_reproduction, reproductions
from rankstudio.engine.experiment.results import RunResult

INTERRUPTED = 130

_DESCRIPTION = """\
Run a paper's protocol on a dataset's folder, and print its tables with ours beside them. A cell that agrees
to the last printed digit bears a tick, any other shows ours.

  rankstudio reproduce greedy-rankrls --data MQ2008"""


def register(commands: Any) -> None:
    """Add the command to the parser's."""
    parser = commands.add_parser(
        "reproduce",
        help="run a paper's protocol and print its tables beside ours",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paper", choices=reproductions(), help="which paper, by its method")
    parser.add_argument("--data", type=Path, required=True, help="folder of the dataset, with its five folds")
    parser.add_argument("--json", action="store_true", help="print the cells as JSON")
    add_worker_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    from rankstudio.engine.experiment.plan import Plan
    from rankstudio.engine.experiment.runner import open_data

    paper = load_reproduction(args.paper)
    dataset = open_data(Plan(str(args.data.absolute())))
    wanted = paper.of(dataset.name)
    results: dict[str, RunResult] = {}
    grouped: dict[int, Any] = {}
    with workers(args) as at_hand:
        for name, plan in paper.plans(dataset.name, str(args.data.absolute()), dataset.convention).items():
            print(f"{name}: {plan.title}", file=sys.stderr, flush=True)
            going = Going(plan, dataset, grouped, workers=at_hand)
            with stopping() as stop:
                if carry_on(going, stop):
                    return INTERRUPTED
            results[name] = going.result()
    tables = [paper.table(printed, results) for printed in wanted]
    if args.json:
        print(json.dumps([_plain(table) for table in tables], indent=2, ensure_ascii=False))
        return 0
    print(f"{paper.title}, on {dataset.name}\n")
    for table in tables:
        print(f"{table.title}\n{_text(table)}\n")
    for name, run_ in paper.runs.items():
        if "note" in run_ and name in results:
            print(f"{name}: {run_['note']}.")
    cells = [cell for table in tables for cell in table.cells()]
    if cells:
        print(f"{sum(cell.agrees for cell in cells)} of {len(cells)} cells agree to the last printed digit.")
    return 0


def _text(table: Table) -> str:
    rows = [
        [label, *(f"{c.printed} ✓" if c.agrees else f"{c.printed} ({c.ours})" for c in cells)]
        for label, cells in table.rows
    ]
    blank = [["" if cell in (" ✓", " ()") else cell for cell in row] for row in rows]
    return as_text(["", *table.columns], blank, left=(0,))


def _plain(table: Table) -> dict[str, Any]:
    """Return a table as plain values."""
    return {
        "title": table.title,
        "columns": list(table.columns),
        "rows": [
            {
                "label": label,
                "cells": [{"printed": c.printed, "ours": c.ours, "agrees": c.agrees} for c in cells],
            }
            for label, cells in table.rows
        ],
    }
