"""Cycles of preferences, against walks through the graph."""

import numpy as np
from hypothesis import given
from preference_oracles import preferred
from strategies import Problem

from rankstudio.engine.data.preferences import Preferences
from rankstudio.plugins.preferences.preference_summary import (
    PreferenceSummary,
    summarise_preferences,
)


def test_of_no_preferences_nothing_is_counted() -> None:
    summary = summarise_preferences(Preferences([], []), np.zeros(3, dtype=int))
    assert summary == PreferenceSummary(0, 0, 0, 0, 0, 0, 0, 0, 0)


@given(preferred())
def test_documents_of_a_cycle_reach_each_other(
    given_: tuple[Problem, Preferences],
) -> None:
    problem, preferences = given_
    m = problem.qid.size
    query = np.unique(problem.qid, return_inverse=True)[1]
    reaches = np.eye(m, dtype=bool)
    reaches[preferences.winner, preferences.loser] = True
    for k in range(m):
        reaches |= np.outer(reaches[:, k], reaches[k])
    both = reaches & reaches.T
    found = summarise_preferences(preferences, query)
    sizes = both.sum(axis=1)
    assert found.n_in_cycles == int((sizes > 1).sum())
    assert found.n_cycles == len({tuple(row) for row in both[sizes > 1]})
    assert found.largest == (int(sizes.max()) if sizes.max() > 1 else 0)
    assert found.n_cyclic == int(both[preferences.winner, preferences.loser].sum())
    ways = set(
        zip(preferences.winner.tolist(), preferences.loser.tolist(), strict=True)
    )
    assert found.n_contradictions == sum((j, i) in ways for i, j in ways) // 2
    assert found.n_pairs == len({frozenset(way) for way in ways})
    documents = np.union1d(preferences.winner, preferences.loser)
    assert (found.n_preferences, found.n_documents) == (
        len(preferences),
        documents.size,
    )
    assert found.n_queries == np.unique(query[documents]).size


def test_summaries_of_other_queries_add_up() -> None:
    query = np.array([0, 0, 0, 1, 1])
    first = Preferences([0, 1, 2], [1, 2, 0])
    second = Preferences([3, 4], [4, 3])
    union = Preferences([0, 1, 2, 3, 4], [1, 2, 0, 4, 3])
    added = summarise_preferences(first, query) + summarise_preferences(second, query)
    assert added == summarise_preferences(union, query)
