"""The fast measures against the definitions, and how an evaluator is used."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit
from slow_measures import slow, slow_beyond_letor
from wording import naming

from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.metrics._kernels import RUN, sort_descending
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.evaluator import Evaluator, rank, reading_order
from rankstudio.engine.metrics.families import FAMILIES, Cut
from rankstudio.engine.metrics.names import Measure
from rankstudio.engine.support.grades import Grading, greatest, ranks_of_ids

MEASURES = (
    *(
        "MAP",
        "MAP@1",
        "MAP@4",
        "P@1",
        "P@3",
        "P@10",
        "NDCG",
        "NDCG@1",
        "NDCG@2",
        "NDCG@3",
        "NDCG@7",
    ),
    *("MeanNDCG", "Disagreement", "StrictDisagreement", "Tau"),
)

_CUTS = {Cut.NONE: (None,), Cut.OPTIONAL: (None, 3), Cut.NEEDED: (1, 4, 7)}
BEYOND_LETOR = tuple(
    Measure(family, cut).name
    for family in FAMILIES
    if family.name
    not in {name.partition("@")[0] for name in (*MEASURES, "SquaredError")}
    for cut in _CUTS[family.cut]
)
"""All others that are read off a ranking: a new one needs its definition in ``slow_measures.py``."""


class Ranked(NamedTuple):
    y: np.ndarray
    scores: np.ndarray
    query_ptr: np.ndarray
    given_ids: np.ndarray

    @property
    def ids(self) -> np.ndarray:
        """By which equal scores are put in order: in a query without all ids, by position."""
        ids = self.given_ids.astype("<U9")
        for first, last in pairwise(self.query_ptr.tolist()):
            if not all(ids[first:last]):
                ids[first:last] = [f"{row:05d}" for row in range(first, last)]
        return ids

    @property
    def grading(self) -> Grading:
        return Grading(
            greatest(self.y),
            partial(ranks_of_ids, self.given_ids.tolist(), self.query_ptr),
        )


@st.composite
def ranked(draw: st.DrawFn, most_documents: int = 6) -> Ranked:
    """Queries of one to a few documents, labels -1 … 4 or all the same, many equal scores or none."""
    sizes = draw(st.lists(st.integers(1, most_documents), min_size=1, max_size=5))
    m = sum(sizes)
    label = draw(
        st.sampled_from(
            [st.integers(0, 4), st.integers(0, 1), st.just(0), st.integers(-1, 2)]
        )
    )
    score = draw(
        st.sampled_from(
            [
                st.integers(0, 2),
                st.just(1),
                st.floats(allow_nan=False),
                st.sampled_from([-0.0, 0.0, np.inf, -np.inf]),
            ]
        )
    )
    numbers = (
        st.lists(label, min_size=m, max_size=m),
        st.lists(score, min_size=m, max_size=m),
    )
    ids = draw(
        st.lists(
            st.sampled_from(["9", "10", "GX1", "GX02", "ä", ""]), min_size=m, max_size=m
        )
    )
    return Ranked(
        np.array(draw(numbers[0]), dtype=float),
        np.array(draw(numbers[1]), dtype=float),
        np.append(0, np.cumsum(sizes)),
        np.array(ids),
    )


def slow_table(key: str, data: Ranked, ids: np.ndarray) -> dict[str, list[float]]:
    queries = [
        slice(*pair)
        for pair in zip(data.query_ptr[:-1], data.query_ptr[1:], strict=True)
    ]
    return {
        name: [
            slow(
                key, name, data.y[q].tolist(), data.scores[q].tolist(), ids[q].tolist()
            )
            for q in queries
        ]
        for name in MEASURES
    }


@pytest.mark.parametrize("key", list(CONVENTIONS))
@given(data=ranked())
def test_fast_equals_slow(key: str, data: Ranked) -> None:
    fast = Evaluator(data.y, data.query_ptr, key, MEASURES, grading=data.grading)
    expected = slow_table(key, data, data.ids)
    for name, values in fast.per_query(data.scores).items():
        np.testing.assert_allclose(
            values, expected[name], rtol=1e-12, atol=1e-14, err_msg=name
        )


@pytest.mark.parametrize("key", ["letor4", "trec_eval"])
@given(data=ranked(most_documents=90))
def test_fast_equals_slow_in_queries_longer_than_one_run(
    key: str, data: Ranked
) -> None:
    fast = Evaluator(data.y, data.query_ptr, key, MEASURES, grading=data.grading)
    expected = slow_table(key, data, data.ids)
    for name, values in fast.per_query(data.scores).items():
        np.testing.assert_allclose(
            values, expected[name], rtol=1e-11, atol=1e-13, err_msg=name
        )


@pytest.mark.parametrize("key", list(CONVENTIONS))
@given(data=ranked())
def test_measures_beyond_letors_equal_their_definitions(key: str, data: Ranked) -> None:
    names = (*BEYOND_LETOR, "SquaredError")
    fast = Evaluator(data.y, data.query_ptr, key, names, grading=data.grading)
    greatest = max(0.0, float(data.y.max()))
    queries = [
        slice(*pair)
        for pair in zip(data.query_ptr[:-1], data.query_ptr[1:], strict=True)
    ]
    for name, values in fast.per_query(data.scores).items():
        expected = [
            slow_beyond_letor(
                key,
                name,
                data.y[q].tolist(),
                data.scores[q].tolist(),
                data.ids[q].tolist(),
                greatest,
            )
            for q in queries
        ]
        np.testing.assert_allclose(
            values, expected, rtol=1e-11, atol=1e-13, err_msg=name
        )


def test_a_measure_of_scores_is_unknown_for_a_ranking() -> None:
    y, scores, ptr = np.array([0.0, 1, 2]), np.array([[0.5, 0, 3]]), np.array([0, 3])
    evaluator = Evaluator(y, ptr, measures=["SquaredError", "MAP"])
    of_scores, of_ranking = (
        evaluator.evaluate_many(scores),
        evaluator.evaluate_rankings(rank(scores, y, ptr)),
    )
    assert of_scores["SquaredError"] == (0.25 + 1 + 1) / 3
    assert not evaluator.by_rank
    assert np.isnan(of_ranking["SquaredError"])
    assert of_ranking["MAP"] == of_scores["MAP"]


@given(data=ranked())
def test_without_ids_trec_eval_takes_the_last_in_the_file_first(data: Ranked) -> None:
    fast = Evaluator(data.y, data.query_ptr, "trec_eval", MEASURES)
    growing = np.array([f"{row:05d}" for row in range(data.y.size)])
    expected = slow_table("trec_eval", data, growing)
    for name, values in fast.per_query(data.scores).items():
        np.testing.assert_allclose(
            values, expected[name], rtol=1e-12, atol=1e-14, err_msg=name
        )


@njit
def _sort(key, item, n, spare_key, spare_item):  # type: ignore[no-untyped-def]
    sort_descending(key, item, n, spare_key, spare_item)


@given(
    keys=st.lists(
        st.one_of(st.integers(-3, 3), st.floats(allow_nan=False)), max_size=5 * RUN
    )
)
def test_sorting_is_pythons_stable_one(keys: list[float]) -> None:
    n = len(keys)
    key, item = np.array(keys, dtype=float), np.arange(n)
    _sort(key, item, n, np.empty(n), np.empty(n, dtype=np.int64))
    expected = sorted(range(n), key=lambda i: -keys[i])
    assert item.tolist() == expected
    assert key.tolist() == [keys[i] for i in expected]


@pytest.mark.parametrize("key", list(CONVENTIONS))
@given(data=ranked())
def test_measures_read_off_rankings_are_exactly_those_of_the_scores(
    key: str, data: Ranked
) -> None:
    evaluator = Evaluator(
        data.y, data.query_ptr, key, MEASURES + BEYOND_LETOR, grading=data.grading
    )
    order = reading_order(data.query_ptr, CONVENTIONS[key], data.grading)
    rankings = rank(
        np.array([data.scores, -data.scores]), data.y, data.query_ptr, order
    )
    assert rankings.dtype == np.uint8
    many = evaluator.evaluate_many([data.scores, -data.scores])
    for name, values in evaluator.evaluate_rankings(rankings).items():
        np.testing.assert_array_equal(values, many[name], err_msg=name)
    of_one = evaluator.per_query(data.scores)
    for name, values in evaluator.rankings_per_query(rankings[:1]).items():
        np.testing.assert_array_equal(values, of_one[name], err_msg=name)


@pytest.mark.parametrize("apart", [0.0, 0.02, 0.3, 5.0])
@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_each_of_many_models_is_ranked_as_it_is_alone(
    apart: float, decimals: int
) -> None:
    rng = np.random.default_rng(3)
    ptr = np.append(0, np.cumsum([1, 2, 9, 40, 150, 3, 700]))
    y = rng.integers(0, 3, ptr[-1]).astype(np.float64)
    path = rng.normal(size=y.size) + np.cumsum(
        apart * rng.normal(size=(30, y.size)), axis=0
    )
    path[15] *= -1.0  # the other way round
    # with ties, at which documents stay in the order of the file
    scores = np.round(path, decimals)
    ranked = rank(scores, y, ptr)
    for row, alone in zip(scores, ranked, strict=True):
        order = np.lexsort((-row, np.repeat(np.arange(ptr.size - 1), np.diff(ptr))))
        tied = np.append(False, np.diff(row[order]) == 0)
        tied[ptr[:-1]] = False
        np.testing.assert_array_equal(alone, 2 * y[order] + tied)


def test_a_nan_anywhere_is_named_by_model_and_document() -> None:
    rng = np.random.default_rng(4)
    for model, document in ((0, 7), (2, 0), (4, 11)):
        scores = rng.normal(size=(5, 12))
        scores[model, document] = np.nan
        with pytest.raises(
            DatasetError, match=f"document {document + 1} by model {model + 1} "
        ):
            rank(scores, np.ones(12), np.array([0, 5, 12]))


def test_more_labels_than_fit_into_a_byte_are_ranked() -> None:
    y, scores = np.arange(300.0) / 30, np.random.default_rng(3).normal(size=(2, 300))
    evaluator = Evaluator(y, [0, 100, 300], measures=["NDCG", "Disagreement", "ERR"])
    found = evaluator.evaluate_rankings(rank(scores, y, np.array([0, 100, 300])))
    for name, values in evaluator.evaluate_many(scores).items():
        assert found[name].tolist() == values.tolist()
    with pytest.raises(DatasetError, match=naming("1 2 score document")):
        rank(np.array([[0.0], [np.nan]]), np.array([1.0]), np.array([0, 1]))


def _many(n_models: int = 7) -> tuple[Evaluator, np.ndarray]:
    rng = np.random.default_rng(5)
    ptr = np.append(0, np.cumsum(rng.integers(1, 60, 30)))
    y = rng.integers(0, 3, ptr[-1]).astype(float)
    scores = rng.integers(0, 20, (n_models, ptr[-1])).astype(float)
    return Evaluator(y, ptr, "letor4", MEASURES), scores


def test_many_models_are_exactly_the_models_one_by_one() -> None:
    evaluator, scores = _many()
    together = evaluator.evaluate_many(scores)
    for k, row in enumerate(scores):
        assert {
            name: values[k] for name, values in together.items()
        } == evaluator.evaluate(row)


def test_blocks_of_models_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator, scores = _many()
    whole = evaluator.evaluate_many(scores)
    monkeypatch.setattr(
        "rankstudio.engine.metrics.evaluator._MAX_BLOCK_VALUES", 3 * 30 * len(MEASURES)
    )
    blocks = evaluator.evaluate_many(scores)
    for name in whole:
        assert whole[name].tolist() == blocks[name].tolist()


def test_averages_are_over_queries() -> None:
    evaluator, scores = _many()
    averages, queries = evaluator.evaluate(scores[0]), evaluator.per_query(scores[0])
    for name, value in averages.items():
        assert value == pytest.approx(np.nanmean(queries[name]), rel=1e-14)


def test_the_memory_layout_of_the_scores_does_not_matter() -> None:
    evaluator, scores = _many()
    expected = evaluator.evaluate_many(scores)["MAP"].tolist()
    frozen = scores.copy()
    frozen.flags.writeable = False
    for same in (
        np.asfortranarray(scores),
        frozen,
        scores.tolist(),
        scores.astype(np.float32),
    ):
        assert evaluator.evaluate_many(same)["MAP"].tolist() == expected


def test_several_threads_share_an_evaluator() -> None:
    evaluator, scores = _many(40)
    expected = [evaluator.evaluate(row) for row in scores]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(evaluator.evaluate, scores)) == expected


def test_an_evaluator_can_be_sent_to_another_process() -> None:
    evaluator, scores = _many()
    assert pickle.loads(pickle.dumps(evaluator)).evaluate(
        scores[0]
    ) == evaluator.evaluate(scores[0])


def test_scores_given_stay_as_they_are() -> None:
    evaluator, scores = _many()
    before = scores.copy()
    evaluator.evaluate_many(scores)
    assert (scores == before).all()


def test_disagreement_leaves_out_queries_without_a_pair() -> None:
    evaluator = Evaluator([1, 1, 0, 2], [0, 2, 4], measures=["Disagreement"])
    assert evaluator.evaluate([0, 1, 3, 1])["Disagreement"] == 1.0
    assert np.isnan(evaluator.per_query([0, 1, 3, 1])["Disagreement"][0])
    alone = Evaluator([1, 1], [0, 2], measures=["Disagreement"])
    assert np.isnan(alone.evaluate([0, 1])["Disagreement"])


# ties in the order of the file, and averaged
@pytest.mark.parametrize("key", ["letor4", "sklearn"])
def test_a_measure_alone_is_what_it_is_among_all(key: str) -> None:
    """A measure whose entry does not say what it reads would be read off what nobody summed."""
    rng = np.random.default_rng(3)
    y, scores = (
        rng.choice([0.0, 0.0, 0.0, 0.0, 1.0, 2.0], 60),
        rng.integers(0, 9, 60).astype(float),
    )
    ptr = np.array([0, 7, 30, 60])
    forms = {Cut.NONE: ("{}",), Cut.OPTIONAL: ("{}", "{}@3"), Cut.NEEDED: ("{}@3",)}
    names = [
        form.format(family.name) for family in FAMILIES for form in forms[family.cut]
    ]
    among_all = Evaluator(y, ptr, key, names).evaluate(scores)
    # a kind the kernel does not know would be another one
    assert len(set(among_all.values())) == len(names)
    for name in names:
        assert Evaluator(y, ptr, key, [name]).evaluate(scores) == {
            name: among_all[name]
        }


def test_a_perfect_ranking_is_exactly_1() -> None:
    evaluator, _ = _many()
    rng = np.random.default_rng(1)
    y = rng.integers(0, 5, 200).astype(float) + 1
    for convention in CONVENTIONS.values():
        evaluator = Evaluator(
            y, [0, 150, 200], convention, ["NDCG", "NDCG@10", "MeanNDCG"]
        )
        assert evaluator.evaluate(y) == {"NDCG": 1.0, "NDCG@10": 1.0, "MeanNDCG": 1.0}


def test_repeated_measures_are_computed_once() -> None:
    assert [
        m.name for m in Evaluator([1], [0, 1], measures=["map", "MAP", "P@1"]).measures
    ] == ["MAP", "P@1"]


@pytest.mark.parametrize("key", ["letor4", "trec_eval"])
def test_a_score_that_is_no_number_is_named(key: str) -> None:
    evaluator = Evaluator([0, 1, 2, 0], [0, 2, 4], key)
    scores = np.zeros((3, 4))
    scores[1, 2] = np.nan
    with pytest.raises(DatasetError, match=naming("3 2 score document")):
        evaluator.evaluate_many(scores)


@pytest.mark.parametrize(
    ("y", "ptr", "error", "text"),
    [
        ([], [0], DatasetError, "no documents"),
        ([0.0, np.nan], [0, 2], DatasetError, "label of document 2 is nan"),
        ([0.0, np.inf], [0, 2], DatasetError, "label of document 2 is inf"),
        ([0.0, 2000.0], [0, 2], DatasetError, "largest label, 2000"),
        ([[0.0, 1.0]], [0, 2], ParameterError, r"shape \(1, 2\)"),
        (["good", "bad"], [0, 2], ParameterError, "a number"),
        ([0, 1], [0, 3], ParameterError, "from 0 to 2"),
        ([0, 1], [0, 0, 2], ParameterError, "query_ptr"),
        ([0, 1], [1, 2], ParameterError, "query_ptr"),
        ([0, 1], [], ParameterError, "query_ptr"),
    ],
)
def test_labels_and_queries_that_cannot_be(
    y: object, ptr: object, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        Evaluator(y, ptr)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "scores", [[1.0], [[1.0, 2.0]], 3.0, ["a", "b"], [1.0, 2.0, 3.0]]
)
def test_scores_that_do_not_fit(scores: object) -> None:
    with pytest.raises(ParameterError, match="scores"):
        Evaluator([0, 1], [0, 2]).evaluate(scores)  # type: ignore[arg-type]
