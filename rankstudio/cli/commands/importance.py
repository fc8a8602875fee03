"""``rankstudio importance``: what a model loses when each of its features is permuted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.data_options import add_column_options, columns_from
from rankstudio.cli.interrupts import INTERRUPTED
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, as_text
from rankstudio.cli.progress_bar import last_state
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.names import measure

if TYPE_CHECKING:
    from rankstudio.engine.analysis.evidence.permutation_importance import PermutationImportance
    from rankstudio.engine.data.dataset import RankingDataset
    from rankstudio.engine.support.work import WorkProgress

HELP = "show what a model loses when a feature is permuted"
DESCRIPTION = """\
Permute each feature of a model among the documents of each query, and print what the measure loses, with its
95 % interval over queries. The model stays as it is, trees included: a feature that others could replace may
show a loss all the same. Use documents that the model was not learned from.

  rankstudio importance test.txt --model results/models/fold1.json
  rankstudio importance test.txt --model results/models/fold1.json --measure MAP --repeats 50 --json"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("data", metavar="DATA", type=Path, help="data file")
    parser.add_argument("--model", metavar="MODEL", type=Path, required=True, help="JSON model")
    parser.add_argument(
        "--measure", metavar="NAME", default="NDCG@10", help="measure, such as MAP; default: NDCG@10"
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=10,
        metavar="N",
        help="permutations of each feature; default: 10",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the permutations; default: 0")
    parser.add_argument(
        "--convention",
        choices=list(CONVENTIONS),
        help="evaluation convention; by default the usual one of the data",
    )
    add_column_options(parser.add_argument_group("columns of tables"))
    add_memory_option(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    from rankstudio.engine.analysis.evidence.model_importance import model_importance
    from rankstudio.engine.analysis.evidence.partial_result import PartialResult
    from rankstudio.engine.data.known_datasets import identify
    from rankstudio.engine.export.model_files import other_names, read_for
    from rankstudio.engine.export.models import load_model

    wanted = measure(args.measure)
    model = load_model(args.model)
    data = read_for(model, args.data, columns_from(args))
    for note in (*other_names(model, data), *data.warnings):
        print(f"Note: {note}", file=sys.stderr)
    convention = args.convention or identify(args.data, data).convention
    work = model_importance(model, data, wanted, convention, args.repeats, args.seed)
    # Until some queries are done, there is nothing to print if it is stopped.
    steps = (told if isinstance(told, PartialResult) else None for told in work)
    state, stopped = last_state(steps, _percent_done, 100)
    if args.json:
        print(as_json(as_dict(state.found, data, convention)))
    else:
        print("\n".join(_lines(state.found, data)))
    if stopped:
        print(f"Stopped at {state.share:.0%}.", file=sys.stderr)
        return INTERRUPTED
    return 0


def _percent_done(state: WorkProgress) -> int:
    return int(100 * state.share)


def as_dict(found: PermutationImportance, data: RankingDataset, convention: str) -> dict[str, Any]:
    """Return the importance as plain values."""
    return {
        "measure": found.measure.name,
        "convention": convention,
        "queries": int(found.baseline.size),
        "features": [
            {"feature": int(data.feature_ids[column]), "loss": mean, "loss_low": low, "loss_high": high}
            for column, mean, low, high in _rows(found)
        ],
    }


def _rows(found: PermutationImportance) -> Iterator[tuple[int, float, float, float]]:
    """Yield the column of each feature with its loss and the interval; the greatest loss first."""
    for at in (-found.mean).argsort(kind="stable").tolist():
        yield found.groups[at][0], float(found.mean[at]), float(found.low[at]), float(found.high[at])


def _lines(found: PermutationImportance, data: RankingDataset) -> Iterator[str]:
    yield f"{found.baseline.size:,} queries, {len(found.groups)} features permuted within queries"
    yield ""
    rows = [
        [
            f"{data.feature_ids[column]} {data.feature_names[column]}".removesuffix(
                f" feature {data.feature_ids[column]}"
            ),
            f"{mean:.4f}",
            f"{low:.4f} to {high:.4f}",
        ]
        for column, mean, low, high in _rows(found)
    ]
    yield as_text(["feature", f"{found.measure.name} lost", "95 % interval"], rows, left=(0,))
