"""Estimates of the queries that decide the steps of a selector, from each query's part in the scores."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.capabilities import ComparedByQuery
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.support.work import WorkProgress
from rankstudio.plugins.evidence.decided_step import DecidedStep

_PROGRESS_TEXT = "comparing queries by margins"
_TIE_TOLERANCE = 1e-12  # relative to the selected feature's score, at least to 1
# leads that are computed at a time, one per rival and query
_LEADS_PER_BLOCK = 4_000_000


def margin_steps(
    estimator: Selector, data: GivenData, n_features: int | None = None
) -> Generator[WorkProgress, None, tuple[DecidedStep, ...]]:
    """Estimate for each step of a selector the queries without which a rival is selected.

    For each step, this is the smallest group of queries that the scores
    suggest. A rival is another feature that the step could select.

    Parameters
    ----------
    estimator : Selector
        A selector that divides its scores among the queries; it is not
        fitted here. See
        :meth:`rankstudio.engine.methods.capabilities.Capabilities.compared_by_query`.
    data : QueryData or TrainingData
        Documents from which the estimator selects, of any size.
    n_features : int, optional
        Number of features whose steps are examined; by default those
        that the estimator selects.

    Returns
    -------
    tuple of DecidedStep
        One per feature; features that a step selects together have the
        same queries. Nothing is learned again without the queries.

    Notes
    -----
    A step compares scores, and each query has a part in each score; see
    :mod:`rankstudio.engine.methods.selection.query_parts`. The queries that favor the selected feature most
    over a rival are removed first, until the parts of the remaining
    queries add up to less for the selected feature than for the rival.
    The numbers are exact for rankings by single features in one
    direction, whose scores are means over queries; for other methods
    they are correct to first order.
    """
    rows = training_data(data)
    n = rows.X.shape[1]
    n_requested = (
        getattr(estimator, "n_features_to_select", None)
        if n_features is None
        else n_features
    )
    n_steps = n if n_requested is None else min(n_requested, n)

    # the scores of each step, divided among the queries; None if that
    # is not possible
    compared = estimator.compared_by_query(rows, n_steps)
    if compared is None:
        expected = "a selector whose scores are divided among the queries"
        raise ParameterError("estimator", type(estimator).__name__, expected)
    steps: list[DecidedStep] = []

    # Each event is progress of the method, or the scores that one step
    # compares.
    for event in compared:
        if isinstance(event, WorkProgress):
            yield event
            continue
        steps += _decided_steps(event)
        yield WorkProgress(_PROGRESS_TEXT, min(1.0, len(steps) / n_steps))

    return tuple(steps)


def _decided_steps(compared: ComparedByQuery) -> list[DecidedStep]:
    """Return the smallest group of queries that decides a step.

    Without these queries, a rival is ahead of the selected feature.
    ``compared`` has the scores (n,) of the n features and the part (n,
    Q) of each of Q queries in them. Its counted queries contribute to
    the scores, of which at least two remain. If no such group exists,
    the queries are empty.

    There is one result for each feature that the step selects, with the
    same queries.
    """
    winner = compared.winners[0]
    scores = compared.scores
    parts = compared.parts

    # Candidates have a score; try the strongest rival first.
    rivals = np.setdiff1d(np.flatnonzero(~np.isnan(scores)), compared.winners)
    rivals = rivals[np.argsort(-scores[rivals], kind="stable")]
    counted = np.flatnonzero(compared.counted)
    queries = np.empty(0, dtype=np.int64)
    instead = None
    block_size = max(1, _LEADS_PER_BLOCK // max(1, counted.size))

    # Without a score there is nothing to compare, and of fewer than
    # three queries none can be removed so that two remain.
    if np.isnan(scores[winner]) or counted.size < 3:
        rivals = rivals[:0]

    for first in range(0, rivals.size, block_size):
        block = rivals[first : first + block_size]

        # (rivals of the block, queries)
        lead = parts[winner, counted] - parts[np.ix_(block, counted)]
        total_lead = scores[winner] - scores[block]

        # What the parts do not add up to counts for every query alike.
        lead += ((total_lead - lead.sum(axis=1)) / counted.size)[:, None]

        # Remove the queries with the greatest lead first: entry i of a
        # row is the lead that remains without the first i + 1 queries.
        order = np.argsort(-lead, axis=1, kind="stable")
        remaining_lead = total_lead[:, None] - np.cumsum(
            np.take_along_axis(lead, order, axis=1), axis=1
        )
        tolerance = _TIE_TOLERANCE * max(1.0, abs(scores[winner]))
        is_behind = remaining_lead[:, : counted.size - 2] < -tolerance

        # number of queries that each rival needs; all of them stands
        # for "never ahead"
        needed = np.where(
            is_behind.any(axis=1), is_behind.argmax(axis=1) + 1, counted.size
        )
        best = int(needed.argmin())
        if needed[best] < (queries.size or counted.size):
            queries = counted[order[best, : needed[best]]]
            instead = int(block[best])

    return [
        DecidedStep(column, tuple(queries.tolist()), instead, exact=False)
        for column in compared.winners
    ]
