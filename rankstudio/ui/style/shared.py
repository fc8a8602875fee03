"""Description of a table or a plot that can be exported."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shared:
    """How a table or a plot is listed among what can be exported.

    Attributes
    ----------
    key : str
        For the names of its files; "" for what is not listed.
    label : str
        What it is called.
    about : str
        A sentence on what is in it; of a table.
    compares : bool
        Whether it shows several runs rather than only the shown one.
    always : bool
        Whether it is listed although it is hidden.
    """

    key: str
    label: str
    about: str = ""
    compares: bool = False
    always: bool = False


NOT_SHARED = Shared("", "")
