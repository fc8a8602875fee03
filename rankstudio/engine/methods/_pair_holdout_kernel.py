"""Compiled inner loops of leave-pair-out: a system of two equations for each pair.

With H the hat matrix of all m documents and r = y^ - Hy^, the residuals
e of a held-out pair U solve

(1) Me = r_U, where (2) M = I - H_UU (I + 11'/c) for squared differences
with c training documents (``inverse_count`` = 1/c), or (3) M = I - H_UU
- 11'/m for squared errors of documents, with a bias (``border`` = 1/m).

The predictions without the pair are y^_U - e. O(1) for a pair.
"""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import fused, fused_inlined


@fused_inlined
def _solve(
    a: float,
    b: float,
    d: float,
    r: float,
    s: float,
    inverse_count: float,
    border: float,
) -> tuple[float, float]:
    """Return the residuals of two documents by the model without both, a system of two equations.

    a, b and d are the entries (a, b; b, d) of the hat matrix H for the
    two documents, and (r, s) their residuals in the model of all
    documents, on the right of the system. Its matrix is the identity
    minus H_UU, the part (a, b; b, d) of H, and minus one number in each
    row. For a loss of differences, this is the row's sum of H_UU
    divided by the number of training documents: ``inverse_count`` is 1
    over this number, else 0. For a model with a bias, it is ``border``,
    1 over the number of all documents, else 0.
    """
    first = inverse_count * (a + b) + border
    second = inverse_count * (b + d) + border
    m11 = 1.0 - a - first
    m12 = -b - first
    m21 = -b - second
    m22 = 1.0 - d - second
    # Cramer's rule for two equations.
    determinant = m11 * m22 - m12 * m21
    return (m22 * r - m12 * s) / determinant, (m11 * s - m21 * r) / determinant


@fused
def all_pairs(
    hat: Floats,
    residuals: Floats,
    labels: Floats,
    inverse_count: float,
    border: float,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """Write the predictions of all pairs i < j with i in first … last - 1, by the model without i and j.

    The prediction of i is written to ``out[i, j]``, that of j to
    ``out[j, i]``, where ``out`` has shape (m, m). The hat matrix
    ``hat`` (m, m) maps labels to predictions, ``residuals`` (m,) are
    those of the model of all documents, and ``labels`` (m,) the labels.
    ``inverse_count`` is 1 over the number of training documents for a
    loss of differences, else 0; ``border`` is 1/m for a model with a
    bias, else 0.
    """
    for i in range(first, last):
        for j in range(i + 1, residuals.shape[0]):
            # The residuals of i and j; a prediction is the label minus its residual.
            e, g = _solve(
                hat[i, i],
                hat[i, j],
                hat[j, j],
                residuals[i],
                residuals[j],
                inverse_count,
                border,
            )
            out[i, j] = labels[i] - e
            out[j, i] = labels[j] - g


@fused
def some_pairs(
    hat: Floats,
    residuals: Floats,
    labels: Floats,
    inverse_count: float,
    border: float,
    pairs: Ints,
    out: Floats,
) -> None:
    """Write the predictions of pairs of documents, rows of ``pairs`` (p, 2), to ``out`` (p, 2).

    Both documents of a pair are predicted by the model without the two.
    The hat matrix ``hat`` (m, m) maps labels to predictions,
    ``residuals`` (m,) are those of the model of all documents, and
    ``labels`` (m,) the labels. ``inverse_count`` is 1 over the number
    of training documents for a loss of differences, else 0; ``border``
    is 1/m for a model with a bias, else 0.
    """
    for p in range(pairs.shape[0]):
        i = pairs[p, 0]
        j = pairs[p, 1]
        # The residuals of i and j; a prediction is the label minus its residual.
        e, g = _solve(
            hat[i, i],
            hat[i, j],
            hat[j, j],
            residuals[i],
            residuals[j],
            inverse_count,
            border,
        )
        out[p, 0] = labels[i] - e
        out[p, 1] = labels[j] - g


@fused
def pair_losses(
    hat: Floats,
    leverages: Floats,
    residuals: Floats,
    along: Floats,
    scale: float,
    inverse_count: float,
    border: float,
    first: int,
    out: Floats,
) -> None:
    """Write to ``out[i]`` the sum of the squared errors of the pairs of i and j > i.

    Each pair is predicted by the model without i and j. Its error is
    that of the difference of the two labels, so the difference of the
    two residuals.

    ``hat`` (rows, m) has the rows of a matrix H from ``first`` on, and
    ``leverages`` (m,) is the diagonal of H. The hat matrix of the model
    is H + scale uu', with ``along`` = u (m,): so H can be that of a
    model without a candidate feature, which adds scale uu'.
    ``residuals`` (m,) are those of the model of all documents.
    ``inverse_count`` is 1 over the number of training documents for a
    loss of differences, else 0; ``border`` is 1/m for a model with a
    bias, else 0.
    """
    for row in range(hat.shape[0]):
        i = first + row
        total = 0.0
        # The entries (a, b; b, d) of H
        # + scale uu' for i and j.
        scaled_u = scale * along[i]
        a = leverages[i] + scaled_u * along[i]
        r = residuals[i]
        for j in range(i + 1, residuals.shape[0]):
            b = hat[row, j] + scaled_u * along[j]
            d = leverages[j] + scale * along[j] * along[j]
            # The residuals of i and j by the model without both.
            e, g = _solve(a, b, d, r, residuals[j], inverse_count, border)
            total += (e - g) * (e - g)
        out[i] = total


@fused
def pair_orders(
    hat: Floats,
    leverages: Floats,
    residuals: Floats,
    labels: Floats,
    kinds: Floats,
    inverse_count: float,
    border: float,
    first: int,
    rounding: float,
    out: Floats,
) -> None:
    """Write to ``out[i]`` the number of pairs of i and j > i that the model without both orders correctly.

    Only pairs with different ``kinds`` (m,) count: these numbers, such
    as relevance, define the correct order. ``hat`` (rows, m) has the
    rows of the hat matrix from ``first`` on, and ``leverages`` (m,) is
    its diagonal. ``residuals`` (m,) are those of the model of all
    documents, and ``labels`` (m,) the labels. ``inverse_count`` is 1
    over the number of training documents for a loss of differences,
    else 0; ``border`` is 1/m for a model with a bias, else 0.

    Scores that differ by at most ``rounding`` times the size of their
    terms are ties, such as the scores of equal documents. A tie counts
    one half.
    """
    for row in range(hat.shape[0]):
        i = first + row
        n_correct = 0.0
        for j in range(i + 1, residuals.shape[0]):
            if kinds[i] == kinds[j]:
                continue
            # The residuals of both documents if neither is in training;
            # predictions are labels minus residuals.
            e, g = _solve(
                leverages[i],
                hat[row, j],
                leverages[j],
                residuals[i],
                residuals[j],
                inverse_count,
                border,
            )
            higher = labels[i] - e
            lower = labels[j] - g
            # The document of the higher kind should have the higher prediction.
            if kinds[i] < kinds[j]:
                higher, lower = lower, higher
            size = abs(labels[i]) + abs(e) + abs(labels[j]) + abs(g)
            if abs(higher - lower) <= rounding * size:
                n_correct += 0.5
            elif higher > lower:
                n_correct += 1.0
        out[i] = n_correct
