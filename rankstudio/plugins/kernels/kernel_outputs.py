"""Kernel RankRLS with several outputs, labels of shape (m, v), which share one decomposition (thesis, 4.1.3)."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arithmetic.kernel_functions import Kernel
from rankstudio.engine.arithmetic.query_data import (
    QueryData,
    centre,
    check_labels,
)
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.kernels.kernel_model import KernelModel
from rankstudio.plugins.kernels.systems import KernelSystem, QueryFactor


def with_outputs(
    system: KernelSystem,
    data: QueryData,
    outputs: Floats,
) -> KernelSystem:
    """Return a decomposed system with the labels of several outputs.

    Parameters
    ----------
    system : KernelSystem
        Decomposed system of RankRLS with a kernel: of the default cost,
        or of single documents.
    data : QueryData
        The documents of the system.
    outputs : ndarray of shape (m, v)
        Labels of each output, in the order of the rows of X.

    Returns
    -------
    KernelSystem
        The new system, which shares the eigenvectors of ``system``.

    Raises
    ------
    DatasetError
        For a label that is no finite number.
    """
    # Called for its errors only.
    for column in outputs.T:
        check_labels(data.X.shape, column)

    # The loss of single documents has an intercept; the default loss of
    # pairs centres the labels of each query.
    labels = in_order_of_queries(data, outputs)
    if system.factor.intercept:
        factor = QueryFactor.with_intercept(labels, data.ptr)
    else:
        factor = QueryFactor.centring(labels, data.ptr)
    return system.with_factor(factor)


def in_order_of_queries(data: QueryData, outputs: Floats) -> Floats:
    """Return the labels (m, v) in the order of grouped rows."""
    return outputs if data.order is None else outputs[data.order]


def left_out_errors(
    system: KernelSystem,
    regularization: float,
) -> Floats:
    """Return the leave-query-out squared error of each of v outputs, (v,), summed over documents."""
    # Of the predictions for each λ there is one, of shape (m, v).
    (predicted,) = system.left_out([regularization])
    residuals = system.residuals(predicted)

    # The errors compare documents of a query. A loss of pairs does so
    # itself; one of documents, with an intercept, needs centred
    # residuals.
    if system.factor.intercept:
        residuals = centre(residuals, system.factor.documents)
    errors: Floats = np.einsum("mv,mv->v", residuals, residuals)
    return errors


def output_slopes(
    kernel: Kernel,
    vectors: Floats,
    weights: Floats,
) -> Floats:
    """Return the importance of each feature for each output.

    Parameters
    ----------
    kernel : Kernel
    vectors : ndarray of shape (r, n)
        Basis vectors.
    weights : ndarray of shape (v, r)
        Weights of the basis vectors, a row per output.

    Returns
    -------
    ndarray of shape (v, n)
        Root mean square slope of each output's score along each feature.
    """
    models = [KernelModel(kernel, vectors, row) for row in weights]
    return np.stack([model.slopes() for model in models])


def weights_of_columns(
    n_features: int,
    rows: Ints,
    weights: Floats,
) -> Floats:
    """Return the weights (v, n) of all columns of a precomputed kernel.

    The columns ``rows`` are the basis vectors, with the given weights
    (v, r); all others have the weight 0.
    """
    coef = np.zeros((len(weights), n_features))
    coef[:, rows] = weights
    return coef
