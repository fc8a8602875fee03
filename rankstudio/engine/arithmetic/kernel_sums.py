"""Sums and products of kernels, Σ_t w_t Π_j k_tj: their values and derivatives.

Sums, products and positive multiples of positive semidefinite functions
are positive semidefinite (Shawe-Taylor and Cristianini 2004,
Proposition 3.22).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.named_sums import Product


def sum_values(products: Sequence[Product], parts: Mapping[str, Floats]) -> Floats:
    """Return the values of a sum of products of kernels.

    Parameters
    ----------
    products : sequence of Product
        Products of weights and named kernels.
    parts : Mapping of str to ndarray
        Values of each named kernel, all of the same shape.

    Returns
    -------
    ndarray
        Σ_t w_t Π_j K_tj, for the weight w_t and the kernels K_tj of
        product t, of the same shape. Values out of the floating-point
        range are infinite or NaN.
    """
    total = np.zeros_like(next(iter(parts.values())))
    with np.errstate(over="ignore", invalid="ignore"):
        for product in products:
            total += _times(product.weight, product.names, parts)
    return total


def sum_derivatives(
    products: Sequence[Product], parts: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Return the derivatives of a sum of products of kernels in each kernel's value.

    Parameters
    ----------
    products : sequence of Product
        Products of weights and named kernels.
    parts : Mapping of str to ndarray
        Values of each named kernel, all of the same shape.

    Returns
    -------
    dict of str to ndarray
        The derivative in each kernel, by its name. By the product rule,
        it is a sum over all occurrences of the kernel as a factor. An
        occurrence adds the product's weight times the other factors of
        this product.
    """
    derivatives = {name: np.zeros_like(part) for name, part in parts.items()}
    # Values that overflow become infinite.
    with np.errstate(over="ignore", invalid="ignore"):
        for product in products:
            for position, name in enumerate(product.names):
                # The product without this factor.
                factors = list(product.names)
                del factors[position]
                derivatives[name] += _times(product.weight, factors, parts)
    return derivatives


def _times(
    weight: float, names: Sequence[str], parts: Mapping[str, Floats]
) -> Floats | float:
    """Return a weight times the values of named kernels, element by element.

    ``parts`` has the values of each kernel by name. Without names,
    return the weight.
    """
    if not names:
        return weight
    weighted = parts[names[0]] * weight
    for name in names[1:]:
        weighted *= parts[name]
    return weighted
