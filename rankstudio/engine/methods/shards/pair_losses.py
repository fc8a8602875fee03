"""Losses over the pairs of all shards, as sums: values, gradients, planes and products with the Hessian."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from rankstudio.engine.arithmetic._rows_kernel import dot
from rankstudio.engine.arithmetic.linear_scores import Tangent
from rankstudio.engine.arithmetic.optimisers.pair_problem import (
    LineOfScores,
    LineValue,
    LocalPairs,
    PairProblem,
    gram_or_diagonal,
)
from rankstudio.engine.arithmetic.pair_losses import LinearPairs, LossAtScores, PairLoss
from rankstudio.engine.arithmetic.pairs import (
    Hinge,
    Pairs,
    PairWeighting,
    PreferencePairs,
)
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.sparse_pairs import SparseLinearPairs
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.memory_need import PAIRS
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.training_data import ShardSession, TrainingData
from rankstudio.engine.methods.shards.work import Greatest, StateWork
from rankstudio.engine.support.threads import pool
from rankstudio.engine.support.work import Waiting

# Maximum number of documents of a shard from which the preconditioner is estimated.
_MAX_SAMPLE = 4_096

_PROGRESS_TEXT = "learning from pairs"


class _Message(Protocol):
    """Message to all shards that requests sums over their pairs."""

    def of(self, state: _PairState, problem: _LinearPairs) -> tuple[Any, ...]:
        """Return the summands of a shard that the message requests.

        ``state`` is that of the shard, and ``problem`` has its pairs
        and features. A shard is a part of the data with whole queries.
        """


@dataclass(frozen=True, eq=False)
class _LossAt:
    """Requests a loss at weights w (n,), and its gradient if ``slopes``."""

    loss: PairLoss
    w: Floats
    slopes: bool

    def of(self, state: _PairState, problem: _LinearPairs) -> tuple[Any, ...]:
        """Return the numbers of the shard's loss in one array, its gradient (n,), and the largest score.

        The numbers are the loss, the number of pairs with curvature,
        and the two hinge losses from which a smoothed hinge is
        computed. The gradient is 0 if it is not requested. Of the
        largest absolute scores of the shards, the greatest counts, and
        not their sum. ``state`` caches the last loss, and ``problem``
        has the pairs and features. A shard is a part of the data with
        whole queries.
        """
        smooth = state.smooth(problem, self.loss, self.w)
        # From derivatives by scores (m,) to those by weights (n,).
        gradient = (
            problem.weigh(smooth.slopes) if self.slopes else np.zeros_like(self.w)
        )
        return (
            np.array([smooth.loss, smooth.n_curved, *smooth.hinges]),
            gradient,
            Greatest(np.array([smooth.largest])),
        )


@dataclass(frozen=True, eq=False)
class _CurvatureAt:
    """Requests the Hessian of a loss at weights w (n,), times v (n,)."""

    loss: PairLoss
    w: Floats
    v: Floats

    def of(self, state: _PairState, problem: _LinearPairs) -> tuple[Any, ...]:
        return (problem.curvature(state.smooth(problem, self.loss, self.w), self.v),)


@dataclass(frozen=True, eq=False)
class _HingeAt:
    """Requests the tangent plane of the hinge at weights w (n,)."""

    w: Floats

    def of(self, state: _PairState, problem: _LinearPairs) -> tuple[Any, ...]:
        """Return the shard's loss and offset as one array, and the slopes (n,).

        ``problem`` has the pairs of the shard; ``state`` is not used. A
        shard is a part of the data with whole queries.
        """
        hinge = problem.pairs.hinge(problem.scores(self.w))
        return np.array([hinge.loss, hinge.offset]), problem.weigh(hinge.slopes)


class _LineScores(NamedTuple):
    """Scores of a line w + t p of weights.

    ``scores`` and ``d`` (m,) are the scores of w and of p, ``order``
    (m,) sorts the scores of w, and ``at_start`` are the
    :func:`_line_numbers` at t = 0.
    """

    scores: Floats
    d: Floats
    order: Ints
    at_start: Floats


@dataclass(frozen=True, eq=False)
class _HingeOnLine:
    """Message that requests the hinge at weights w + t p (n,), its derivative in t, and its plane if ``plane``.

    The plane is the tangent of the hinge loss at these weights. A line
    search reads the features only once for w and once for p, for any
    number of t.
    """

    w: Floats
    p: Floats
    t: float
    plane: bool

    def of(self, state: _PairState, problem: _LinearPairs) -> tuple[Any, ...]:
        """Return the shard's hinge, offset and derivative in t as one array, and the plane's slopes (n,).

        ``state`` caches what all t have in common, and ``problem`` has
        the pairs. The plane is the tangent of the hinge loss at these
        weights; its slopes are 0 if it is not requested. A shard is a
        part of the data with whole queries.
        """
        # Scores at t = 0 and their changes with t, from which all t follow.
        line = state.line(problem, self.w, self.p)
        if self.t == 0.0 and not self.plane:
            return line.at_start, np.zeros_like(self.w)
        hinge = problem.pairs.hinge_from(line.order, line.scores + self.t * line.d)
        gradient = problem.weigh(hinge.slopes) if self.plane else np.zeros_like(self.w)
        return _line_numbers(hinge, line.d), gradient


def _line_numbers(hinge: Hinge, d: Floats) -> Floats:
    """Return the hinge's loss and offset, and its derivative along a direction, as an array (3,).

    Along the direction, the scores change by ``d`` (m,).
    """
    return np.array([hinge.loss, hinge.offset, dot(hinge.slopes, d)])


@dataclass(frozen=True)
class _Count:
    """Requests the number of pairs."""

    def of(self, state: _PairState, problem: _LinearPairs) -> tuple[Any, ...]:
        return (np.array([float(problem.pairs.n_pairs)]),)


@dataclass(frozen=True)
class _DegreeGram:
    """Requests :meth:`PairProblem.degree_gram`, estimated from evenly spaced documents."""

    def of(self, state: _PairState, problem: _LinearPairs) -> tuple[Any, ...]:
        # Each document of the sample counts for `step` documents.
        step = -(-problem.X.shape[0] // _MAX_SAMPLE)  # rounded up
        rows: Ints = np.arange(0, problem.X.shape[0], step)
        degrees = step * problem.pairs.degrees[rows]
        return (gram_or_diagonal(problem.centred(rows) * np.sqrt(degrees)[:, None]),)


class _Pairs(Pairs):
    """Pairs whose sums do not depend on earlier calls, not even in their last bits.

    Sorting always starts from the same order, not from that of the previous scores.
    """

    def __init__(self, y: Floats, ptr: Ints, weighting: PairWeighting | None) -> None:
        super().__init__(y, ptr, weighting=weighting)
        self._initial_order = self._order

    def hinge_and_order(self, scores: Floats) -> tuple[Hinge, Ints]:
        """Return the hinge loss at scores (m,), and the documents of each query in the order of these, (m,)."""
        hinge = self.hinge(scores)
        return hinge, self._order

    def hinge_from(self, order: Ints, scores: Floats) -> Hinge:
        """Return the hinge loss of scores (m,) of documents.

        Sorting starts from ``order`` (m,), which nearly sorts the
        scores. Afterwards, the order from which other calls start is
        the same as before, so that their results do not depend on this
        call.
        """
        # `hinge` sorts from this order, and replaces it by the new one.
        initial_order = self._initial_order
        self._initial_order = order
        try:
            return self.hinge(scores)
        finally:
            self._initial_order = initial_order

    def _next_order(self, scores: Floats) -> Ints:
        # Not from the order of the last call.
        self._order = self._initial_order
        return super()._next_order(scores)


class _LinearPairs(LinearPairs):
    """The pairs of a shard with the scores of linear models."""

    pairs: _Pairs


class _PairState:
    """State of a shard, a part of the queries: the pairs of documents of one query with different labels.

    The pairs and the last loss are cached only to save time: results
    depend only on the message.
    """

    def __init__(
        self, data: QueryData, scratch: Scratch, weighting: PairWeighting | None
    ) -> None:
        """Start without pairs, which the first message makes.

        ``scratch`` allocates memory for the shard, and ``weighting``
        weighs the pairs, None all equally. ``data`` has the documents
        of the shard. A shard is a part of the data with whole queries.
        """
        self._scratch = scratch
        self._weighting = weighting
        # Whether memory allows to keep the pairs between messages.
        self._keeps_pairs = scratch.keeps(PAIRS * data.y.size)
        self._pairs: _Pairs | None = None
        # The last results, each with the key of the request.
        self._last_loss: tuple[Any, LossAtScores] | None = None
        self._line_arrays: Floats | None = None  # memory of the last line's scores
        self._last_line: tuple[Any, _LineScores] | None = None

    def step(self, data: QueryData, message: _Message) -> tuple[Any, ...]:
        """Return the shard's summands for a message that requests sums over its pairs.

        The pairs are made anew for each message if memory does not
        allow to store them. ``data`` has the documents of the shard. A
        shard is a part of the data with whole queries.
        """
        pairs = self._pairs or _Pairs(data.y, data.ptr, self._weighting)
        # The message itself says what to compute.
        answer = message.of(self, _LinearPairs(data.X, pairs))
        if self._keeps_pairs:
            self._pairs = pairs
        else:
            # The last loss refers to the pairs, and would keep them in memory.
            self._last_loss = None
        return answer

    def smooth(self, problem: _LinearPairs, loss: PairLoss, w: Floats) -> LossAtScores:
        """Return a smooth loss of the shard's pairs at weights w (n,); the last result is cached.

        ``problem`` has the pairs and the features of the shard's
        documents. A shard is a part of the data with whole queries.
        """
        key = loss, w.tobytes()
        if self._last_loss is None or self._last_loss[0] != key:
            # The memory of the last loss is released before the next one is computed.
            self._last_loss = None
            self._last_loss = key, loss(problem.pairs, problem.scores(w))
        return self._last_loss[1]

    def line(self, problem: _LinearPairs, w: Floats, p: Floats) -> _LineScores:
        """Return the documents' scores at weights w (n,), and how they change along a direction p (n,).

        The scores on the line w + t p follow for every t. The result
        also has the order of the scores at t = 0 and the hinge loss
        there. The last result is cached.
        """
        key = w.tobytes(), p.tobytes()
        if self._last_line is None or self._last_line[0] != key:
            if self._line_arrays is None:
                self._line_arrays = self._scratch.empty(3, problem.X.shape[0])
            scores, d, third_array = self._line_arrays
            # The integers of the order have 8 bytes, as have the floats of the array.
            order = third_array.view(np.int64)
            scores[:] = problem.scores(w)
            d[:] = problem.scores(p)
            # The numbers at t = 0 are the hinge loss, its offset and
            # its derivative.
            hinge, order[:] = problem.pairs.hinge_and_order(scores)
            self._last_line = (
                key,
                _LineScores(scores, d, order, at_start=_line_numbers(hinge, d)),
            )
        return self._last_line[1]


@dataclass(frozen=True, eq=False)
class SummedLoss:
    """A differentiable pairwise loss at some weights, summed over all shards: a ``SmoothLoss``.

    A shard is a part of the data with whole queries.

    Attributes
    ----------
    at : PairLoss
        The loss of a pair.
    w : ndarray of shape (n,)
        The weights.
    loss, n_curved, hinges, largest
        Value of the loss, the number of pairs with a second derivative,
        the two hinges whose squares are subtracted, and the largest
        absolute score.
    slopes : ndarray of shape (n,)
        Gradient with respect to w.
    """

    at: PairLoss
    w: Floats
    loss: float
    slopes: Floats
    n_curved: int
    hinges: tuple[float, float]
    largest: float

    @property
    def bend(self) -> float:
        """Second derivative of the loss of a curved pair, or its least upper bound."""
        return self.at.bend

    def slope(self, direction: Floats) -> float:
        """Return the derivative along a direction of weights."""
        return dot(self.slopes, direction)


class ShardedPairs:
    """The pairs of documents of all shards, of which a minimiser gets only sums: a ``PairProblem``.

    Scores and slopes of documents stay in the shards: in this class,
    weights stand for the scores that they give, and gradients for the
    slopes. A shard is a part of the data with whole queries.

    Parameters
    ----------
    session : ShardSession
        Session of :class:`_PairState`.
    n_features : int
        Number of features of the data.
    columns : sequence of int, optional
        Columns of the features to use; all by default.
    """

    def __init__(
        self,
        session: ShardSession,
        n_features: int,
        columns: Sequence[int] | None = None,
    ) -> None:
        """Prepare sums of pairs for weights of some columns, by default of all n features of the data.

        ``session`` sends messages to all shards, and adds up their
        answers. A shard is a part of the data with whole queries.
        """
        self._session = session
        self._width = n_features
        self._columns = (
            np.arange(n_features)
            if columns is None
            else np.array(columns, dtype=np.int64)
        )
        self.n_features = self._columns.size
        # Sums that do not depend on weights.
        self._constant_sums: dict[_Message, Any] = {}

    def narrowed(self, columns: Sequence[int]) -> ShardedPairs:
        """Return the same pairs with some of the features."""
        narrow = ShardedPairs(self._session, self._width, columns)
        narrow._constant_sums = self._constant_sums
        return narrow

    def count(self) -> Waiting[float]:
        """Return the number of pairs."""
        return int((yield from self._constant_sum(_Count()))[0])

    def scores(self, w: Floats) -> Floats:
        """Return the weights ``w`` (n,) unchanged: here, they stand for the scores of documents."""
        return w

    def weigh(self, slopes: Floats) -> Floats:
        """Return the gradient by weights (n,) unchanged: here, it stands for the slopes by scores."""
        return slopes

    def tangent(self, scores: Floats) -> Waiting[Tangent]:
        """Return the tangent plane of the hinge loss at weights (n,), which stand for scores."""
        (loss, offset), slopes = yield from self._sum(_HingeAt(self._widened(scores)))
        return Tangent(float(loss), float(offset), slopes[self._columns])

    def line(self, scores: Floats, d: Floats) -> LineOfScores:
        """Return the hinge loss along the line of weights ``scores`` + t ``d``, both (n,), for any t."""
        return _HingeLine(self, scores, d)

    def hinge_on_line(
        self, w: Floats, p: Floats, t: float, plane: bool
    ) -> Waiting[tuple[Tangent, float]]:
        """Return the hinge's plane at w + t p, with zero slopes unless ``plane``, and the derivative in t.

        w and p have shape (n,). The plane is the tangent of the hinge
        loss at these weights. The generator yields progress events, and
        then returns the result.
        """
        message = _HingeOnLine(self._widened(w), self._widened(p), t, plane)
        (loss, offset, slope), slopes = yield from self._sum(message)
        return Tangent(float(loss), float(offset), slopes[self._columns]), float(slope)

    def tangent_at_zero(self) -> Waiting[Tangent]:
        """Return the hinge's plane at scores of 0."""
        return (yield from self.tangent(np.zeros(self.n_features)))

    def smooth(
        self, loss: PairLoss, scores: Floats, slopes: bool = True
    ) -> Waiting[SummedLoss]:
        """Return a loss at weights, with its gradient if ``slopes``.

        ``scores`` (n,) are the weights: they stand for the scores of
        documents, which only the shards have. A shard is a part of the
        data with whole queries. The generator yields progress events,
        and then returns the result.
        """
        # The shards want weights of all features, 0 for others.
        numbers, gradient, largest = yield from self._sum(
            _LossAt(loss, self._widened(scores), slopes)
        )
        value, n_curved, outer_hinge, inner_hinge = numbers.tolist()
        return SummedLoss(
            at=loss,
            w=scores,
            loss=value,
            slopes=gradient[self._columns],
            n_curved=int(n_curved),
            hinges=(outer_hinge, inner_hinge),
            largest=float(largest.values[0]),
        )

    def curvature(self, loss: SummedLoss, v: Floats) -> Waiting[Floats]:
        """Return the Hessian of a loss by weights times a vector v (n,), shape (n,)."""
        message = _CurvatureAt(loss.at, self._widened(loss.w), self._widened(v))
        product: Floats = (yield from self._sum(message))[0]
        return product[self._columns]

    def bending(self, loss: SummedLoss, direction: Floats) -> Waiting[float]:
        """Return the second derivative of a loss along a direction of weights (n,)."""
        return dot(direction, (yield from self.curvature(loss, direction)))

    def degree_gram(self) -> Waiting[Floats]:
        """Estimate X'DX, with the features X (m, n) and D the documents' numbers of pairs.

        Evenly spaced documents of each shard are used. The estimate has
        shape (n, n), or (n,) for the diagonal alone if there are many
        features. A shard is a part of the data with whole queries. The
        generator yields progress events, and then returns the result.
        """
        # Computed once for all columns, as it does not depend on weights.
        gram: Floats = yield from self._constant_sum(_DegreeGram())
        return (
            gram[self._columns]
            if gram.ndim == 1
            else gram[np.ix_(self._columns, self._columns)]
        )

    def _widened(self, w: Floats) -> Floats:
        """Return the weights of all features of the data, 0 for those that are not used."""
        out = np.zeros(self._width)
        out[self._columns] = w
        return out

    def _constant_sum(self, message: _Message) -> Waiting[Any]:
        """Return a sum that does not depend on weights, computed on first use.

        ``message`` requests the sum from the shards. A shard is a part
        of the data with whole queries. The generator yields progress
        events, and then returns the result.
        """
        if message not in self._constant_sums:
            self._constant_sums[message] = (yield from self._sum(message))[0]
        return self._constant_sums[message]

    def _sum(self, message: _Message) -> Waiting[Any]:
        return (yield from self._session.sum(message, _PROGRESS_TEXT))


class _HingeLine:
    """The hinge of shards along a line of weights."""

    def __init__(self, pairs: ShardedPairs, w: Floats, p: Floats) -> None:
        """Store the weights w (n,) and the direction p (n,) of the line w + t p.

        ``pairs`` sums the hinge over the shards. A shard is a part of
        the data with whole queries.
        """
        self._pairs = pairs
        self._w = w
        self._p = p

    def value(self, t: float) -> Waiting[LineValue]:
        """Return the loss at the weights w + t p and its derivative in t, without the tangent plane."""
        hinge, slope = yield from self._pairs.hinge_on_line(
            self._w, self._p, t, plane=False
        )
        return LineValue(loss=hinge.loss, slope=slope, tangent=None)

    def tangent(self, t: float) -> Waiting[Tangent]:
        """Return the tangent plane of the loss at the weights w + t p."""
        tangent, _ = yield from self._pairs.hinge_on_line(
            self._w, self._p, t, plane=True
        )
        return tangent


@contextmanager
def pairs_of(
    data: TrainingData, weighting: PairWeighting | None = None
) -> Iterator[PairProblem]:
    """Provide the pairs of some data for a minimiser, for the time of a ``with`` block.

    A single shard is processed on threads, and its documents' scores
    are stored between the calls of a minimiser. Of several shards, only
    sums over pairs are returned. Both objects have the same interface.
    ``weighting`` weighs the pairs, None all equally; preferences have
    their own weights, so it is not used for them. A shard is a part of
    the data with whole queries.
    """
    if data.several:  # several shards
        with data.session(StateWork(_PairState, (weighting,))) as session:
            yield ShardedPairs(session, data.X.shape[1])
        return
    rows = data.whole("Learning from pairs")
    with pool() as (executor, workers):
        if rows.preferences is None:
            pairs = Pairs(rows.y, rows.ptr, executor, workers, weighting)
        else:
            pairs = PreferencePairs(rows.preferences, rows.ptr, executor, workers)
        yield LocalPairs(
            SparseLinearPairs(rows, pairs)
            if rows.sparse
            else LinearPairs(rows.X, pairs)
        )
