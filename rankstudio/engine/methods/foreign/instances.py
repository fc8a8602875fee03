"""Methods made from estimators of other libraries that a program passes as objects."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog import Method, add_entry, find_method
from rankstudio.engine.methods.foreign.code import code_of_import, entry_of
from rankstudio.engine.methods.foreign.expressions import text_of
from rankstudio.engine.methods.foreign.signature import size_argument


@dataclass(frozen=True)
class Instance:
    """An estimator as a method of the catalog and the values of its parameters.

    Attributes
    ----------
    entry : Method
    parameters : dict
        Values of the parameters in the form of a plan.
    """

    entry: Method
    parameters: dict[str, Any]


def instance_of(estimator: object) -> Instance:
    """Return the method of an estimator's class, and the estimator's parameters as in a plan.

    A class that the catalog does not have is added to it.

    Parameters
    ----------
    estimator : object
        Estimator of RankStudio, or any object with ``fit`` and
        ``get_params`` of an importable class.

    Raises
    ------
    PlanError
        If the object is no estimator, or its class cannot be imported by name.
    ParameterError
        For a parameter's value that cannot be written in a plan.
    """
    if isinstance(estimator, type) or not (
        hasattr(estimator, "fit") and hasattr(estimator, "get_params")
    ):
        text = tr(
            "method: expected a key, or an estimator with fit and get_params, got {value}."
        )
        raise PlanError(text.format(value=shown(estimator)))
    # The class of an estimator of RankStudio names its method.
    values: dict[str, Any] = estimator.get_params(deep=False)
    if isinstance(estimator, LinearRanker):
        entry = estimator.entry
        return Instance(
            entry,
            {p.name: values[p.name] for p in entry.parameters if p.name in values},
        )
    # The method of another class is found by the class's path, or made
    # from its signature.
    path = public_path(type(estimator))
    entry = find_method(path) or add_entry(entry_of(code_of_import(path)))
    # Parameters that are None keep the defaults of the method; the
    # others are written as in a plan.
    names = {p.name for p in entry.parameters}
    parameters = {
        name: text_of(value)
        for name, value in values.items()
        if name in names and value is not None
    }
    # Classes name the number of features to select differently; in a
    # plan it has one name. For a class without such an argument,
    # `size_argument` is "", which has no value.
    size = values.get(size_argument(type(estimator)))
    if isinstance(size, int) and "n_features_to_select" in names:
        parameters["n_features_to_select"] = size
    return Instance(entry, parameters)


def public_path(cls: type) -> str:
    """Return the shortest import path of a class, such as ``sklearn.feature_selection.SelectKBest``.

    A package may offer a class that one of its modules defines, so the
    packages above that module are tried from the outermost one.

    Raises
    ------
    PlanError
        If there is no such path, as for classes of the program itself.
    """
    parts = cls.__module__.split(".")
    if parts[0] != "__main__":
        for size in range(1, len(parts) + 1):
            module = ".".join(parts[:size])
            if getattr(import_module(module), cls.__name__, None) is cls:
                return f"{module}.{cls.__name__}"
    text = tr(
        "{name}: expected a class that can be imported. Put it into a module of its own."
    )
    raise PlanError(text.format(name=cls.__qualname__))


def as_method(estimator: Any) -> LinearRanker:
    """Wrap an estimator of another library as a method of RankStudio, with ``fit(X, y, qid=...)``.

    Parameters
    ----------
    estimator : object
        ``SelectKBest(f_regression)``, ``RFE(Ridge())``; estimators of
        RankStudio are returned unchanged.

    Returns
    -------
    LinearRanker
        A ranker; or a selector, with whose features RankRLS ranks.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> as_method(SelectKBest()).entry.label
    'SelectKBest'
    """
    if isinstance(estimator, LinearRanker):
        return estimator
    instance = instance_of(estimator)
    # The estimator's own values replace the defaults, which come first.
    parameters = {p.name: p.default for p in instance.entry.parameters}
    parameters |= instance.entry.validate(instance.parameters)
    if "regularization" in parameters:
        # The RankRLS of a selector needs one λ, not the grid of a plan.
        parameters["regularization"] = 1.0
    adapter: LinearRanker = instance.entry.load()(**parameters)
    return adapter
