"""Compiled Gaussian elimination of Laplacians: triangular factors of the preferences of queries.

A Laplacian is its graph. With w the weights between documents and b the
right side of the normal equations, eliminating document i changes, for
later ones j and k,

(1) w_jk ← w_jk + w_ij w_ik / W_i, with W_i = Σ_l w_il over later documents

(2) b_j ← b_j + w_ij b_i / W_i.

Nothing is ever subtracted from a weight, so that weights of any
magnitudes keep their digits (Grassmann, Taksar and Heyman 1985). Row i
of the factor and its target are then

(3) Σ_j e_ij (s_i - s_j) with e_ij = w_ij / √W_i, and b_i / √W_i

(4) s_i = (b_i / √W_i + Σ_j e_ij s_j) / Σ_j e_ij, from the last document
to the first.

O(|q|³) for a query. Comments refer to these equations.
"""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import fused


@fused
def eliminate(
    ptr: Ints,
    edges: Ints,
    winner: Ints,
    loser: Ints,
    scale: Floats,
    target: Floats,
    starts: Ints,
    factor: Floats,
    targets: Floats,
    scores: Floats,
    rest: Floats,
) -> None:
    """Compute the triangular factor of each query's preferences, and the least loss.

    Documents i are eliminated in order. With w the weights between
    documents, b the right side of the normal equations and W_i = Σ_j
    w_ij over later j,

    (1) w_jk grows by w_ij w_ik / W_i, for later documents j and k,

    (2) b_j grows by w_ij b_i / W_i,

    (3) the row of i has the entries e_ij = w_ij / √W_i and the target b_i / √W_i,

    (4) and the score of i is (target + Σ_j e_ij s_j) / Σ_j e_ij.

    Parameters
    ----------
    ptr, edges : ndarray of shape (Q + 1,)
        Query q has the documents ``ptr[q]:ptr[q + 1]`` and the
        preferences ``edges[q]:edges[q + 1]``.
    winner, loser : ndarray of shape (l,)
        Row numbers of the preferred document, and of the other one, of
        each preference.
    scale, target : ndarray of shape (l,)
        The loss of scores s is the sum of (target - scale (s_winner -
        s_loser))².
    starts : ndarray of shape (m,)
        Start of the entries of each document in `factor`, one entry for
        each later document of its query.
    factor : ndarray, all 0
        Receives the entries e_ij > 0: row i is sum_j e_ij (s_i - s_j).
    targets : ndarray of shape (m,)
        Receives the targets of the rows; NaN for a document without a
        row, which no preference connects with later ones.
    scores : ndarray of shape (m,)
        Receives scores of least loss.
    rest : ndarray of shape (Q,)
        Receives the root of the least loss.
    """
    for q in range(ptr.size - 1):
        begin = ptr[q]
        end = ptr[q + 1]
        # The Laplacian above its diagonal, and the right-hand side,
        # from the preferences of the query.
        for i in range(begin, end):
            targets[i] = 0.0
        for e in range(edges[q], edges[q + 1]):
            a = winner[e]
            b = loser[e]
            i = min(a, b)
            j = max(a, b)
            # w of the preference, and its part of b.
            factor[starts[i] + j - i - 1] += scale[e] * scale[e]
            targets[a] += scale[e] * target[e]
            targets[b] -= scale[e] * target[e]
        # Eliminate one document after the other; what remains is the
        # Laplacian of the later documents.
        for i in range(begin, end):
            row = starts[i] - i - 1
            total = 0.0
            for j in range(i + 1, end):
                total += factor[row + j]
            # The last document of a component, documents connected by
            # preferences: its score is free.
            if total == 0.0:
                targets[i] = float("nan")
                continue
            value = targets[i]
            root = total**0.5
            for j in range(i + 1, end):
                part = factor[row + j] / total
                if part == 0.0:
                    continue
                targets[j] += part * value  # (2)
                other = starts[j] - j - 1
                for k in range(j + 1, end):  # (1): a sum of positive numbers
                    factor[other + k] += part * factor[row + k]
            for j in range(i + 1, end):  # (3)
                factor[row + j] /= root
            targets[i] = value / root
        # (4): each row has later documents only
        for i in range(end - 1, begin - 1, -1):
            scores[i] = 0.0
            if targets[i] == targets[i]:  # not NaN
                row = starts[i] - i - 1
                total = 0.0
                value = targets[i]
                for j in range(i + 1, end):
                    total += factor[row + j]
                    value += factor[row + j] * scores[j]
                scores[i] = value / total
        # The least loss, from the scores.
        loss = 0.0
        for e in range(edges[q], edges[q + 1]):
            error = target[e] - scale[e] * (scores[winner[e]] - scores[loser[e]])
            loss += error * error
        rest[q] = loss**0.5


@fused
def multiply(
    X: Floats, ptr: Ints, starts: Ints, factor: Floats, row_of: Ints, out: Floats
) -> None:
    """Multiply the triangular factor of each query with features.

    Row i is sum_j e_ij (x_i - x_j), so that constant features give 0.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        One row for each document.
    ptr : ndarray of shape (Q + 1,)
        Query q has the documents ``ptr[q]:ptr[q + 1]``.
    starts : ndarray of shape (m,)
        Start of the entries of each document in `factor`.
    factor : ndarray
        Entries e_ij, one for each later document j of the query of i.
    row_of : ndarray of shape (m,)
        Row of `out` for each document; -1 for a document without a row.
    out : ndarray of shape (r, n), all 0
        Receives the rows.
    """
    for q in range(ptr.size - 1):
        end = ptr[q + 1]
        for i in range(ptr[q], end):
            if row_of[i] < 0:
                continue
            row = out[row_of[i]]
            for j in range(i + 1, end):
                entry = factor[starts[i] + j - i - 1]
                if entry != 0.0:
                    for f in range(row.size):
                        row[f] += entry * (X[i, f] - X[j, f])
