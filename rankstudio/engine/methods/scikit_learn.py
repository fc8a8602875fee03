"""What methods have of scikit-learn, and do without in a process that only carries out plans.

To import it, with what it imports of SciPy, takes a second and 80 MB, and a method that learns step by step
uses nothing of it. With pandas and pyarrow, which it imports where they are, it is 200 MB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstudio.engine.support.purpose import PURPOSE

if TYPE_CHECKING or not PURPOSE.only_plans:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.feature_selection import SelectorMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
else:
    from inspect import signature

    class BaseEstimator:
        """An estimator that tells its parameters."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters, in the order in which scikit-learn's estimators do."""
            names = sorted(signature(type(self)).parameters)
            return {name: getattr(self, name) for name in names}

        def __sklearn_tags__(self) -> Any:
            from sklearn.base import BaseEstimator as Whole  # noqa: PLC0415 - where fit is called after all

            return Whole.__sklearn_tags__(self)

    class TransformerMixin:
        """What can transform."""

    class SelectorMixin(TransformerMixin):
        """What selects features."""

    def check_is_fitted(estimator: Any, *rest: Any) -> None:
        """Check as scikit-learn does."""
        from sklearn.utils.validation import check_is_fitted as check  # noqa: PLC0415 - where it is needed

        check(estimator, *rest)

    def validate_data(estimator: Any, *rest: Any, **options: Any) -> Any:
        """Check as scikit-learn does."""
        from sklearn.utils.validation import validate_data as validated  # noqa: PLC0415 - where it is needed

        return validated(estimator, *rest, **options)


__all__ = ["BaseEstimator", "SelectorMixin", "TransformerMixin", "check_is_fitted", "validate_data"]
