"""The table of what was fuzzed, at the end of a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

PROPERTY = "fuzz"
"""Under this name a test's report has its row of the table."""

COLUMNS = ("kind", "inputs", "read", "refused", "faults", "seed", "slowest")


def rows_of(reports: Iterable[object]) -> list[dict[str, object]]:
    """Return the rows in the reports of tests, by kind."""
    found = [
        value
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, value in getattr(report, "user_properties", ())
        if name == PROPERTY
    ]
    return sorted(found, key=lambda row: str(row["kind"]))


def table(rows: Sequence[dict[str, object]]) -> list[str]:
    """Return the lines of the table, and of the sums under it."""
    sums: dict[str, object] = {"kind": "all", "seed": "", "slowest": ""}
    for name in ("inputs", "read", "refused", "faults"):
        sums[name] = sum(int(str(row[name])) for row in rows)
    cells = [list(COLUMNS), *([str(row[c]) for c in COLUMNS] for row in [*rows, sums])]
    widths = [max(len(row[c]) for row in cells) for c in range(len(COLUMNS))]
    return [
        "  ".join(
            cell.ljust(width) if c in (0, len(COLUMNS) - 1) else cell.rjust(width)
            for c, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
