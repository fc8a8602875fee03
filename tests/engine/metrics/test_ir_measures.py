"""Names and values of ir-measures: an independent implementation, on random rankings without ties.

``--hypothesis-profile`` sets how many. Where its providers cannot be installed the test is skipped.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine import evaluate
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.metrics.names import measure, split_names

PROVIDED = (
    *(
        "nDCG",
        "nDCG@1",
        "nDCG@5",
        "nDCG@10",
        "AP",
        "AP@3",
        "AP(rel=2)",
        "RR",
        "RR(rel=3)",
        "R@2",
        "R(rel=2)@4",
    ),
    *(
        "P@1",
        "P@10",
        "P(rel=2)@5",
        "P(rel=2)@10",
        "Rprec",
        "Rprec(rel=2)",
        "Success@1",
        "Success(rel=2)@3",
    ),
    *("Bpref", "Bpref(rel=2)"),
)
"""What trec_eval computes for ir-measures; graded labels, whole numbers."""


@given(
    st.integers(0, 2**32 - 1),
    st.sets(st.sampled_from(PROVIDED), min_size=1, max_size=6),
)
def test_every_name_and_value_is_that_of_ir_measures(
    seed: int, names: set[str]
) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 13, rng.integers(1, 6))
    qid = np.repeat([f"q{i}" for i in range(sizes.size)], sizes)
    y = rng.choice([0, 0, 0, 1, 2, 3, 4], qid.size)
    scores = rng.permutation(qid.size) / 4.0  # apart in single precision, too
    ids = [f"d{row}" for row in range(qid.size)]
    asked = [ir_measures.parse_measure(name) for name in names]
    qrels = [ir_measures.Qrel(*row) for row in zip(qid, ids, y.tolist(), strict=True)]
    ranking = [
        ir_measures.ScoredDoc(*row)
        for row in zip(qid, ids, scores.tolist(), strict=True)
    ]
    expected = ir_measures.calc_aggregate(asked, qrels, ranking)

    values = evaluate(y, scores, qid, convention="trec_eval", measures=[*names])

    assert set(values) == names
    for name, reference in zip(names, asked, strict=True):
        assert values[name] == pytest.approx(expected[reference], abs=1e-12), name


@given(st.integers(0, 2**32 - 1))
def test_judged_and_binary_preference_where_not_all_are_judged(seed: int) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, -1, 0, 0, 1, 2], 9)
    y[rng.integers(9)] = 0  # a query without judgments is no query there
    scores = rng.permutation(9) / 4.0
    qid = ["q"] * 9
    qrels = [
        ir_measures.Qrel("q", f"d{i}", int(label))
        for i, label in enumerate(y)
        if label >= 0
    ]
    ranking = [
        ir_measures.ScoredDoc("q", f"d{i}", float(score))
        for i, score in enumerate(scores)
    ]
    names = ["Judged@1", "Judged@5", "Judged@20", "Bpref"]
    expected = ir_measures.calc_aggregate(
        [ir_measures.parse_measure(name) for name in names], qrels, ranking
    )

    values = evaluate(y, scores, qid, convention="trec_eval", measures=names)

    assert list(values.values()) == pytest.approx(
        [expected[ir_measures.parse_measure(name)] for name in names], abs=1e-12
    )


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.95), st.sampled_from([1, 2]))
def test_rank_biased_precision_is_its_definition(
    seed: int, persistence: float, relevant_from: int
) -> None:
    """Moffat and Zobel (2008), equation (1): ir-measures leaves it to a package that is not kept up."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 9)
    scores = rng.permutation(9)
    name = f"RBP(p={persistence:.12g}, rel={relevant_from})"
    ranked = y[np.argsort(-scores)] >= relevant_from
    expected = sum((1 - persistence) * persistence**i for i in range(9) if ranked[i])
    assert evaluate(y, scores, ["q"] * 9, measures=[name])[name] == pytest.approx(
        expected, abs=1e-11
    )


def test_a_value_is_read_by_any_name_of_its_measure() -> None:
    values = evaluate(
        [0, 2, 1], [0.1, 0.9, 0.5], ["q"] * 3, measures=["nDCG@10", "AP", "P(rel=2)@1"]
    )
    assert list(values) == ["nDCG@10", "AP", "P(rel=2)@1"]
    assert values["MAP"] == values["AP"] == values["map"] == 1.0
    assert values.per_query["NDCG@10"].tolist() == values.per_query["nDCG@10"].tolist()
    assert "P@1" not in dict(values)
    for unknown in ("P@1", "nothing"):
        with pytest.raises(KeyError):
            values[unknown]


def test_a_comma_in_parentheses_separates_nothing() -> None:
    assert split_names(" AP, RBP(p=0.9,rel=2)@10 ,,P@1") == (
        "AP",
        "RBP(p=0.9,rel=2)@10",
        "P@1",
    )


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("AP", "MAP"),
        ("ap@5", "MAP@5"),
        ("R@3", "Recall@3"),
        ("Rprec", "RPrecision"),
        ("RBP(p=0.8)", "RBP"),
        ("RBP( rel=2 , p=0.5 )@7", "RBP(p=0.5,rel=2)@7"),
        ("p(rel=2.0)@10", "P(rel=2)@10"),
    ],
)
def test_names_of_ir_measures_are_names_here(written: str, name: str) -> None:
    assert measure(written).name == name
    assert measure(name) == measure(written)


@pytest.mark.parametrize(
    "written",
    [
        *(
            "P(rel=0)@10",
            "P(rel=-1)@10",
            "P(rel=nan)@10",
            "P(rel=inf)@10",
            "P(rel=)@10",
            "P(rel)@10",
            "P()@10",
        ),
        *(
            "P(rel=1,rel=2)@10",
            "P(p=0.5)@10",
            "RBP(p=1)",
            "RBP(p=0)",
            "nDCG(rel=2)@10",
            "nDCG(dcg='exp-log2')@10",
        ),
        *(
            "P(rel=2",
            "P@10(rel=2)",
            "P((rel=2))@10",
            "Judged",
            "Success",
            "Bpref@3",
            "AP@0",
            "R",
        ),
    ],
)
def test_parentheses_hold_what_the_measure_has(written: str) -> None:
    with pytest.raises(ParameterError):
        measure(written)
