"""What is told of data is the same whether they are in memory or mapped from files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankstudio.engine.analysis.features import feature_quality as quality
from rankstudio.engine.analysis.features import features_alone as alone
from rankstudio.engine.arithmetic import scoring
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data import shared_parts, store
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.summary import describe_fold
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.units.scored_part import ScoredPart
from rankstudio.engine.methods.given_scores import given_scores
from rankstudio.engine.steps import Step
from rankstudio.engine.support import file_pages, shard
from rankstudio.engine.support.work import finish


@pytest.fixture(scope="module")
def inside() -> FoldedDataset:
    made = make_ranking(60, n_noise=3, n_redundant=2)
    return replace(made, folds=made.folds[:1])


@pytest.fixture(scope="module")
def outside(inside: FoldedDataset) -> FoldedDataset:
    fold = inside.folds[0]
    kept = shared_parts.keep([*fold.parts.values()])
    opened = [shared_parts.open_kept(store.scratch_folder() / name) for name in kept]
    names = {"feature_names": inside.feature_names}
    train, vali, test = (replace(part, **names) for part in opened)
    return replace(inside, folds=(replace(fold, train=train, vali=vali, test=test),))


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_pages, "_MAX_BLOCK_NUMBERS", 100)
    monkeypatch.setattr(quality, "_ROWS_AT_ONCE", 7)
    monkeypatch.setattr(alone, "_VALUES_FROM_DISK", 3000)


def test_it_is_told_where_the_documents_are(
    inside: FoldedDataset, outside: FoldedDataset
) -> None:
    assert outside.from_disk
    assert not inside.from_disk


def test_features_alone_are_the_same(
    inside: FoldedDataset, outside: FoldedDataset
) -> None:
    one, other = (
        finish(alone.measuring_alone(d.folds[0], "NDCG@5", "letor4"))
        for d in (inside, outside)
    )
    assert one.parts.keys() == other.parts.keys() == {"train", "validation", "test"}
    assert all(np.array_equal(one.parts[name], other.parts[name]) for name in one.parts)
    assert np.array_equal(one.ascending, other.ascending)


@pytest.mark.parametrize("most", [50, 100_000])
def test_what_is_odd_about_features_is_the_same(
    inside: FoldedDataset,
    outside: FoldedDataset,
    most: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(quality, "MOST_DOCUMENTS", most)
    one, other = (
        quality.fold_quality(d, 1, describe_fold(d, 1)) for d in (inside, outside)
    )
    assert [f.findings for f in one.features] == [f.findings for f in other.features]
    assert [f.alone for f in one.features] == [f.alone for f in other.features]


def test_a_profile_is_the_same(inside: FoldedDataset, outside: FoldedDataset) -> None:
    profiles = pytest.importorskip("rankstudio.plugins.features.feature_profile")
    found = []
    for fold in (inside.folds[0], outside.folds[0]):
        assert fold.vali is not None
        found.append(
            profiles.Inspector(fold.train, "letor4", {"validation": fold.vali}).profile(
                2, (0, 1)
            )
        )
    one, other = found
    assert (one.parts, one.with_selected, one.correlation) == (
        other.parts,
        other.with_selected,
        other.correlation,
    )
    assert np.array_equal(one.grid, other.grid)


def test_scores_by_shards_are_those_of_the_whole(
    inside: FoldedDataset, outside: FoldedDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    coef = np.random.default_rng(0).standard_normal(inside.n_features)
    coef[[1, 4]] = 0.0
    step = Step(1, (0,), coef, 0.0, np.empty(0))
    expected = ScoredPart(inside.folds[0].train).scores(step)
    pieces = cut_small(monkeypatch)
    part = ScoredPart(outside.folds[0].train)
    assert np.array_equal(part.scores(step), expected)
    assert sum(pieces) == len(expected)
    assert max(pieces) == 7


def test_given_scores_are_those_of_the_whole_however_large_it_is(
    outside: FoldedDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = outside.folds[0].train
    given = np.arange(train.n_documents, dtype=np.float64)
    cut_small(monkeypatch)
    step = given_scores("a", [(train.X, given)], train.n_features)
    assert np.array_equal(ScoredPart(train).scores(step), given)


def cut_small(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Have large parts scored seven documents at a time; return how many were, each time."""
    where = "rankstudio.engine.experiment.units.scored_part."
    cut, score, pieces = shard.shards_of, scoring.linear_scores, list[int]()

    def told(columns: Floats, coefs: Floats) -> Floats:
        pieces.append(columns.shape[1])
        return score(columns, coefs)

    monkeypatch.setattr(f"{where}shards_of", lambda ptr: cut(ptr, 50))
    monkeypatch.setattr(f"{where}PIECE", 7 * 15)
    monkeypatch.setattr(f"{where}linear_scores", told)
    return pieces
