"""Made-up data, and the sample."""

from __future__ import annotations

import numpy as np
import pytest
from data.sample_model import write_sample
from wording import naming

from rankstudio.engine import evaluate
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.data.known_datasets import table_of_names
from rankstudio.engine.data.splitting.splits import concatenate
from rankstudio.engine.data.synthetic import load_sample, make_ranking
from rankstudio.engine.errors import ParameterError


@pytest.fixture(scope="module")
def sample() -> FoldedDataset:
    return load_sample()


def correlation(d: RankingDataset, feature: int) -> float:
    return float(np.corrcoef(d.X[:, feature], d.y)[0, 1])


def test_equal_seeds_give_equal_data() -> None:
    a, b, c = (
        make_ranking(20, seed=1),
        make_ranking(20, seed=1),
        make_ranking(20, seed=2),
    )
    assert a.folds[0].train.X.tobytes() == b.folds[0].train.X.tobytes()
    assert a.folds[0].train.X.tobytes() != c.folds[0].train.X.tobytes()


def test_the_roles_of_features() -> None:
    d = (
        make_ranking(
            200,
            n_informative=3,
            n_redundant=3,
            n_noise=4,
            n_constant=2,
            documents=(8, 12),
            seed=0,
        )
        .folds[0]
        .train
    )
    assert d.n_features == 12
    assert set(np.unique(d.y)) == {0.0, 1.0, 2.0}
    assert d.X.min() == 0.0
    assert d.X.max() == 1.0
    assert d.constant_features.tolist() == [False] * 10 + [True] * 2
    informative = [correlation(d, j) for j in range(3)]
    assert informative == sorted(informative, reverse=True)
    assert min(informative) > 0.2
    assert all(np.corrcoef(d.X[:, j], d.X[:, j + 3])[0, 1] > 0.6 for j in range(3))
    assert all(abs(correlation(d, j)) < 0.1 for j in range(6, 10))
    sizes = np.diff(d.query_ptr)
    assert sizes.min() >= 8
    assert sizes.max() <= 12


def test_folds_rotate_as_in_letor() -> None:
    folds = make_ranking(10, seed=3).folds
    assert [f.number for f in folds] == [1, 2, 3, 4, 5]
    for f in folds:
        assert f.vali is not None
        assert f.test is not None
        queries = [set(part.query_ids) for part in f.parts.values()]
        assert not (
            queries[0] & queries[1]
            or queries[0] & queries[2]
            or queries[1] & queries[2]
        )
        assert len(set.union(*queries)) == 10
    assert folds[0].train.query_ids[:2] == ("1", "2")
    assert folds[0].test is not None
    assert folds[0].test.query_ids == ("9", "10")
    assert folds[1].test is not None
    assert folds[1].test.query_ids == ("1", "2")


@pytest.mark.parametrize(
    "options",
    [
        {"n_queries": 4},
        {"n_informative": 0},
        {"documents": (0, 3)},
        {"documents": (3, 2)},
    ],
)
def test_impossible_data(options: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        make_ranking(**options)  # type: ignore[arg-type]


def test_datasets_of_other_features_are_not_concatenated() -> None:
    a = RankingDataset.from_arrays([[1.0]], [0])
    b = RankingDataset.from_arrays([[1.0, 2.0]], [0])
    with pytest.raises(ParameterError, match=naming("number features")):
        concatenate([a, b])


def test_the_sample(sample: FoldedDataset) -> None:
    assert sample.name == "Sample"
    assert sample.convention == "letor4"
    assert len(sample.folds) == 5
    assert sample.feature_names == tuple(table_of_names("letor4").values())
    for fold in sample.folds:
        assert sum(part.n_queries for part in fold.parts.values()) == 250
        for part in fold.parts.values():
            assert np.diff(part.query_ptr).min() >= 5
            assert np.diff(part.query_ptr).max() <= 40
            assert part.document_ids[0].startswith("Q")
    constant = np.flatnonzero(sample.folds[0].train.constant_features) + 1
    assert constant.tolist() == [6, 7, 8, 9, 10, 43]


def test_the_sample_has_something_to_find(sample: FoldedDataset) -> None:
    """One feature is clearly the best alone, and far better than chance."""
    d = sample.folds[0].train
    alone = [
        evaluate(d.y, d.X[:, j], d.qid, convention="letor4")["MAP"]
        for j in range(d.n_features)
    ]
    chance = evaluate(
        d.y, np.random.default_rng(0).random(d.n_documents), d.qid, convention="letor4"
    )["MAP"]
    assert 0.4 < max(alone) < 0.6
    assert max(alone) > chance + 0.1


def test_the_sample_can_be_drawn_anew(
    tmp_path_factory: pytest.TempPathFactory, sample: FoldedDataset
) -> None:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    test = sample.folds[0].test
    assert test is not None
    drawn = load_letor(folder / "S5.txt.gz")
    assert drawn.query_ids == test.query_ids
    # The last decimal may differ between machines.
    np.testing.assert_allclose(drawn.X, test.X, atol=1.1e-4)
