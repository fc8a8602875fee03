"""Tables of rows as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from rankstudio.engine.files import write_text


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV: commas, quotes where needed, floats so that they read back bit for bit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def save_csv(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows as CSV.

    Raises
    ------
    OutputError
        Where the file cannot be written.
    """
    write_text(path, csv_text(header, rows))
