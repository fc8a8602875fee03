"""Adapters that make methods of other libraries' objects.

Selectors are read by their attributes after ``fit``, rankers are called by ``predict``.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import MethodError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog.method import Method
from rankstudio.engine.methods.catalog.parameter import Kind
from rankstudio.engine.methods.foreign.expressions import value_of
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, whole_need
from rankstudio.engine.methods.selection.base import Ordering, PathSelector, best_first
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData
from rankstudio.engine.plugins.guard import PRINTED_TO_STDERR, failure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Waiting, WorkProgress

CENTRED = "centred"
"""Name of the parameter that centres features within queries."""

OWN = ("regularization", "n_features_to_select", "groups", CENTRED)
"""Parameters of the adapter itself, which the object does not get."""

NONE = "none"
"""Choice that stands for None."""

SEED = ("random_state", "seed")
"""Names of arguments that get the seed of the plan."""

# Share of the largest score, for the rounding of sums of some thousand terms.
_LINEARITY_TOLERANCE = 1e-9


class Wrapped:
    """Base class of adapters, which make and train a selector or a ranker of another library.

    Attributes
    ----------
    target : callable
        Class of the selector or ranker, or function ``scores(X, y, qid)``.
    size_argument : str
        Name of the argument with the number of features; "" if there is none.
    """

    entry: ClassVar[Method]
    target: ClassVar[Callable[..., Any]]
    size_argument: ClassVar[str] = ""
    values: Mapping[str, Any]

    def trained(self, data: QueryData, size: int) -> Any:
        """Make an object of the target's class, train it on documents, and return it.

        The target is the class or function of another library that this
        estimator wraps. If it is a function, return its scores, one per
        feature. ``size`` is the number of features to select, for a
        class that has an argument for it. ``data`` has the documents.

        Raises
        ------
        MethodError
            If training fails.
        """
        arguments = self._arguments(size)
        # Copies, because foreign code may change its arguments. A
        # parameter of the method decides whether features are centred
        # within queries.
        X = np.array(
            data.centred[0] if self.values.get(CENTRED, False) else data.X, order="C"
        )
        y = np.array(data.y)
        qid = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
        try:
            # What foreign code prints goes to standard error.
            with PRINTED_TO_STDERR:
                # A function returns its result at once. An object has
                # ``fit``, which returns itself, another object, or
                # None.
                if not isinstance(self.target, type):
                    return np.asarray(
                        self.target(
                            *_data_arguments(self.target, X, y, qid), **arguments
                        )
                    )
                instance = self.target(**arguments)
                fitted = instance.fit(
                    X, y, **_query_arguments(instance.fit, qid, data.ptr)
                )
        except MemoryError:  # no error of the method
            raise
        # Anything else that foreign code raises is an error of the method.
        except Exception as error:
            raise MethodError(self.entry.label, failure(error)) from error
        return instance if fitted is None else fitted

    def _arguments(self, size: int) -> dict[str, Any]:
        """Return the keyword arguments of the class or the function, from the parameters of the method.

        ``size`` is the number of features to select.
        """
        # Names in texts refer to the module of the class or the function.
        module = getattr(self.target, "__module__", "")
        modules = (module,) if module in sys.modules else ()
        accepted = inspect.signature(self.target).parameters
        arguments: dict[str, Any] = {}
        # Only arguments that the class or the function has, except
        # those that RankStudio sets.
        for p in self.entry.parameters:
            if p.name not in accepted or p.name in OWN:
                continue
            value = self.values.get(p.name, p.default)
            if p.kind is Kind.TEXT and value in ("", p.default):
                # The library uses its own default, which may not be a valid expression.
                continue
            if p.kind is Kind.TEXT:
                value = value_of(value, p.label, modules)
            # The choice "none" stands for Python's None.
            if p.kind is Kind.CHOICE and value == NONE:
                value = None
            arguments[p.name] = value
        # The number of features and the seed come from RankStudio.
        if self.size_argument:
            arguments[self.size_argument] = size
        # The seed, under each of its usual names that the class or
        # function has. No parameter of the method has such a name, so
        # nothing is replaced.
        arguments |= {
            name: self.values["seed"]
            for name in SEED
            if name in accepted and "seed" in self.values
        }
        return arguments


def _data_arguments(
    function: Callable[..., Any], X: Floats, y: Floats, qid: Ints
) -> list[Any]:
    """Return the positional arguments of a function ``scores(X, y)`` or ``scores(X, y, qid)``.

    The documents have the features X (m, n), labels y (m,) and query
    numbers qid (m,).
    """
    names = list(inspect.signature(function).parameters)
    takes_queries = len(names) > 2 and names[2] == "qid"
    return [X, y, qid] if takes_queries else [X, y]


def _query_arguments(fit: Callable[..., Any], qid: Ints, ptr: Ints) -> dict[str, Any]:
    """Return the queries as the keyword argument that ``fit`` accepts, {} if it accepts none.

    ``qid`` (m,) are the numbers of the documents' queries; query q has
    the rows ``ptr[q]:ptr[q + 1]``. Libraries take the query of each
    document as ``qid`` or ``groups``, or as ``group`` the sizes of the
    queries.
    """
    names = inspect.signature(fit).parameters
    if "qid" in names:
        return {"qid": qid}
    if "group" in names:
        return {"group": np.diff(ptr)}
    return {"groups": qid} if "groups" in names else {}


class WrappedSelector(Wrapped, PathSelector):
    """Selector that orders features by an object of another library; RankRLS ranks with the features.

    The order comes from the first of these attributes that the trained
    object has: ``selection_order_``, ``scores_``,
    ``feature_importances_``, ``coef_``, ``ranking_``, ``support_``. If
    the object only has ``support_``, a set without an order, the only
    step is the model with this set.
    """

    def __init__(self, **values: Any) -> None:
        self.values = values
        self.n_features_to_select = values.get("n_features_to_select")
        self.regularization = values.get("regularization", 1.0)
        self.groups = values.get("groups", ())
        self._is_set = False

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: D102 - inherited
        return dict(self.values)

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return whole_need(shape)

    def _n_to_select(self, n: int) -> int:
        """Return how many of n features to select at most; n if a library's default is larger."""
        size = self.n_features_to_select
        return super()._n_to_select(n) if size is None or size <= n else n

    def order_features(self, data: TrainingData, k: int) -> Waiting[Ordering]:
        """Train the object of the other library, and return the order or the set of features that it has.

        Of an order, the first k features are returned; a set is
        complete, whatever its size. From the result, the caller sets
        the attribute ``_is_set``, which says whether the result is a
        set. ``data`` are the training documents. The generator yields
        progress events, and then returns the result.
        """
        yield WorkProgress(tr("ordering features"), 0.0)
        documents = data.whole(self.entry.label)
        n = data.X.shape[1]
        order = self._ordered(self.trained(documents, k), n)
        # `size_argument` is the argument for k of the other library, "" for none.
        if order.is_set and self.size_argument and k != 1:
            # A set of k features has no order. Some objects rank the
            # features that they have not selected, as recursive
            # elimination does: trained to select a single feature, they
            # order all. Otherwise the set stays.
            smaller = self._ordered(self.trained(documents, 1), n)
            order = order if smaller.is_set else smaller
        if not order.columns.size:
            raise MethodError(self.entry.label, tr("it selects no feature"))
        # The caller sets these attributes of the estimator.
        attributes = {"_is_set": order.is_set}
        columns = order.columns if order.is_set else order.columns[:k]
        return Ordering(features=columns, candidates=order.scores, found=attributes)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield one step per feature of the order; for a set, only the step with all of its features.

        Progress events come first. ``data`` are the training documents.
        """
        last: Step | None = None
        for item in super().work(data):
            # The steps of a set would be in an order without meaning:
            # only the last one, with the whole set, counts.
            if isinstance(item, Step) and self._is_set:
                last = item
            else:
                yield item
        # The set becomes step 1, without scores of candidates.
        if last is not None:
            yield Step(
                number=1,
                selected=last.selected,
                coef=last.coef,
                criterion=last.criterion,
                candidates=np.empty(0),
            )

    def _ordered(self, fitted: Any, n: int) -> _Order:
        """Return the order, or the set, of n features that a trained object or a function's scores give.

        ``fitted`` is the object, or the array of scores. Raises a
        MethodError if the object has none of the attributes that say
        what it selects.
        """
        # The result of a function is an array of scores.
        if isinstance(fitted, np.ndarray):
            return self._by_scores(fitted, n, "scores")
        # Otherwise the first of these attributes that exists, the most
        # exact first: an order, scores, ranks, a set.
        columns = getattr(fitted, "selection_order_", None)
        if columns is not None:
            return _Order(self._columns(columns, n), np.full(n, np.nan))
        for name in ("scores_", "feature_importances_", "coef_"):
            values = getattr(fitted, name, None)
            if values is not None:
                # Weights count by their sizes; their signs are directions.
                sizes = np.abs(values) if name == "coef_" else values
                return self._by_scores(sizes, n, name)
        ranks = getattr(fitted, "ranking_", None)
        # Rank 1 is the best, so scores are negative ranks. Two
        # different ranks are only a set and the rest: an attribute with
        # the set is preferred.
        if ranks is not None and np.unique(ranks).size > 2:
            return self._by_scores(-np.asarray(ranks, dtype=np.float64), n, "ranking_")
        # A set: a mask or columns, which some classes return by a method.
        for name in ("support_", "k_feature_idx_", "get_support"):
            support = getattr(fitted, name, None)
            if support is not None:
                support = support() if callable(support) else support
                support = np.asarray(support)
                columns = (
                    np.flatnonzero(support)
                    if support.dtype == bool
                    else np.sort(support)
                )
                return _Order(
                    self._columns(columns, n), np.full(n, np.nan), is_set=True
                )
        if ranks is not None:
            return self._by_scores(-np.asarray(ranks, dtype=np.float64), n, "ranking_")
        expected = "selection_order_, scores_, feature_importances_, coef_, ranking_, support_, get_support"
        text = tr("after fit it has none of {attributes}").format(attributes=expected)
        raise MethodError(self.entry.label, text)

    def _by_scores(self, values: Any, n: int, name: str) -> _Order:
        """Return the order of n features by descending scores, with the scores.

        ``values`` are the scores, (n,) or with one row per class, which
        are added up. ``name`` is the attribute that has them, for
        errors. Raises a MethodError for other shapes, or scores that
        are all NaN.
        """
        scores = np.asarray(values, dtype=np.float64)
        if scores.ndim == 2 and scores.shape[1] == n:
            scores = scores.sum(axis=0)
        if scores.shape != (n,):
            text = tr("{name}: expected {n} numbers, got shape {shape}")
            raise MethodError(
                self.entry.label, text.format(name=name, n=n, shape=shown(scores.shape))
            )
        if np.isnan(scores).all():
            raise MethodError(
                self.entry.label, tr("{name}: all numbers are NaN").format(name=name)
            )
        # Infinite scores become the greatest finite ones, which can be compared and shown.
        scores = np.where(
            np.isinf(scores), np.sign(scores) * np.finfo(np.float64).max, scores
        )
        return _Order(best_first(scores, n), scores)

    def _columns(self, columns: Any, n: int) -> Ints:
        """Check and return the columns (k,) of features that an object of another library has selected.

        Raises a MethodError unless they are different integers from 0 to n - 1.
        """
        values = np.asarray(columns)
        are_valid = values.ndim == 1 and np.issubdtype(values.dtype, np.integer)
        are_valid = are_valid and np.unique(values).size == values.size
        if values.size and are_valid:
            are_valid = bool(values.min() >= 0 and values.max() < n)
        if not are_valid:
            text = tr("expected different columns from 0 to {last}, got {value}")
            raise MethodError(
                self.entry.label, text.format(last=n - 1, value=shown(values.tolist()))
            )
        return values.astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Order:
    """Columns that a trained object selects, best first, and their scores.

    An object may also select a set without an order.
    """

    columns: Ints
    scores: Floats
    is_set: bool = False


@dataclass(frozen=True, eq=False)
class PredictingStep(Step):
    """A step with a model of another library, which scores documents; ``coef`` is each feature's importance.

    Attributes
    ----------
    label : str
        Label of the method, for messages.
    model : object
        Trained object with ``predict``. A study does not store the
        object, because reading it would run code.
    """

    linear: ClassVar[bool] = False

    label: str
    model: Any

    def scores(self, columns: Floats, previous_scores: Floats | None = None) -> Floats:
        """Return the scores (m,) that the model predicts for documents with features ``columns`` (n, m).

        ``previous_scores`` are not used. Raises a MethodError if the
        model fails, or predicts anything but m finite numbers.
        """
        try:
            scores = np.asarray(
                self.model.predict(np.ascontiguousarray(columns.T)), dtype=np.float64
            )
        except MemoryError:  # no error of the model
            raise
        except Exception as error:
            raise MethodError(self.label, failure(error)) from error
        if scores.shape != (columns.shape[1],) or not np.isfinite(scores).all():
            text = tr("predict: expected {n} finite numbers, got {value}")
            raise MethodError(
                self.label, text.format(n=columns.shape[1], value=shown(scores))
            )
        return scores


class WrappedRanker(Wrapped, LinearRanker):
    """Ranker that trains a model of another library with all given features, and ranks by ``predict``."""

    def __init__(self, **values: Any) -> None:
        self.values = values

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: D102 - inherited
        return dict(self.values)

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return 1

    def learn(self, data: Any) -> Iterator[Step]:
        """Train the model on all features, and yield it as one step, with its weights if it is linear.

        Any other model is stored in the step.
        """
        model = self.trained(data, data.X.shape[1])
        n = data.X.shape[1]
        all_columns = tuple(range(n))
        weights = _model_weights(model, n)
        no_criterion = float("nan")
        no_candidates = np.empty(0)
        # A linear model is one step with its weights, which RankStudio
        # can score, show and export itself.
        if weights is not None and _is_linear(model, weights, data.X):
            yield Step(
                number=1,
                selected=all_columns,
                coef=weights,
                criterion=no_criterion,
                candidates=no_candidates,
            )
            return
        # Any other model is part of the step. In place of weights, the
        # step has the model's importances of features, or else ones.
        importance = np.asarray(
            getattr(model, "feature_importances_", np.ones(n)), dtype=np.float64
        )
        if importance.shape != (n,) or not np.isfinite(importance).all():
            importance = np.ones(n)
        yield PredictingStep(
            number=1,
            selected=all_columns,
            coef=importance,
            criterion=no_criterion,
            candidates=no_candidates,
            label=self.entry.label,
            model=model,
        )


def _model_weights(model: Any, n: int) -> Floats | None:
    """Return the weights (n,) of a model of another library, None if it has none for n features."""
    values = getattr(model, "coef_", None)
    if values is None:
        return None
    weights = np.asarray(values, dtype=np.float64)
    # Some libraries have a row of weights per output, here one.
    weights = weights[0] if weights.ndim == 2 and weights.shape[0] == 1 else weights
    return weights if weights.shape == (n,) and np.isfinite(weights).all() else None


def _is_linear(model: Any, weights: Floats, X: Floats) -> bool:
    """Return whether a model's scores are weighted sums of the features, plus a constant.

    The attribute ``coef_`` of a model, here ``weights`` (n,), may have
    another meaning. So the scores of documents X (m, n) are compared
    with their weighted sums, up to rounding.
    """
    scores = np.asarray(model.predict(np.array(X)), dtype=np.float64)
    sums = X @ weights
    differences = scores - sums
    # The tolerance refers to the largest number; "tiny" only avoids 0.
    largest = max(
        float(np.abs(sums).max()),
        float(np.abs(scores).max()),
        np.finfo(np.float64).tiny,
    )
    # Equal differences are the constant; ptp is their maximum minus their minimum.
    return bool(np.ptp(differences) <= _LINEARITY_TOLERANCE * largest)


def adapter(
    target: Callable[..., Any], entry: Method, size_argument: str
) -> type[LinearRanker]:
    """Return a new estimator class of RankStudio that wraps a class or a function of another library.

    Parameters
    ----------
    target : callable
        Class with ``fit``, or function ``scores(X, y, qid)``.
    entry : Method
        Entry of the method, whose family says whether it selects or ranks.
    size_argument : str
        Name of the argument with the number of features; "" if there is none.
    """
    base: type[LinearRanker] = WrappedSelector if entry.selects else WrappedRanker
    # A plain function in a class would become a method, and get the estimator as X.
    members = {
        "entry": entry,
        "target": target if isinstance(target, type) else staticmethod(target),
        "size_argument": size_argument,
    }
    return type(entry.label, (base,), members)


def selects(target: Callable[..., Any]) -> bool:
    """Return whether a class or a function is a selector rather than a ranker."""
    if not isinstance(target, type):
        return True
    is_selector = any(hasattr(target, name) for name in ("get_support", "transform"))
    return is_selector or not hasattr(target, "predict")
