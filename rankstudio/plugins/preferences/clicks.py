"""Converts clicks to weighted preferences: of a clicked document over documents of the same result list.

A document at a low position is seen, and so clicked, less often than
its relevance deserves. A preference is therefore weighted by the
inverse of the propensity of its clicked document: the probability that
a document at that position is examined (Joachims, Swaminathan and
Schnabel 2017). Propensities are a column of the log, or follow the
usual power law, position^-η.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.preferences import GREATEST
from rankstudio.engine.data.source_file import line_error, number, streamed_lines
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.support.escaping import unguarded

PairRule = Literal["unclicked", "skipped"]
PAIR_RULES: tuple[str, ...] = get_args(PairRule)
GIVEN = "given"
ESTIMATED = "estimated"

_COLUMN_NAMES = {
    "session": ("session", "session_id", "list", "list_id"),
    "query": ("qid", "query_id", "query"),
    "document": ("docid", "doc_id", "document_id", "document", "doc"),
    "position": ("position", "rank", "pos"),
    "click": ("click", "clicked", "clicks"),
    "propensity": ("propensity",),
}
_NEEDED_COLUMNS = ("query", "document", "position", "click")
_EXPECTED_COLUMNS = (
    "qid, docid, position and click, and optionally session and propensity"
)
_MAX_ETA = 10.0
_MIN_PROPENSITY = 1e-6
_MAX_POSITION = 1_000_000
_DOCUMENTS_PER_BLOCK = 1 << 18  # documents that are counted at once
_MAX_PARTS = 8  # with more parts of counts than this, the parts are merged

# Columns of a table of shown documents: line in the file, number of the
# list, query, document, position, and whether the document was clicked.
_LINE, _LIST, _QUERY, _DOCUMENT, _POSITION, _CLICKED = range(6)


class PositionBiasError(DatasetError):
    """A log of clicks from which the position bias cannot be estimated, so that it has to be given."""


@dataclass(frozen=True)
class ClickRule:
    """How clicks become weighted preferences.

    Attributes
    ----------
    pairs : {"unclicked", "skipped"}
        A clicked document is preferred to each unclicked document of
        its list ("unclicked"), or only to each unclicked document above
        it ("skipped").
    eta : str
        "given" for the column of propensities, "estimated" for the
        power law with η estimated from the log, or η as a number from 0
        up; "" for "given" if the log has propensities, else
        "estimated".

    Raises
    ------
    ParameterError
        If ``pairs`` or ``eta`` has another value.
    """

    pairs: PairRule = "unclicked"
    eta: str = ""

    def __post_init__(self) -> None:
        """Raise ParameterError for an invalid rule of pairs, or an invalid η.

        A click at a position has the weight position^η. Instead of a
        number, η may be `GIVEN` (by a column of the log), `ESTIMATED`,
        or "" for the usual one of these two.
        """
        if self.pairs not in PAIR_RULES:
            raise ParameterError(
                "pairs",
                self.pairs,
                tr("one of {keys}").format(keys=", ".join(PAIR_RULES)),
            )
        value = number(self.eta)
        if self.eta not in ("", GIVEN, ESTIMATED) and (
            value is None or not 0 <= value <= _MAX_ETA
        ):
            expected = tr('"given", "estimated" or a number from 0 to {most:g}').format(
                most=_MAX_ETA
            )
            raise ParameterError("eta", self.eta, expected)


def rule_settings(values: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a plan for clicks, completed with defaults.

    The settings are the fields of :class:`ClickRule`, as texts. Raise
    ParameterError for wrong settings.
    """
    rule = ClickRule(**values)  # type: ignore[arg-type]  # ClickRule checks the values
    return {"pairs": rule.pairs, "eta": rule.eta}


@dataclass(frozen=True)
class PositionBias:
    """The power law of a log: a document at a position is examined with probability position^-η.

    Attributes
    ----------
    eta : float
    error : float
        Standard error of an estimate; NaN for a given η.
    n_documents : int
        Clicked documents shown at several positions, from which η is
        estimated; 0 for a given η.
    """

    eta: float
    error: float = np.nan
    n_documents: int = 0


@dataclass(frozen=True, eq=False)
class Impressions:
    """How often each document was shown and clicked at each position for each query.

    All arrays have the shape (l,), with one entry for each distinct
    query, document and position.

    Attributes
    ----------
    query, document : ndarray
        Indices into the names in the log.
    position : ndarray
        Position in the result list, from 1.
    shown, clicked : ndarray
        Numbers of times that the document was shown and clicked.
    """

    query: Ints
    document: Ints
    position: Ints
    shown: Floats
    clicked: Floats


@dataclass(frozen=True, eq=False)
class ClickLog:
    """The counted impressions and preferences of the result lists in a log.

    Attributes
    ----------
    rule : ClickRule
        The rule with the η that is used: "given", "estimated" or a number.
    queries, documents : tuple of str
        Distinct names.
    n_lists, n_clicks : int
    shown : Impressions
    pairs : ClickPairs
        Preferences that are not yet weighted by a position bias. Equal
        pairs with the clicked document at different positions are
        separate, and their weight is their number. With given
        propensities, the position is 0, and the weight is the sum of
        the inverse propensities.
    """

    rule: ClickRule
    queries: tuple[str, ...]
    documents: tuple[str, ...]
    n_lists: int
    n_clicks: int
    shown: Impressions
    pairs: ClickPairs

    def bias(self) -> PositionBias | None:
        """Return the power law of the propensities by position; None if the log has propensities.

        Raises
        ------
        DatasetError
            If η cannot be estimated.
        """
        if self.rule.eta == ESTIMATED:
            return estimate_bias(self.shown)
        return None if self.rule.eta == GIVEN else PositionBias(float(self.rule.eta))


@dataclass(frozen=True, eq=False)
class ClickPairs:
    """Weighted preferences between two documents from clicks, each pair once; arrays have the shape (l,).

    Attributes
    ----------
    line : ndarray
        Line of the first click that gave the pair.
    query, winner, loser : ndarray
        Indices into the names in the log.
    weight : ndarray
        Sum of the inverse propensities of the clicks, or their number in a :class:`ClickLog`.
    position : ndarray, optional
        Position of the winner, if pairs are counted separately by that position.
    """

    line: Ints
    query: Ints
    winner: Ints
    loser: Ints
    weight: Floats
    position: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def is_click_header(cells: Sequence[str]) -> bool:
    """Return whether the header of a table is that of a click log."""
    columns = set(_column_positions(cells))
    return columns.issuperset(_NEEDED_COLUMNS)


def _column_positions(cells: Sequence[str]) -> dict[str, int]:
    """Return the index of each column of a click log, by its role, from the cells of a header.

    Roles are "session", "query", "document" and so on; roles without a
    column are left out.
    """
    names = [cell.strip().strip('"').lower() for cell in cells]

    # Each role has several common names; -1 is for a role without a column.
    positions = {
        role: next((names.index(name) for name in common_names if name in names), -1)
        for role, common_names in _COLUMN_NAMES.items()
    }
    return {role: position for role, position in positions.items() if position >= 0}


def read_clicks(path: Path, rule: ClickRule) -> ClickLog:
    """Read a click log: a table with a header, a line for each shown document.

    Without a column of sessions, a new result list begins with another
    query, or where the position does not increase. Lists are counted in
    blocks of some hundred thousand documents. Only if the documents of
    a session are not on consecutive lines, the file is read again and
    counted as a whole.

    Raises
    ------
    FileAccessError
        If the file cannot be read.
    FormatError
        At the first invalid line, and where a list has a document or a position twice.
    DatasetError
        If nothing was clicked, or propensities are asked for and the log has none.

    Notes
    -----
    Memory O(p + i + l) for p distinct pairs by the position of the
    clicked document, i distinct impressions, and 8 bytes for each of l
    lists.
    """
    try:
        return _ClickReader(path, rule).read()
    except _ScatteredError:
        return _ClickReader(path, rule, at_once=True).read()


class _ScatteredError(Exception):
    """The documents of a session are not on consecutive lines."""


class _ClickReader:
    """Reads a log once, and counts its lists: in blocks, or with ``at_once`` as a whole."""

    def __init__(self, path: Path, rule: ClickRule, *, at_once: bool = False) -> None:
        """Prepare to read a click log; a list is the documents shown for a query at one time.

        ``rule`` says how clicks become preferences. ``at_once`` is for
        a file in which the lines of several lists are mixed: all lines
        are read before they are counted.
        """
        self._path = path
        self._rule = rule
        self._at_once = at_once

        # Numbers of queries, of documents, and of pairs of session and
        # query, in the order of the log.
        self._queries: dict[str, int] = {}
        self._documents: dict[str, int] = {}
        self._sessions: dict[tuple[str, str], int] = {}

        # Hashes of the session and query of each list, to detect a list
        # that comes again.
        self._hashes = array("q")

        # Session, query and position of the last document.
        self._last_row: tuple[str, str, int] | None = None
        self._n_lists = self._n_clicks = 0

        # Columns of a table of the documents that are not yet counted:
        # line, list, query, document, position, click.
        self._rows = tuple(array("q") for _ in range(6))
        self._propensities = array("d")

        # By query, document and position: numbers of times that the
        # document was shown and clicked.
        self._shown = _Counts(n_keys=3, n_sums=2)

        # By query, winner, loser and position of the winner: the weight.
        self._pairs = _Counts(n_keys=4, n_sums=1)

    def read(self) -> ClickLog:
        """Read the file, and return its log, with the counts of all result lists.

        A result list is the documents that were shown for a query at
        one time. A click in it gives preferences to the clicked
        document. Raise `_ScatteredError` if the documents of a session
        are not on consecutive lines, FormatError for an invalid line,
        and DatasetError without a click.
        """
        lines = (
            (line_number, line)
            for line_number, line in enumerate(streamed_lines(self._path), start=1)
            if line.strip()
        )

        # The first line that is not blank is the header; its most
        # frequent separator is that of the file.
        first, header = next(lines, (1, ""))
        self._delimiter = max(",;\t", key=header.count)
        self._columns = _column_positions(self._cells(1, header)) if header else {}
        if not set(self._columns).issuperset(_NEEDED_COLUMNS):
            raise line_error(self._path, first, header, _EXPECTED_COLUMNS)

        # A preference from a click at a position has the weight
        # position^η, or the inverse of a propensity in the log. If the
        # user does not say which one, the log decides: does it have a
        # column of propensities? The rule has the answer in its field
        # `eta`.
        rule = self._resolved()

        # Read all other lines. Once many are read, the lists so far are
        # counted: how often documents were shown and clicked, and the
        # preferences.
        for line, content in lines:
            self._add(line, content)

        # Count the lists since then, up to the last line.
        self._count()
        if not self._n_clicks:
            raise DatasetError(
                tr("{path}: found no clicks, expected at least one.").format(
                    path=self._path
                )
            )

        # A session whose documents are not on consecutive lines was
        # counted as several lists.
        if len(np.unique(np.frombuffer(self._hashes, np.int64))) < len(self._hashes):
            raise _ScatteredError
        return self._counted_log(rule)

    def _counted_log(self, rule: ClickRule) -> ClickLog:
        """Return the log with the counts of all its result lists.

        The field `eta` of the rule is the source of η, or η itself:
        "given", "estimated" or a number.
        """
        # Columns of the counted impressions and pairs, each contiguous.
        shown_keys, shown_counts, _ = self._shown.result()
        shown_query, shown_document, shown_position = shown_keys.T.copy()
        n_shown, n_clicked = shown_counts.T.copy()
        pair_keys, weights, pair_lines = self._pairs.result()
        query, winner, loser, position = pair_keys.T.copy()
        return ClickLog(
            rule=rule,
            queries=tuple(self._queries),
            documents=tuple(self._documents),
            n_lists=self._n_lists,
            n_clicks=self._n_clicks,
            shown=Impressions(
                query=shown_query,
                document=shown_document,
                position=shown_position,
                shown=n_shown,
                clicked=n_clicked,
            ),
            pairs=ClickPairs(
                line=pair_lines,
                query=query,
                winner=winner,
                loser=loser,
                weight=weights[:, 0],
                position=position,
            ),
        )

    def _resolved(self) -> ClickRule:
        """Return the rule with the source of η that is used.

        A click at a position has the weight position^η, or the inverse
        of its propensity, a column of the log. If the user specified no
        η, propensities are used or, without that column, η is
        estimated. Raise DatasetError if the column is required but
        missing.

        The attribute ``_uses_propensities`` of the reader is set.
        """
        has_propensity = "propensity" in self._columns
        if self._rule.eta == GIVEN and not has_propensity:
            text = tr("Clicks: found no column propensity. Give or estimate η.")
            raise DatasetError(f"{self._path}: {text}")
        self._uses_propensities = has_propensity and self._rule.eta in ("", GIVEN)
        return replace(
            self._rule, eta=self._rule.eta or (GIVEN if has_propensity else ESTIMATED)
        )

    def _add(self, line: int, content: str) -> None:
        """Add a line of the file, a shown document, to its result list.

        ``line`` is the number of the line, and ``content`` its text.
        Raise FormatError if the line is invalid.
        """
        # Read the cells of the line; empty ids are refused.
        columns = self._columns
        cells = self._cells(line, content)
        has_all_cells = len(cells) > max(columns.values())
        if (
            not has_all_cells
            or not cells[columns["query"]]
            or not cells[columns["document"]]
        ):
            raise line_error(self._path, line, content, _EXPECTED_COLUMNS)
        query = cells[columns["query"]]
        document = cells[columns["document"]]
        position = _parsed_position(self._path, line, cells[columns["position"]])
        clicked = _parsed_click(self._path, line, cells[columns["click"]])
        session = cells[columns["session"]] if "session" in columns else ""
        if "propensity" in columns:
            self._propensities.append(
                _parsed_propensity(self._path, line, cells[columns["propensity"]])
            )

        # The number of the result list; it is found before the row is
        # stored, as a new list may count the others.
        number = self._list(session, query, position)
        query_number = self._queries.setdefault(query, len(self._queries))
        document_number = self._documents.setdefault(document, len(self._documents))
        self._n_clicks += clicked
        for column, value in zip(
            self._rows,
            (line, number, query_number, document_number, position, clicked),
            strict=True,
        ):
            column.append(value)

    def _list(self, session: str, query: str, position: int) -> int:
        """Return the number, from 0, of the result list of a shown document.

        A list has the documents of a session and query. Without
        sessions, a new list begins with another query, or where
        positions do not increase.

        When a new list begins and enough documents have been read, the
        lists before it are counted.
        """
        has_sessions = "session" in self._columns
        if has_sessions and self._at_once:
            number = self._sessions.setdefault((session, query), len(self._sessions))
            self._n_lists = len(self._sessions)
            return number
        begins_list = True
        if self._last_row is not None:
            last_session, last_query, last_position = self._last_row
            is_same_query = (last_session, last_query) == (session, query)
            begins_list = not is_same_query or (
                not has_sessions and position <= last_position
            )
        self._last_row = (session, query, position)
        if begins_list:
            if len(self._rows[0]) >= _DOCUMENTS_PER_BLOCK:
                # The propensity of the present line is already read, its row is not.
                self._count(keep_last=len(self._propensities) > len(self._rows[0]))
            self._n_lists += 1
            if has_sessions:
                self._hashes.append(hash((session, query)))
        return self._n_lists - 1

    def _count(self, *, keep_last: bool = False) -> None:
        """Count the impressions and pairs in the result lists read so far, and clear these.

        An impression is a document that was shown at a position. A pair
        is a clicked document and another one of its list, to which it
        is preferred.

        With ``keep_last``, the last propensity belongs to the next list and is kept.
        """
        # One row for each document, with the columns `_LINE`, `_LIST` and so on.
        table = np.array([np.frombuffer(column, np.int64) for column in self._rows]).T

        # The propensity of a line is stored before its row, so that
        # there may be one more than rows.
        propensities = np.frombuffer(self._propensities, np.float64)[
            : len(table)
        ].copy()
        self._rows = tuple(array("q") for _ in range(6))
        self._propensities = (
            self._propensities[len(table) :] if keep_last else array("d")
        )

        # Lists whose lines are mixed become consecutive.
        order = np.argsort(table[:, _LIST], kind="stable")
        table = table[order]
        self._check_lists(table)
        ones = np.ones(len(table))
        self._shown.add(
            keys=table[:, _QUERY : _POSITION + 1],  # query, document and position
            sums=np.column_stack([ones, table[:, _CLICKED]]),
            lines=table[:, _LINE],
        )
        winner, loser = _clicked_pairs(table, self._rule.pairs)

        # Propensities already account for the position, so that pairs
        # are not counted by position.
        position = (
            np.zeros_like(winner)
            if self._uses_propensities
            else table[winner, _POSITION]
        )
        keys = np.column_stack(
            [
                table[winner, _QUERY],
                table[winner, _DOCUMENT],
                table[loser, _DOCUMENT],
                position,
            ]
        )
        weight = (
            1.0 / propensities[order][winner]
            if self._uses_propensities
            else ones[winner]
        )
        self._pairs.add(keys, weight[:, None], table[winner, _LINE])

    def _cells(self, line: int, content: str) -> list[str]:
        """Return the cells of a line; FormatError if it is no CSV."""
        try:
            cells = next(csv.reader([content], delimiter=self._delimiter, strict=True))
        except csv.Error:
            raise line_error(self._path, line, content, _EXPECTED_COLUMNS) from None
        return [unguarded(cell.strip()).strip() for cell in cells]

    def _check_lists(self, table: Ints) -> None:
        """Raise FormatError for a list with a document or a position twice.

        ``table`` has shape (documents, 6), with the columns `_LINE`, `_LIST` and so on.
        """
        for column, noun in ((_DOCUMENT, "document"), (_POSITION, "position")):
            # by list, then by document or position
            order = np.lexsort((table[:, column], table[:, _LIST]))
            ordered = table[order]
            is_same_list = np.diff(ordered[:, _LIST]) == 0
            is_repeated = is_same_list & (np.diff(ordered[:, column]) == 0)
            if is_repeated.any():
                # the first row that the next row repeats
                row = int(np.argmax(is_repeated))
                line = int(max(ordered[row, _LINE], ordered[row + 1, _LINE]))
                content = next(islice(streamed_lines(self._path), line - 1, None))
                raise line_error(
                    self._path, line, content, f"each {noun} once in a result list"
                )


class _Counts:
    """Adds up numbers by keys: rows with the same key become one row with the sums of their numbers.

    Parameters
    ----------
    n_keys, n_sums : int
        Numbers of columns of a key, and of numbers to add up.
    """

    def __init__(self, n_keys: int, n_sums: int) -> None:
        empty = np.zeros((0, n_keys), dtype=np.int64)
        self._parts = [(empty, np.zeros((0, n_sums)), np.zeros(0, dtype=np.int64))]

    def add(self, keys: Ints, sums: Floats, lines: Ints) -> None:
        """Add l rows: their keys (l, n_keys), numbers to add up (l, n_sums), and lines in the file (l,).

        Rows with equal keys become one row with the sum of their
        numbers. The first one of their lines is kept.
        """
        self._parts.append(self._merged([(keys, sums, lines)]))
        if len(self._parts) > _MAX_PARTS:
            self._parts = [self._merged(self._parts)]

    def result(self) -> tuple[Ints, Floats, Ints]:
        """Return the distinct keys in ascending order, their sums, and their first lines."""
        return self._merged(self._parts)

    @staticmethod
    def _merged(parts: list[tuple[Ints, Floats, Ints]]) -> tuple[Ints, Floats, Ints]:
        """Return several parts, each (keys, sums, lines) with a row per key, merged into one such part.

        Equal keys become one row, with the sums of their numbers and their first line.
        """
        keys, sums, lines = (
            np.concatenate(arrays) for arrays in zip(*parts, strict=True)
        )
        if not len(keys):
            return keys, sums, lines

        # Sort by the first column, then by the second, and so on;
        # lexsort() sorts by its last key first.
        order = np.lexsort(keys.T[::-1])
        keys = keys[order]
        begins = np.flatnonzero(
            np.append(True, (np.diff(keys, axis=0) != 0).any(axis=1))
        )
        sums = np.add.reduceat(sums[order], begins, axis=0)
        return keys[begins], sums, np.minimum.reduceat(lines[order], begins)


def _clicked_pairs(table: Ints, rule: PairRule) -> tuple[Ints, Ints]:
    """Return the pairs of documents of which one is preferred: rows of the winners, and rows of the losers.

    ``table`` has a row per shown document, sorted by result list. A
    clicked document wins over each unclicked one of its list or, by the
    rule "skipped", over those above it.
    """
    begins = np.flatnonzero(np.diff(table[:, _LIST], prepend=-1))
    sizes = np.diff(begins, append=len(table))
    list_of_row = np.repeat(np.arange(begins.size), sizes)
    clicked = np.flatnonzero(table[:, _CLICKED])

    # First pair each clicked document with all documents of its list.
    list_sizes = sizes[list_of_row[clicked]]
    winner = np.repeat(clicked, list_sizes)

    # Number of the first pair of each clicked document. The loser of
    # pair number p is the row p - (that number) behind the first row of
    # the list.
    first_pairs = np.cumsum(list_sizes) - list_sizes
    loser = np.repeat(
        begins[list_of_row[clicked]] - first_pairs, list_sizes
    ) + np.arange(winner.size)
    is_pair = table[loser, _CLICKED] == 0
    if rule == "skipped":
        is_pair &= table[loser, _POSITION] < table[winner, _POSITION]
    return winner[is_pair], loser[is_pair]


def _parsed_position(path: Path, line: int, cell: str) -> int:
    """Return the position in a cell; FormatError if it is no whole number from 1."""
    value = number(cell)
    if value is None or not 1 <= value <= _MAX_POSITION or value != int(value):
        raise line_error(
            path, line, cell, f"a position, a whole number from 1 to {_MAX_POSITION:,}"
        )
    return int(value)


def _parsed_click(path: Path, line: int, cell: str) -> bool:
    if cell not in ("0", "1"):
        raise line_error(path, line, cell, "0 or 1 as the click")
    return cell == "1"


def _parsed_propensity(path: Path, line: int, cell: str) -> float:
    """Return the propensity in a cell; FormatError if it is no probability."""
    value = number(cell)
    if value is None or not _MIN_PROPENSITY <= value <= 1:
        raise line_error(
            path, line, cell, f"a propensity from {_MIN_PROPENSITY:g} to 1"
        )
    return value


def estimate_bias(log: Impressions) -> PositionBias:
    """Estimate η from documents that were shown at several positions for the same query.

    The model: a document is clicked at a position with probability
    position^-η times its attractiveness. Given the number of clicks on
    a document, the positions of these clicks do not depend on its
    attractiveness. They are distributed like its impressions, weighted
    by position^-η (for rare clicks, whose number is Poisson
    distributed). η maximizes this conditional likelihood, which is
    concave.

    The changes of position in the log replace the swap experiments of
    Joachims et al. (2017), as in Agarwal et al. (2019), "Estimating
    Position Bias without Intrusive Interventions". Wang et al. (2018),
    "Position Bias Estimation for Unbiased Learning to Rank in Personal
    Search", estimate propensities by expectation maximization instead.

    Raises
    ------
    PositionBiasError
        If no clicked document was shown at several positions, or the
        likelihood grows beyond η = 10.

    Notes
    -----
    O(l) for each of some ten steps. η is not below 0.
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - scipy, where it is needed

    key = log.query * (int(log.document.max(initial=0)) + 1) + log.document
    _, group = np.unique(key, return_inverse=True)  # a group is a document of a query

    # Only documents that were clicked, and shown at several positions,
    # have information on η.
    clicks = np.bincount(group, log.clicked)
    log_position = np.log(log.position)
    least = np.full(clicks.size, np.inf)
    greatest = np.full(clicks.size, -np.inf)
    np.minimum.at(least, group, log_position)
    np.maximum.at(greatest, group, log_position)
    is_useful_group = (clicks > 0) & (greatest > least)
    if not is_useful_group.any():
        raise PositionBiasError(
            tr(
                "η cannot be estimated: no clicked document is shown at several positions. Give η instead."
            )
        )

    # Leave the other documents out, and number the groups that remain.
    is_useful = is_useful_group[group]
    log_position = log_position[is_useful]
    clicked = log.clicked[is_useful]
    impressions = log.shown[is_useful]
    _, group = np.unique(group[is_useful], return_inverse=True)
    clicks = clicks[is_useful_group]

    def moments(eta: float) -> tuple[Floats, Floats]:
        """Return mean and variance, (documents,), of the log position of a click on each document.

        A click's position is distributed like impressions times
        position^-η. The arrays ``impressions``, ``group`` (the number
        of the document) and ``log_position`` of the enclosing function
        are by document and position.
        """
        weight = impressions * np.exp(-eta * log_position)
        total = np.bincount(group, weight)
        mean = np.bincount(group, weight * log_position) / total
        return mean, np.bincount(
            group, weight * (log_position - mean[group]) ** 2
        ) / total

    def slope(eta: float) -> float:
        """Return the derivative of the conditional log likelihood."""
        mean, _ = moments(eta)
        return float(clicks @ mean - log_position @ clicked)

    # The likelihood is concave, so that its maximum is the zero of the
    # slope, or η = 0 if it only falls.
    if slope(_MAX_ETA) > 0:
        text = tr("η cannot be estimated: it would exceed {most:g}. Give η instead.")
        raise PositionBiasError(text.format(most=_MAX_ETA))
    eta = float(brentq(slope, 0.0, _MAX_ETA, xtol=1e-12)) if slope(0.0) > 0 else 0.0

    # The error is that of the maximum likelihood estimate.
    _, variance = moments(eta)
    information = float(clicks @ variance)  # the negative second derivative at η
    return PositionBias(
        eta,
        error=information**-0.5,
        n_documents=int(is_useful_group.sum()),
    )


def click_pairs(log: ClickLog, bias: PositionBias | None) -> ClickPairs:
    """Return the preferences of a log, weighted by the inverse propensity of the clicked document.

    A propensity is the probability that a user sees the document's position.

    The pairs of the rule "unclicked" with these weights give the loss
    of propensity SVM-rank (Joachims, Swaminathan and Schnabel 2017,
    section 5). The pairs of the rule "skipped" are those of Joachims
    (2002).

    Parameters
    ----------
    log : ClickLog
        Counts of the clicks.
    bias : PositionBias or None
        Power law of the propensities; None if the weights in the log
        already are those of a column of propensities.

    Raises
    ------
    DatasetError
        If no click gives a preference.
    """
    # The inverse propensity of the clicked position is position^η;
    # given propensities are in the weights already.
    pairs = log.pairs
    if not pairs.line.size:
        raise DatasetError(
            tr(
                "Clicks: found no clicked document with an unclicked one to compare it with."
            )
        )
    weight = pairs.weight
    if bias is not None:
        weight = weight * pairs.position.astype(np.float64) ** bias.eta
    if float(weight.sum()) > GREATEST:
        raise DatasetError(
            tr("Clicks: the weights exceed {most:g}. Choose a smaller η.").format(
                most=GREATEST
            )
        )

    # The same pair at several positions becomes one preference with the
    # sum of their weights.
    counts = _Counts(n_keys=3, n_sums=1)
    counts.add(
        np.column_stack([pairs.query, pairs.winner, pairs.loser]),
        weight[:, None],
        pairs.line,
    )
    keys, summed, line = counts.result()
    query, winner, loser = keys.T.copy()
    return ClickPairs(line, query, winner, loser, summed[:, 0])
