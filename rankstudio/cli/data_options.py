"""The options of the data to read: the data or the sample, columns of tables, missing values and scaling."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankstudio.cli.command_parser import CommandParser
from rankstudio.engine.data.columns import COLUMN_OPTIONS, FILES
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.engine.support.name_lists import split_names
from rankstudio.engine.support.resources import resource

MISSING: dict[str, Any] = {
    "choices": ("query_min", "zero", "refuse"),
    "help": "replace missing values by the query's minimum (query_min) or by 0 (zero), or stop with an error "
    "(refuse)",
}
NORMALIZE: dict[str, Any] = {
    "choices": ("none", "query_minmax"),
    "help": "scaling within each query",
}
"""Choices and help of the option ``--normalize``; ``MISSING`` has those of ``--missing``."""


def add_sample_option(
    parser: Any, effect: str = "use the bundled sample instead of DATA"
) -> None:
    """Add the option ``--sample``, for the bundled sample; `effect` is its help."""
    parser.add_argument("--sample", action="store_true", help=effect)


def add_data(
    parser: Any,
    about: str,
    sample: str = "use the bundled sample instead of DATA",
    also: Sequence[str] = (),
) -> None:
    """Add DATA, the first positional argument of a command, and --sample, which stands for it.

    ``about`` and ``sample`` are the help texts of DATA and --sample.
    ``also`` has further kinds of files that the command accepts as
    DATA: "study", "model" or "text". A command whose plan opens the
    data reads the value with `data_place`; a command that reads a
    single file uses `data_file`.
    """
    word = parser.add_argument(
        "data", metavar="DATA", type=Path, help=f"{about}; or --sample"
    )
    word.also = also
    add_sample_option(parser, sample)

    # With --sample, the parser puts this word in the place of DATA.
    if isinstance(parser, CommandParser):
        parser.sample_word = str(_SAMPLE_FOLDER)


def data_place(path: Path) -> str:
    """Return the name that a plan has for the typed data, or for --sample."""
    return SAMPLE if path == _SAMPLE_FOLDER else str(path.absolute())


def data_file(path: Path) -> Path:
    """Return the typed file; for --sample, the file with the test part of fold 1, which is the last one."""
    if path != _SAMPLE_FOLDER:
        return path
    from rankstudio.engine.data.synthetic import sample_files

    return sample_files()[-1]


def refuse_both(args: argparse.Namespace, *, neither: bool = False) -> None:
    """Raise a PlanError if both data and --sample are typed, or neither of them.

    With ``neither``, the command needs no data, and nothing is raised
    if both are missing.
    """
    has_data = args.data is not None
    has_both = has_data and args.sample
    has_neither = not has_data and not args.sample
    if has_both or (has_neither and not neither):
        raise PlanError(
            "DATA: expected either a data file or folder of folds, or --sample."
        )


def add_model(parser: Any) -> None:
    """Add a JSON model as the last positional argument, MODEL, and as the option --model.

    After parsing, `take_model` sets ``args.model`` to the model that was typed.
    """
    parser.add_argument(
        "model", metavar="MODEL", type=Path, nargs="?", help="JSON model"
    )
    parser.add_argument(
        "--model", dest="named_model", metavar="MODEL", type=Path, help="the same"
    )


def take_model(args: argparse.Namespace) -> None:
    """Set ``args.model`` to the typed model, which may be MODEL or --model.

    Raises
    ------
    PlanError
        If there are two models, or none.
    """
    # Exactly one of them has to be there.
    if (args.model is None) == (args.named_model is None):
        got = "none" if args.model is None else "both"
        raise PlanError(
            f"MODEL: expected a JSON model, as a word or with --model, got {got}."
        )
    args.model = args.named_model if args.model is None else args.model


_SAMPLE_FOLDER = resource("sample")
SAMPLE_FILE = "use the test part of fold 1 of the bundled sample instead of DATA"
"""Help of --sample in commands that read one file."""


def add_column_options(parser: Any) -> None:
    """Add the options for data in tables, for SVMlight text with ids from 0, and for feature logs."""
    # Meaning of the columns of a table.
    parser.add_argument(
        "--qid",
        metavar="COLUMN",
        help="query column of a table (CSV, Parquet …); by default a column named qid, query_id …; "
        "--no-queries if there is none",
    )
    parser.add_argument(
        "--label",
        metavar="COLUMN",
        help="column of the relevance label; by default a column named label, relevance, grade …; of several "
        "judges, the one in use",
    )
    parser.add_argument(
        "--labels",
        metavar="A,B,C",
        help="label columns of several judges (people, a language model, clicks); --label names the one in "
        "use, by default the first",
    )
    parser.add_argument(
        "--part",
        metavar="COLUMN",
        help="column of the part (train, vali or test); by default a column named part, split, set … with "
        "these values",
    )
    parser.add_argument(
        "--docid",
        metavar="COLUMN",
        help="column of the document ids; by default a column named docid, doc_id, docno …",
    )
    parser.add_argument(
        "--columns",
        metavar="A,B,C",
        help="feature columns; all other columns by default",
    )
    parser.add_argument(
        "--no-queries",
        action="store_const",
        const=True,
        help="read all documents as one ranking; folds are then made of documents",
    )

    # How other columns and texts are read.
    parser.add_argument("--ignore", metavar="X,Y", help="columns to leave out")
    parser.add_argument(
        "--missing-text",
        metavar="A,B",
        help='texts that stand for a missing value, such as "n.a.", besides NULL, NaN, NA and none',
    )

    # Formats other than tables.
    parser.add_argument(
        "--data-format",
        metavar="KEY",
        help="format of the data, if it is not recognised; see plugins",
    )
    parser.add_argument(
        "--ids-from",
        choices=("0", "1"),
        help="first feature id in LETOR and SVMlight text; by default 0 if any id is 0, otherwise 1",
    )
    parser.add_argument(
        "--judgments",
        metavar="FILE",
        action="append",
        help="judgments of feature logs: TREC qrels, a CSV file with query, docid and rating, or a judgment "
        "list of OpenSearch; by default a judgments file next to the logs. Repeat for each judge",
    )


def add_feature_set_option(parser: Any, use: str) -> None:
    """Add --feature-set, the option of a search engine's feature set.

    ``use`` says in the help what the command does with the feature set.
    """
    parser.add_argument(
        "--feature-set",
        metavar="FILE",
        type=Path,
        help="feature set with which the data were logged: of Elasticsearch, OpenSearch, Solr or Vespa; by "
        f"default featureset.json, features.json or features.profile next to the data; {use}",
    )


def columns_from(args: argparse.Namespace) -> dict[str, Any]:
    """Return the columns of the data that the options name.

    The result is the field ``columns`` of a plan.

    Raises
    ------
    PlanError
        If the value of an option is empty.
    """
    columns: dict[str, Any] = {}
    for name, option in COLUMN_OPTIONS.items():
        value: Any = getattr(args, option.removeprefix("--").replace("-", "_"), None)
        if value is None:
            continue

        # Options with several names.
        if name in ("features", "ignore", "labels", "missing_texts"):
            value = split_names(value)

        # Files are stored by absolute paths; only judgments may have several.
        if name in FILES:
            paths = value if isinstance(value, list) else [value]
            value = [str(Path(path).absolute()) if str(path) else "" for path in paths]
            if "" in value:  # refused below
                value = ""
            elif name != "judgments":
                value = value[0]
        if value in ([], ""):
            raise PlanError(f"{option}: expected a column name, got an empty value.")

        # The value of --ids-from is a number: the first id of a feature.
        columns[name] = int(value) if name == "ids_from" else value
    return columns


def by_name(texts: Sequence[str], option: str, example: str) -> dict[str, Path]:
    """Return the files or folders that an option names, each as NAME=PLACE, by the names.

    ``texts`` are the values of the option; ``option`` and ``example``
    are for the text of an error.

    Raises
    ------
    PlanError
        If a text is not a name and a place, or if a name is repeated.
    """
    places: dict[str, Path] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        name = " ".join(name.split())
        if not (equals and name and path):
            raise PlanError(
                f"{option}: expected NAME=PLACE, as in {example}, got {text!r}."
            )
        if name in places:
            raise PlanError(f"{option}: expected each name once, got {name!r} again.")
        places[name] = Path(path)
    return places
