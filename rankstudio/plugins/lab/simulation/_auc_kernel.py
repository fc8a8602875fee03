"""Compiled inner loops of the AUC simulation: held-out predictions of one training set from its hat matrix.

Let H be the hat matrix of regularised least squares with a bias on m
documents, y^ the centred labels, and U the documents that are held out.
The residuals e of U by the model without them solve

(1) (I - H_UU - 11'/m) e = (y^ - Hy^)_U,

whose matrix is positive definite, and the held-out predictions are y^_U
- e. O(1) for a pair, O(|U|³) for a fold.

(2) AUC is the mean over all pairs of a positive and a negative document
of 1 if the positive one has the greater score, ½ for a tie, and 0
otherwise.
"""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import fused, fused_inlined


@fused_inlined
def half_step(difference: float) -> float:
    """Return 1 for a positive difference of two scores, ½ for 0, and 0 for a negative one.

    The mean over all pairs of a positive and a negative document is the AUC.
    """
    return 1.0 if difference > 0.0 else 0.5 if difference == 0.0 else 0.0


@fused_inlined
def _leave_pair_out_auc(
    hat: Floats, residuals: Floats, labels: Floats, n_positive: int
) -> float:
    """Return the share of pairs in the right order.

    The order of a pair is that by the model without its two documents.

    ``hat``, (m, m), is the hat matrix H of all m documents.
    ``residuals``, (m,), are those of the centred labels y^, y^ - Hy^.
    ``labels``, (m,), are y, of which the first ``n_positive`` are
    positive. The residuals e of a pair U
    = {i, j} by the model without it solve the equation

        (I - H_UU - 11'/m) e = (y^ - Hy^)_U,

    here by Cramer's rule. Its matrix is [[a, b], [b, d]].
    """
    m = labels.shape[0]
    right = 0.0  # number of pairs in the right order; a tie counts half
    for i in range(n_positive):
        a = 1.0 - hat[i, i] - 1.0 / m
        for j in range(n_positive, m):
            b = -hat[i, j] - 1.0 / m
            d = 1.0 - hat[j, j] - 1.0 / m
            determinant = a * d - b * b
            e_i = (d * residuals[i] - b * residuals[j]) / determinant
            e_j = (a * residuals[j] - b * residuals[i]) / determinant

            # predictions are labels minus residuals
            right += half_step(labels[i] - e_i - labels[j] + e_j)
    share: float = right / (n_positive * (m - n_positive))
    return share


@fused_inlined
def _leave_fold_out(
    hat: Floats,
    residuals: Floats,
    labels: Floats,
    members: Ints,
    size: int,
    augmented: Floats,
    scores: Floats,
) -> None:
    """Write the scores of a fold's documents, by the model without the fold, to ``scores``.

    They are those of the model without the fold.

    The fold U has the first ``size`` of ``members``, which are
    positions of documents. ``hat``, (m, m), is the hat matrix H of all
    m documents. ``residuals``, (m,), are those of the centred labels
    y^, y^ - Hy^. ``labels``, (m,), are y. The residuals e of the fold
    by the model without it solve the equation

        (I - H_UU - 11'/m) e = (y^ - Hy^)_U.

    ``augmented`` is a workspace for its matrix, and its right side as a
    further column: at least ``size`` rows, and one more column.
    """
    m = labels.shape[0]
    for a in range(size):
        for b in range(size):
            augmented[a, b] = -hat[members[a], members[b]] - 1.0 / m
        augmented[a, a] += 1.0
        augmented[a, size] = residuals[members[a]]

    # Gaussian elimination. The matrix is positive definite, so no pivoting is needed.
    for a in range(size):
        for b in range(a + 1, size):
            factor = augmented[b, a] / augmented[a, a]
            for c in range(a + 1, size + 1):
                augmented[b, c] -= factor * augmented[a, c]

    # Back substitution: the last column becomes e.
    for a in range(size - 1, -1, -1):
        value = augmented[a, size]
        for b in range(a + 1, size):
            value -= augmented[a, b] * augmented[b, size]
        augmented[a, size] = value / augmented[a, a]
        scores[members[a]] = labels[members[a]] - augmented[a, size]


@fused_inlined
def pooled_and_averaged(
    scores: Floats, folds: Ints, n_positive: int
) -> tuple[float, float]:
    """Return the AUC of all pairs, and that of the pairs within a fold, NaN without one.

    AUC is the share of pairs of a positive and a negative document in
    the right order; a tie counts half. ``folds`` (m,) is the fold of
    each document; the first ``n_positive`` are positive.
    """
    m = scores.shape[0]
    pooled = 0.0
    averaged = 0.0
    pairs = 0
    for i in range(n_positive):
        for j in range(n_positive, m):
            right = half_step(scores[i] - scores[j])
            pooled += right
            if folds[i] == folds[j]:
                averaged += right
                pairs += 1
    return pooled / (n_positive * (m - n_positive)), averaged / pairs


@fused
def estimates(
    hats: Floats,
    residuals: Floats,
    labels: Floats,
    n_positive: int,
    folds: Ints,
    members: Ints,
    augmented: Floats,
    scores: Floats,
    out: Floats,
) -> None:
    """Write the estimates of each of B training sets to ``out`` (B, 1 + 2 S).

    The first column is leave-pair-out. Then follow, for each of S
    splittings into folds, the pooled AUC and the averaged AUC, which is
    NaN if no fold has both classes. The first ``n_positive`` documents
    are the positive ones. ``hats`` (B, m, m) has the hat matrix H of
    each training set, ``residuals`` (B, m) those of its centred labels,
    and ``labels`` (m,) the labels of all sets. ``folds`` (S, m) is the
    fold of each document in each splitting, from
    0. ``members`` (m,), ``augmented`` (m, m + 1) and ``scores`` (m,) are
    workspaces.
    """
    m = labels.shape[0]
    for t in range(hats.shape[0]):
        hat = hats[t]
        own_residuals = residuals[t]
        out[t, 0] = _leave_pair_out_auc(hat, own_residuals, labels, n_positive)
        for s in range(folds.shape[0]):
            last = 0  # number of the last fold
            for i in range(m):
                last = max(last, folds[s, i])

            # Each document gets the score of the model without its fold.
            for fold in range(last + 1):
                size = 0
                for i in range(m):
                    if folds[s, i] == fold:
                        members[size] = i
                        size += 1
                _leave_fold_out(
                    hat, own_residuals, labels, members, size, augmented, scores
                )
            pooled, averaged = pooled_and_averaged(scores, folds[s], n_positive)
            out[t, 1 + 2 * s] = pooled
            out[t, 2 + 2 * s] = averaged
