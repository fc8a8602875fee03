"""Checks of the steps and errors of other packages' methods, before a run uses them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from rankstudio.engine.errors import MethodError, RankStudioError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog.method import Method
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.plugins.guard import failure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress

_MOST_STEPS = 1_000_000


def guarded(cls: type[LinearRanker], entry: Method) -> type[LinearRanker]:
    """Return a subclass of an estimator that checks every step, and turns errors into a MethodError.

    Parameters
    ----------
    cls : type
        Estimator of another package's method.
    entry : Method
        Entry of the method in the registry.
    """

    class Guarded(cls):  # type: ignore[misc, valid-type]
        """Subclass of the estimator that checks its steps."""

        def learn(self, data: GivenData) -> Iterator[Step]:
            """Make the arrays of the data read-only, and yield the method's steps."""
            # Foreign code must not change data that other methods share.
            _make_read_only(data)
            yield from super().learn(data)

        def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
            """Check and yield the steps of the method; any error that it raises becomes a MethodError.

            ``data`` are the training documents. ``entry``, from the
            enclosing function, names the method in errors.
            """
            data = training_data(data)
            number_of_features = data.X.shape[1]
            # The last step so far: the numbers of steps have to increase.
            last: Step | None = None
            n_steps = 0
            try:
                for item in super().work(data):
                    if isinstance(item, Step):
                        _refuse_step(entry, item, last, number_of_features)
                        last = item
                        n_steps += 1
                        if n_steps > _MOST_STEPS:
                            raise MethodError(
                                entry.label, tr("it yields steps without end")
                            )
                    elif not isinstance(item, WorkProgress):
                        text = tr("expected steps, got {value}").format(
                            value=shown(item)
                        )
                        raise MethodError(entry.label, text)
                    yield item
            # Errors with a message for users, and exceptions that end a
            # run, pass unchanged.
            except (RankStudioError, MemoryError, KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as error:  # foreign code may raise anything
                raise MethodError(entry.label, failure(error)) from error
            if last is None:
                raise MethodError(entry.label, tr("it yields no step"))

        # The class is local, so pickle needs a function that makes it
        # again from the method's entry.
        def __reduce__(self) -> tuple[Any, ...]:
            return _unpickled_estimator, (entry, vars(self))

    # Messages and representations have the name of the estimator's own class.
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(Guarded, name, getattr(cls, name))
    Guarded.entry = entry
    return cast("type[LinearRanker]", Guarded)


def _unpickled_estimator(entry: Method, attributes: dict[str, Any]) -> LinearRanker:
    """Return the estimator of an entry with these attributes.

    Pickle calls this function to restore an estimator.
    """
    cls: Any = entry.load()
    estimator: LinearRanker = cls.__new__(cls)
    vars(estimator).update(attributes)
    return estimator


def _make_read_only(data: Any) -> None:
    """Make the arrays of grouped documents read-only.

    ``data`` are these documents. Other methods and folds use the same
    arrays, so no method may change them.
    """
    for name in ("X", "y", "ptr"):
        values = getattr(data, name, None)
        if isinstance(values, np.ndarray):
            values.flags.writeable = False


def _refuse_step(entry: Method, step: Step, last: Step | None, n: int) -> None:
    """Raise a MethodError for an invalid step of a method on data with n features.

    ``last`` is the step before it, None for the first one.
    """
    problem = _problem(step, last, n)
    if problem:
        text = tr("step {number}: {problem}").format(
            number=shown(step.number), problem=problem
        )
        raise MethodError(entry.label, text)


def _problem(step: Step, last: Step | None, n: int) -> str:
    """Check a step on data with n features, and return its fault as a phrase; "" for a valid step.

    ``last`` is the previous step, None for the first one.
    """
    # The number, which has to increase from step to step.
    last_number = 0 if last is None else last.number
    if type(step.number) is not int or step.number <= last_number:
        return tr("its number is not greater than the one before")
    # The selected columns: distinct columns of the data.
    columns = step.selected
    if not isinstance(columns, tuple) or not all(
        type(column) is int for column in columns
    ):
        return tr("selected: expected a tuple of whole numbers, got {value}").format(
            value=shown(columns)
        )
    if len(set(columns)) != len(columns) or any(
        not 0 <= column < n for column in columns
    ):
        text = tr("selected: expected different columns from 0 to {last}, got {value}")
        return text.format(last=n - 1, value=shown(columns))
    # The arrays: a weight per feature, and a score per feature or none at all.
    for name, sizes in (("coef", (n,)), ("candidates", (0, n))):
        values = getattr(step, name)
        has_valid_shape = (
            isinstance(values, np.ndarray) and values.ndim == 1 and values.size in sizes
        )
        if not has_valid_shape or values.dtype != np.float64:
            text = tr("{name}: expected {n} numbers of type float64, got {value}")
            return text.format(name=name, n=n, value=shown(values))
    # The values: NaN is a missing score or criterion, but no weight is missing.
    if not np.isfinite(step.coef).all():
        return tr("coef: not all weights are finite")
    if not isinstance(step.criterion, float) or np.isinf(step.criterion):
        return tr("criterion: expected a number, got {value}").format(
            value=shown(step.criterion)
        )
    if np.isinf(step.candidates).any():
        return tr("candidates: not all scores are finite or NaN")
    return ""
