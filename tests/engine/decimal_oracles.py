"""Kernel RankRLS retrained without each query, in decimal numbers of 50 digits: nothing of it is rounding."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import Any

import numpy as np

Decimals = np.ndarray[Any, np.dtype[np.object_]]

exactly = np.vectorize(Decimal, otypes=[object])
"""Numbers of double precision as they are."""


def left_out_in_decimals(
    kernel: Decimals,
    y: np.ndarray,
    ptr: Sequence[int],
    regularization: float,
    basis: np.ndarray,
) -> np.ndarray:
    """Each query's scores, centred, by the model learned without it and its basis vectors."""
    out = np.zeros(len(kernel))
    with localcontext() as context:
        context.prec = 50
        targets = _centred(exactly(y)[:, None], ptr)
        for first, last in pairwise(ptr):
            R = basis[(basis < first) | (basis >= last)]
            if not R.size:
                continue
            others = np.r_[0:first, last : len(kernel)]
            mapped = _forward(_cholesky(kernel[np.ix_(R, R)]), kernel[R]).T
            seen = _centred(mapped, ptr)[others]
            gram = seen.T @ seen
            gram[np.diag_indices_from(gram)] += Decimal(regularization)
            factor = _cholesky(gram)
            weights = _backward(factor, _forward(factor, seen.T @ targets[others]))
            scores = mapped[first:last] @ weights
            out[first:last] = _centred(scores, [0, last - first])[:, 0].astype(float)
    return out


def _centred(values: Decimals, ptr: Sequence[int]) -> Decimals:
    out = values.copy()
    for first, last in pairwise(ptr):
        out[first:last] = out[first:last] - out[first:last].sum(axis=0) / (
            int(last) - int(first)
        )
    return out


def _cholesky(gram: Decimals) -> Decimals:
    factor = np.full_like(gram, Decimal(0))
    for j in range(len(gram)):
        factor[j, j] = (
            gram[j, j] - factor[j, :j] @ factor[j, :j] if j else gram[j, j]
        ).sqrt()
        for i in range(j + 1, len(gram)):
            factor[i, j] = (
                gram[i, j] - (factor[i, :j] @ factor[j, :j] if j else 0)
            ) / factor[j, j]
    return factor


def _forward(factor: Decimals, right: Decimals) -> Decimals:
    out = right.copy()
    for i in range(len(factor)):
        out[i] = (out[i] - (factor[i, :i] @ out[:i] if i else 0)) / factor[i, i]
    return out


def _backward(factor: Decimals, right: Decimals) -> Decimals:
    return _forward(factor.T[::-1, ::-1], right[::-1])[::-1]


def left_out_condition(
    kernel: np.ndarray,
    y: np.ndarray,
    ptr: Sequence[int],
    regularization: float,
    basis: np.ndarray,
) -> np.ndarray:
    """How far the scores move, to first order, where each value of the kernel is off by one rounding.

    By |δk_ij| <= u √(k_ii k_jj). With A = K_RR^-1 K_RM, a = L(y - f)/λ over the training documents T, v = A a
    and P = N_qT(N_TT + λI)^-1 of N = A'K_RR A, all centred:

        δf_q = (δK_qR - P δK_TR) v + (A_q - A_T P')'(δK_RT a - δK_RR v)
    """
    u, length, out = (
        float(np.finfo(float).eps) / 2,
        np.sqrt(np.diag(kernel)),
        np.zeros(len(kernel)),
    )
    L = np.eye(len(kernel))
    for first, last in pairwise(ptr):
        L[first:last, first:last] -= 1.0 / (last - first)
    for first, last in pairwise(ptr):
        R = basis[(basis < first) | (basis >= last)]
        if not R.size:
            continue
        q, T = np.arange(first, last), np.r_[0:first, last : len(kernel)]
        Lq, LT = L[np.ix_(q, q)], L[np.ix_(T, T)]
        factor = np.linalg.cholesky(kernel[np.ix_(R, R)])
        mapped = np.linalg.solve(factor, kernel[R]).T
        A = np.linalg.solve(factor.T, mapped.T)
        seen, inverse = LT @ mapped[T], np.eye(R.size) * regularization
        inverse = np.linalg.inv(inverse + seen.T @ seen)
        w = inverse @ (seen.T @ y[T])
        a, v = (LT @ y[T] - seen @ w) / regularization, np.linalg.solve(factor.T, w)
        P = Lq @ mapped[q] @ inverse @ seen.T @ LT
        g = A[:, q] @ Lq - A[:, T] @ P.T
        weight = length[R] @ np.abs(v)
        out[q] = (np.abs(Lq) @ length[q] + np.abs(P) @ length[T]) * weight
        out[q] += (np.abs(g).T @ length[R]) * (length[T] @ np.abs(a) + weight)
    return u * out
