"""Tables with any texts in them: what is written as CSV is what a reader of CSV reads."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

from fuzzer import Fuzz, Outcome
from mutations import TOKENS

from rankstudio.engine.export.tables import (
    csv_text,
    latex_text,
    markdown_text,
    save_csv,
)
from rankstudio.engine.support.escaping import unguarded

PARTS = (
    *(token.decode("utf-8", errors="replace") for token in TOKENS if len(token) < 20),
    *(
        "=cmd|' /C calc'!A0",
        "+1",
        "-x",
        "@SUM(A1)",
        "'",
        '"',
        ",",
        ";",
        "\t",
        "\r",
        "\n",
        "\r\n",
        "a",
        " ",
    ),
)

COMPUTED = ("=", "+", "-", "@", "\t", "\r", "\n", "＝")


def cell(rng: random.Random) -> object:
    if rng.random() < 0.2:
        return rng.choice(
            (0.1, -0.5, 1e300, 5e-324, float("inf"), -3, True, 10**30, "")
        )
    return "".join(rng.choice(PARTS) for _ in range(rng.randint(0, 4)))


def test_exported_tables(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        width = rng.randint(2, 4)
        header, *rows = (
            [cell(rng) for _ in range(width)] for _ in range(rng.randint(2, 5))
        )
        header = [str(value) for value in header]
        path = folder / "table.csv"
        save_csv(path, header, rows)
        with path.open(encoding="utf-8", newline="") as file:
            read = list(csv.reader(file))
        assert [[unguarded(value) for value in row] for row in read] == [
            [str(value) for value in row] for row in (header, *rows)
        ]
        for row in read:
            for value in row:
                assert not value.startswith(
                    ("=", "+", "@", "\t", "\r", "\n", "＝")
                ) or is_number(value), value
        tabs = csv.reader(
            io.StringIO(csv_text(header, rows, "\t"), newline=""), delimiter="\t"
        )
        assert [len(row) for row in tabs] == [width] * (1 + len(rows))
        texts = [[str(value) for value in row] for row in rows]
        assert len(markdown_text(header, texts).split("\n")) == 2 + len(rows)
        assert latex_text(header, texts).count(r" \\") >= 1 + len(rows)
        return Outcome.READ

    fuzz("exported tables", attempt, 700)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
