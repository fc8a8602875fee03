"""Measures without a package: functions of Python files, which are named like methods of files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankstudio.engine.errors import PlanError, one_line
from rankstudio.engine.language import tr
from rankstudio.engine.methods.foreign.code import SUFFIX, Code, code_of_file
from rankstudio.engine.methods.foreign.signature import summary_of
from rankstudio.engine.metrics.measure_entry import MeasureEntry

_DIGITS = 6  # digits of a file's checksum in the measure's name


@dataclass(frozen=True)
class FileMeasure(MeasureEntry):
    """A measure made from a function of a Python file.

    The name of the measure ends with the beginning of the file's
    SHA-256, so that a changed file is another measure.

    Attributes
    ----------
    code : Code or None
        The function with the text of its file, which workers get with the plan.
    """

    code: Code | None = None

    def load(self) -> Any:
        """Return the function of the file that computes the measure of a query."""
        if self.lacking or self.code is None:
            raise PlanError(self.lacking)
        return self.code.target()


def names_measure_file(text: str) -> bool:
    """Return whether a text names a function of a Python file, such as ``my_measure.py:half@5``."""
    return f"{SUFFIX}:" in text


def file_and_cutoff(text: str) -> tuple[str, str]:
    """Split a reference into the function of a file, and the cutoff with its "@", or "" without one.

    Examples
    --------
    >>> file_and_cutoff("my_measure.py:half@5")
    ('my_measure.py:half', '@5')
    """
    path, _, name = text.rpartition(":")
    name, separator, cutoff = name.partition("@")
    return f"{path}:{name}", separator + cutoff


def measure_of_file(reference: str) -> FileMeasure:
    """Run a Python file, and return the measure that a user names as ``FILE.py:FUNCTION``.

    Raises
    ------
    PlanError
        If the file cannot be run, or the function cannot be a measure.
    """
    path, _, name = reference.rpartition(":")
    code = code_of_file(Path(path), name)
    # A function of X and y is a method, not a measure; one without
    # arguments is neither.
    arguments = _argument_names(code.target())
    if not arguments or arguments[:2] == ["X", "y"]:
        text = tr(
            "{name}: expected a function of the labels of a query, from the first rank down."
        )
        raise PlanError(text.format(name=reference))
    return measure_of_code(code)


def measure_of_code(code: Code) -> FileMeasure:
    """Return the measure whose values a function of a Python file computes.

    The measure has cut-offs, as in NDCG@10, if the function has the
    argument ``cutoff``. The measure's key has the beginning of the
    file's checksum, so that a changed file is another measure.
    """
    function = code.target()
    arguments = _argument_names(function)
    return FileMeasure(
        key=f"{code.name}-{code.origin.version_or_checksum[:_DIGITS]}",
        label=code.name,
        function="",
        summary=one_line(summary_of(function)),
        cutoff="optional" if "cutoff" in arguments else "none",
        origin=code.origin,
        code=code,
    )


def can_be_measure(value: object) -> bool:
    """Return whether a function of a file is treated as a measure: its first argument is ``labels``."""
    return inspect.isfunction(value) and _argument_names(value)[:1] == ["labels"]


def _argument_names(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's arguments.

    The result is [] for an object that is not a function.
    """
    if isinstance(function, type) or not callable(function):
        return []
    return [*inspect.signature(function).parameters]
