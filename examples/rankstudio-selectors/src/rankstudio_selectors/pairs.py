"""The analysis *Redundant features*: the most similar pairs of features of a training part."""

from __future__ import annotations

from itertools import combinations

from rankstudio.api import (
    AnalysisTable,
    QueryData,
    Waiting,
    feature_similarities,
    single_feature_gains,
    training_data,
)


def similar_pairs(
    data, similarity: str = "kendall", n_pairs: int = 20
) -> Waiting[AnalysisTable]:
    """List the pairs of features that are most similar, with the better feature of each.

    Parameters
    ----------
    data : RankingDataset
    similarity : {"kendall", "pearson"}
    n_pairs : int
        Number of pairs.
    """
    training = training_data(QueryData(data.X, data.y, data.query_ptr))
    similarities = yield from feature_similarities(training, similarity)
    gains = yield from single_feature_gains(training, "MAP")
    names = data.feature_names
    pairs = sorted(
        combinations(range(len(names)), 2), key=lambda pair: -similarities[pair]
    )
    rows = tuple(
        (
            names[first],
            names[second],
            similarities[first, second],
            names[better(gains, first, second)],
        )
        for first, second in pairs[:n_pairs]
    )
    return AnalysisTable(
        "Most similar features",
        ("feature", "other feature", "similarity", "better alone"),
        rows,
        "The better feature of a pair has the greater MAP when it ranks alone, in whichever order is better.",
    )


def better(gains, first: int, second: int) -> int:
    """Return the column of the feature with the greater gain."""
    return first if gains[first] >= gains[second] else second
