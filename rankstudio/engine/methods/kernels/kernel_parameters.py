"""The parameters that all estimators with a kernel have, checked as the catalog says."""

from __future__ import annotations

from typing import Any

from rankstudio.engine.arithmetic.kernel_functions import PRECOMPUTED, Kernel
from rankstudio.engine.methods.catalog.kernels import BASIS, COEF0, DEGREE, GAMMA, KERNEL, N_BASIS


def kernel_of(owner: Any) -> Kernel:
    """Return the kernel of an estimator; ParameterError where a parameter is out of its range.

    It has ``kernel``, ``gamma``, ``degree`` and ``coef0``, all of which are checked whether or not this
    kernel has them.
    """
    function = owner.kernel
    if not callable(function) and function != PRECOMPUTED:
        function = KERNEL.check(function)
    numbers = {p.name: p.check(getattr(owner, p.name)) for p in (GAMMA, DEGREE, COEF0)}
    return Kernel(function, **numbers)


def basis_of(owner: Any) -> tuple[int | None, str, int]:
    """Return ``n_basis``, ``basis`` and ``seed`` of an estimator; ParameterError as :func:`kernel_of`."""
    from rankstudio.engine.methods.base import MOST_SEED, between  # noqa: PLC0415 - scikit-learn

    seed = between("seed", owner.seed, 0, MOST_SEED)
    return N_BASIS.check(owner.n_basis), BASIS.check(owner.basis), seed
