"""Agreement of judges and what is selected under each, against plain computations."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from experiment.small import dataset, ended
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from rankstudio.engine.data.judgments import Judgments
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.statistics.stability import stability
from rankstudio.plugins.judges.agreement import (
    agreement,
    krippendorff_alpha,
    selection_by_judge,
)

labels_of = st.lists(
    st.sampled_from([np.nan, 0.0, 1.0, 2.0, 700.0, -3.0]), min_size=24, max_size=24
)


def brute_alpha(labels: np.ndarray) -> float:
    """Return Krippendorff's ordinal α by its coincidence matrix (Krippendorff 2011, part C and D)."""
    units = [row[~np.isnan(row)].tolist() for row in labels]
    units = [unit for unit in units if len(unit) > 1]
    values = sorted({value for unit in units for value in unit})
    pairs = {(c, k): 0.0 for c in values for k in values}
    for unit in units:
        for c, k in permutations(unit, 2):
            pairs[c, k] += 1 / (len(unit) - 1)
    count = {c: sum(pairs[c, k] for k in values) for c in values}
    n = sum(count.values())

    def delta(c: float, k: float) -> float:
        between = sum(count[g] for g in values if min(c, k) <= g <= max(c, k))
        return (between - (count[c] + count[k]) / 2) ** 2

    observed = sum(pairs[c, k] * delta(c, k) for c in values for k in values)
    expected = sum(count[c] * count[k] * delta(c, k) for c in values for k in values)
    return 1 - (n - 1) * observed / expected if expected else np.nan


@settings(deadline=None)
@given(values=labels_of, n_judges=st.sampled_from([2, 3, 4]))
def test_alpha_is_that_of_the_coincidence_matrix(
    values: list[float], n_judges: int
) -> None:
    labels = np.array(values).reshape(-1, n_judges)
    # Sums of at most 24² squared ranks below 24: rounding stays below 1e-12 of terms of order 1.
    np.testing.assert_allclose(
        krippendorff_alpha(labels), brute_alpha(labels), atol=1e-12
    )


def test_alpha_of_the_published_example() -> None:
    """Hayes and Krippendorff's four observers of twelve units: ordinal α is 0.815 (Krippendorff 2011)."""
    text = """1 2 3 3 2 1 4 1 2 . . .
              1 2 3 3 2 2 4 1 2 5 . 3
              . 3 3 3 2 3 4 2 2 5 1 .
              1 2 3 3 2 4 4 1 2 5 1 ."""
    rows = [
        [np.nan if v == "." else float(v) for v in line.split()]
        for line in text.splitlines()
    ]
    assert round(krippendorff_alpha(np.array(rows).T), 3) == 0.815


@settings(deadline=None)
@given(
    values=labels_of,
    cuts=st.sets(st.integers(1, 11), max_size=5),
    part=st.integers(0, 5),
)
def test_tau_of_each_query_is_that_of_scipy(
    values: list[float], cuts: set[int], part: int
) -> None:
    labels = np.array(values).reshape(-1, 2)
    ptr = np.array([0, *sorted(cuts), 12])
    ids = tuple(f"q{q}" for q in range(ptr.size - 1))
    cut = min(part, ptr.size - 2)  # queries in a part of their own
    parts = [Judgments(("a", "b"), labels[ptr[cut] :], ptr[cut:] - ptr[cut], ids[cut:])]
    if cut:
        parts.insert(
            0, Judgments(("a", "b"), labels[: ptr[cut]], ptr[: cut + 1], ids[:cut])
        )
    found = agreement(parts)
    (pair,) = found.pairs
    assert found.query_ids == ids
    for q, tau in enumerate(pair.tau):
        own = labels[ptr[q] : ptr[q + 1]]
        own = own[~np.isnan(own).any(axis=1)]
        known = len(own) > 1 and np.ptp(own, axis=0).all()
        np.testing.assert_allclose(
            tau, kendalltau(*own.T).statistic if known else np.nan, atol=1e-12
        )
    assert pair.n_documents == (~np.isnan(labels).any(axis=1)).sum()
    np.testing.assert_array_equal(found.of_query(), pair.tau)
    known = [(tau, q) for q, tau in enumerate(pair.tau) if not np.isnan(tau)]
    assert found.least(3) == [(ids[q], tau, (tau,)) for tau, q in sorted(known)[:3]]
    assert pair.n_queries == (~np.isnan(pair.tau)).sum()
    np.testing.assert_allclose(
        pair.mean_tau, np.nan if not pair.n_queries else np.nanmean(pair.tau)
    )


def test_one_label_has_no_agreement() -> None:
    with pytest.raises(ParameterError):
        agreement(())


def test_selections_are_counted_by_judge() -> None:
    data = dataset(2)
    plan = Plan(
        "a.csv",
        "single-feature",
        select_by="criterion",
        columns={"labels": ["ann", "bob", "c"]},
    )
    runs = []
    for number, judge in enumerate(("ann", "bob", "c")):
        result = ended(
            run(plan.changed(columns={**plan.columns, "label": judge}), data)
        )
        chosen = ((1, 2), (1, 3)), ((1, 2), (2, 3)), ((4,), (1, 2, 3))
        folds = zip(result.folds, chosen[number], strict=True)
        runs.append(
            replace(
                result, folds=tuple(replace(fold, selected=ids) for fold, ids in folds)
            )
        )
    found = selection_by_judge(runs)
    n, sets = (
        len(data.feature_ids),
        [[{0, 1}, {0, 1}, {3}], [{0, 2}, {1, 2}, {0, 1, 2}]],
    )
    assert found.judges == ("ann", "bob", "c")
    assert found.shares[:4].tolist() == [
        [1, 0.5, 0.5],
        [0.5, 1, 0.5],
        [0.5, 0.5, 0.5],
        [0, 0, 0.5],
    ]
    assert found.n_judges[:5].tolist() == [
        3,
        3,
        3,
        1,
        0,
    ] and found.order().tolist() == [0, 1, 2, 3]
    of_folds = [stability([sorted(one) for one in fold], n) for fold in sets]
    assert found.nogueira == pytest.approx(
        np.mean([one.nogueira.value for one in of_folds])
    )
    np.testing.assert_allclose(
        found.jaccard, np.mean([one.similarity for one in of_folds], axis=0)
    )

    for wrong in (
        runs[:1],
        [runs[0], runs[0]],
        [runs[0], replace(runs[1], folds=runs[1].folds[:1])],
    ):
        with pytest.raises(ParameterError):
            selection_by_judge(wrong)
    other = replace(runs[1], plan=runs[1].plan.changed(seed=1))
    with pytest.raises(ParameterError):
        selection_by_judge([runs[0], other])
