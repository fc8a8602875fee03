"""An expression in SQL that scores the rows of a table."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.formats.model_format import (
    Documents,
    Files,
    ModelFormat,
    Readers,
)
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.export.trees import Node
from rankstudio.engine.language import translatable
from rankstudio.engine.support.escaping import comment_text


def write(function: ScoreFunction) -> Files:
    """Return a model's score as an expression in standard SQL.

    The columns are named after the features. The only file has the key
    "", the ending of its name after the stem.
    """
    # The terms of the score: weighted columns, or the value of each tree.
    names = [f'"{feature.identifier}"' for feature in function.inputs]
    if function.linear:
        terms = [
            f"+ {_number(weight)} * {name}"
            for name, weight in zip(names, function.weights, strict=True)
        ]
    else:
        terms = [f"+ {_case(tree.nested(), names)}" for tree in function.trees]

    # Comments say what the expression computes, and what each column is.
    columns = [
        f"-- {feature.identifier}: feature {feature.id}, {comment_text(feature.name, 'sql')}"
        for feature in function.inputs
    ]
    lines = [
        f"-- {comment_text(function.about, 'sql')}",
        *columns,
        "-- SELECT *, (this expression) AS score FROM documents ORDER BY query, score DESC",
        "0e0",  # every term begins with "+"
        *terms,
    ]
    return {"": ("\n".join(lines) + "\n").encode()}


def _number(value: float) -> str:
    """Return a number as an SQL literal with an exponent.

    The exponent makes the literal's type double precision.
    """
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def _case(node: Node, names: list[str]) -> str:
    """Return the SQL expression of a node of a tree, with the nodes below it.

    A leaf is a number. A split is CASE WHEN … THEN … ELSE … END.
    ``names`` are the quoted columns.
    """
    if not isinstance(node, tuple):
        return _number(node)
    column, threshold, below, above = node
    condition = f"{names[column]} <= {_number(threshold)}"
    return f"CASE WHEN {condition} THEN {_case(below, names)} ELSE {_case(above, names)} END"


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents with the expression in a file by SQLite; shape (m,) for m documents.

    A table in memory has a row for each document, with its number and its values.
    """
    columns = ", ".join(f'"{feature.identifier}" REAL' for feature in function.inputs)
    placeholders = ", ".join("?" for _ in range(len(function.inputs) + 1))
    rows = [(n, *row) for n, row in enumerate(documents.X.tolist())]
    try:
        with closing(sqlite3.connect(":memory:")) as base:
            base.execute(
                f"CREATE TABLE documents (row INTEGER{', ' + columns if columns else ''})"
            )
            base.executemany(f"INSERT INTO documents VALUES ({placeholders})", rows)

            # the only file, with the key "", has the expression
            query = f"SELECT (\n{files[''].decode()}\n) FROM documents ORDER BY row"
            return np.array(
                [score for (score,) in base.execute(query)], dtype=np.float64
            )
    # SQLite limits the size of expressions more than other databases do.
    except sqlite3.Error as error:
        raise OutputError(f"SQLite cannot read the file back: {error}.") from error


FORMAT = ModelFormat(
    "sql",
    "SQL",
    ".sql",
    translatable("A standard SQL expression over columns named after the features."),
    write,
    read,
    readers=Readers.CODE,
)
