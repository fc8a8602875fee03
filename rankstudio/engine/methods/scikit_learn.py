"""Interface of scikit-learn's estimators, without importing scikit-learn before it is used.

Importing scikit-learn takes a second and 150 MB, including pandas and
pyarrow, which it imports if they are installed. Plans, the window and
workers do not need it. So the methods implement the interface that
scikit-learn expects of an estimator, and do not inherit from its
classes.
"""

from __future__ import annotations

from copy import deepcopy
from inspect import Parameter, signature
from typing import Any, Self


class Estimator:
    """Base class of estimators that scikit-learn's tools accept.

    It has parameters by name, tags, metadata requests, and a
    representation for notebooks. Subclasses have an ``__init__`` that
    stores its arguments as attributes of the same names, and ``fit``.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        No parameter is an estimator, so ``deep`` has no effect.
        """
        return {
            name: getattr(self, name)
            for name in sorted(signature(type(self)).parameters)
        }

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name, and return the estimator; ValueError for an unknown name."""
        accepted = signature(type(self)).parameters
        for name, value in parameters.items():
            if name not in accepted:
                raise ValueError(
                    f"{name!r} is not a parameter of {type(self).__name__}; "
                    f"expected one of {', '.join(accepted)}"
                )
            setattr(self, name, value)
        return self

    def get_metadata_routing(self) -> Any:
        """Return the request of metadata that scikit-learn's routing passes to ``fit``.

        Metadata are keyword arguments of ``fit``, such as ``qid``. The
        request is a copy of the one that :meth:`set_fit_request` has
        stored. Without it, the request has None for each argument:
        scikit-learn then raises an error if it is passed.
        """
        from sklearn.utils.metadata_routing import MetadataRequest  # noqa: PLC0415 - where it is asked for

        stored_request = vars(self).get("_metadata_request")
        if stored_request is not None:
            return deepcopy(stored_request)
        request = MetadataRequest(owner=type(self).__name__)
        for name in self._metadata():
            request.fit.add_request(param=name, alias=None)
        return request

    def set_fit_request(self, **requests: bool | str | None) -> Self:
        """Declare which keyword arguments of ``fit`` scikit-learn's metadata routing passes to it.

        Parameters
        ----------
        **requests : bool, str or None
            For each argument of ``fit``, whether it is passed, or the
            name under which a caller passes it; None to raise an error
            if it is passed.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            For an argument that ``fit`` does not have.
        """
        request = self.get_metadata_routing()
        for name, alias in requests.items():
            if name not in self._metadata():
                raise TypeError(f"{type(self).__name__}.fit has no argument {name!r}")
            request.fit.add_request(param=name, alias=alias)
        # scikit-learn's ``clone`` copies the attribute with this name.
        self._metadata_request = request
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags  # noqa: PLC0415 - as above

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def __repr__(self) -> str:
        """Return the constructor's call with the parameters that differ from their defaults."""
        defaults = signature(type(self)).parameters
        values = {name: repr(getattr(self, name)) for name in defaults}
        arguments = [
            f"{name}={text}"
            for name, text in values.items()
            if text != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(arguments)})"

    def _repr_html_(self) -> str:
        """Return scikit-learn's table of the parameters, for notebooks."""
        from sklearn.utils import estimator_html_repr  # noqa: PLC0415 - as above

        html: str = estimator_html_repr(self)
        return html

    def _metadata(self) -> list[str]:
        """Return the names of the keyword-only arguments of ``fit``, such as "qid"."""
        arguments = signature(type(self).fit).parameters.values()  # type: ignore[attr-defined]
        return [
            argument.name
            for argument in arguments
            if argument.kind is Parameter.KEYWORD_ONLY
        ]


def check_is_fitted(estimator: Any, *rest: Any) -> None:
    """Raise scikit-learn's NotFittedError unless an estimator is fitted, by its function of the same name.

    Examples
    --------
    >>> from rankstudio.api import RankRLS, check_is_fitted
    >>> model = RankRLS().fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
    >>> check_is_fitted(model)  # raises NotFittedError for a model that is not fitted
    """
    from sklearn.utils.validation import check_is_fitted as check  # noqa: PLC0415 - where it is needed

    check(estimator, *rest)


def validate_data(estimator: Any, *rest: Any, **options: Any) -> Any:
    """Check documents, and labels if given, by scikit-learn's function of the same name; return arrays.

    Examples
    --------
    >>> from rankstudio.api import RankRLS, validate_data
    >>> model = RankRLS().fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
    >>> validate_data(model, [[2]], reset=False).dtype.name
    'int64'
    """
    from sklearn.utils.validation import validate_data as validated  # noqa: PLC0415 - where it is needed

    return validated(estimator, *rest, **options)
