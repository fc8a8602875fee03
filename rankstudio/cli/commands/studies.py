"""``rankstudio studies``: list the runs of studies."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rankstudio.cli.output.text_tables import as_json, as_text
from rankstudio.cli.study_file_option import reading
from rankstudio.cli.terminal import tell

HELP = "list the runs of studies"
DESCRIPTION = """\
List the runs of studies: method, data, state, start, duration and version.

  rankstudio studies results/study.rankstudio
  rankstudio studies a.rankstudio b.rankstudio --json

Resume an unfinished run with rankstudio run --resume STUDY."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names studies, and --json."""
    parser.add_argument(
        "studies", nargs="+", type=Path, metavar="STUDY", help="study file"
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of a table"
    )


def run(args: argparse.Namespace) -> int:
    """Print the runs of studies, with their state and duration; return 0."""
    # Runs of all studies as plain values, for both outputs.
    runs_as_values: list[dict[str, Any]] = []
    for path in args.studies:
        with reading(path) as (_, runs):
            runs_as_values += [
                {
                    "study": str(path),
                    "run": number,
                    "method": summary.key.plan.title,
                    "data": summary.data_name,
                    "units_done": summary.n_finished,
                    "units": summary.n_units,
                    "finished": summary.finished,
                    "damage": summary.damage,
                    "begun": summary.created,
                    "seconds": summary.seconds,
                    "version": summary.versions.get("rankstudio", ""),
                }
                for number, summary in enumerate(runs, start=1)
            ]

    # Print JSON or a table.
    if args.json:
        tell(as_json(runs_as_values))
        return 0
    header = [
        "study",
        "run",
        "method",
        "data",
        "state",
        "started",
        "seconds",
        "version",
    ]
    rows = [
        [
            Path(row["study"]).name,
            str(row["run"]),
            row["method"],
            row["data"],
            _state_text(row),
            row["begun"],
            f"{row['seconds']:.1f}",
            row["version"],
        ]
        for row in runs_as_values
    ]
    tell(as_text(header, rows, left_columns=(0, 2, 3, 4, 5)))
    return 0


def _state_text(row: dict[str, Any]) -> str:
    """Return the state of a run as text: "damaged", "done", or "3 of 10 units" while it is not finished.

    ``row`` has the run as plain values, as they are printed in JSON.
    """
    if row["damage"]:
        return "damaged"
    return "done" if row["finished"] else f"{row['units_done']} of {row['units']} units"
