"""Measures in each query by models that were chosen without the query.

They are estimates while the test part is sealed.

The mean of the chosen model on the part that chose it is a maximum over
all configurations, and too high. Here the validation queries are
divided into groups; for each group the plan's rule chooses a model by
the other groups, and the measure of that model counts on the group
(Varma and Simon, BMC Bioinformatics 7:91, 2006; Tsamardinos, Greasidou
and Borboudakis, Machine Learning 107, 2018). Repeated with random
divisions and averaged, this gives one value for each query, from
choices that never saw it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import numpy as np

from rankstudio.engine.arrays import Bools, Floats, Ints, unwritable
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.plan.protocol import ONE_SE, Rule, parse_rule
from rankstudio.engine.experiment.results.model_selection import (
    SIGNIFICANCE,
    selectable_positions,
)
from rankstudio.engine.experiment.results.results import Chosen, PathResult
from rankstudio.engine.experiment.results.subset_choices import SubsetChoices
from rankstudio.engine.metrics.evaluator import average, standard_error
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.mean_intervals import LEAST_PAIRS, mean_p_values
from rankstudio.engine.support.threads import STEADY

N_GROUPS = 5
"""Number of groups of queries. A group is measured by models chosen on the others."""

N_SPLITS = 20
"""Number of random divisions into groups, over which measures are averaged."""

_DIVISION_SEED = 390  # of the divisions; other values would change stored results
_MAX_VALUES = 1 << 21  # in memory at a time: 16 MB
_CANCELLATION_SHARE = 1e-6  # share below which rounding may decide a test
_MAX_INTEGER = np.iinfo(np.int64).max


@lru_cache(maxsize=64)
def query_groups(n_queries: int) -> Ints:
    """Return the group of each of Q queries in each of R random divisions, shape (R, Q).

    There are 20 divisions into 5 groups. They depend on the number of
    queries only. With fewer queries than groups there is one division,
    in which each query is a group. A single query has no other query to
    choose a model by, so R is 0.
    """
    if n_queries < N_GROUPS:
        # Each query is a group of its own.
        division = np.arange(n_queries, dtype=np.int64)[None, :]
        return unwritable(division if n_queries > 1 else division[:0])
    rng = np.random.default_rng([_DIVISION_SEED, n_queries])
    balanced_groups = np.arange(n_queries, dtype=np.int64) % N_GROUPS
    return unwritable(
        np.stack([rng.permutation(balanced_groups) for _ in range(N_SPLITS)])
    )


@lru_cache(maxsize=8)
def query_subsets(n_queries: int) -> Bools:
    """Return which of Q queries are in each of S subsets, shape (S, Q).

    The queries of a subset choose a model for the other ones. Subset r
    G + g has all queries but those of group g in division r of
    :func:`query_groups`, of G groups each. S is 0 for a single query.
    """
    groups = query_groups(n_queries)
    numbers = np.arange(min(n_queries, N_GROUPS))
    chosen_by = groups[:, None, :] != numbers[None, :, None]
    return unwritable(chosen_by.reshape(-1, n_queries))


def choose_on_subsets(
    plan: Plan, path: PathResult, queries: Sequence[Floats]
) -> SubsetChoices | None:
    """Choose a model of a path by the plan's rule, on each of S subsets of the queries.

    The queries are those of the validation part. They are divided into
    groups at random; a subset, as in `query_subsets`, has all queries
    but one group.

    The choices are those of `select_model` for the means, standard
    errors and p values of the subset's queries, ties included.

    Parameters
    ----------
    plan : Plan
        Plan whose `select_by` is a measure on validation queries, and
        whose `rule` is used.
    path : PathResult
        Path of K steps.
    queries : sequence of ndarray of shape (K, Q)
        Values of that measure in each query: one array for a validation
        part, several for inner folds. NaN where it is undefined.

    Returns
    -------
    SubsetChoices or None
        The choice on each subset; None if there are fewer than two queries.

    Notes
    -----
    O(SKQ) by matrix products; only models that their rounding leaves in
    doubt are measured exactly. A few blocks of 16 MB are in memory at a
    time besides the arguments.
    """
    n_subsets = len(query_subsets(sum(values.shape[1] for values in queries)))
    if not n_subsets:
        return None

    # Without a selectable model no subset has a choice.
    rule = parse_rule(plan.rule)
    models = selectable_positions(path, rule.most)
    if not models.size:
        return SubsetChoices(
            np.full(n_subsets, -1, dtype=np.int64), np.full(n_subsets, -np.inf)
        )

    # Choose on blocks of subsets that have equally many queries. A gain
    # is a measure with the sign by which larger is better.
    sign = 1.0 if measure(plan.chosen_by).higher_is_better else -1.0
    selectable_values = [
        values if len(models) == len(values) else values[models] for values in queries
    ]
    rows = _Rows(selectable_values, sign)
    positions = np.empty(n_subsets, dtype=np.int64)
    gains = np.empty(n_subsets)
    with STEADY:  # small products, for which several threads take longer
        for block in _blocks_of_equal_sizes(
            tuple(values.shape[1] for values in queries)
        ):
            # Choices are positions among the selectable models.
            choices, gains[block.numbers] = _choose_models(
                rule, rows, path.sizes[models], block
            )
            positions[block.numbers] = models[choices]
    return SubsetChoices(positions, gains)


PathMeasures = Callable[[PathResult, Sequence[int]], Mapping[str, Floats]]
"""Returns the measures of D models of a path, by their positions, in each query, each of shape (D, Q).

Empty if some of the models cannot be measured.
"""


def is_chosen_on_validation(plan: Plan) -> bool:
    """Return whether values of the validation queries choose the model of a fold."""
    return not (
        plan.entry.learns_nothing or plan.select_by == CRITERION or plan.leaves_out
    )


def cross_fitted_values(
    plan: Plan,
    chosen: Chosen,
    paths: Sequence[PathResult],
    n_queries: int,
    measure_models: PathMeasures,
) -> dict[str, Floats]:
    """Return each measure in each validation query, by models chosen without the query.

    If the validation queries chose no model, or there is only one
    model, its values are returned.

    Parameters
    ----------
    plan : Plan
        Plan of the run.
    chosen : Chosen
        The model that the run has selected by all validation queries.
    paths : sequence of PathResult
        All paths of the fold: each has the models of one combination of
        parameters' values, and `choices` on subsets of queries.
    n_queries : int
        Number Q of validation queries.
    measure_models : callable
        Measures models whose measures a path does not keep: takes a path and
        positions of D steps, and returns each measure in each query, shape (D,
        Q).

    Returns
    -------
    dict of str to ndarray of shape (Q,)
        Empty if the choices or the models are not available, or the
        only query chose the model.
    """
    # If the queries chose nothing, the chosen model is that of all queries.
    max_features = parse_rule(plan.rule).most
    n_models = sum(selectable_positions(path, max_features).size for path in paths)
    if n_models == 1 or not is_chosen_on_validation(plan):
        path = next(
            path for path in paths if path.unit.position == chosen.unit.position
        )
        values = measure_models(path, [path.steps.position(chosen.step.number)])
        return {name: table[0] for name, table in values.items()}

    # Models with which the queries are measured, each chosen without the query.
    choices = [path.choices for path in paths if path.choices is not None]
    if len(choices) < len(paths):
        return {}
    models = chosen_models(choices, n_queries)

    # Models of a path are measured at once.
    rows: list[Mapping[str, Floats]] = []
    for index, members in groupby(models, key=lambda model: model.path):
        positions = [model.position for model in members]
        # The measures that the path keeps, or {}, for which they are computed.
        values = choices[index].measures_at(positions) or measure_models(
            paths[index], positions
        )
        rows += [
            {name: table[row] for name, table in values.items()}
            for row in range(len(positions))
        ]
    # A model without measures would leave a part of the queries unmeasured.
    return weighted_values(models, rows) if all(rows) else {}


class ChosenModel(NamedTuple):
    """A model of a path that some subsets of the validation queries choose.

    Random divisions split the queries into groups; each group is
    measured by the model that the other groups, a subset, choose.

    Attributes
    ----------
    path : int
        Index of the model's path: a path has the models of one
        combination of parameters' values.
    position : int
        Position of the model's step on the path.
    shares : ndarray of shape (Q,)
        Share of the divisions in which the model measures each query,
        from 0 to 1; the shares of all chosen models sum to 1 in each
        query.
    """

    path: int
    position: int
    shares: Floats


def chosen_models(
    choices: Sequence[SubsetChoices], n_queries: int
) -> list[ChosenModel]:
    """Return the different models that the subsets of queries choose among several paths.

    The Q validation queries are divided at random into groups, R times.
    For each group, a model is chosen by the queries outside it, which
    are a subset, and is measured on the group. Each model has the share
    of the R divisions in which it measures each query.

    Ties go to the earlier path, as for the model of the run itself.

    Parameters
    ----------
    choices : sequence of SubsetChoices
        For each path, the model that it chooses on each subset.
    n_queries : int
        Number Q of validation queries.

    Returns
    -------
    list of ChosenModel
        Empty if no path has a model, or the choices are of another number of queries.
    """
    # Choices that were made on other subsets cannot be used.
    groups = query_groups(n_queries)
    n_subsets = len(query_subsets(n_queries))
    if not n_subsets or any(choice.positions.size != n_subsets for choice in choices):
        return []

    # The best model of all paths on each subset; of equal ones that of the first path.
    paths = np.full(n_subsets, -1, dtype=np.int64)
    positions = np.full(n_subsets, -1, dtype=np.int64)
    gains = np.full(n_subsets, -np.inf)
    for index, choice in enumerate(choices):
        is_better = (choice.positions >= 0) & ((paths < 0) | (choice.gains > gains))
        paths[is_better] = index
        positions[is_better] = choice.positions[is_better]
        gains[is_better] = choice.gains[is_better]
    # On some subset the rule allows no model of any path.
    if (paths < 0).any():
        return []

    # Each different model once, with the share of divisions in which it
    # measures a query.
    models, model_of_subset = np.unique(
        np.stack([paths, positions], axis=1), axis=0, return_inverse=True
    )
    n_groups = min(n_queries, N_GROUPS)

    # Shape (R, Q): number of the subset that chooses the model for each
    # query in each division. The subsets are numbered by division, then
    # by group.
    subsets = np.arange(len(groups))[:, None] * n_groups + groups
    model_numbers = model_of_subset.reshape(-1)[subsets]
    return [
        ChosenModel(
            int(path),
            int(position),
            np.count_nonzero(model_numbers == number, axis=0) / len(groups),
        )
        for number, (path, position) in enumerate(models)
    ]


def weighted_values(
    models: Iterable[ChosenModel], values: Iterable[Mapping[str, Floats]]
) -> dict[str, Floats]:
    """Return each measure in each query, shape (Q,), as the mean over the divisions.

    A division splits the validation queries at random into groups, and
    measures each query by the model that the other groups choose. There
    are `N_SPLITS` divisions, or a single one of few queries.

    Parameters
    ----------
    models : iterable of ChosenModel
        Models, each with the share of the divisions in which it measures each query.
    values : iterable of Mapping of str to ndarray of shape (Q,)
        Measures of each of these models in each query. NaN does not
        count; a query without any value is NaN.
    """
    # Sums over the models of their values, weighted by their shares of
    # the divisions, and of the shares in which a value is undefined,
    # shape (Q,).
    totals: dict[str, Floats] = {}
    undefined_shares: dict[str, Floats] = {}
    for model, measures in zip(models, values, strict=True):
        for name, row in measures.items():
            is_undefined = np.isnan(row)
            totals[name] = totals.get(name, 0.0) + model.shares * np.where(
                is_undefined, 0.0, row
            )
            undefined_shares[name] = (
                undefined_shares.get(name, 0.0) + model.shares * is_undefined
            )
    means = {}
    for name, total in totals.items():
        # The shares sum to 1 up to rounding: the value of a single
        # model must not change by the rounding.
        defined_share = np.where(
            undefined_shares[name] > 0.0, 1.0 - undefined_shares[name], 1.0
        )
        # less than half a division is only rounding
        is_defined = defined_share > 1.0 / (2 * N_SPLITS)
        means[name] = np.divide(
            total, defined_share, out=np.full(total.shape, np.nan), where=is_defined
        )
    return means


class _Rows:
    """Values of models in each query, and their exact means on subsets."""

    def __init__(self, queries: Sequence[Floats], sign: float) -> None:
        """Hold the values of a measure for K models: per part of the queries an array (K, Q).

        A part is the validation part, or an inner fold; Q is its number
        of queries. `sign` is -1 if smaller values are better, otherwise
        1.
        """
        self.queries = queries
        self.sign = sign

    def __len__(self) -> int:
        """Return the number of models."""
        return len(self.queries[0])

    @property
    def ends(self) -> Ints:
        """Column at which each part of the queries ends, except the last part."""
        return np.cumsum([values.shape[1] for values in self.queries])[:-1]

    def gains(self, models: Ints, columns: Sequence[Ints]) -> Floats:
        """Return the gain of each of P models on a subset of its own, shape (P,).

        A gain is the mean measure in the queries of the subset, with
        the sign by which larger is better; -inf if undefined. `models`
        has the rows of the models, shape (P,). For each part of the
        queries, ``columns`` has an array (P, n) with the columns of the
        subset of each model.

        The operations are those of `average` on a path: gains have
        equal bits, and hence equal ties.
        """
        means = [
            _mean_or_nan(values[models[:, None], subset])
            for values, subset in zip(self.queries, columns, strict=True)
        ]
        # With inner folds: the mean over the folds.
        mean = means[0] if len(means) == 1 else average(np.stack(means, axis=1))
        gains = self.sign * mean
        return np.where(np.isnan(gains), -np.inf, gains)

    def approximate_gains(self, subsets: Bools) -> tuple[Floats, float]:
        """Return rounded gains of all K models on S subsets, shape (S, K), and their error.

        A gain is the mean measure, with the sign by which larger is better;
        -inf without a value. It is computed by matrix products, which round;
        the second value is a bound of the rounding. `subsets`, shape
        (S, Q), says which queries each subset has.
        """
        # Means as matrix products, in blocks of models that fit into memory.
        gains = np.empty((len(subsets), len(self)))
        scale = 0.0
        block_size = max(1, _MAX_VALUES // subsets.shape[1])
        # The queries of each part that a subset has, as numbers 0 and
        # 1, shape (S, Q of the part). A product of these with values
        # sums the values of each subset.
        masks = np.split(subsets.astype(np.float64), self.ends, axis=1)
        for first in range(0, len(self), block_size):
            block = slice(first, first + block_size)
            means = []
            for values, mask in zip(self.queries, masks, strict=True):
                is_defined = ~np.isnan(values[block])
                filled = np.where(is_defined, values[block], 0.0)
                scale = max(scale, float(np.abs(filled).max(initial=0.0)))
                counts = mask @ is_defined.T.astype(np.float64)
                undefined = np.full(counts.shape, np.nan)
                with np.errstate(invalid="ignore"):
                    means.append(
                        np.divide(
                            mask @ filled.T, counts, out=undefined, where=counts > 0
                        )
                    )
            # The mean over all parts of the queries; undefined gains are never best.
            gains[:, block] = self.sign * (
                means[0] if len(means) == 1 else average(np.stack(means, axis=-1))
            )
        gains[np.isnan(gains)] = -np.inf

        # A sum of Q terms up to the scale has an error below Q ε scale;
        # the factor 16 leaves a wide margin.
        return gains, 16.0 * subsets.shape[1] * np.finfo(np.float64).eps * scale


class _SubsetBlock(NamedTuple):
    """Subsets of the validation queries, with equally many queries of each part.

    A part is the validation part, or an inner fold.

    Attributes
    ----------
    numbers : ndarray of shape (S,)
        Positions of the subsets in `query_subsets`.
    subsets : ndarray of shape (S, Q)
        Whether each subset has each query.
    columns : list of ndarray of shape (S, n)
        For each part, the columns of the subset's n queries, ascending.
    """

    numbers: Ints
    subsets: Bools
    columns: list[Ints]


@lru_cache(maxsize=4)
def _blocks_of_equal_sizes(n_queries: tuple[int, ...]) -> tuple[_SubsetBlock, ...]:
    """Return the subsets of the validation queries, in blocks of equal numbers of queries.

    With equal numbers, the values of all subsets of a block are one
    array. `n_queries` is the number of queries of each part: a
    validation part, or several inner folds.
    """
    subsets = query_subsets(sum(n_queries))
    parts = np.split(subsets, np.cumsum(n_queries)[:-1], axis=1)
    # Shape (S, P): number of queries that each of S subsets has of each
    # of P parts. Subsets with equal numbers are a block.
    sizes = np.stack([np.count_nonzero(part, axis=1) for part in parts], axis=1)
    kinds, numbers = np.unique(sizes, axis=0, return_inverse=True)
    blocks = []
    for kind in range(len(kinds)):
        members = np.flatnonzero(numbers.reshape(-1) == kind)
        # Row by row, the columns of the queries in each subset of the block.
        columns = [
            np.nonzero(part[members])[1].reshape(len(members), -1) for part in parts
        ]
        blocks.append(_SubsetBlock(members, subsets[members], columns))
    return tuple(blocks)


def _choose_models(
    rule: Rule, rows: _Rows, sizes: Ints, block: _SubsetBlock
) -> tuple[Ints, Floats]:
    """Return the model that a rule chooses on each of S subsets, and the best gain on each.

    Both results have shape (S,). A gain is the mean measure on a subset
    of the queries, with the sign by which larger is better; the second
    result is that of the best model, which the rule may not choose.
    `sizes`, shape (K,), has the number of features of each of the K
    models, which are the rows of `rows`.

    `block` has the subsets.
    """
    # Approximate gains, shape (S, K), and a bound of their rounding.
    # Exact gains are computed only for models that may be the best.
    rough_gains, margin = rows.approximate_gains(block.subsets)
    is_near_best = rough_gains >= rough_gains.max(axis=1, keepdims=True) - margin
    is_near = np.isfinite(rough_gains) & is_near_best
    # Values beyond the range of numbers say nothing: compute all exactly.
    if not np.isfinite(margin):
        is_near = np.ones(rough_gains.shape, dtype=np.bool_)
    gains = _exact_gains(rows, block, is_near)
    best = gains.argmax(axis=1)
    gain = gains[np.arange(len(gains)), best]
    if not rule.needs_queries:
        # The other rules take the best model.
        return best, gain

    # Models that the rule accepts besides the best one.
    if rule.kind == ONE_SE:
        errors = np.array(
            [_standard_error(rows, block, s, model) for s, model in enumerate(best)]
        )
        # A model is good enough within one standard error of the best.
        min_gains = (np.where(np.isfinite(gain), gain, 0.0) - errors)[:, None]
        # Clearly above the limit, or unclear within the rounding.
        is_enough = rough_gains > min_gains + margin
        is_unclear = ~is_enough & ~(rough_gains < min_gains - margin)
        unclear_gains = _exact_gains(rows, block, is_unclear)
        is_enough |= is_unclear & (unclear_gains >= min_gains)
    else:
        is_equal, is_tested = _find_equal_models(rows, block, best)
        # Here: not significantly worse than the best.
        is_enough = (gains >= gain[:, None]) | is_equal
        # Without enough queries for a test, only the best model itself
        # is good enough: True in its column, by comparing the numbers
        # of the models, shape (K,), with that of the best one, shape
        # (S, 1).
        is_enough[~is_tested] = np.arange(len(rows)) == best[~is_tested, None]

    # The smallest of the accepted models.
    min_sizes = np.where(is_enough, sizes, _MAX_INTEGER).min(axis=1, keepdims=True)
    is_smallest = is_enough & (sizes == min_sizes)

    # Of equally small models the one with the largest exact gain is chosen.
    exact_gains = np.where(
        is_near, gains, _exact_gains(rows, block, is_smallest & ~is_near)
    )
    largest_gains = np.where(is_smallest, exact_gains, -np.inf).max(
        axis=1, keepdims=True
    )
    smallest = (is_smallest & (exact_gains == largest_gains)).argmax(axis=1)
    # Without any defined gain, the first model.
    return np.where(np.isfinite(gain), smallest, best), gain


def _exact_gains(rows: _Rows, block: _SubsetBlock, needed: Bools) -> Floats:
    """Return the exact gains of the needed models on S subsets of the queries, shape (S, K).

    A gain is the mean measure on a subset, with the sign by which
    larger is better. The models are the rows of `rows`, and the subsets
    those of `block`. `needed`, shape (S, K), says which of the K models
    to compute on which subset. The gains of the other models are -inf.
    """
    gains = np.full(needed.shape, -np.inf)
    for numbers, models in _pairs_in_blocks(needed, block):
        # For each part of the queries, `columns` has a row per subset.
        gains[numbers, models] = rows.gains(
            models, [columns[numbers] for columns in block.columns]
        )
    return gains


def _find_equal_models(
    rows: _Rows, block: _SubsetBlock, best: Ints
) -> tuple[Bools, Bools]:
    """Return which models are not significantly worse than each subset's best, shape (S, K).

    There are S subsets of the validation queries in ``block``, and K
    models, which are the rows of ``rows``. `best`, shape (S,), has the
    best model of each subset. The second result says which subsets have
    enough queries for a test, (S,).

    Validation queries are in one or more parts: `rows.queries` has the
    values of all models in each part, and `block.columns` the columns
    of each subset there.
    """
    # The values of each subset's best model in the subset's queries, by
    # part: arrays of shape (S, n).
    lines = [
        values[best[:, None], subset]
        for values, subset in zip(rows.queries, block.columns, strict=True)
    ]
    n = sum(np.count_nonzero(~np.isnan(line), axis=1) for line in lines)
    is_tested: Bools = np.asarray(n >= LEAST_PAIRS)
    # Models that a fast test shows to be equal, and those it cannot decide.
    is_equal, is_unclear = _rough_tests(rows, block, best)
    for numbers, models in _pairs_in_blocks(is_unclear & is_tested[:, None], block):
        # A pair is the number of a subset and a model. For each pair:
        # the model minus the subset's best model, in the subset's
        # queries.
        differences = [
            values[models[:, None], subset[numbers]] - line[numbers]
            for values, subset, line in zip(
                rows.queries, block.columns, lines, strict=True
            )
        ]
        is_equal[numbers, models] = mean_p_values(differences) >= SIGNIFICANCE
    return is_equal, is_tested


def _rough_tests(rows: _Rows, block: _SubsetBlock, best: Ints) -> tuple[Bools, Bools]:
    """Return which models are surely not significantly worse than each subset's best model.

    The second array says which models need an exact test. Both have
    shape (S, K), for the S subsets of the queries in `block` and the K
    models in `rows`. `best`, shape (S,), has the best model of each
    subset.

    Student's paired t is computed by matrix products. With several
    inner folds, every test must be exact.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - scipy, where it is needed

    # Queries in several parts are left to the exact test.
    shape = len(best), len(rows)
    if len(rows.queries) > 1:
        return np.zeros(shape, dtype=np.bool_), np.ones(shape, dtype=np.bool_)
    (values,) = rows.queries

    # Subsets with the same best model are tested together.
    is_equal = np.zeros(shape, dtype=np.bool_)
    is_unclear = np.zeros(shape, dtype=np.bool_)
    block_size = max(1, _MAX_VALUES // values.shape[1])
    for model in np.unique(best).tolist():
        members = np.flatnonzero(best == model)
        # Queries of each subset as numbers 0 and 1.
        mask = block.subsets[members].astype(np.float64)
        for first in range(0, len(rows), block_size):
            differences = values[first : first + block_size] - values[model]
            is_defined = ~np.isnan(differences)
            filled = np.where(is_defined, differences, 0.0)
            # Number of defined differences in each subset of the
            # queries, their sum, and the sum of their squares, as
            # matrix products.
            n = mask @ is_defined.T.astype(np.float64)
            totals = mask @ filled.T
            squares = mask @ np.square(filled).T
            # Degrees of freedom of Student's t; at least 1, so that
            # nothing is divided by 0.
            freedom = np.maximum(n - 1.0, 1.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                # Sum of the squared deviations from the mean difference.
                deviations = squares - np.square(totals) / n
                t = np.abs(totals) / np.sqrt(n * deviations / freedom)
                # Above 1, the difference is significant. `stdtrit` is
                # the critical value of t.
                ratio = t / stdtrit(freedom, 1.0 - SIGNIFICANCE / 2.0)
                # Deviations that are small beside the squares consist
                # mostly of rounding.
                is_clear = (
                    (deviations > _CANCELLATION_SHARE * squares)
                    & (np.abs(ratio - 1.0) > _CANCELLATION_SHARE)
                    & (n > 1)
                )
            part = np.ix_(members, np.arange(first, first + len(differences)))
            # All differences are 0: surely not worse.
            is_same = (squares == 0.0) & (n > 1)
            is_equal[part] = is_same | (is_clear & (ratio < 1.0))
            is_unclear[part] = ~(is_clear | is_same)
    return is_equal, is_unclear


def _pairs_in_blocks(needed: Bools, block: _SubsetBlock) -> Iterator[tuple[Ints, Ints]]:
    """Yield the positions of the True values of an array, as two arrays, in blocks.

    `needed`, shape (S, K), is True for the pairs of a subset and a
    model to be tested. The arrays have the numbers of the subsets, and
    those of the models. The pairs of a block, with the queries of
    `block`, fit into memory.
    """
    numbers, models = np.nonzero(needed)
    # Number of queries of each subset, and so of values for a pair.
    n = sum(columns.shape[1] for columns in block.columns)
    block_size = max(1, _MAX_VALUES // max(1, n))
    for first in range(0, len(numbers), block_size):
        block_rows = slice(first, first + block_size)
        yield numbers[block_rows], models[block_rows]


def _standard_error(rows: _Rows, block: _SubsetBlock, number: int, model: int) -> float:
    """Return the standard error of a model's measure on a subset of the queries.

    The mean is over the queries of a validation part, or over inner
    folds. `number` is the row of the subset in the block, and `model`
    that of the model in `rows`.
    """
    # The model's values in the subset's queries: an array for each part.
    values = [
        line[model, columns[number]]
        for line, columns in zip(rows.queries, block.columns, strict=True)
    ]
    if len(values) == 1:
        return standard_error(values[0])
    return standard_error(np.array([float(_mean_or_nan(part)) for part in values]))


def _mean_or_nan(values: Floats) -> Floats:
    """Return the means over the last axis of an array.

    They are NaN if this axis is empty.
    """
    return average(values) if values.shape[-1] else np.full(values.shape[:-1], np.nan)
