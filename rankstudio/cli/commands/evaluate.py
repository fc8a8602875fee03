"""``rankstudio evaluate``: the measures of a file of scores, or of a model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.data_options import (
    SAMPLE_FILE,
    add_column_options,
    add_data,
    columns_from,
    data_file,
)
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, as_text, explained, number
from rankstudio.cli.streams import input_file, is_standard, shown_input
from rankstudio.cli.terminal import Block, tell
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.metrics.conventions import CONVENTIONS, rules_text
from rankstudio.engine.metrics.families import FAMILIES, Cut
from rankstudio.engine.metrics.names import LETOR_MEASURES, measure, split_names

if TYPE_CHECKING:
    from rankstudio.engine.metrics.evaluation import Evaluation

HELP = "evaluate a score file or a model: MAP, P@k, NDCG@k and others"
DESCRIPTION = """\
Evaluate a ranking from any program. DATA contains the documents with relevance labels and query ids. SCORES
contains one score per line, in document order; the highest score ranks first. --model evaluates a model of
RankStudio or of another program instead.

  rankstudio evaluate --sample --model results/models/fold1.json
  rankstudio evaluate test.txt my.scores --convention trec_eval --measures MAP,NDCG@10 --json
  rankstudio evaluate test.txt --model results/models/fold1.json

Programs define the same measures differently. The evaluation convention determines which definition is
used."""


def _epilog() -> str:
    """Return the end of the help: the measures and the conventions.

    The meanings of both are taken from the catalogues of measures and
    conventions.
    """
    # By whether a measure has a cut-off k: how it is written, and which
    # documents it counts ("{first}" in its help).
    forms = {Cut.NONE: "{}", Cut.OPTIONAL: "{0}, {0}@k", Cut.NEEDED: "{}@k"}
    first = {
        Cut.NONE: "",
        Cut.OPTIONAL: "all documents, or the first k",
        Cut.NEEDED: "the first k documents",
    }
    measures = [
        (
            forms[family.cut].format(family.name),
            family.help.format(first=first[family.cut]),
        )
        for family in FAMILIES
    ]
    conventions = [
        (convention.key, convention.summary) for convention in CONVENTIONS.values()
    ]
    note = "Measures of plug-ins are listed by rankstudio plugins."
    return f"measures:\n{explained(measures)}\n\n{note}\n\nconventions:\n{explained(conventions)}"


EPILOG = _epilog()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command.

    The options name the data, the scores or the model, and the
    measures, and choose the output.
    """
    # Data, with their scores or a model.
    add_data(parser, "data file; its features are used only with --model", SAMPLE_FILE)
    parser.add_argument(
        "scores",
        metavar="SCORES",
        type=Path,
        nargs="?",
        help="text file with one score per line",
    )
    parser.add_argument(
        "--model",
        metavar="MODEL",
        type=Path,
        help="model to use instead of SCORES: of RankStudio, LightGBM, XGBoost, CatBoost, RankLib, Solr, "
        "Elasticsearch, or ONNX",
    )

    # How the scores are measured.
    parser.add_argument(
        "--convention",
        choices=list(CONVENTIONS),
        help="evaluation convention (see below); by default mslr for MSLR-WEB, letor3 for the LETOR 3.0 "
        "datasets, letor4 for those of LETOR 4.0 and standard for other data",
    )
    parser.add_argument(
        "--measures",
        metavar="NAMES",
        help="comma-separated measures (see below), also by the names of ir-measures: AP, nDCG@10, "
        "P(rel=2)@10; by default those of the LETOR script: NDCG@1 … NDCG@10, MeanNDCG, P@1 … P@10 and MAP",
    )
    parser.add_argument(
        "--greatest-grade",
        metavar="LABEL",
        type=float,
        help="highest label of the whole dataset, used by ERR; by default the highest label in DATA",
    )
    add_column_options(parser.add_argument_group("columns of tables"))
    parser.add_argument(
        "--per-query", action="store_true", help="also print the measures of each query"
    )
    add_memory_option(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help='print JSON: {"convention": "standard", "greatest_grade": 2, "MAP": 0.4720, …} with all digits; '
        'with --per-query the measures are in "average" and "queries"',
    )


def run(args: argparse.Namespace) -> int:
    """Measure a file of scores or a model on data; return 0.

    The options in ``args`` name scores or model and data. The measures
    are printed.
    """
    from rankstudio.engine.analysis.measurements.score_evaluation import evaluate_file

    # Exactly one source of scores: a score file or a model.
    args.data = data_file(args.data)
    if (args.scores is None) == (args.model is None):
        raise ParameterError(
            "SCORES",
            "both" if args.scores else "neither",
            "either a score file or --model",
        )
    measures = (
        LETOR_MEASURES if args.measures is None else _measure_names(args.measures)
    )
    source = args.scores or args.model
    if is_standard(args.data) and is_standard(source):
        raise ParameterError("SCORES", "-", "a file, because DATA is standard input")

    # Measure the scores. `input_file` stores the standard input in a file.
    data_path = input_file(args.data)
    source_path = input_file(source)
    result, data, notes = evaluate_file(
        data_path,
        source_path,
        args.convention,
        measures,
        columns_from(args),
        args.greatest_grade,
        model=args.scores is None,
    )
    for note in notes:
        tell(f"Note: {note}", file=sys.stderr)

    # Print JSON, or tables under a title.
    if args.json:
        tell(as_json(as_dict(result, per_query=args.per_query)))
    else:
        title = f"{shown_input(source)} on {shown_input(args.data)}"
        tell(f"{title}: {data.n_queries} queries, {data.n_documents} documents")

        # Only ERR needs the greatest grade of the labels.
        graded = any(measure(name).family.name == "ERR" for name in measures)
        grade = f", ERR with greatest grade {result.greatest_grade:g}" if graded else ""
        tell(f"{rules_text(result.convention.key, measures)} convention{grade}")
        tell()
        tell(averages_as_text(result))
        if result.auc_interval is not None:
            low, high = result.auc_interval
            tell(f"AUC: 95 % interval {number(low)} to {number(high)} (DeLong)")
        if args.per_query:
            tell()
            tell(queries_as_text(result))
    return 0


def _measure_names(text: str) -> tuple[str, ...]:
    """Return the names of measures in a comma-separated text.

    Raise an error for an unknown measure.
    """
    names = split_names(text)
    if not names:
        raise ParameterError("--measures", text, "comma-separated names of measures")
    for name in names:
        measure(name)  # called for its error only
    return names


def as_dict(result: Evaluation, *, per_query: bool) -> dict[str, Any]:
    """Return the result as plain values for JSON; a measure that is not defined is NaN.

    With ``per_query``, the averages are in "average", and the measures
    of each query in "queries"; otherwise the averages are beside the
    convention.
    """
    average: dict[str, Any] = dict(result)
    if result.auc_interval is not None:
        average["AUC interval"] = list(result.auc_interval)
    rules = {
        "convention": result.convention.key,
        "greatest_grade": result.greatest_grade,
    }
    if not per_query:
        return {**rules, **average}
    queries = [
        {
            "query": str(query),
            **{name: float(values[q]) for name, values in result.per_query.items()},
        }
        for q, query in enumerate(result.query_ids.tolist())
    ]
    return {**rules, "average": average, "queries": queries}


def averages_as_text(result: Evaluation) -> str:
    """Return a table of a result's averages over the queries.

    The table has a row for each measure, and a column for each cut-off.
    The last column, "all", has the measures of all documents.
    """
    # By the name of a measure without its cut-off: how the user wrote
    # it, and the value at each cut-off (None for all documents).
    labels: dict[str, str] = {}
    values: dict[str, dict[int | None, str]] = {}
    for name, value in result.items():
        named = measure(name)
        without_cut = named.name.partition("@")[0]
        labels.setdefault(without_cut, name.partition("@")[0])
        values.setdefault(without_cut, {})[named.cut] = number(value)
    cuts = {cut for row in values.values() for cut in row}
    columns: list[int | None] = [*sorted(cut for cut in cuts if cut is not None)]
    if None in cuts:
        columns.append(None)
    rows = [
        [labels[key], *(row.get(cut, "") for cut in columns)]
        for key, row in values.items()
    ]
    return as_text(
        ["measure", *("all" if cut is None else f"@{cut}" for cut in columns)], rows
    )


def queries_as_text(result: Evaluation) -> Block:
    """Return a table of the measures of each query.

    The table has a row for each query and a column for each measure.
    """
    rows = [
        [
            str(query),
            *(number(float(values[q])) for values in result.per_query.values()),
        ]
        for q, query in enumerate(result.query_ids.tolist())
    ]
    return as_text(["query", *result.per_query], rows)
