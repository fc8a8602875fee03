"""The options that say what is read: columns of tables, what becomes of values, files by names."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankstudio.engine.data.columns import COLUMN_OPTIONS, FILES
from rankstudio.engine.errors import PlanError
from rankstudio.engine.support.name_lists import split_names

MISSING: dict[str, Any] = {
    "choices": ("query_min", "zero", "refuse"),
    "help": "treatment of missing values",
}
NORMALIZE: dict[str, Any] = {"choices": ("none", "query_minmax"), "help": "scaling within each query"}
"""Of the options of these names."""


def add_column_options(where: Any) -> None:
    """Add the options for data in tables, for SVMlight text with ids from 0, and for feature logs."""
    where.add_argument(
        "--qid",
        metavar="COLUMN",
        help="query column of a table (CSV, Parquet …); by default a column named qid, query_id …; "
        "--no-queries if there is none",
    )
    where.add_argument(
        "--label",
        metavar="COLUMN",
        help="column of the relevance label; by default a column named label, relevance, grade …; of several "
        "judges, the one in use",
    )
    where.add_argument(
        "--labels",
        metavar="A,B,C",
        help="label columns of several judges (people, a language model, clicks); --label names the one in "
        "use, by default the first",
    )
    where.add_argument(
        "--part",
        metavar="COLUMN",
        help="column of the part (train, vali or test); by default a column named part, split, set … with "
        "these values",
    )
    where.add_argument(
        "--docid",
        metavar="COLUMN",
        help="column of the document ids; by default a column named docid, doc_id, docno …",
    )
    where.add_argument(
        "--columns",
        metavar="A,B,C",
        help="feature columns; all other columns by default",
    )
    where.add_argument(
        "--no-queries",
        action="store_const",
        const=True,
        help="read all documents as one ranking; folds are then made of documents",
    )
    where.add_argument("--ignore", metavar="X,Y", help="columns to leave out")
    where.add_argument(
        "--missing-text",
        metavar="A,B",
        help='texts that stand for a missing value, such as "n.a.", besides NULL, NaN, NA and none',
    )
    where.add_argument(
        "--ids-from",
        choices=("0", "1"),
        help="first feature id in LETOR and SVMlight text; by default 0 if any id is 0, otherwise 1",
    )
    where.add_argument(
        "--judgments",
        metavar="FILE",
        action="append",
        help="judgments of feature logs: TREC qrels, a CSV file with query, docid and rating, or a judgment "
        "list of OpenSearch; by default the file next to the logs that is named so; again for another judge",
    )


def add_feature_set_option(where: Any, use: str) -> None:
    """Add the option of a search engine's feature set, and what is done with it."""
    where.add_argument(
        "--feature-set",
        metavar="FILE",
        type=Path,
        help="feature set with which the data were logged: of Elasticsearch, OpenSearch, Solr or Vespa; by "
        f"default featureset.json, features.json or features.profile next to the data; {use}",
    )


def columns_from(args: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say of columns, as a plan has it.

    Raises
    ------
    PlanError
        Where one of them names none.
    """
    found: dict[str, Any] = {}
    for name, option in COLUMN_OPTIONS.items():
        value: Any = getattr(args, option.removeprefix("--").replace("-", "_"), None)
        if value is None:
            continue
        if name in ("features", "ignore", "labels", "missing_texts"):
            value = split_names(value)
        if name in FILES:
            places = value if isinstance(value, list) else [value]
            value = [str(Path(place).absolute()) if str(place) else "" for place in places]
            value = "" if "" in value else value if name == "judgments" else value[0]
        if value in ([], ""):
            raise PlanError(f"{option}: expected a column name, got an empty value.")
        found[name] = int(value) if name == "ids_from" else value
    return found


def by_name(texts: Sequence[str], option: str, example: str) -> dict[str, Path]:
    """Return files or folders by the names that an option gives them.

    Raises
    ------
    PlanError
        Where a text is not a name and a place, or a name comes again.
    """
    places: dict[str, Path] = {}
    for text in texts:
        name, apart, place = text.partition("=")
        name = " ".join(name.split())
        if not (apart and name and place):
            raise PlanError(f"{option}: expected NAME=PLACE, as in {example}, got {text!r}.")
        if name in places:
            raise PlanError(f"{option}: expected each name once, got {name!r} again.")
        places[name] = Path(place)
    return places
