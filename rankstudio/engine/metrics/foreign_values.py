"""Foreign measures in each query of some rankings: Python functions compute them, not the kernels."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import Cancelled, MeasureError, PlanError, one_line, shown
from rankstudio.engine.language import tr
from rankstudio.engine.metrics._kernels import Codes
from rankstudio.engine.metrics.conventions import Convention, Ties
from rankstudio.engine.metrics.names import Measure
from rankstudio.engine.plugins.guard import PRINTED_TO_STDERR, failure
from rankstudio.engine.support.stop_request import stop_if_asked

MOST_ORDERS = 720
"""Maximum number of orders of equal scores over which a function is averaged.

If there are more orders, this number of them is drawn.
"""

_RANGE_TOLERANCE = 1e-9  # by which rounding may exceed the range of a measure


class ForeignValues:
    """Computes foreign measures of rankings of the same documents.

    Parameters
    ----------
    measures : sequence of Measure
    indices : sequence of int
        Positions of the measures among the evaluator's measures.
    labels : ndarray of shape (m,)
        Labels of the documents.
    query_ptr : ndarray of shape (Q + 1,)
    convention : Convention
    greatest_grade : float
        Grade of the dataset.
    """

    def __init__(
        self,
        measures: Sequence[Measure],
        indices: Sequence[int],
        labels: Floats,
        query_ptr: Ints,
        convention: Convention,
        greatest_grade: float,
    ) -> None:
        """Import the functions of the measures; ``indices`` are their positions among all measures.

        ``labels`` (m,) are those of the documents, and ``query_ptr`` (Q
        + 1,) the first document of each query. ``greatest_grade`` is
        the greatest label of the dataset; if the convention has a
        greatest grade, that one is used.
        """
        # The functions get the greatest grade as part of the convention.
        grade = convention.greatest_grade or greatest_grade
        rules = replace(convention, greatest_grade=grade)
        self._functions = [_Function.of(m, rules) for m in measures]
        self._indices = indices
        self._distinct_labels = np.unique(labels)
        self._query_ptr = query_ptr
        self._averages_ties = convention.ties is Ties.AVERAGED

    def measure(
        self, ranked: Codes, begins: Ints, ends: Ints, *, backwards: bool, out: Floats
    ) -> None:
        """Write the measures of some rankings of each query to their positions in ``out``.

        Parameters
        ----------
        ranked : ndarray of shape (K, m)
            Labels in ranked order, with marks of ties, as
            :func:`rankstudio.engine.metrics.evaluator.rank` returns them.
        begins, ends : ndarray of shape (Q,)
            First row to measure, and last row + 1, for each query.
        backwards : bool
            Whether documents with equal scores are in the reverse order in the ranking.
        out : ndarray of shape (M, K, Q)
            Values of all M measures.

        Raises
        ------
        MeasureError
            If a function fails, or returns no number.
        Cancelled
            If a stop was requested.
        """
        # What the functions print goes to standard error.
        with PRINTED_TO_STDERR:
            for query, (first, stop) in enumerate(pairwise(self._query_ptr.tolist())):
                previous_codes: Codes | None = None
                for row in range(int(begins[query]), int(ends[query])):
                    codes = ranked[row, first:stop]
                    # Neighbouring models often rank a query alike: no call is needed.
                    if previous_codes is not None and np.array_equal(
                        codes, previous_codes
                    ):
                        out[self._indices, row, query] = out[
                            self._indices, row - 1, query
                        ]
                    else:
                        out[self._indices, row, query] = self._values_of_query(
                            codes, backwards
                        )
                    previous_codes = codes

    def _values_of_query(self, codes: Codes, backwards: bool) -> list[float]:
        """Return the value of each measure for the ranking of one query, by the codes (n,) of its documents.

        If ``backwards``, documents with equal scores are in the reverse order.
        """
        stop_if_asked()  # raises Cancelled
        lengths = tie_lengths(codes)  # of documents with equal scores
        labels = self._distinct_labels[codes >> 1]  # the lowest bit marks ties
        if backwards:
            labels = _with_ties_reversed(labels, lengths)
        return [
            function.value(labels, lengths, averaged=self._averages_ties)
            for function in self._functions
        ]


class _Function(NamedTuple):
    """The function of a measure, with the arguments that it takes besides the labels."""

    measure: Measure
    call: Callable[..., Any]
    settings: dict[str, Any]
    takes_ties: bool

    @classmethod
    def of(cls, measure: Measure, convention: Convention) -> _Function:
        """Import the function of a measure, and return it with the arguments that it accepts.

        Besides the labels, these may be the cut-off of the measure, the
        convention, and the lengths of ties.
        """
        entry = measure.family.entry
        assert entry is not None  # only built-in measures have none
        call = entry.load()
        names = _accepted_names(call, entry.key)
        settings = {"cutoff": measure.cut, "convention": convention}
        return cls(
            measure=measure,
            call=call,
            settings={name: value for name, value in settings.items() if name in names},
            takes_ties="ties" in names,
        )

    def value(self, labels: Floats, lengths: Ints, *, averaged: bool) -> float:
        """Return the value for labels (n,) in ranked order, averaged over the orders of ties if requested.

        ``lengths`` are the numbers of documents with equal scores, from
        the first rank down; they add up to n.
        """
        # A function that knows the ties averages by itself.
        if self.takes_ties:
            return self._checked(labels, ties=tuple(lengths.tolist()))
        if not averaged or lengths.size == labels.size:
            return self._checked(labels)
        values = []
        for order in orders_of_ties(labels, lengths):
            stop_if_asked()
            values.append(self._checked(order))
        return math.fsum(values) / len(values)

    def _checked(self, labels: Floats, **ties: tuple[int, ...]) -> float:
        """Call the function of a measure with the labels (n,) of a query in ranked order, and return its value.

        ``ties`` is the lengths of ties as a keyword, if the function
        accepts them. Raise MeasureError if the function fails or
        returns an invalid value.
        """
        labels = labels.copy()  # the next measure reads the same labels
        labels.flags.writeable = False
        try:
            value = self.call(labels, **self.settings, **ties)
            number = float(value) if _is_number(value) else None
        except (KeyboardInterrupt, MemoryError, Cancelled):
            raise
        except (
            BaseException
        ) as error:  # foreign code may raise anything, SystemExit included
            raise MeasureError(self.measure.name, failure(error)) from error
        if number is None:
            text = tr("expected a number, got {value}").format(value=_value_text(value))
            raise MeasureError(self.measure.name, text)
        problem = self._problem(number)
        if problem:
            raise MeasureError(self.measure.name, problem)
        return number

    def _problem(self, value: float) -> str:
        """Return the reason to refuse a value of the function, "" if there is none.

        The value has to be finite, and in the range that the measure declares.
        """
        entry = self.measure.family.entry
        assert entry is not None  # only built-in measures have none
        if not math.isfinite(value):
            return tr("expected a finite number, got {value}").format(value=value)
        if not entry.low - _RANGE_TOLERANCE <= value <= entry.high + _RANGE_TOLERANCE:
            text = tr("expected a number from {low:g} to {high:g}, got {value}")
            return text.format(low=entry.low, high=entry.high, value=value)
        return ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number | np.bool_) and not isinstance(
        value, complex
    )


def _value_text(value: object) -> str:
    """Return the text of a value of foreign code for a message.

    Return the name of its type if this fails.
    """
    try:
        return one_line(" ".join(shown(value).split()))
    except Exception:  # foreign code may raise anything
        return type(value).__name__


def _accepted_names(call: Callable[..., Any], key: str) -> set[str]:
    """Return the names among cutoff, convention and ties that a function accepts as arguments.

    ``key`` is that of the measure, for the error.

    Raises
    ------
    PlanError
        If the function cannot be called with labels and these arguments only.
    """
    offered = {"cutoff", "convention", "ties"}  # besides the labels
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except (TypeError, ValueError):  # a compiled function has no signature
        return set()
    # The first parameter receives the labels.
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = {p.name for p in parameters[1:] if p.kind in named} & offered
    # The function may not need anything that is not offered.
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [
        p.name
        for p in parameters[1:]
        if p.default is p.empty and p.kind not in variable
    ]
    takes_labels = (
        bool(parameters) and parameters[0].kind is not inspect.Parameter.KEYWORD_ONLY
    )
    if not takes_labels or set(needed) - names:
        text = tr(
            "The measure {name} cannot be called: expected a function of labels, and if needed of cutoff, "
            "convention and ties."
        )
        raise PlanError(text.format(name=key))
    return names


def tie_lengths(codes: Codes) -> Ints:
    """Return the number of documents with each score, from the first rank down.

    ``codes`` (n,) are a ranking of a query, whose lowest bits mark ties
    with the document before.
    """
    starts = np.flatnonzero((codes & 1) == 0)
    return np.diff(np.append(starts, codes.size))


def _with_ties_reversed(labels: Floats, lengths: Ints) -> Floats:
    """Return labels (n,) in ranked order with the documents of each tie reversed.

    ``lengths`` are the numbers of documents with equal scores, from the
    first rank down.
    """
    # Without ties, every length is 1.
    if lengths.size == labels.size:
        return labels
    ends = np.cumsum(lengths)
    return np.concatenate(
        [labels[end - n : end][::-1] for end, n in zip(ends, lengths, strict=True)]
    )


def orders_of_ties(labels: Floats, lengths: Ints) -> Iterator[Floats]:
    """Yield the different orders of labels within ties; if there are more than MOST_ORDERS, draw as many.

    ``labels`` (n,) are in ranked order, and ``lengths`` the numbers of
    documents with equal scores, from the first rank down. The different
    orders are equally probable. The drawn orders depend on the labels
    only.
    """
    ends = np.cumsum(lengths).tolist()
    ties = [
        labels[end - n : end] for end, n in zip(ends, lengths.tolist(), strict=True)
    ]
    if math.prod(map(_number_of_orders, ties)) <= MOST_ORDERS:
        yield from _combined_orders(ties)
        return
    # A fixed seed, so that equal rankings have equal values.
    random = np.random.default_rng(0)
    for _ in range(MOST_ORDERS):
        yield np.concatenate([random.permutation(tie) for tie in ties])


def _number_of_orders(tie: Floats) -> int:
    """Return how many different orders the labels of a tie have."""
    _, counts = np.unique(tie, return_counts=True)
    return math.factorial(tie.size) // math.prod(map(math.factorial, counts.tolist()))


def _combined_orders(ties: Sequence[Floats]) -> Iterator[Floats]:
    """Yield all combinations of the orders of several ties, each as one array of labels.

    A tie are documents with equal scores. ``ties`` has the labels of
    each tie, from the first rank down.
    """
    # Without ties left, there is one combination, of no documents.
    if not ties:
        yield np.empty(0)
        return
    for rest in _combined_orders(ties[1:]):
        for first in _distinct_orders(ties[0].tolist()):
            yield np.concatenate((first, rest))


def _distinct_orders(labels: list[float]) -> Iterator[list[float]]:
    """Yield the different orders of some labels; exchanging equal labels gives no other order."""
    if len(set(labels)) <= 1:
        yield labels
        return
    for label in sorted(set(labels)):
        rest = list(labels)
        rest.remove(label)
        for order in _distinct_orders(rest):
            yield [label, *order]
