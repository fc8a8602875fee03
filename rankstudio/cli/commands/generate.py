"""``rankstudio generate``: write synthetic data of any size."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

from rankstudio.cli.interrupts import INTERRUPTED
from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.progress_bar import last_state
from rankstudio.cli.replacement import add_force_option, check_outputs
from rankstudio.cli.terminal import tell

HELP = "generate synthetic data of any size"
DESCRIPTION = """\
Generate synthetic data that resemble MSLR-WEB30K: train.txt, vali.txt and test.txt in FOLDER, in LETOR
format, with 60, 20 and 20 percent of the queries and grades from 0 to 4. Features differ in how strongly they
predict relevance; every eighth is noise. The same options give identical files.

  rankstudio generate made-up                                     as large as MSLR-WEB30K: 5 GB
  rankstudio generate made-up --documents 12e6 --queries 1e5
  rankstudio generate made-up --documents 2e4 --queries 200 --features 30 --seed 7

Existing files are overwritten only with --force."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the output folder, and of the size and seed of the data."""
    parser.add_argument(
        "folder",
        metavar="FOLDER",
        type=Path,
        help="output folder; created if it does not exist",
    )
    for option, default, help_text in (
        ("--documents", 3_771_125, "total number of documents"),
        ("--queries", 31_531, "number of queries"),
        ("--features", 136, "number of features"),
        ("--seed", 0, "random seed"),
    ):
        parser.add_argument(
            option,
            type=_whole_number,
            default=default,
            metavar="N",
            help=f"{help_text}; {default:,} by default",
        )
    add_force_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="print the written files as JSON"
    )


def run(args: argparse.Namespace) -> int:
    """Write synthetic data into a folder, and return the exit status: 0, or that of a stop by Ctrl+C."""
    from rankstudio.engine.data.large_folder import (
        LargeData,
        write_folder,
        written_files,
    )

    # Refuse existing files before the data are written.
    data = LargeData(
        n_documents=args.documents,
        n_queries=args.queries,
        n_features=args.features,
        seed=args.seed,
    )
    files = written_files(args.folder)
    check_outputs([*files.values()], args)

    # Each step writes a shard, which is a block of whole queries, and
    # yields the number of documents written so far. Progress is shown,
    # and Ctrl+C stops.
    with closing(write_folder(data, args.folder)) as steps:
        _, stopped = last_state(
            steps, lambda n_documents: n_documents, data.n_documents
        )
    if stopped:
        return INTERRUPTED
    if args.json:
        tell(
            as_json(
                [
                    {"path": str(path), "bytes": path.stat().st_size}
                    for path in files.values()
                ]
            )
        )
    else:
        tell(*map(str, files.values()))
    return 0


def _whole_number(text: str) -> int:
    """Return a whole number that may be written as 3.77e6."""
    try:
        number = float(text)
    except ValueError:
        number = 0.5  # not whole, and so refused below

    # Up to 2^53, about 9e15, a float has the exact value of every whole
    # number; above it may be rounded.
    if not number.is_integer() or number > 1e15:
        raise argparse.ArgumentTypeError(
            f"expected a whole number such as 31531 or 3.77e6, got {text}"
        )
    return int(number)
