"""Own importance and similarity against the kinds that methods compute, by which they select the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from wording import naming

from rankstudio.engine import FSMSVM, GAS, FSMRank, FSMRankTop
from rankstudio.engine.analysis.features.feature_penalties import feature_penalties
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.methods.selection.fsmrank import importance, similarity

METHODS = pytest.mark.parametrize("method", [FSMRank, FSMRankTop, FSMSVM])


@pytest.fixture(scope="module")
def data() -> FoldedDataset:
    return make_ranking(
        n_queries=25, n_informative=3, n_redundant=3, n_noise=2, n_constant=1, seed=2
    )


@METHODS
def test_own_arrays_and_functions_select_as_the_kind_that_they_are(
    method: Any, data: FoldedDataset
) -> None:
    train = data.folds[0].train
    own = group_training(data.folds[0]).whole("test")
    s, A = importance(own, "pearson"), similarity(own, "pearson")
    n = train.X.shape[1]
    expected = method(lambda2=0.01).fit(train.X, train.y, qid=train.qid)

    def weigh(X: Any, y: Any, query: Any) -> Any:
        assert (X.shape[0], y.size, np.unique(query).size) == (
            *(train.y.size,) * 2,
            train.n_queries,
        )
        return s

    for given, alike in ((s, A), (s[:n], A.tolist()), (weigh, lambda *_: A)):
        found = method(lambda2=0.01, importance=given, similarity=alike).fit(
            train.X, train.y, qid=train.qid
        )
        np.testing.assert_array_equal(found.selection_order_, expected.selection_order_)
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9, atol=1e-12)


def test_own_values_of_gas_select_as_its_own(data: FoldedDataset) -> None:
    train = data.folds[0].train
    expected = GAS(c=0.2).fit(train.X, train.y, qid=train.qid)
    whole = group_training(data.folds[0]).whole("test")
    found = GAS(
        c=0.2, importance=expected.importance_, similarity=similarity(whole, "kendall")
    )
    found.fit(train.X, train.y, qid=train.qid)
    np.testing.assert_array_equal(found.selection_order_, expected.selection_order_)
    alike = similarity(whole, "pearson")
    given = GAS(c=0.2, similarity=alike).fit(train.X, train.y, qid=train.qid)
    known = GAS(c=0.2, similarity="pearson").fit(train.X, train.y, qid=train.qid)
    np.testing.assert_array_equal(given.selection_order_, known.selection_order_)
    reverse = GAS(c=0.0, importance=np.arange(train.X.shape[1])).fit(
        train.X, train.y, qid=train.qid
    )
    varying = [c for c in range(train.X.shape[1]) if np.ptp(train.X[:, c])]
    assert reverse.selection_order_[: len(varying)].tolist() == varying[::-1]


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"importance": np.ones(3)}, "importance one number features (3,)"),
        ({"importance": -np.ones(9)}, "importance finite 0 -1"),
        ({"importance": "many"}, "importance pearson many"),
        ({"importance": [["a"]]}, "importance array numbers"),
        ({"similarity": np.eye(3)}, "similarity row column 9 features (3, 3)"),
        ({"similarity": np.triu(np.ones((9, 9)))}, "similarity symmetric"),
        ({"similarity": np.full((9, 9), np.inf)}, "similarity finite"),
    ],
)
def test_what_does_not_fit_is_a_sentence(
    own: dict[str, Any], words: str, data: FoldedDataset
) -> None:
    train = data.folds[0].train
    for method in (FSMRank, GAS):
        with pytest.raises(ParameterError, match=naming(words.replace("pearson ", ""))):
            method(**own).fit(train.X, train.y, qid=train.qid)


def written(
    folder: Path, data: FoldedDataset, s: np.ndarray, A: np.ndarray
) -> tuple[str, str]:
    """Write both files, the features in another order than that of the data."""
    ids = data.feature_ids.tolist()
    order = np.random.default_rng(0).permutation(len(ids)).tolist()
    rows = "".join(f"{ids[c]},{float(s[c])!r}\n" for c in order)
    (folder / "s.csv").write_text(f"feature,importance\n{rows}")
    lines = [",".join(["feature", *(str(ids[c]) for c in order)])]
    lines += [
        ",".join([str(ids[r]), *(repr(float(A[r, c])) for c in order)])
        for r in reversed(order)
    ]
    (folder / "A.csv").write_text("\n".join(lines) + "\n")
    return str(folder / "s.csv"), str(folder / "A.csv")


@pytest.mark.parametrize("method", ["fsmrank", "fsmsvm", "gas"])
def test_a_plan_reads_them_from_files(
    method: str, data: FoldedDataset, tmp_path: Path
) -> None:
    n = len(data.feature_ids)
    whole = group_training(data.folds[0]).whole("test")
    s, A = importance(whole, "pearson")[:n], similarity(whole, "pearson")
    own = dict(
        zip(("importance", "similarity"), written(tmp_path, data, s, A), strict=True)
    )
    plan = Plan("made", method, own, measures=("MAP",), folds=(1,))
    unit = run_plan(plan, data).folds[0].chosen.unit
    given = plan, unit.parameters, group_training(data.folds[0]), data.feature_ids
    found = feature_penalties(*given, range(n), range(n))
    varies = np.ptp(whole.X, axis=0) > 0
    np.testing.assert_array_equal(
        found.importance, np.where(varies, s, 0.0) if method != "gas" else s
    )
    np.testing.assert_array_equal(found.of_negative, found.importance)
    np.testing.assert_allclose(found.similarity, A, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("importance", "", "line 1 nothing feature importance"),
        ("importance", "feature,weight\n1,2\n", "line 1 feature,weight importance"),
        ("importance", "feature,importance\n1,2\n2,many\n", "line 3 many numbers"),
        ("importance", "feature,importance\n1,2\nBM25,3\n", "line 3 BM25"),
        ("importance", "feature,importance\n1,2\n", "importance feature 2 all 9"),
        ("similarity", "feature,1,2\n1,1\n", "line 2 2 cells"),
        ("similarity", "feature,1,2\n1,1,0\n2,0,1\n", "similarity feature 3 all 9"),
    ],
)
def test_a_wrong_file_is_a_sentence(
    name: str, text: str, words: str, data: FoldedDataset, tmp_path: Path
) -> None:
    path = tmp_path / "own.csv"
    path.write_text(text)
    plan = Plan("made", "fsmrank", {name: str(path)}, measures=("MAP",), folds=(1,))
    with pytest.raises(DatasetError, match=naming(f"own.csv {words}")):
        run_plan(plan, data)


@pytest.mark.parametrize("kind", ["pearson", "kendall", "none"])
def test_penalties_are_those_of_the_objective(kind: str, data: FoldedDataset) -> None:
    parameters = {"similarity": kind, "importance": "ndcg", "max_iter": 10}
    plan = Plan("made", "fsmrank", parameters, measures=("MAP",), folds=(1,))
    unit = run_plan(plan, data).folds[0].chosen.unit
    train = group_training(data.folds[0])
    whole, columns = train.whole("test"), [4, 0, 2]
    found = feature_penalties(
        plan, unit.parameters, train, data.feature_ids, columns, [1, 3]
    )
    both, n = importance(whole, "ndcg"), len(data.feature_ids)
    np.testing.assert_array_equal(found.importance, both[columns])
    np.testing.assert_array_equal(found.of_negative, both[n:][columns])
    np.testing.assert_array_equal(
        found.similarity, similarity(whole, kind)[np.ix_(columns, [1, 3])]
    )
