"""Compiled training of linear support vector machines on parts of one training set, for the AUC simulation.

With labels y of -1 and 1, cost C and the Gram matrix K of the m
documents, the model f(x) = Σ β_i k(x_i, x) + b has the dual solution

(1) β minimises ½ β'Kβ - y'β subject to Σ β_i = 0 and l_i <= β_i <= h_i,

where [l_i, h_i] is [0, C] for a positive and [-C, 0] for a negative document. With v = y - Kβ, it is optimal if

(2) max {v_i : β_i < h_i} <= min {v_j : β_j > l_j},

and b lies between the two. Sequential minimal optimisation moves a pair
that violates (2) by the step that minimises (1) along it, within the
bounds (Platt 1998; the pair is the one of Fan, Chen and Lin 2005). O(m)
for a step.

References
----------
Platt, J. C. (1998). Fast training of support vector machines using sequential
minimal optimization. Advances in Kernel Methods. Fan, R.-E., Chen, P.-H. and
Lin, C.-J. (2005). Working set selection using second order information for
training support vector machines. Journal of Machine Learning Research 6,
1889-1918.
"""

from __future__ import annotations

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.support.jit import fused, fused_inlined
from rankstudio.plugins.lab.simulation._auc_kernel import half_step, pooled_and_averaged

_LEAST_CURVATURE = 1e-12  # of two documents with the same features, as in LIBSVM


@fused_inlined
def _train(
    gram: Floats,
    signs: Floats,
    is_used: Bools,
    cost: float,
    tolerance: float,
    max_steps: int,
    beta: Floats,
    v: Floats,
) -> float:
    """Write β of (1) for the used documents to ``beta`` (m,), 0 for the others; return b.

    The model is f(x) = Σ β_i k(x_i, x) + b. With the Gram matrix K,
    ``gram`` (m, m), and labels y of 1 or -1, ``signs`` (m,),

    (1) β minimises ½ β'Kβ - y'β subject to Σ β_i = 0 and l_i <= β_i <= h_i.

    [l_i, h_i] is [0, C] for y_i = 1, otherwise [-C, 0], with C =
    ``cost``. With v = y - Kβ, β is optimal if

    (2) max {v_i : β_i < h_i} <= min {v_j : β_j > l_j}.

    The end is a violation of (2) by at most ``tolerance``, or
    ``max_steps``. With documents of one class, β is 0 and b their
    label. ``v`` (m,) is a workspace.
    """
    m = signs.shape[0]
    for i in range(m):
        beta[i] = 0.0
        v[i] = signs[i]
    upper = 0.0
    lower = 0.0
    for _ in range(max_steps):
        # The document that violates (2) most from above.
        first = -1
        for i in range(m):
            high = cost if signs[i] > 0 else 0.0
            if is_used[i] and beta[i] < high and (first < 0 or v[i] > v[first]):
                first = i

        # The partner that lowers the objective most, by half of excess²
        # / curvature; and `lowest`, which violates (2) most from below.
        second = -1
        lowest = -1
        largest_fall = 0.0
        for j in range(m):
            low = 0.0 if signs[j] > 0 else -cost
            if not is_used[j] or beta[j] <= low:
                continue
            if lowest < 0 or v[j] < v[lowest]:
                lowest = j
            if first >= 0 and v[j] < v[first]:
                curvature = gram[first, first] + gram[j, j] - 2.0 * gram[first, j]
                excess = v[first] - v[j]
                fall = excess * excess / max(curvature, _LEAST_CURVATURE)
                if second < 0 or fall > largest_fall:
                    largest_fall = fall
                    second = j
        if first < 0 or lowest < 0:
            # one class, or no document at all
            return v[max(first, lowest)] if max(first, lowest) >= 0 else 0.0
        upper = v[first]
        lower = v[lowest]
        if upper - lower <= tolerance:
            break

        # The best step along the pair, which ends at the first bound.
        curvature = (
            gram[first, first] + gram[second, second] - 2.0 * gram[first, second]
        )
        step = (v[first] - v[second]) / max(curvature, _LEAST_CURVATURE)
        high = cost if signs[first] > 0 else 0.0
        low = 0.0 if signs[second] > 0 else -cost
        room_above = high - beta[first]
        room_below = beta[second] - low
        ends_above = room_above <= step and room_above <= room_below
        ends_below = room_below <= step and room_below <= room_above
        step = min(step, room_above, room_below)

        # A bound is met exactly: a document beside it by rounding would be moved for ever.
        beta[first] = high if ends_above else beta[first] + step
        beta[second] = low if ends_below else beta[second] - step

        # v = y - Kβ follows β.
        for i in range(m):
            v[i] -= step * (gram[i, first] - gram[i, second])
    return 0.5 * (upper + lower)


@fused_inlined
def _score(gram: Floats, beta: Floats, bias: float, document: int) -> float:
    """Return the score Σ_i β_i K_id + b of a document, d.

    ``beta`` (m,) has the weights β. ``gram`` (m, m) is the Gram matrix
    K. ``bias`` is b.
    """
    score = bias
    for i in range(beta.shape[0]):
        score += beta[i] * gram[i, document]
    return score


@fused_inlined
def _leave_pair_out_auc(
    gram: Floats,
    signs: Floats,
    n_positive: int,
    full_beta: Floats,
    cost: float,
    tolerance: float,
    max_steps: int,
    is_used: Bools,
    beta: Floats,
    v: Floats,
) -> float:
    """Return the share of pairs in the right order.

    The order of a pair is that by the model without its two documents.

    ``gram`` (m, m) has the kernel of all pairs. ``signs`` (m,) are the
    labels, of which the first ``n_positive`` are 1, the others -1.
    ``full_beta`` (m,) has the weights β of the model of all documents.
    Without documents whose β is 0 it stays optimal, so nothing is
    trained again for a pair of them. The order of a pair does not
    depend on the intercept, which is 0 here. ``cost``, ``tolerance``
    and ``max_steps`` are those of the training; ``is_used``, ``beta``
    and ``v`` (m,) are workspaces.
    """
    m = signs.shape[0]
    for i in range(m):
        is_used[i] = True
    right = 0.0
    for i in range(n_positive):
        for j in range(n_positive, m):
            if full_beta[i] == 0.0 and full_beta[j] == 0.0:
                difference = _score(gram, full_beta, 0.0, i) - _score(
                    gram, full_beta, 0.0, j
                )
            else:
                is_used[i] = False
                is_used[j] = False
                _train(gram, signs, is_used, cost, tolerance, max_steps, beta, v)
                is_used[i] = True
                is_used[j] = True
                difference = _score(gram, beta, 0.0, i) - _score(gram, beta, 0.0, j)
            right += half_step(difference)
    share: float = right / (n_positive * (m - n_positive))
    return share


@fused
def svm_estimates(
    grams: Floats,
    signs: Floats,
    n_positive: int,
    folds: Ints,
    cost: float,
    tolerance: float,
    max_steps: int,
    is_used: Bools,
    beta: Floats,
    v: Floats,
    scores: Floats,
    betas: Floats,
    out: Floats,
) -> None:
    """Train a support vector machine on each of B training sets, and estimate its AUC.

    The weights β are written to ``betas`` (B,
    m), and the estimates to ``out`` (B, 1 + 2
    S).

    β are the weights of a model's documents. The first column of
    ``out`` is the leave-pair-out estimate. Then follow, for each of S
    splittings into folds, the pooled AUC and the averaged AUC, which is
    NaN if no fold has both classes. ``folds`` (S, m) is the fold of
    each document in each splitting, from 0. ``grams`` (B, m, m) are
    Gram matrices. The first ``n_positive`` of ``signs`` (m,) are 1, the
    others -1. A training has the ``cost`` C, and ends at the
    ``tolerance`` or after ``max_steps``. ``is_used``, ``beta``, ``v``
    and ``scores`` (m,) are workspaces.
    """
    m = signs.shape[0]
    for t in range(grams.shape[0]):
        # The model of all documents.
        gram = grams[t]
        for i in range(m):
            is_used[i] = True
        _train(gram, signs, is_used, cost, tolerance, max_steps, betas[t], v)
        out[t, 0] = _leave_pair_out_auc(
            gram,
            signs,
            n_positive,
            betas[t],
            cost,
            tolerance,
            max_steps,
            is_used,
            beta,
            v,
        )
        for s in range(folds.shape[0]):
            last = 0  # number of the last fold
            for i in range(m):
                last = max(last, folds[s, i])
            for fold in range(last + 1):
                for i in range(m):
                    is_used[i] = folds[s, i] != fold

                # The model without the fold scores its documents.
                # `_train` writes its weights to `beta`, and returns its
                # intercept.
                bias = _train(gram, signs, is_used, cost, tolerance, max_steps, beta, v)
                for i in range(m):
                    if folds[s, i] == fold:
                        scores[i] = _score(gram, beta, bias, i)
            pooled, averaged = pooled_and_averaged(scores, folds[s], n_positive)
            out[t, 1 + 2 * s] = pooled
            out[t, 2 + 2 * s] = averaged
