"""Measures of one query in plain Python, one convention after the other, straight from their definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import permutations, product
from math import log2, nan, sqrt
from typing import Any

Labels = Sequence[float]


def letor_discount(rank: int) -> float:
    return 1.0 if rank <= 2 else log2(rank)


def log_discount(rank: int) -> float:
    return log2(rank + 1)


def power_gain(label: float) -> float:
    return 2.0**label - 1.0 if label > 0 else 0.0


def plain_gain(label: float) -> float:
    return label if label > 0 else 0.0


def in_order(labels: Labels, scores: Sequence[float]) -> list[float]:
    """Labels from the best score down, equal scores as in the file."""
    return [labels[i] for i in sorted(range(len(labels)), key=lambda i: -scores[i])]


def in_trec_order(
    labels: Labels, scores: Sequence[float], ids: Sequence[str]
) -> list[float]:
    """Labels from the best score down, equal scores by id, the last first."""
    rows = sorted(range(len(labels)), key=lambda i: ids[i], reverse=True)
    return [labels[i] for i in sorted(rows, key=lambda i: -scores[i])]


def all_orders(labels: Labels, scores: Sequence[float]) -> Iterator[list[float]]:
    """Every order of the labels that goes down in score."""
    levels = sorted(set(scores), reverse=True)
    ties = [
        [labels[i] for i in range(len(labels)) if scores[i] == level]
        for level in levels
    ]
    for choice in product(*(permutations(tie) for tie in ties)):
        yield [label for tie in choice for label in tie]


def dcg(
    ranked: Labels,
    k: int,
    gain: Callable[[float], float],
    discount: Callable[[int], float],
) -> float:
    return sum(
        gain(label) / discount(rank) for rank, label in enumerate(ranked[:k], start=1)
    )


def ndcg(
    ranked: Labels,
    k: int,
    gain: Callable[[float], float],
    discount: Callable[[int], float],
) -> float:
    """DCG over the best DCG; the query has a label above 0."""
    best = sorted(ranked, reverse=True)
    return dcg(ranked, k, gain, discount) / dcg(best, k, gain, discount)


def average_precision(ranked: Labels, k: int, threshold: float) -> float:
    """Sum of the precisions at the relevant among the first k; the caller divides."""
    ranks = [rank for rank, label in enumerate(ranked, start=1) if label >= threshold]
    return sum((found + 1) / rank for found, rank in enumerate(ranks) if rank <= k)


def mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


def split(name: str) -> tuple[str, int | None]:
    kind, _, cut = name.partition("@")
    return kind, int(cut) if cut else None


def letor(
    name: str,
    ranked: Labels,
    *,
    threshold: float = 1.0,
    short_precision_is_zero: bool = False,
) -> float:
    """As the three scripts of LETOR."""
    kind, cut = split(name)
    n, n_relevant = len(ranked), sum(label >= threshold for label in ranked)
    if kind == "P":
        assert cut
        if short_precision_is_zero and n < cut:
            return 0.0
        return sum(label >= threshold for label in ranked[:cut]) / cut
    if kind == "MAP":
        return (
            average_precision(ranked, cut or n, threshold) / n_relevant
            if n_relevant
            else 0.0
        )
    if max(ranked) <= 0:
        return 0.0
    if kind == "MeanNDCG":
        return mean(
            ndcg(ranked, k, power_gain, letor_discount) for k in range(1, n + 1)
        )
    return (
        0.0 if cut and n < cut else ndcg(ranked, cut or n, power_gain, letor_discount)
    )


LETOR: dict[str, dict[str, Any]] = {
    "letor4": {},
    "letor3": {"short_precision_is_zero": True},
    "mslr": {"threshold": 2.0},
}


def ranklib(
    name: str, ranked: Labels, *, empty: float = 0.0, map_divides_by_k: bool = False
) -> float:
    """As RankLib; with the other values of the two options, as LightGBM and XGBoost."""
    kind, cut = split(name)
    n, n_relevant = len(ranked), sum(label >= 1 for label in ranked)
    k = n if cut is None else min(cut, n)
    if kind == "P":
        return sum(label >= 1 for label in ranked[:k]) / k
    if kind == "MAP":
        divisor = min(n_relevant, cut) if cut and map_divides_by_k else n_relevant
        return average_precision(ranked, k, 1.0) / divisor if n_relevant else empty
    if max(ranked) <= 0:
        return empty
    if kind == "MeanNDCG":
        return mean(ndcg(ranked, j, power_gain, log_discount) for j in range(1, n + 1))
    return ndcg(ranked, k, power_gain, log_discount)


def standard(name: str, ranked: Labels) -> float:
    """As most programs: NDCG of RankLib, the rest of trec_eval, in the order of the file."""
    return ranklib(name, ranked) if "NDCG" in name else trec(name, ranked)


def trec(name: str, ranked: Labels) -> float:
    """As trec_eval, of documents in its order."""
    kind, cut = split(name)
    n, n_relevant = len(ranked), sum(label >= 1 for label in ranked)
    if kind == "P":
        assert cut
        return sum(label >= 1 for label in ranked[:cut]) / cut
    if kind == "MAP":
        return (
            average_precision(ranked, cut or n, 1.0) / n_relevant if n_relevant else 0.0
        )
    if max(ranked) <= 0:
        return 0.0
    if kind == "MeanNDCG":
        return mean(ndcg(ranked, k, plain_gain, log_discount) for k in range(1, n + 1))
    return ndcg(ranked, cut or n, plain_gain, log_discount)


def sklearn(name: str, labels: Labels, scores: Sequence[float]) -> float:
    """As scikit-learn: the mean over all orders of the ties, for MAP one precision a score."""
    kind, cut = split(name)
    if kind != "MAP":
        return mean(trec(name, ranked) for ranked in all_orders(labels, scores))
    n_relevant = sum(label >= 1 for label in labels)
    total = 0.0
    for level in set(scores):
        above = [
            label >= 1
            for label, score in zip(labels, scores, strict=True)
            if score >= level
        ]
        at = [
            label >= 1
            for label, score in zip(labels, scores, strict=True)
            if score == level
        ]
        places = (
            len(at)
            if cut is None
            else min(max(cut - (len(above) - len(at)), 0), len(at))
        )
        total += mean(at) * places * mean(above)
    return total / n_relevant if n_relevant else 0.0


def disagreement(labels: Labels, scores: Sequence[float]) -> float:
    """Equation (2) of Pahikkala et al. 2010, of one query: over all pairs with y_j < y_k."""
    rows = range(len(labels))
    pairs = [(j, k) for j in rows for k in rows if labels[j] < labels[k]]
    wrong = [
        1.0 if scores[j] > scores[k] else 0.5 if scores[j] == scores[k] else 0.0
        for j, k in pairs
    ]
    return mean(wrong) if pairs else nan


def strict_disagreement(labels: Labels, scores: Sequence[float]) -> float:
    """The share of pairs with different labels whose scores are not in their order, equal ones included."""
    rows = range(len(labels))
    pairs = [(j, k) for j in rows for k in rows if labels[j] < labels[k]]
    return mean(float(scores[j] >= scores[k]) for j, k in pairs) if pairs else nan


def kendall(labels: Labels, scores: Sequence[float]) -> float:
    """Kendall's τ_b (Kendall 1945): agreeing minus disagreeing pairs, over the pairs untied in each."""
    pairs = [(i, j) for i in range(len(labels)) for j in range(i)]
    signs = [
        (_sign(labels[i], labels[j]), _sign(scores[i], scores[j])) for i, j in pairs
    ]
    total = sum(a * b for a, b in signs)
    untied = sum(a != 0 for a, _ in signs) * sum(b != 0 for _, b in signs)
    return total / sqrt(untied) if untied else nan


def _sign(a: float, b: float) -> int:
    return (a > b) - (a < b)


def first_relevant(ranked: Labels, k: int, threshold: float) -> float:
    """1 / rank of the first relevant label among the first k."""
    return next(
        (
            1.0 / rank
            for rank, label in enumerate(ranked[:k], start=1)
            if label >= threshold
        ),
        0.0,
    )


def expected_reciprocal_rank(ranked: Labels, k: int, greatest: float) -> float:
    """Algorithm 2 of Chapelle, Metzler, Zhang and Grinspan (2009), from the definition (4)."""
    total, reaching = 0.0, 1.0
    for rank, label in enumerate(ranked[:k], start=1):
        stops = min(power_gain(label) / 2.0**greatest, 1.0)
        total += reaching * stops / rank
        reaching *= 1.0 - stops
    return total


def area(labels: Labels, scores: Sequence[float], threshold: float) -> float:
    """The share of pairs of a relevant and another document in the right order, ties one half."""
    rows = range(len(labels))
    pairs = [(i, j) for i in rows for j in rows if labels[i] >= threshold > labels[j]]
    right = [
        1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0
        for i, j in pairs
    ]
    return mean(right) if pairs else nan


def f_measure(found: int, taken: int, relevant: int) -> float:
    """Harmonic mean of precision and recall, 0 where none is found."""
    if not found:
        return 0.0
    precision, recall = found / taken, found / relevant
    return 2 * precision * recall / (precision + recall)


def binary_preference(ranked: Labels, threshold: float) -> float:
    """Buckley and Voorhees (2004), as trec_eval has it: documents without judgment count nowhere."""
    irrelevant = sum(0 <= label < threshold for label in ranked)
    relevant = sum(label >= threshold for label in ranked)
    total, above = 0.0, 0
    for label in ranked:
        if label >= threshold:
            total += (
                1.0 - min(above, relevant) / min(irrelevant, relevant) if above else 1.0
            )
        above += 0 <= label < threshold
    return total / relevant if relevant else 0.0


def of_order(name: str, ranked: Labels, threshold: float, greatest: float) -> float:
    """RR, ERR, Recall, Success, RBP, Bpref and Judged of labels in ranked order."""
    kind, cut = split(name)
    k = cut or len(ranked)
    if kind == "RR":
        return first_relevant(ranked, k, threshold)
    if kind == "ERR":
        return expected_reciprocal_rank(ranked, k, greatest)
    if kind == "Success":
        return float(any(label >= threshold for label in ranked[:k]))
    if kind == "RBP":
        return sum(
            0.2 * 0.8**i for i, label in enumerate(ranked[:k]) if label >= threshold
        )
    if kind == "Judged":
        return mean(float(label >= 0) for label in ranked[:k])
    if kind == "Bpref":
        return binary_preference(ranked, threshold)
    assert kind == "Recall", f"{name} needs its definition here, in plain Python"
    n_relevant = sum(label >= threshold for label in ranked)
    return (
        sum(label >= threshold for label in ranked[:k]) / n_relevant
        if n_relevant
        else 0.0
    )


def slow_beyond_letor(
    convention: str,
    name: str,
    labels: Labels,
    scores: Sequence[float],
    ids: Sequence[str],
    greatest: float,
) -> float:
    """RR, ERR, Recall, AUC, F or squared error of one query; ``greatest`` is the greatest label of all."""
    threshold = 2.0 if convention == "mslr" else 1.0
    relevant = sum(label >= threshold for label in labels)
    if name == "AUC":
        return area(labels, scores, threshold)
    if name == "SquaredError":
        return mean(
            (score - label) * (score - label)
            for label, score in zip(labels, scores, strict=True)
        )
    if name == "MaxF":
        above = [
            [label for label, score in zip(labels, scores, strict=True) if score >= t]
            for t in scores
        ]
        return max(
            f_measure(sum(label >= threshold for label in one), len(one), relevant)
            for one in above
        )
    if name.startswith("F@"):
        precision = slow(convention, f"P@{name[2:]}", labels, scores, ids)
        recall = slow_beyond_letor(
            convention, f"Recall@{name[2:]}", labels, scores, ids, greatest
        )
        return 2 * precision * recall / (precision + recall) if precision else 0.0
    if name == "RPrecision":
        # As many as are relevant: never more than there are, whatever a convention does in short queries.
        return (
            slow(convention, f"P@{relevant}", labels, scores, ids) if relevant else 0.0
        )
    if convention == "sklearn":
        return mean(
            of_order(name, order, threshold, greatest)
            for order in all_orders(labels, scores)
        )
    by_id = convention == "trec_eval"
    ranked = in_trec_order(labels, scores, ids) if by_id else in_order(labels, scores)
    return of_order(
        name, ranked, threshold, 4.0 if convention in ("ranklib", "mslr") else greatest
    )


def slow(
    convention: str,
    name: str,
    labels: Labels,
    scores: Sequence[float],
    ids: Sequence[str],
) -> float:
    """One measure of one query under a convention."""
    of_pairs = {
        "Disagreement": disagreement,
        "StrictDisagreement": strict_disagreement,
        "Tau": kendall,
    }
    if name in of_pairs:
        return of_pairs[name](labels, scores)
    ranked = in_order(labels, scores)
    if convention in LETOR:
        return letor(name, ranked, **LETOR[convention])
    match convention:
        case "standard":
            return standard(name, ranked)
        case "ranklib":
            return ranklib(name, ranked)
        case "lightgbm":
            return ranklib(name, ranked, empty=1.0, map_divides_by_k=True)
        case "trec_eval":
            return trec(name, in_trec_order(labels, scores, ids))
        case "sklearn":
            return sklearn(name, labels, scores)
    raise AssertionError(convention)
