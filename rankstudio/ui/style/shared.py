"""The entry of a table or a plot in the list of exports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shared:
    """The entry of a table or a plot in the list of exports.

    Attributes
    ----------
    key : str
        Part of the names of its files; "" for a table or plot that is not listed.
    label : str
        Name of the table or plot for the user.
    about : str
        A sentence on the contents of a table.
    compares : bool
        Whether several runs are shown, and not only the shown run.
    always : bool
        Whether the table or plot is listed even while it is hidden.
    """

    key: str
    label: str
    about: str = ""
    compares: bool = False
    always: bool = False


NOT_SHARED = Shared("", "")
