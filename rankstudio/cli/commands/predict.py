"""``rankstudio predict``: print or write the scores that a model gives to the documents of a file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rankstudio.cli.data_options import (
    SAMPLE_FILE,
    add_column_options,
    add_data,
    add_model,
    columns_from,
    data_file,
    take_model,
)
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.replacement import add_force_option, check_outputs
from rankstudio.cli.streams import (
    STANDARD,
    input_file,
    refuse_output_with_json,
    write_output,
)
from rankstudio.cli.terminal import tell

HELP = "score the documents of a file with a model"
DESCRIPTION = """\
Score the documents of DATA with a RankStudio model. A table needs no column of the label, and feature
logs no judgments; in LETOR text each line begins with any number as the label. Missing values and
scaling are treated as in the training of the model.

  rankstudio predict --sample results/models/fold1.json --out fold1.scores
  rankstudio predict test.txt --model results/models/fold1.json --json

The output has one score per line, with all digits, in document order; the highest score ranks first.
rankstudio evaluate and most other programs read this format."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the data, of the model, and of the output."""
    add_data(parser, "data file; - is standard input", SAMPLE_FILE)
    add_model(parser)
    add_memory_option(parser)
    parser.add_argument(
        "--out",
        metavar="SCORES",
        type=Path,
        help="output file; by default, or with -, the scores are printed",
    )
    add_column_options(parser.add_argument_group("columns of tables"))
    add_force_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="print the scores as a JSON list"
    )


def run(args: argparse.Namespace) -> int:
    """Score the documents of a file with a model, print or write the scores, and return 0."""
    import numpy as np

    from rankstudio.engine.export.model_files import score_file

    take_model(args)
    args.data = data_file(args.data)
    refuse_output_with_json(args)
    if args.out is not None:
        check_outputs([args.out], args)  # before a long file is read
    scores, data, notes = score_file(
        args.model, input_file(args.data), columns_from(args)
    )
    for note in (*notes, *data.warnings):
        tell(f"Note: {note}", file=sys.stderr)

    # Reading has sorted the documents by query; `file_rows` has the row
    # of each document in the file.
    if data.file_rows is not None:
        scores_in_file_order = np.empty_like(scores)
        scores_in_file_order[data.file_rows] = scores
        scores = scores_in_file_order
    text = "".join(f"{score!r}\n" for score in scores.tolist())
    if args.json:
        tell(as_json(scores.tolist()))
    if args.out is not None or not args.json:
        write_output(args.out or STANDARD, text)
    return 0
