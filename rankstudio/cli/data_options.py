"""The options that say what the columns of tables are."""

from __future__ import annotations

import argparse
from typing import Any

from rankstudio.engine.data.columns import split_names
from rankstudio.engine.errors import PlanError

DESTINATIONS = {
    "qid": "qid",
    "label": "label",
    "columns": "features",
    "ignore": "ignore",
    "ids_from": "ids_from",
    "part": "part",
}
"""Where the parser puts each, and what it is called in a plan."""


def add_column_options(where: Any) -> None:
    """Add the options for data in tables, and for SVMlight text with ids from 0."""
    where.add_argument(
        "--qid",
        metavar="COLUMN",
        help="of CSV, Parquet and the like: the column of the query; one named qid, query_id … by default",
    )
    where.add_argument(
        "--label",
        metavar="COLUMN",
        help="the column of the relevance label; one named label, relevance, grade … by default",
    )
    where.add_argument(
        "--part",
        metavar="COLUMN",
        help="the column that says train, vali or test; one named part, split, set … that does by default",
    )
    where.add_argument(
        "--columns",
        metavar="A,B,C",
        help="the columns that are features; all others by default",
    )
    where.add_argument("--ignore", metavar="X,Y", help="columns that are no features")
    where.add_argument(
        "--ids-from",
        choices=("0", "1"),
        help="with what ids of features begin in LETOR and SVMlight text; 0 where some id is 0, else 1",
    )


def columns_from(args: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say of columns, as a plan has it.

    Raises
    ------
    PlanError
        Where one of them names none.
    """
    found: dict[str, Any] = {}
    for option, name in DESTINATIONS.items():
        value: Any = getattr(args, option, None)
        if value is None:
            continue
        if name in ("features", "ignore"):
            value = split_names(value)
        if value in ([], ""):
            raise PlanError(f"--{option}: expected the name of a column, got nothing.")
        found[name] = int(value) if name == "ids_from" else value
    return found
