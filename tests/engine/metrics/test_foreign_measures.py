"""Measures of others: exact, in the order of each convention, and harmless where they are broken."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import permutations, product
from math import inf, log2, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstudio.api import Measure
from rankstudio.engine import evaluate
from rankstudio.engine.errors import Cancelled, MeasureError, ParameterError, PlanError
from rankstudio.engine.metrics import names
from rankstudio.engine.metrics.conventions import (
    CONVENTIONS,
    Convention,
    Discount,
    Gain,
    Short,
    Ties,
)
from rankstudio.engine.metrics.evaluator import Evaluator, average, rank, reading_order
from rankstudio.engine.metrics.foreign_values import MOST_ORDERS, orders_of_ties
from rankstudio.engine.metrics.measure_registry import MeasureRegistry
from rankstudio.engine.metrics.names import ByMeasure, measure, offered, split_names
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.support.grades import Grading, greatest, ranks_of_ids
from rankstudio.engine.support.stop_request import heeding


def ap(
    labels: np.ndarray,
    cutoff: int | None,
    convention: Convention,
    ties: tuple[int, ...],
) -> float:
    """AP@k; with averaged ties one precision for each score, as scikit-learn has it."""
    relevant = [float(label >= convention.relevant_from) for label in labels]
    n_relevant = sum(relevant)
    if not n_relevant:
        return convention.empty_query
    ends = range(1, len(relevant) + 1)
    if convention.ties is Ties.AVERAGED:
        ends, shares = [], []
        for n in ties:
            start = len(ends)
            shares += [sum(relevant[start : start + n]) / n] * n
            ends += [start + n] * n
        found = [sum(relevant[:end]) / end for end in ends]
        relevant = shares
    else:
        found = [sum(relevant[:end]) / end for end in ends]
    cut = len(relevant) if cutoff is None else cutoff
    total = sum(r * p for r, p in list(zip(relevant, found, strict=True))[:cut])
    if cutoff is not None and convention.map_cut_divides_by_k:
        return total / min(n_relevant, cutoff)
    return total / n_relevant


def ndcg(labels: np.ndarray, cutoff: int | None, convention: Convention) -> float:
    n = len(labels)
    if not (labels > 0).any():
        return convention.empty_query
    if cutoff is not None and cutoff > n and convention.short_ndcg is Short.ZERO:
        return 0.0

    def dcg(ranked: list[float]) -> float:
        total = 0.0
        for i, label in enumerate(ranked[:cutoff], start=1):
            gain = 2.0**label - 1.0 if convention.gain is Gain.EXPONENTIAL else label
            letor = 1.0 if i <= 2 else log2(i)
            total += max(gain, 0.0) / (
                letor if convention.discount is Discount.LETOR else log2(i + 1)
            )
        return total

    return dcg(labels.tolist()) / dcg(sorted(labels.tolist(), reverse=True))


def rr(
    labels: np.ndarray, convention: Convention, *, cutoff: int | None = None
) -> float:
    for i, label in enumerate(labels[:cutoff], start=1):
        if label >= convention.relevant_from:
            return 1 / i
    return 0.0


CALLS: list[int] = []


def first_label(labels: np.ndarray) -> float:
    CALLS.append(labels.size)
    return float(labels[0])


def changing(labels: np.ndarray) -> float:
    labels[:] = 0.0
    return 0.0


def exiting(labels: np.ndarray) -> float:
    raise SystemExit(3)


def raising(labels: np.ndarray) -> float:
    raise RuntimeError("no\x1b[2J luck")


def printing(labels: np.ndarray) -> float:
    print("hello")  # noqa: T201 - that is what it does
    return 1.0


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError


RESULTS = {
    "a NaN": nan,
    "infinity": -inf,
    "None": None,
    "an array": np.zeros(1),
    "text": "0.5",
    "a complex number": 1j,
    "a huge number": 10**400,
    "an odd value": Odd(),
    "a number outside its range": 1.5,
}


def result(name: str) -> Callable[[np.ndarray], Any]:
    return lambda labels: RESULTS[name]


def __getattr__(name: str) -> object:
    """Return functions with odd results by the names of these."""
    if name.replace("_", " ") in RESULTS:
        return result(name.replace("_", " "))
    raise AttributeError(name)


def entry(key: str, function: str, **values: Any) -> Measure:
    origin = Origin(OriginKind.PACKAGE, "rankstudio-mine", "1.2")
    return Measure(
        key=key, label=key, function=f"{__name__}:{function}", origin=origin, **values
    )


ENTRIES = (
    entry("MyAP", "ap", cutoff="optional", low=0.0, high=1.0),
    entry("MyNDCG", "ndcg", cutoff="optional"),
    entry("MyRR", "rr", cutoff="optional"),
    entry("First", "first_label"),
    entry("Lost", "first_label", higher_is_better=False),
    *(
        entry(name, name)
        for name in ("changing", "exiting", "raising", "printing", "missing")
    ),
    *(
        entry(f"odd{i}", name.replace(" ", "_"), high=1.0)
        for i, name in enumerate(RESULTS)
    ),
)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "MEASURES", MeasureRegistry(ENTRIES))


PAIRS = [
    (own, foreign.format(cut))
    for cut in ("", "@1", "@3", "@10")
    for own, foreign in (
        (f"MAP{cut}", "MyAP{}"),
        (f"NDCG{cut}", "MyNDCG{}"),
        (f"RR{cut}", "MyRR{}"),
    )
]


@st.composite
def rankings(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, Grading]:
    """Short queries with ties, some without a relevant document, some of one document, with ids."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    ptr = np.append(0, np.cumsum(sizes))
    y = rng.integers(
        draw(st.integers(-1, 0)), draw(st.sampled_from([1, 3])), ptr[-1]
    ).astype(float)
    y[: sizes[0]] = np.minimum(y[: sizes[0]], 0.0)
    scores = rng.integers(0, draw(st.integers(1, 8)), (4, ptr[-1])).astype(float)
    ids = [str(i) for i in rng.permutation(y.size)] if draw(st.booleans()) else []
    return y, ptr, scores, Grading(greatest(y), partial(ranks_of_ids, ids, ptr))


@settings(max_examples=10)
@given(data=rankings(), key=st.sampled_from(sorted(CONVENTIONS)))
def test_plain_python_equals_the_kernels_in_each_convention(
    data: Any, key: str
) -> None:
    y, ptr, scores, grading = data
    evaluator = Evaluator(
        y, ptr, key, [name for pair in PAIRS for name in pair], grading=grading
    )
    found = evaluator.per_query_many(scores)
    for own, foreign in PAIRS:
        np.testing.assert_allclose(
            found[foreign], found[own], rtol=1e-13, atol=1e-15, err_msg=f"{key} {own}"
        )
    order = reading_order(ptr, evaluator.convention, grading)
    again = evaluator.evaluate_rankings(rank(scores, y, ptr, order))
    for name, values in found.items():
        np.testing.assert_array_equal(again[name], average(values))
    alone = Evaluator(y, ptr, key, ["MyNDCG@3"], grading=grading).per_query(scores[2])[
        "MyNDCG@3"
    ]
    np.testing.assert_array_equal(alone, found["MyNDCG@3"][2])


@settings(max_examples=10)
@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    seed=st.integers(0, 2**32 - 1),
)
def test_orders_of_ties_are_all_different_orders(sizes: list[int], seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, 3, sum(sizes)).astype(float)
    ends = np.cumsum(sizes)
    ties = [labels[end - n : end].tolist() for end, n in zip(ends, sizes, strict=True)]
    every = {
        sum(choice, ()) for choice in product(*(permutations(tie) for tie in ties))
    }
    found = [tuple(order.tolist()) for order in orders_of_ties(labels, np.array(sizes))]
    if len(every) <= MOST_ORDERS:
        assert sorted(found) == sorted(every)
    else:
        assert len(found) == MOST_ORDERS and set(found) <= every


def test_of_many_orders_the_same_ones_are_drawn() -> None:
    y = np.arange(9.0)
    first, second = (
        Evaluator(y, [0, 9], "sklearn", ["First"]).evaluate(np.zeros(9))["First"]
        for _ in range(2)
    )
    assert first == second
    assert abs(first - 4.0) < 0.5


def test_names_cut_offs_and_case() -> None:
    assert measure("myap@10").name == "MyAP@10"
    assert not measure("Lost").higher_is_better and measure("Lost").by_rank
    assert [name for name in offered() if measure(name).foreign][:4] == [
        "MyAP",
        "MyNDCG",
        "MyRR",
        "First",
    ]
    assert split_names("MyAP@3, P(rel=2)@10") == ("MyAP@3", "P(rel=2)@10")
    assert ByMeasure({"MyAP@3": 1.0})["MYAP@3"] == 1.0
    for wrong in ("First@3", "MyAP(rel=2)", "MyAP@0", "MyAQ@"):
        with pytest.raises(ParameterError):
            measure(wrong)
    with pytest.raises(ParameterError) as raised:
        measure("MyAPP@5")
    assert raised.value.meant == "MyAP@5"


def test_a_ranking_that_many_models_have_is_measured_once() -> None:
    evaluator = Evaluator([0.0, 1.0, 2.0], [0, 2, 3], measures=["First"])
    CALLS.clear()
    evaluator.evaluate_many(np.tile([0.1, 0.2, 0.3], (50, 1)))
    assert CALLS == [2, 1]


def test_labels_given_stay_as_they_are() -> None:
    y = np.array([0.0, 2.0, 1.0])
    with pytest.raises(MeasureError, match="read-only"):
        evaluate(y, [1, 2, 3], [1, 1, 1], measures=["changing"])
    assert y.tolist() == [0.0, 2.0, 1.0]


@pytest.mark.parametrize(
    "key", ["exiting", "raising", *(f"odd{i}" for i in range(len(RESULTS)))]
)
def test_a_broken_function_is_one_sentence(key: str) -> None:
    with pytest.raises(MeasureError) as raised:
        evaluate([0, 1], [1, 2], [1, 1], measures=[key, "MAP"])
    text = str(raised.value)
    assert text.startswith(key) and text.isprintable() and text.endswith(".")
    assert dict(evaluate([0, 1], [1, 2], [1, 1], measures=["MAP"])) == {"MAP": 1.0}


def test_what_a_function_prints_is_no_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert dict(evaluate([0, 1], [1, 2], [1, 1], measures=["printing"])) == {
        "printing": 1.0
    }
    assert capsys.readouterr().out == ""


def test_what_cannot_be_imported_or_called_is_refused() -> None:
    with pytest.raises(PlanError, match="missing"):
        Evaluator([1.0], [0, 1], measures=["missing"])
    registry = MeasureRegistry([])
    registry.remember(
        Measure(
            "Gone",
            "Gone",
            "os:system",
            origin=Origin(OriginKind.PACKAGE, "lab", "3", present=False),
        )
    )
    gone = registry.find("gone")
    assert gone is not None and registry.entries() == ()
    with pytest.raises(PlanError, match="pip install lab"):
        gone.load()


def test_stop_is_heeded_between_queries() -> None:
    evaluator = Evaluator(np.ones(6), range(7), measures=["First"])
    CALLS.clear()

    def check() -> None:
        if len(CALLS) == 2:
            raise Cancelled("This")

    with heeding(check), pytest.raises(Cancelled):
        evaluator.evaluate(np.zeros(6))
    assert len(CALLS) == 2
    with ThreadPoolExecutor(1) as pool, heeding(check):
        # another thread is not stopped
        pool.submit(evaluator.evaluate, np.zeros(6)).result()


@pytest.mark.parametrize(
    "values",
    [
        {"key": "ap"},
        {"key": "nDCG"},
        {"key": "Rprec"},
        {"key": "x@3"},
        {"key": "<b>"},
        {"key": "a b"},
        {"key": ""},
        {"key": 7},
        {"key": "ü"},
        {"label": " "},
        {"label": "a\x1b[2J"},
        {"summary": "x" * 2000},
        {"cutoff": "maybe"},
        {"low": 1.0, "high": 0.0},
        {"low": "0"},
        {"higher_is_better": 1},
        {"function": "os.system"},
        {"function": "../x.py:f"},
        {"function": 3},
    ],
)
def test_odd_entries_are_refused(values: dict[str, Any]) -> None:
    registry = MeasureRegistry([])
    fields: dict[str, Any] = {
        "key": "Fine",
        "label": "<b>Fine</b>",
        "function": "a:b",
        **values,
    }
    with pytest.raises(PlanError):
        registry.add(Measure(**fields))


def test_added_measures_do_not_replace_those_of_packages() -> None:
    registry = MeasureRegistry(ENTRIES)
    with pytest.raises(PlanError):
        registry.add(Measure("MYAP", "x", "a:b"))
