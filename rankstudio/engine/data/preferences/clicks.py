"""Clicks with positions as weighted preferences: a clicked document over documents of the same result list.

A document at a low position is seen, and so clicked, less often than its relevance deserves. A preference
is therefore weighted by the inverse of the propensity of its clicked document: the probability that a
document at that position is examined (Joachims, Swaminathan and Schnabel 2017). Propensities are a column
of the log, or follow the usual power law, position^-η.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.data.preferences.preferences import GREATEST
from rankstudio.engine.data.source_file import TextLines, number
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.language import tr
from rankstudio.engine.support.escaping import unguarded

PairRule = Literal["unclicked", "skipped"]
PAIR_RULES: tuple[str, ...] = get_args(PairRule)
GIVEN, ESTIMATED = "given", "estimated"

_NAMES = {
    "session": ("session", "session_id", "list", "list_id"),
    "query": ("qid", "query_id", "query"),
    "document": ("docid", "doc_id", "document_id", "document", "doc"),
    "position": ("position", "rank", "pos"),
    "click": ("click", "clicked", "clicks"),
    "propensity": ("propensity",),
}
_NEEDED = ("query", "document", "position", "click")
_EXPECTED = "qid, docid, position and click, and optionally session and propensity"
_MOST_ETA = 10.0
_LEAST_PROPENSITY = 1e-6
_MOST_POSITION = 1_000_000


@dataclass(frozen=True)
class ClickRule:
    """How clicks become weighted preferences.

    Attributes
    ----------
    pairs : {"unclicked", "skipped"}
        A clicked document is preferred to each unclicked one of its list, or to each unclicked one above it.
    eta : str
        "given" for the column of propensities, "estimated" for the power law with η estimated from the log,
        or η as a number from 0 up; "" for "given" if the log has propensities, else "estimated".

    Raises
    ------
    ParameterError
        For another rule, or another η.
    """

    pairs: PairRule = "unclicked"
    eta: str = ""

    def __post_init__(self) -> None:
        if self.pairs not in PAIR_RULES:
            raise ParameterError("pairs", self.pairs, tr("one of {keys}").format(keys=", ".join(PAIR_RULES)))
        value = number(self.eta)
        if self.eta not in ("", GIVEN, ESTIMATED) and (value is None or not 0 <= value <= _MOST_ETA):
            expected = tr('"given", "estimated" or a number from 0 to {most:g}').format(most=_MOST_ETA)
            raise ParameterError("eta", self.eta, expected)


@dataclass(frozen=True)
class PositionBias:
    """The power law of a log: a document at a position is examined with probability position^-η.

    Attributes
    ----------
    eta : float
    error : float
        Standard error of an estimate; NaN for a given η.
    n_documents : int
        Clicked documents shown at several positions, from which η is estimated; 0 for a given η.
    """

    eta: float
    error: float = np.nan
    n_documents: int = 0


@dataclass(frozen=True, eq=False)
class ClickLog:
    """Result lists that were shown. Arrays of shape (l,), one value for each shown document, list by list.

    Attributes
    ----------
    line : ndarray
        Line in the file.
    lists : ndarray
        Number of the result list, ascending from 0.
    query, document : ndarray
        Positions in ``queries`` and ``documents``.
    position : ndarray
        From 1.
    clicked : ndarray of bool
    propensity : ndarray or None
        None without such a column.
    queries, documents : tuple of str
        Distinct names.
    """

    line: Ints
    lists: Ints
    query: Ints
    document: Ints
    position: Ints
    clicked: Bools
    propensity: Floats | None
    queries: tuple[str, ...]
    documents: tuple[str, ...]

    def bias(self, eta: str) -> PositionBias | None:
        """Return the power law of an η, as in :class:`ClickRule`; None for given propensities.

        Raises
        ------
        DatasetError
            If there is no column of propensities, or η cannot be estimated.
        """
        if eta == ESTIMATED:
            return estimate_bias(self)
        if eta == GIVEN:
            if self.propensity is None:
                raise DatasetError(tr("Clicks: found no column propensity. Give or estimate η."))
            return None
        return PositionBias(float(eta))


@dataclass(frozen=True, eq=False)
class ClickPairs:
    """Weighted preferences from clicks, each pair once. Arrays of shape (l,).

    Attributes
    ----------
    line : ndarray
        Line of a first click.
    query, winner, loser : ndarray
        Positions in the names of the log.
    weight : ndarray
        Sum of the inverse propensities of the clicks.
    """

    line: Ints
    query: Ints
    winner: Ints
    loser: Ints
    weight: Floats


def is_click_header(cells: Sequence[str]) -> bool:
    """Return whether the header of a table is that of a click log."""
    there = set(_places(cells))
    return there.issuperset(_NEEDED)


def _places(cells: Sequence[str]) -> dict[str, int]:
    """Return the columns of a header by what they are."""
    names = [cell.strip().strip('"').lower() for cell in cells]
    found = {what: next((names.index(n) for n in known if n in names), -1) for what, known in _NAMES.items()}
    return {what: place for what, place in found.items() if place >= 0}


def read_clicks(text: TextLines) -> ClickLog:
    """Read a click log: a table with a header, a line for each shown document.

    Without a column of sessions, a new result list begins with another query, or where the position does not
    increase.

    Raises
    ------
    FormatError
        At the first invalid line, and where a list has a document or a position twice.
    DatasetError
        If nothing was clicked.
    """
    filled = [(place, line) for place, line in enumerate(text.lines, start=1) if line.strip()]
    header = filled[0][1] if filled else ""
    delimiter = max(",;\t", key=header.count)
    places = _places(_cells(text, 1, header, delimiter)) if filled else {}
    if not set(places).issuperset(_NEEDED):
        raise text.error(filled[0][0] if filled else 1, header, _EXPECTED)
    query_numbers: dict[str, int] = {}
    document_numbers: dict[str, int] = {}
    sessions: dict[tuple[str, str], int] = {}
    rows: list[tuple[int, int, int, int, int, bool]] = []
    shares: list[float] = []
    before: tuple[str, int] | None = None
    n_lists = 0
    for line, content in filled[1:]:
        cells = _cells(text, line, content, delimiter)
        if len(cells) <= max(places.values()) or not (cells[places["query"]] and cells[places["document"]]):
            raise text.error(line, content, _EXPECTED)
        query, document = cells[places["query"]], cells[places["document"]]
        position = _whole(text, line, cells[places["position"]])
        clicked = _click(text, line, cells[places["click"]])
        if "session" in places:
            at = sessions.setdefault((cells[places["session"]], query), len(sessions))
        else:
            n_lists += before is None or before[0] != query or position <= before[1]
            at, before = n_lists - 1, (query, position)
        if "propensity" in places:
            shares.append(_propensity(text, line, cells[places["propensity"]]))
        q = query_numbers.setdefault(query, len(query_numbers))
        d = document_numbers.setdefault(document, len(document_numbers))
        rows.append((line, at, q, d, position, clicked))
    if not any(row[5] for row in rows):
        raise DatasetError(tr("{path}: found no click; expected at least one.").format(path=text.path))
    table = np.array(rows, dtype=np.int64)
    order = np.argsort(table[:, 1], kind="stable")
    table = table[order]
    _check_lists(text, table)
    line_of, lists, queries, documents, positions, clicks = table.T.copy()
    propensity = np.array(shares)[order] if shares else None
    names = tuple(query_numbers), tuple(document_numbers)
    return ClickLog(line_of, lists, queries, documents, positions, clicks.astype(bool), propensity, *names)


def _cells(text: TextLines, line: int, content: str, delimiter: str) -> list[str]:
    try:
        cells = next(csv.reader([content], delimiter=delimiter, strict=True))
    except csv.Error:
        raise text.error(line, content, _EXPECTED) from None
    return [unguarded(cell.strip()).strip() for cell in cells]


def _whole(text: TextLines, line: int, cell: str) -> int:
    value = number(cell)
    if value is None or not 1 <= value <= _MOST_POSITION or value != int(value):
        raise text.error(line, cell, f"a position, a whole number from 1 to {_MOST_POSITION:,}")
    return int(value)


def _click(text: TextLines, line: int, cell: str) -> bool:
    if cell not in ("0", "1"):
        raise text.error(line, cell, "0 or 1 as the click")
    return cell == "1"


def _propensity(text: TextLines, line: int, cell: str) -> float:
    value = number(cell)
    if value is None or not _LEAST_PROPENSITY <= value <= 1:
        raise text.error(line, cell, f"a propensity from {_LEAST_PROPENSITY:g} to 1")
    return value


def _check_lists(text: TextLines, table: Ints) -> None:
    """Refuse a list with a document or a position twice."""
    for column, what in ((3, "document"), (4, "position")):
        order = np.lexsort((table[:, column], table[:, 1]))
        one = table[order]
        twice = np.flatnonzero((np.diff(one[:, 1]) == 0) & (np.diff(one[:, column]) == 0))
        if twice.size:
            line = int(max(one[twice[0], 0], one[twice[0] + 1, 0]))
            raise text.error(line, text.lines[line - 1], f"each {what} once in a result list")


def estimate_bias(log: ClickLog) -> PositionBias:
    """Estimate η from documents that were shown at several positions for the same query.

    If a document is clicked at a position with probability position^-η times its own attractiveness, the
    positions of its clicks, given their number, say nothing of its attractiveness: they are distributed like
    its impressions, weighted by position^-η (for rare clicks, whose number is Poisson distributed). η
    maximises this conditional likelihood, which is concave. The changes of position in the log replace the
    swap experiments of Joachims et al. (2017), as in Agarwal et al. (2019), "Estimating Position Bias without
    Intrusive Interventions"; Wang et al. (2018), "Position Bias Estimation for Unbiased Learning to Rank in
    Personal Search", estimate propensities by expectation maximisation instead.

    Raises
    ------
    DatasetError
        If no clicked document was shown at several positions, or the likelihood grows beyond η = 10.

    Notes
    -----
    O(l) for each of some ten steps. η is not below 0.
    """
    from scipy.optimize import brentq  # noqa: PLC0415 - scipy, where it is needed

    key = log.query * len(log.documents) + log.document
    _, place = np.unique(key, return_inverse=True)
    clicks = np.bincount(place, log.clicked)
    depth = np.log(log.position)
    low, high = np.full(clicks.size, np.inf), np.full(clicks.size, -np.inf)
    np.minimum.at(low, place, depth)
    np.maximum.at(high, place, depth)
    useful = (clicks > 0) & (high > low)
    if not useful.any():
        raise DatasetError(
            tr("η cannot be estimated: no clicked document is shown at several positions. Give η instead.")
        )
    kept = useful[place]
    depth, clicked = depth[kept], log.clicked[kept]
    _, place = np.unique(place[kept], return_inverse=True)
    clicks = clicks[useful]

    def moments(eta: float) -> tuple[Floats, Floats]:
        """Return mean and variance of the log position of a click on each document."""
        weight = np.exp(-eta * depth)
        total = np.bincount(place, weight)
        mean = np.bincount(place, weight * depth) / total
        return mean, np.bincount(place, weight * (depth - mean[place]) ** 2) / total

    def slope(eta: float) -> float:
        return float(clicks @ moments(eta)[0] - depth[clicked].sum())

    if slope(_MOST_ETA) > 0:
        text = tr("η cannot be estimated: it would exceed {most:g}. Give η instead.")
        raise DatasetError(text.format(most=_MOST_ETA))
    eta = float(brentq(slope, 0.0, _MOST_ETA, xtol=1e-12)) if slope(0.0) > 0 else 0.0
    information = float(clicks @ moments(eta)[1])
    return PositionBias(eta, information**-0.5, int(useful.sum()))


def click_pairs(log: ClickLog, rule: PairRule, bias: PositionBias | None) -> ClickPairs:
    """Return the preferences of a log, weighted by the inverse propensity of the clicked document.

    Parameters
    ----------
    log : ClickLog
    rule : {"unclicked", "skipped"}
        See :class:`ClickRule`. "unclicked" with these weights is the loss of propensity SVM-rank (Joachims,
        Swaminathan and Schnabel 2017, section 5); "skipped" are the pairs of Joachims (2002).
    bias : PositionBias or None
        None for the propensities of the log.

    Raises
    ------
    DatasetError
        If no click gives a preference.

    Notes
    -----
    O(cs) for c clicks in lists of s documents.
    """
    if bias is None:
        assert log.propensity is not None  # `ClickLog.bias` has checked it
        weight = 1.0 / log.propensity
    else:
        weight = log.position.astype(np.float64) ** bias.eta
    begins = np.flatnonzero(np.diff(log.lists, prepend=-1))
    sizes = np.diff(begins, append=log.lists.size)
    number_of = np.repeat(np.arange(begins.size), sizes)
    clicked = np.flatnonzero(log.clicked)
    own = sizes[number_of[clicked]]
    winner = np.repeat(clicked, own)
    first = np.cumsum(own) - own
    loser = np.repeat(begins[number_of[clicked]] - first, own) + np.arange(winner.size)
    kept = ~log.clicked[loser]
    if rule == "skipped":
        kept &= log.position[loser] < log.position[winner]
    winner, loser = winner[kept], loser[kept]
    if not winner.size:
        raise DatasetError(tr("Clicks: found no clicked document with an unclicked one to compare it with."))
    n = len(log.documents)
    key = (log.query[winner] * n + log.document[winner]) * n + log.document[loser]
    key, at, place = np.unique(key, return_index=True, return_inverse=True)
    pair, lost = np.divmod(key, n)
    query, won = np.divmod(pair, n)
    if float(weight.max()) * winner.size > GREATEST:
        raise DatasetError(
            tr("Clicks: the weights exceed {most:g}. Choose a smaller η.").format(most=GREATEST)
        )
    summed: Floats = np.bincount(place, weight[winner]).astype(np.float64)
    return ClickPairs(log.line[winner[at]], query, won, lost, summed)
