"""A kernel model, f(x) = Σ_i b_i k(x, x_i), and the steps that have one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankstudio.engine.arithmetic.kernel_functions import Kernel
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import OutputError
from rankstudio.engine.methods.kernels.nystrom import NystromFeatures
from rankstudio.engine.steps import Iteration, Step


@dataclass(frozen=True, eq=False)
class KernelModel:
    """A weighted sum of kernel functions.

    Attributes
    ----------
    kernel : Kernel
    vectors : ndarray of shape (r, n)
        x_i, the basis vectors.
    weights : ndarray of shape (r,)
        b.
    """

    kernel: Kernel
    vectors: Floats
    weights: Floats

    def scores(self, X: Floats) -> Floats:
        """Score documents (m, n); equal ones have equal scores."""
        found: Floats = self.kernel.scores(X, self.vectors, self.weights[None, :])[0]
        return found

    def slopes(self) -> Floats:
        """Return the importance of each feature: the root mean square slope of the score, shape (n,)."""
        return self.kernel.slopes(self.vectors, self.weights)

    def portable(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the model as plain values, with features by their ids.

        Raises
        ------
        OutputError For a kernel that is a Python function.
        """
        if callable(self.kernel.function):
            raise OutputError("A kernel given as a Python function cannot be saved.")
        return {
            "kind": "kernel",
            "kernel": {
                "function": self.kernel.function,
                "gamma": self.kernel.gamma,
                "degree": self.kernel.degree,
                "coef0": self.kernel.coef0,
            },
            "columns": [int(i) for i in ids],
            "vectors": self.vectors.tolist(),
            "weights": self.weights.tolist(),
        }


@dataclass(frozen=True, eq=False)
class BasisStep(Step):
    """A step whose model is a weighted sum of training documents.

    Attributes
    ----------
    basis : ndarray of shape (r,)
        Rows of these documents in the grouped data.
    dual : ndarray of shape (r,)
        Their weights.
    """

    basis: Ints
    dual: Floats


@dataclass(frozen=True, eq=False)
class KernelStep(BasisStep):
    """A step with a kernel model; ``coef`` is the importance of each feature.

    It is the root mean square slope at the basis vectors.
    """

    linear: ClassVar[bool] = False

    model: KernelModel

    @property
    def kernel(self) -> bool:
        """Whether the model is a sum of kernel functions."""
        return True

    def scores(self, columns: Floats, known: Floats | None = None) -> Floats:
        """Score documents; see :meth:`rankstudio.engine.steps.Step.scores`."""
        return self.model.scores(np.ascontiguousarray(columns.T))

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the definition; see :meth:`rankstudio.engine.steps.Step.beyond_weights`."""
        return self.model.portable(ids)


@dataclass(frozen=True, eq=False)
class KernelIteration(Iteration):
    """An iteration with a kernel model, like :class:`KernelStep`."""

    linear: ClassVar[bool] = False

    basis: Ints
    model: KernelModel

    @property
    def kernel(self) -> bool:
        """Whether the model is a sum of kernel functions."""
        return True

    def scores(self, columns: Floats, known: Floats | None = None) -> Floats:
        """Score documents; see :meth:`rankstudio.engine.steps.Step.scores`."""
        return self.model.scores(np.ascontiguousarray(columns.T))

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the definition; see :meth:`rankstudio.engine.steps.Step.beyond_weights`."""
        return self.model.portable(ids)


def kernel_iteration(
    step: Iteration, kernel: Kernel, vectors: Floats, mapped: NystromFeatures
) -> KernelIteration:
    """Return an iteration of a linear method on Nyström features as an iteration with a kernel model.

    Parameters
    ----------
    step : Iteration
        Iteration with weights of the Nyström features.
    kernel : Kernel
    vectors : ndarray of shape (r, n)
        Basis vectors, shared by all iterations.
    mapped : NystromFeatures
    """
    model = KernelModel(kernel, vectors, mapped.dual(step.coef))
    everything, coef = tuple(range(vectors.shape[1])), model.slopes()
    told = step.number, everything, coef, step.criterion, step.candidates, step.gap, step.converged
    return KernelIteration(*told, basis=mapped.basis, model=model)
