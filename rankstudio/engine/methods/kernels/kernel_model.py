"""Kernel models, f(x) = Σ_i b_i k(x, x_i), and the steps and iterations that have such a model."""

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
    """A weighted sum of kernel functions of basis vectors, which scores documents.

    Attributes
    ----------
    kernel : Kernel
    vectors : ndarray of shape (r, n)
        Basis vectors x_i.
    weights : ndarray of shape (r,)
        Weights b of the kernel functions.
    """

    kernel: Kernel
    vectors: Floats
    weights: Floats

    def scores(self, X: Floats) -> Floats:
        """Score documents (m, n); equal documents have equal scores."""
        scores: Floats = self.kernel.scores(X, self.vectors, self.weights[None, :])[0]
        return scores

    def slopes(self) -> Floats:
        """Return the root mean square slope of the score in each feature at the basis vectors, (n,)."""
        return self.kernel.slopes(self.vectors, self.weights)

    def portable(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the model as plain values for a file; ``ids`` (n,) are the ids of its features.

        Raises
        ------
        OutputError
            For a kernel that is a function of Python.
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
        Positions of these documents among the grouped rows.
    dual : ndarray of shape (r,)
        Weights of these documents.
    """

    basis: Ints
    dual: Floats


class _OfKernel:
    """Base class of steps whose model is a :class:`KernelModel`."""

    linear: ClassVar[bool] = False

    model: KernelModel

    @property
    def kind(self) -> str:
        """Kind of the model."""
        return "kernel"

    def scores(self, columns: Floats, previous_scores: Floats | None = None) -> Floats:
        """Return the scores (m,) of documents whose features are ``columns`` (n, m).

        ``previous_scores``, those of the step before, are not used.
        """
        return self.model.scores(np.ascontiguousarray(columns.T))

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the model as plain values, which can be written to a file.

        See :meth:`rankstudio.engine.steps.Step.beyond_weights`. ``ids``
        are those of the features.
        """
        return self.model.portable(ids)


@dataclass(frozen=True, eq=False)
class KernelStep(_OfKernel, BasisStep):
    """A step with a kernel model.

    ``coef`` is the root mean square slope of the score in each feature.
    """

    model: KernelModel


@dataclass(frozen=True, eq=False)
class KernelIteration(_OfKernel, Iteration):
    """An iteration with a kernel model; ``coef`` as in :class:`KernelStep`."""

    basis: Ints
    model: KernelModel


def kernel_iteration(
    step: Iteration, kernel: Kernel, vectors: Floats, mapped: NystromFeatures
) -> KernelIteration:
    """Turn a linear model of mapped features into a kernel model, at an iteration of a method.

    A Nyström map turns documents into features whose inner products are
    about the kernel. A linear method learns weights of these features.

    Parameters
    ----------
    step : Iteration
        Iteration of the linear method; its weights belong to the mapped features.
    kernel : Kernel
        The kernel function of the map.
    vectors : ndarray of shape (r, n)
        Basis vectors, which all iterations share.
    mapped : NystromFeatures
        The mapped documents.

    Returns
    -------
    KernelIteration
        The same iteration with the kernel model. Its ``coef`` is the
        importance of each feature of the documents.
    """
    # The model is a weighted sum of kernel functions of the basis
    # vectors, whose weights `dual` computes.
    model = KernelModel(kernel=kernel, vectors=vectors, weights=mapped.dual(step.coef))
    all_columns = tuple(range(vectors.shape[1]))
    # A kernel model has no weights of features: `coef` is each feature's importance.
    coef = model.slopes()
    return KernelIteration(
        number=step.number,
        selected=all_columns,
        coef=coef,
        criterion=step.criterion,
        candidates=step.candidates,
        gap=step.gap,
        converged=step.converged,
        basis=mapped.basis,
        model=model,
    )
