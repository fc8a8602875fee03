"""The evidence for a selection: rows against direct recomputation, planted truth, noise, other methods."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from time import sleep

import numpy as np
import pytest
from evidence_problems import planted
from oracles import centred_by_loops

from rankstudio.engine import (
    FSMRank,
    GreedyRankRLS,
    RankRLS,
    SingleFeatureRanking,
    best_subset,
    deciding_queries,
    evaluate,
    repeated_left_out,
    selection_evidence,
    set_changes,
    shapley_shares,
    stability_selection,
    step_significance,
)
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.support.compilation import announce
from rankstudio.engine.support.work import finish
from rankstudio.plugins.evidence import selection_evidence as gathering
from rankstudio.plugins.evidence.best_subset import find_best_subset
from rankstudio.plugins.evidence.evidence_codec import pack_evidence, unpack_evidence
from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
from rankstudio.plugins.evidence.partial_result import PartialResult
from rankstudio.plugins.evidence.selection_evidence import (
    PARTS,
    EvidenceOptions,
    evidence_steps,
)
from rankstudio.plugins.evidence.verdicts import Verdict, VerdictRules

VERDICT_PARTS = ("losses", "stability", "best", "alternatives")


def left_out_scores(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, regularization: float
) -> np.ndarray:
    """Score the centred documents of each query by RankRLS, retrained without the query."""
    Xc, yc, scores = (
        centred_by_loops(X, qid),
        centred_by_loops(y[:, None], qid)[:, 0],
        np.zeros(y.size),
    )
    for query in np.unique(qid):
        held = qid == query
        normal = Xc[~held].T @ Xc[~held] + regularization * np.eye(X.shape[1])
        scores[held] = Xc[held] @ np.linalg.solve(normal, Xc[~held].T @ yc[~held])
    return scores


@pytest.fixture(scope="module")
def small() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Thirty queries of six documents, eight features of which two count."""
    rng = np.random.default_rng(5)
    X, qid = rng.normal(size=(180, 8)), np.repeat(np.arange(30), 6)
    y = np.clip(np.round(X[:, 2] + 0.5 * X[:, 5] + 0.7 * rng.normal(size=180)), 0, 2)
    return X, y, qid


@pytest.fixture(scope="module")
def found(small: tuple[np.ndarray, np.ndarray, np.ndarray]) -> SelectionEvidence:
    X, y, qid = small
    method = GreedyRankRLS(regularization=2.0)
    return selection_evidence(
        method, X, y, qid=qid, n_features=3, n_halves=10, n_permutations=19, n_steps=5
    )


def test_every_piece_is_that_of_its_own_function(small, found) -> None:
    """Catches a piece that is computed for another set, λ, seed or length of path."""
    X, y, qid = small
    three, five = GreedyRankRLS(3, 2.0), GreedyRankRLS(5, 2.0)
    assert found.selected == tuple(three.fit(X, y, qid=qid).selection_order_)
    assert found.done == PARTS
    halves = stability_selection(five, X, y, qid=qid, n_halves=10)
    np.testing.assert_array_equal(found.stability.counts, halves.counts)
    permuted = step_significance(five, X, y, qid=qid, n_permutations=19)
    np.testing.assert_array_equal(found.significance.p_values, permuted.p_values)
    np.testing.assert_array_equal(
        found.repeated.optimism, repeated_left_out(five, X, y, qid=qid).optimism
    )
    best = best_subset(X, y, qid=qid, n_features=3, regularization=2.0)
    assert found.best.features == best.features
    assert [one.size for one in found.near_best] == [2, 3]

    shares = shapley_shares(three, X, y, qid=qid).shares
    changes = set_changes(three, X, y, qid=qid, features=found.selected)
    decided = deciding_queries(three, X, y, qid=qid)
    for place, row in enumerate(found.rows[:3]):
        assert row.selected and row.column == found.selected[place]
        assert row.probability == halves.probability[2, row.column]
        assert row.position == tuple(halves.positions[:, row.column])
        assert row.share == pytest.approx(shares[place])
        assert row.substitute == np.nanargmin(changes.swapped[place])
        assert row.price == pytest.approx(
            np.nanmin(changes.swapped[place]) / changes.criterion - 1
        )
        assert row.n_deciding == (len(decided[place].queries) or None)
        assert row.near_best_share == found.near_best[1].inclusion[row.column]
    assert found.false_bound == halves.bound(0.9, unimodal=True, n_features=3)


def test_other_rows_are_those_that_halves_select_most_often(found) -> None:
    others = [row for row in found.rows if not row.selected]
    probability = found.stability.probability[2].copy()
    probability[list(found.selected)] = -1
    best = np.sort(probability)[::-1]
    assert [row.probability for row in others] == [p for p in best[:4] if p > 0]
    assert all(
        row.verdict is None and row.loss is None and row.share is None for row in others
    )


def test_losses_are_those_of_retraining_without_each_query(small, found) -> None:
    """Catches a sign, a mean over documents in place of queries, and left-out models with other λ."""
    X, y, qid = small

    def errors(columns: list[int]) -> np.ndarray:
        residuals = centred_by_loops(y[:, None], qid)[:, 0] - left_out_scores(
            X[:, columns], y, qid, 2.0
        )
        return np.array(
            [np.sum(residuals[qid == query] ** 2) for query in np.unique(qid)]
        )

    whole = errors(list(found.selected))
    for row in found.rows[:3]:
        rest = [column for column in found.selected if column != row.column]
        assert row.loss.value == pytest.approx((errors(rest) - whole).mean())
        assert row.loss.low < row.loss.value < row.loss.high


def test_losses_by_a_measure_are_those_of_left_out_scores(small) -> None:
    X, y, qid = small
    method = GreedyRankRLS(2, 2.0)
    found = selection_evidence(
        method, X, y, qid=qid, measure="NDCG@5", parts=("losses",)
    )

    def ndcg(columns: list[int]) -> float:
        scores = left_out_scores(X[:, columns], y, qid, 2.0)
        return evaluate(y, scores, qid, measures=["NDCG@5"])["NDCG@5"]

    for place, row in enumerate(found.rows):
        rest = [found.selected[1 - place]]
        assert row.loss.value == pytest.approx(ndcg(list(found.selected)) - ndcg(rest))
        assert row.verdict is None, "without halves there is none"


def test_alternatives_are_compared_with_the_best_set(small, found) -> None:
    """Catches a difference from the selection instead, and a smaller set that has the feature."""
    X, y, qid = small
    for row in found.rows[:3]:
        assert row.column not in row.smaller.features and len(row.smaller.features) == 2
        without = best_subset(
            X, y, qid=qid, n_features=2, regularization=2.0, excluded=[row.column]
        )
        assert row.smaller.features == without.features
        assert row.smaller.difference == pytest.approx(
            without.criterion - found.best.criterion
        )
        for exchange in found.exchanges[row.column]:
            place = found.selected.index(row.column)
            assert exchange.result.difference == pytest.approx(
                found.changes.swapped[place, exchange.column] - found.best.criterion
            )
            own = (
                found.changes.swapped[place, exchange.column] - found.changes.criterion
            )
            assert exchange.direct.difference == pytest.approx(own)
            centred = X - np.array([X[qid == q].mean(axis=0) for q in qid])
            assert exchange.correlation == pytest.approx(
                np.corrcoef(centred[:, row.column], centred[:, exchange.column])[0, 1],
                abs=1e-12,
            )


def test_other_thresholds_judge_without_computing(found) -> None:
    """Catches rows that are kept, and a threshold that is not reached where it is met exactly."""
    counts, places = found.stability.counts.copy(), found.stability.places.copy()
    counts[2, 7], places[:14, 7] = 14, 3
    between = replace(
        found, stability=replace(found.stability, counts=counts, places=places)
    )
    at, above = (
        replace(between, rules=VerdictRules(threshold=one)) for one in (0.7, 0.71)
    )
    assert found.selected[2] == 7
    assert [one.rows[2].verdict for one in (between, at, above)] == [
        Verdict.DISPENSABLE,
        Verdict.SECURE,
        Verdict.DISPENSABLE,
    ]
    assert at.false_bound > found.false_bound


def test_what_was_interrupted_goes_on(small, found) -> None:
    """Catches a part that begins anew, and halves or permutations that are lost."""
    X, y, qid = small
    data, method = group(X, y, qid), GreedyRankRLS(regularization=2.0)
    options = EvidenceOptions(n_features=3, n_halves=10, n_permutations=19, n_steps=5)
    steps = evidence_steps(method, data, options)
    for told in steps:
        assert isinstance(told, PartialResult)
        if told.found.significance is not None:
            break
    steps.close()
    known = told.found
    assert (
        "significance" not in known.done and known.significance.permuted.shape[0] < 19
    )
    again = finish(evidence_steps(method, data, options, known))
    assert again.stability is known.stability and again.near_best is known.near_best
    assert again.rows == found.rows
    np.testing.assert_array_equal(
        again.significance.permuted, found.significance.permuted
    )
    (told,) = evidence_steps(method, data, options, again)
    assert told.found is again and told.share == 1.0


def test_progress_only_grows(small) -> None:
    X, y, qid = small
    steps = evidence_steps(
        GreedyRankRLS(2, 2.0), group(X, y, qid), EvidenceOptions(n_halves=2)
    )
    shares = [told.share for told in steps]
    assert shares[-1] == 1.0 and all(0 <= share <= 1 for share in shares)


def test_a_given_set_has_no_deciding_queries_of_another_path(small) -> None:
    X, y, qid = small
    method = GreedyRankRLS(regularization=2.0)
    parts = ("deciding", "changes", "best")
    found = selection_evidence(method, X, y, qid=qid, selected=(7, 0), parts=parts)
    assert found.selected == (7, 0) and found.deciding is None
    own, best = found.best_sentences(lambda column: f"f{column}")
    assert "f2 f5" in best and "2 swaps" in best
    above = found.changes.criterion / found.best.criterion - 1
    assert f"{100 * above:.2g} %" in own


def test_compilation_is_not_counted_as_search(small, monkeypatch) -> None:
    """Catches a best set that is not proved the first time on a computer, as kernels take the time."""
    X, y, qid = small

    def slow(data, space):
        announce("search")
        for told in find_best_subset(data, space):
            for _ in range(3):
                # the same progress again and again: the kernel is not there yet
                sleep(0.02)
                yield told

    parts = ("best",)
    options = {"n_features": 2, "max_seconds": 0.01, "parts": parts}
    monkeypatch.setattr(gathering, "find_best_subset", slow)
    method = GreedyRankRLS(regularization=2.0)
    (first, *later) = evidence_steps(
        method, group(X, y, qid), EvidenceOptions(**options)
    )
    assert first.found.best is None and len(later) >= 4, (
        "three times the same, then one step more"
    )


def test_too_few_permutations_give_no_advice_where_to_stop(small, found) -> None:
    """Catches the advice to select nothing as the smallest p that is possible is above the level."""
    significance = found.significance
    assert found.stop is None, "p is at least 1/20, and the level is 0.05"
    assert replace(found, rules=VerdictRules(stop_level=0.1)).stop.n_features == 2
    many = replace(significance, permuted=np.vstack([significance.permuted] * 3))
    assert replace(found, significance=many).stop is not None


def test_an_unproved_best_set_says_so(small) -> None:
    """Catches a gap that is hidden, and near-best sets of a set that is not the best."""
    X, y, qid = small
    parts = ("changes", "best", "near_best")
    steps = evidence_steps(
        GreedyRankRLS(3, 2.0), group(X, y, qid), EvidenceOptions(parts=parts)
    )
    for told in steps:
        if told.found.best is not None:
            break
    steps.close()
    sizes = told.found.best.sizes
    last = replace(sizes[-1], proved=False, gap=0.02 * sizes[-1].criterion)
    unproved = replace(
        told.found, best=replace(told.found.best, sizes=(*sizes[:-1], last))
    )
    assert "2 %" in unproved.best_sentences(str)[0]
    assert "possible" not in unproved.best_sentences(str)[0]
    open_end = replace(last, gap=sizes[-1].criterion)
    unproved = replace(
        told.found, best=replace(told.found.best, sizes=(*sizes[:-1], open_end))
    )
    said = unproved.best_sentences(str)[0]
    assert "not known" in said and "100 %" not in said, (
        "a gap of the whole error says nothing"
    )


def test_sets_as_good_are_said_as_far_as_they_are_known(found) -> None:
    near = found.near_best_of_k

    def said(**changes: object) -> str:
        return replace(found, near_best=(replace(near, **changes),)).best_sentences(
            str
        )[-1]

    alone = replace(near.best, n_sets=1)
    assert (
        len({said(), said(complete=False), said(sets=near.sets[:1]), said(best=alone)})
        == 4
    )


@pytest.mark.parametrize("method", [GreedyRankRLS(), SingleFeatureRanking()])
def test_what_only_the_order_of_the_columns_selects_is_not_secure(
    method, small
) -> None:
    X, _, qid = small
    found = selection_evidence(
        method,
        X,
        np.ones(180),
        qid=qid,
        n_features=2,
        n_halves=10,
        parts=("stability", "alternatives"),
    )
    assert found.selected == (0, 1)
    assert [(row.probability, row.tied, row.verdict) for row in found.rows] == [
        (1, 2, Verdict.UNCERTAIN)
    ] * 2
    assert all("2 has the same score" in row.reason(str) for row in found.rows)


def test_few_queries_have_no_verdict(found) -> None:
    assert all(row.verdict is not None for row in found.rows if row.selected)
    assert all(row.verdict is None for row in replace(found, n_queries=5).rows)


def test_required_features_have_no_verdict(small) -> None:
    X, y, qid = small
    method = GreedyRankRLS(3, 2.0, pinned=(0,), banned=(5,))
    found = selection_evidence(method, X, y, qid=qid, n_halves=5, n_permutations=9)
    assert (
        found.rows[0].column == 0
        and found.rows[0].verdict is None
        and not found.rows[0].reason(str)
    )
    assert found.rows[1].verdict is not None
    assert all(row.substitute != 5 for row in found.rows)
    assert all(0 in one.features and 5 not in one.features for one in found.best.sizes)


@pytest.mark.parametrize("method", [SingleFeatureRanking(3), FSMRank(lambda1=0.05)])
def test_other_selectors_have_what_applies(method, small) -> None:
    X, y, qid = small
    found = selection_evidence(method, X, y, qid=qid, n_features=2, n_halves=4)
    assert set(found.done) == {"stability", "alternatives", "deciding"}
    assert found.deciding_by_margins
    assert (
        found.best is None
        and found.significance is None
        and found.stop is None
        and found.losses is None
    )
    assert found.best_sentences(str) == ()
    assert {row.verdict for row in found.rows[:2]} <= {
        Verdict.SECURE,
        Verdict.UNCERTAIN,
    }

    judged = selection_evidence(
        method, X, y, qid=qid, n_features=2, n_halves=4, judge=RankRLS(2.0)
    )
    assert set(judged.done) == {
        "losses",
        "changes",
        "shares",
        "stability",
        "alternatives",
        "deciding",
    }
    assert all(row.loss and row.smaller for row in judged.rows if row.selected)
    gains = judged.shares.gain > 0  # the features of SingleFeatureRanking lose
    assert all((row.share is not None) is gains for row in judged.rows if row.selected)


def test_what_is_not_defined_is_left_out(small) -> None:
    X, y, qid = small
    few = selection_evidence(GreedyRankRLS(1, 2.0), X[:12], y[:12], qid=qid[:12])
    assert few.stability is None and few.repeated is None and few.losses is not None
    unit = selection_evidence(
        GreedyRankRLS(1, 2.0, cost="unit"), X, y, qid=qid, n_halves=2
    )
    assert unit.significance is None and unit.repeated is not None
    grouped = GreedyRankRLS(1, 2.0, groups=[[2, 3]])
    found = selection_evidence(grouped, X, y, qid=qid, n_halves=2)
    assert (
        found.significance is None and found.repeated is None and found.deciding is None
    )


def test_a_method_or_a_set_that_is_none_is_refused(small) -> None:
    X, y, qid = small
    with pytest.raises(ParameterError, match="estimator"):
        selection_evidence(RankRLS(), X, y, qid=qid)
    with pytest.raises(ParameterError, match="selected"):
        selection_evidence(GreedyRankRLS(), X, y, qid=qid, selected=(1, 1))
    with pytest.raises(ParameterError, match="parts"):
        selection_evidence(GreedyRankRLS(), X, y, qid=qid, parts=("guess",))
    # too few documents for halves of one ranking
    with pytest.raises(DatasetError):
        selection_evidence(GreedyRankRLS(), X[:7], y[:7], qid=np.zeros(7))


def test_exact_twins_are_interchangeable(small) -> None:
    """Catches a first twin that is called secure because ties always go to it."""
    X, y, qid = small
    twins = np.column_stack((X, X[:, 2]))
    found = selection_evidence(
        GreedyRankRLS(2, 2.0), twins, y, qid=qid, n_halves=20, parts=VERDICT_PARTS
    )
    row = next(row for row in found.rows if row.column == 2)
    assert row.probability == 1.0
    assert (row.verdict, row.partner) == (Verdict.INTERCHANGEABLE, 8)
    direct = next(one.direct for one in found.exchanges[2] if one.column == 8)
    assert direct.difference == 0.0, "a difference of rounding may be significant"
    assert "1.00" in row.reason(str)


def test_what_is_better_than_its_twin_is_not_interchangeable(small) -> None:
    """Catches the verdict that any twin would do beside the sentence that every other set is worse."""
    X, y, qid = small
    rng = np.random.default_rng(0)
    twins = np.column_stack(
        (X, X[:, 2] + 0.1 * X[:, 2].std() * rng.normal(size=len(X)))
    )
    parts = (*VERDICT_PARTS, "changes", "near_best")
    found = selection_evidence(
        GreedyRankRLS(1, 2.0), twins, 3 * X[:, 2] + 0.1 * y, qid=qid, parts=parts
    )
    (exchange,) = (one for one in found.exchanges[2] if one.column == 8)
    assert (
        exchange.correlation > found.rules.twin and len(found.near_best_of_k.sets) == 1
    )
    assert found.rows[0].verdict is Verdict.SECURE


def judged_rightly(found: SelectionEvidence) -> Counter[str]:
    """Count verdicts by what the features of :func:`planted` are; "wrong" if any verdict is."""
    counts: Counter[str] = Counter()
    twins = {3, 4}
    for row in found.rows[: found.k]:
        value, both = row.verdict, twins <= set(found.selected)
        if row.column < 3:
            kind, right = "strong", value is Verdict.SECURE
        elif row.column in twins and not both:
            kind, right = (
                "twin",
                value is Verdict.INTERCHANGEABLE and row.partner in twins,
            )
        elif row.column in twins:  # one of them is enough
            kind, right = "both twins", value in (Verdict.SECURE, Verdict.DISPENSABLE)
        else:
            kind, right = "noise", value in (Verdict.UNCERTAIN, Verdict.DISPENSABLE)
        counts[f"{kind} {value.value}"] += 1
        counts["wrong"] |= not right
    return counts


def planted_evidence(seed: int) -> SelectionEvidence:
    X, y, qid = planted(seed)
    # what comes after the sixth step concerns no verdict
    method = GreedyRankRLS(regularization=4.0)
    return selection_evidence(
        method, X, y, qid=qid, n_features=6, n_steps=6, parts=VERDICT_PARTS
    )


@pytest.mark.parametrize("seed", range(4))
def test_planted_features_are_judged_rightly(seed: int) -> None:
    assert judged_rightly(planted_evidence(seed))["wrong"] == 0


@pytest.mark.thorough
def test_verdicts_are_right_on_24_of_25_planted_datasets() -> None:
    counts: Counter[str] = Counter()
    for seed in range(25, 50):
        counts += judged_rightly(planted_evidence(seed))
    print(dict(counts))  # noqa: T201 - what the thresholds give
    assert counts["wrong"] <= 1


def noise_evidence(seed: int, k: int = 6) -> SelectionEvidence:
    rng = np.random.default_rng(1000 + seed)
    X, y, qid = (
        rng.normal(size=(640, 25)),
        rng.normal(size=640),
        np.repeat(np.arange(80), 8),
    )
    method = GreedyRankRLS(regularization=4.0)
    parts = ("stability", "alternatives")
    return selection_evidence(
        method, X, y, qid=qid, n_features=k, n_steps=k, parts=parts
    )


def count_on_noise(seeds: int) -> tuple[float, float, Counter[str]]:
    """Return the mean number of secure features, its bound, and how often there is each verdict."""
    found = [noise_evidence(seed) for seed in range(seeds)]
    counts = Counter(
        row.verdict.value for one in found for row in one.rows if row.verdict
    )
    return (
        counts["secure"] / seeds,
        sum(one.false_bound for one in found) / seeds,
        counts,
    )


def test_noise_is_seldom_secure() -> None:
    secure, bound, _ = count_on_noise(4)
    assert secure <= bound


def test_nothing_is_secure_where_nearly_all_features_are_selected() -> None:
    """Catches noise that is called secure because hardly a feature is left out on any half."""
    found = noise_evidence(0, 24)
    above = [
        row
        for row in found.rows
        if row.selected and row.probability >= found.rules.threshold
    ]
    assert len(above) > 12 and found.false_bound >= len(above)
    assert not any(row.verdict is Verdict.SECURE for row in found.rows)
    assert "may be chance" in next(
        row for row in above if row.verdict is Verdict.UNCERTAIN
    ).reason(str)


@pytest.mark.thorough
def test_noise_is_secure_no_more_often_than_the_bound_says() -> None:
    secure, bound, counts = count_on_noise(12)
    print(f"secure {secure:.2f} of 6, bound {bound:.2f}", dict(counts))  # noqa: T201
    assert secure <= bound


@pytest.mark.parametrize("seed", range(4))
def test_groups_restrict_the_search_for_the_best_set(seed) -> None:
    """All pairs of groups are enumerated, each judged by its exact left-out error."""
    rng = np.random.default_rng(seed)
    X, qid = rng.random((160, 9)), np.repeat(np.arange(20), 8)
    y = X[:, 3] + 0.9 * X[:, 5] + 0.6 * X[:, 1] + rng.random(160)
    groups = ((0, 4), (2, 3, 8), (6, 7))
    units = [*groups, (1,), (5,)]
    method = GreedyRankRLS(n_features_to_select=2, regularization=2.0, groups=groups)
    found = selection_evidence(method, X, y, qid=qid, n_halves=6, n_permutations=9)

    def error(columns: tuple[int, ...]) -> float:
        return set_changes(RankRLS(2.0), X, y, qid=qid, features=columns).criterion

    for size in (1, 2):
        sets = {tuple(sorted(sum(some, ()))) for some in combinations(units, size)}
        best = found.best.of_size(size)
        assert best.proved and best.n_sets == len(sets)
        assert best.features == min(sets, key=error)
        assert best.criterion == pytest.approx(min(map(error, sets)), rel=1e-9)
    assert found.size == 2 and found.k == len(found.selected) >= 2
    assert "2 groups" in found.best_sentences(str)[0]
    assert found.near_best_of_k.sets[0].features == found.best.of_size(2).features
    # a group comes in as a whole, at one step
    for half in range(found.stability.n_paths):
        places = found.stability.places[half]
        assert all(len(set(places[list(group)].tolist())) == 1 for group in groups)
        assert places.max() <= len(units)
    assert sum(row.probability for row in found.rows if row.selected) <= found.k + 1e-9
    again = unpack_evidence(pack_evidence(found))
    assert again.groups == groups and again.size == 2
