"""The plug-in as RankStudio sees it."""

from __future__ import annotations

import ast
from gettext import GNUTranslations
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import rankstudio_selectors
from rankstudio_selectors import PLUGIN
from rankstudio_selectors.clusters import HCAS
from rankstudio_selectors.mrmr import MRMR
from rankstudio_selectors.overlap import overlaps
from rankstudio_selectors.pairs import similar_pairs

from rankstudio.api import finish
from rankstudio.engine import RankingDataset
from rankstudio.testing import check_method


@pytest.mark.parametrize("entry", PLUGIN.methods, ids=lambda entry: entry.key)
def test_every_method_passes_the_checks(entry) -> None:
    problems = [check for check in check_method(entry) if check.problem]
    assert not problems


def test_nothing_but_the_api_is_imported() -> None:
    for path in Path(rankstudio_selectors.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            for name in names:
                if name.startswith("rankstudio."):
                    assert name in ("rankstudio.api", "rankstudio.api.window"), (
                        path.name
                    )


@pytest.mark.parametrize("make", [entry.load for entry in PLUGIN.methods])
def test_constant_and_equal_features(make) -> None:
    X = np.zeros((6, 3))
    y = np.array([0.0, 1.0, 2.0, 0.0, 1.0, 2.0])
    qid = np.array([1, 1, 1, 2, 2, 2])
    assert make()().fit(X, y, qid=qid).selection_order_.tolist() == [0, 1, 2]
    X[:, 1] = X[:, 2] = y
    assert make()().fit(X, y, qid=qid).selection_order_.tolist() == [1, 2, 0]
    assert make()(n_features_to_select=1).fit(
        X, y, qid=qid
    ).selection_order_.tolist() == [1]


def test_the_german_catalog_has_what_the_entries_say() -> None:
    folder = (
        Path(rankstudio_selectors.__file__).parent / "locale" / "de" / "LC_MESSAGES"
    )
    with (folder / "rankstudio_selectors.mo").open("rb") as file:
        german = GNUTranslations(file)
    entries = *PLUGIN.measures, *PLUGIN.analyses
    texts = [text for entry in entries for text in (entry.label, entry.summary)]
    own = [
        p
        for entry in PLUGIN.methods
        for p in entry.parameters
        if p.name in ("scheme", "trade_off", "damping")
    ]
    for text in (*texts, *(p.help for p in own), *(p.label for p in own)):
        assert german.gettext(text) != text


def test_wrong_parameters_are_refused() -> None:
    X = np.arange(12.0).reshape(6, 2)
    for wrong in (
        MRMR(n_bins=1),
        MRMR(scheme="product"),
        HCAS(linkage="average"),
        HCAS(similarity="cosine"),
    ):
        with pytest.raises(ValueError):
            wrong.fit(X, np.arange(6.0), qid=np.repeat([1, 2], 3))


def test_the_overlap_of_selections() -> None:
    selections = {
        1: {1: frozenset({1, 2}), 2: frozenset({3}), 5: frozenset({4})},
        4: {1: frozenset({2, 5}), 2: frozenset({3})},
        6: {3: frozenset({3})},
        7: {5: frozenset({4})},
    }
    assert overlaps(selections) == {(1, 4): pytest.approx((1 / 3 + 1) / 2), (1, 7): 1.0}
    assert overlaps({1: {1: frozenset()}, 2: {1: frozenset()}}) == {(1, 2): 1.0}


def test_similar_pairs_are_those_of_plain_loops() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    X[:, 2] = X[:, 0] + 0.1 * rng.normal(size=40)
    y = rng.integers(0, 3, size=40).astype(float)
    data = RankingDataset.from_arrays(X, y, np.repeat(np.arange(5), 8))
    table = finish(similar_pairs(data, "pearson", 6))
    correlations = np.abs(np.corrcoef(X.T))
    expected = {pair: correlations[pair] for pair in combinations(range(4), 2)}
    names = data.feature_names
    for (first, second), row in zip(
        sorted(expected, key=expected.get, reverse=True), table.rows, strict=True
    ):
        assert row[:2] == (names[first], names[second])
        assert row[2] == pytest.approx(expected[first, second])
        assert row[3] in row[:2]
