"""Every error that a user of RankStudio can meet, as one tree.

The text of an error is a whole sentence for the person at the keyboard:
it names the file, the line or the field, what was found there and what
was expected. ``str(error)`` is what the window and the terminal show,
so no caller has to add to it.

::

    RankStudioError ├── DataError             something about a data
    file or folder │   ├── FileAccessError   missing, a directory, no
    permission, vanished, unreadable archive │   ├── FormatError       a
    place in a file that is not LETOR text │   ├── ZeroIdError       a
    feature id 0 where ids begin at 1 │   ├── NoQueriesError    a
    document of LETOR text without its query │   ├── ColumnValueError  a
    cell that its column of a table cannot have │   ├──
    MissingValueError ``NULL`` or ``nan`` where the policy is to refuse
    them │   ├── DatasetError      files that are fine alone and do not
    belong together (also a ValueError) │   ├── NoJudgmentsError
    feature logs of which it is not clear what judges them │   ├──
    SeveralDatasetsError  a folder of several datasets, of which one is
    to be opened │   └── UnknownColumnsError  a table of which it is not
    clear what its columns are ├── ParameterError        a parameter
    outside its range (also a ValueError) ├── MissingExtraError     a
    method whose library is not installed (also an ImportError) ├──
    PlanError             a plan that cannot be read or cannot be run
    ├── OutputError           a result that could not be written ├──
    WorkerError           processes or machines that should do the work
    and cannot ├── OutOfMemoryError      work that needs more memory
    than there is ├── StoreError            a study that cannot be
    opened, read or written │   ├── ChangedDataError  data that are not
    those that a study recorded │   └── StudyInUseError   another
    process has the study open └── Cancelled             not a fault: a
    stop was requested

and five warnings: ``MissingQueryWarning`` for what is most likely
forgotten, ``OpenClusterWarning`` for a network that has to be trusted,
``FewerThresholdsWarning`` for RankBoost on features of many values,
``ConstantObjectiveWarning`` for measures that teach nothing, and
``CacheWarning``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral
from pathlib import Path
from typing import Any

from rankstudio.engine.language import tr

# least similarity of two names, from 0 to 1, for one to be suggested in
# place of the other
ALIKE = 0.5
_MOST_SHOWN = 120  # characters of a value in an error: the error stays readable
# Control characters C0 and C1, with which escape sequences begin; ends
# of lines and paragraphs; and the characters that change the direction
# of text.
_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


def shown(value: object) -> str:
    """Return a user's value for a message; long values are shortened."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of more than 4300 digits
        return tr("a number with thousands of digits")
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…"


def nearest(word: object, candidates: Iterable[str], alike: float = ALIKE) -> str:
    """Return the candidate that is most like a word, ignoring case, or "".

    "" means that none is similar enough: ``alike`` is the least similarity, from 0 to
    1. The only candidate that begins with the word is similar enough, as in "l1" for
    "l1-path". An underscore in the word counts as a hyphen.
    """
    by_key = {name.casefold(): name for name in candidates}
    if not isinstance(word, str):
        return ""
    key = word.strip().casefold().replace("_", "-")
    close = get_close_matches(key, by_key, n=1, cutoff=alike)
    if not close and len(key) > 1:
        longer = [name for name in by_key if name.startswith(key)]
        close = longer if len(longer) == 1 else []
    return by_key[close[0]] if close else ""


def did_you_mean(meant: str) -> str:
    """Return the question whether a value was meant; "" where `meant` is ""."""
    return tr("Did you mean {value}?").format(value=meant) if meant else ""


def one_line(text: str) -> str:
    """Return a text as one line, safe for a terminal: its control characters are escaped."""
    return without_controls(text, lambda sign: repr(sign)[1:-1])


def without_controls(text: str, escaped: Callable[[str], str]) -> str:
    """Return a text in which `escaped` of a control character replaces it."""
    return _CONTROL.sub(lambda sign: escaped(sign[0]), text)


def shown_path(path: str | Path) -> str:
    """Return a path for a message."""
    return one_line(str(path))


class RankStudioError(Exception):
    """Base class of all errors whose text is meant for the user; they can be sent between processes.

    Examples
    --------
    >>> from rankstudio.api import ParameterError, RankStudioError
    >>> issubclass(ParameterError, RankStudioError)
    True
    """

    @property
    def terminal_text(self) -> str:
        """The message for the terminal; its remedy may be an option of the command line."""
        return str(self)

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), self.args, vars(self))


def _again(
    kind: type[RankStudioError], args: tuple[object, ...], attributes: dict[str, object]
) -> object:
    """Restore a pickled error. Its constructor is not called: it would make the text a second time."""
    error = kind.__new__(kind, *args)
    vars(error).update(attributes)
    return error


class DataError(RankStudioError):
    """A data file or folder cannot be used."""


class FileAccessError(DataError):
    """A file is missing, is a directory, has no permission, or disappeared during reading."""

    def __init__(self, path: str | Path, reason: str) -> None:
        self.path = Path(path)
        self.reason = reason
        super().__init__(f"{shown_path(path)}: {reason}")


class FormatError(DataError):
    """A position in a data file violates the LETOR format.

    Parameters
    ----------
    path : str or Path
        The file.
    line, column : int
        Position, both from 1; 0 for the whole file or the whole line.
    found, expected : str
        Text found, and text expected.
    """

    def __init__(
        self, path: str | Path, line: int, column: int, found: str, expected: str
    ) -> None:
        """Write the message; line and column count from 1, 0 for none."""
        self.path = Path(path)
        self.line = line
        self.column = column
        self.found = found
        self.expected = expected
        location = shown_path(self.path)
        if line and column:
            location = tr("{path}, line {line}, column {column}").format(
                path=location, line=line, column=column
            )
        elif line:
            location = tr("{path}, line {line}").format(path=location, line=line)
        elif column:
            location = tr("{path}, column {column}").format(
                path=location, column=column
            )
        text = tr("{where}: found {found}, expected {expected}.")
        super().__init__(text.format(where=location, found=found, expected=expected))


class MissingValueError(FormatError):
    """A missing value (``NULL``, ``nan``) under the policy ``refuse``."""


class ZeroIdError(FormatError):
    """A feature id 0, although ids start at 1."""


class NoQueriesError(FormatError):
    """A document of LETOR text without its query, which may be one of a single ranking."""


class ColumnValueError(FormatError):
    """A cell that is invalid for its column: a query, a label, a feature.

    Attributes
    ----------
    text_columns : tuple of str
        Columns that are read as features and contain something other than numbers.
    cell : str
        The first such cell in a column that has numbers, too; "" if there is none.
    terminal_remedy : str
        Sentence with the remedy in the terminal; "" where the message suffices.
    """

    text_columns: tuple[str, ...] = ()
    cell: str = ""
    terminal_remedy: str = ""

    @property
    def terminal_text(self) -> str:
        """The message with the terminal's options as the remedy."""
        return f"{self} {self.terminal_remedy}".rstrip()


class DatasetError(DataError, ValueError):
    """Files that are readable but do not belong together, or a dataset that a method cannot use.

    Examples
    --------
    >>> from rankstudio.api import DatasetError
    >>> str(DatasetError("My method needs two grades of labels; the data have one."))
    'My method needs two grades of labels; the data have one.'
    """


class SeveralDatasetsError(DatasetError):
    """A folder that holds several datasets.

    Parameters
    ----------
    folder : Path
    found : sequence of Path
        The folders of the datasets.
    """

    def __init__(self, folder: Path, found: Sequence[Path]) -> None:
        """Write the message, which names the datasets in the folder."""
        self.folder = folder
        self.found = tuple(found)
        *first, last = map(str, self.found)
        text = tr(
            "{path}: found {n} datasets, expected one. Choose {datasets} or {last}."
        )
        super().__init__(
            text.format(
                path=folder, n=len(self.found), datasets=", ".join(first), last=last
            )
        )


class NoJudgmentsError(DatasetError):
    """Feature logs without judgments, or with several files that may be their judgments."""


class UnknownColumnsError(DatasetError):
    """A table whose query, label or feature columns are ambiguous.

    Parameters
    ----------
    problem : str
        What was found and what was expected.
    remedy : str
        Sentence with the parameters that name the columns; the window
        has fields for them.
    terminal_remedy : str
        The same sentence with the options of the terminal; `remedy` by default.
    """

    def __init__(
        self, problem: str, remedy: str = "", terminal_remedy: str = ""
    ) -> None:
        self.problem = problem
        self._terminal_remedy = terminal_remedy or remedy
        super().__init__(f"{problem} {remedy}".rstrip())

    @property
    def terminal_text(self) -> str:
        """The message with the terminal's options as the remedy."""
        return f"{self.problem} {self._terminal_remedy}".rstrip()


class ParameterError(RankStudioError, ValueError):
    """A parameter with a value outside its range.

    Parameters
    ----------
    name : str
        Name of the parameter, as written by the user.
    value : object
        Invalid value.
    expected : str
        Valid range in words: "a number greater than 0".
    meant : str
        A valid value that may have been meant; "" for none.

    Examples
    --------
    >>> str(ParameterError("alpha", -1, "a positive number"))
    'alpha: expected a positive number, got -1.'
    """

    def __init__(
        self, name: str, value: object, expected: str, meant: str = ""
    ) -> None:
        """Write the message; ``meant`` is a value that is suggested, or ""."""
        self.name = name
        self.value = value
        self.expected = expected
        self.meant = meant
        text = tr("{name}: expected {expected}, got {value}.")
        text = text.format(name=tr(name), expected=expected, value=shown(value))
        super().__init__(f"{text} {did_you_mean(meant)}".rstrip())


def between(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return a parameter as an int from `low` to `high`.

    Raise ParameterError, which names the parameter, for anything else.
    Without `high`, every whole number from `low` up is valid.

    Examples
    --------
    >>> between("k", 3, 1, 5)
    3
    """
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if is_whole and low <= value and (high is None or value <= high):
        return int(value)
    text = (
        tr("a whole number from {low} up")
        if high is None
        else tr("a whole number from {low} to {high}")
    )
    raise ParameterError(name, value, text.format(low=low, high=high))


class MissingExtraError(RankStudioError, ImportError):
    """A method needs a library from an extra of the package that is not installed.

    Parameters
    ----------
    needed_by, library : str
        Names of the method and of the library: "LambdaMART", "LightGBM".
    extra : str
        Extra that installs it; "" if every installation contains it.
    reason : str, optional
        Reason why an installed library cannot be loaded.
    """

    def __init__(
        self, needed_by: str, library: str, extra: str, reason: str = ""
    ) -> None:
        """Write the message; "" as ``extra`` is a library by its own name.

        ``reason`` is why an installed library cannot be loaded, or "".
        """
        self.needed_by = needed_by
        self.library = library
        self.extra = extra
        self.reason = reason
        if reason:
            text = tr(
                "{needed_by} needs {library}, which is installed but cannot be loaded: {reason}"
            )
        else:
            text = tr(
                "{needed_by} needs {library}, which is not installed: pip install {package}."
            )
        package = f'"rankstudio[{extra}]"' if extra else library.lower()
        super().__init__(
            text.format(
                needed_by=needed_by, library=library, package=package, reason=reason
            )
        )


class PlanError(RankStudioError):
    """A plan that cannot be read, or cannot be run."""


class MethodError(RankStudioError):
    """A failure of a method that is not RankStudio's own; its run ends, and everything else goes on.

    Parameters
    ----------
    label : str
        Label of the method.
    problem : str
        What happened, without a full stop.
    """

    def __init__(self, label: str, problem: str) -> None:
        self.label = label
        self.problem = problem
        super().__init__(
            tr("{label} failed: {problem}.").format(label=label, problem=problem)
        )


class MeasureError(MethodError):
    """A failure of a measure that is not RankStudio's own; only the work that needs the measure ends."""


class AnalysisError(MethodError):
    """A failure of an analysis that is not RankStudio's own; only the analysis ends."""


class CodeNotAllowedError(PlanError):
    """A plan or a study that names code which this user has not allowed to run.

    Parameters
    ----------
    key : str
        Key of the method: ``my_method.py:MRMR@`` and a checksum, or an import path.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        text = tr(
            "The plan runs code of {key}, which you have not allowed. Allow it if you trust its source."
        )
        super().__init__(text.format(key=one_line(key)))

    @property
    def terminal_text(self) -> str:
        """The message with the terminal's option as the remedy."""
        return f"{self} In the terminal: --allow-code."


class OutputError(RankStudioError):
    """A result that cannot be written."""


class WorkerError(RankStudioError):
    """Processes or machines of a run that cannot be reached, or have ended."""


class OutOfMemoryError(RankStudioError):
    """Work that needs more memory than available; the text states how much, and what would fit."""


class StoreError(RankStudioError):
    """A study file that cannot be opened, read or written, or no longer matches its data."""


class ChangedDataError(StoreError):
    """Data that differ from those of a study's runs."""


class StudyInUseError(StoreError):
    """A study that is open in another process."""


class Cancelled(RankStudioError):  # noqa: N818 - no name ending in Error: the user requested the stop
    """Work that was stopped on request.

    Examples
    --------
    >>> from rankstudio.api import Cancelled, RankStudioError
    >>> isinstance(Cancelled("comparing features"), RankStudioError)
    True
    """

    def __init__(self, activity: str = "The work") -> None:
        super().__init__(f"{activity} was cancelled.")


class CacheWarning(UserWarning):
    """Folders that cannot be written or processes that cannot be started; work continues without them."""


class PluginWarning(UserWarning):
    """A plug-in, or a part of one, that cannot be used; everything else works."""


class FewerThresholdsWarning(UserWarning):
    """Not every value of a feature was tried as a threshold, because it has too many."""


class ConstantObjectiveWarning(UserWarning):
    """The measure that a method optimises is the same for every ranking of the training documents."""


class OpenClusterWarning(UserWarning):
    """A scheduler on a network without TLS: anyone can read the data and run code on its workers."""


class MissingQueryWarning(UserWarning):
    """A method received no queries, so all documents count as one query."""
