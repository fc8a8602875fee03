"""One printed experiment and what came of it here, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from rankstudio.engine.export.tables import p_text

P_VALUE = "p"
"""How a column of p-values is written."""


class ExperimentColumn(NamedTuple):
    """A column: its title, the name of its values as plain values, and how they are shown."""

    title: str
    key: str
    form: str = ""


@dataclass(frozen=True)
class PrintedExperiment:
    """A table of numbers of ours, with the printed ones beside them, and what they say.

    Attributes
    ----------
    source : str
        What of the thesis it is: "Paper I, Table 3".
    title : str
    columns : tuple of ExperimentColumn
    rows : tuple of tuples
        Values with all digits; None where there is none.
    said : tuple of str
        Sentences, made of these values.
    agrees : tuple of bool
        One for each cell that should agree with the printed one, to the last printed digit.
    """

    source: str
    title: str
    columns: tuple[ExperimentColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    said: tuple[str, ...] = ()
    agrees: tuple[bool, ...] = ()

    def text_rows(self) -> list[list[str]]:
        """Return the values as they are shown."""
        return [
            [_text(value, column.form) for value, column in zip(row, self.columns, strict=True)]
            for row in self.rows
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        keys = [column.key for column in self.columns]
        return {
            "source": self.source,
            "title": self.title,
            "rows": [dict(zip(keys, row, strict=True)) for row in self.rows],
            "said": list(self.said),
        }


def _text(value: Any, form: str) -> str:
    if value is None:
        return ""
    if form == P_VALUE:
        return p_text(value)
    return str(value) if isinstance(value, str) else format(value, form)
