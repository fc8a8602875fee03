"""Measures by name."""

import pytest
from wording import naming

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.metrics.families import FAMILIES
from rankstudio.engine.metrics.names import (
    LETOR_MEASURES,
    OFFERED,
    measure,
    per_query_name,
)


def test_canonical_names_are_read_back() -> None:
    for name in (*LETOR_MEASURES, *OFFERED, "MAP@10", "P@1000", "ERR@5", "Recall@3"):
        assert measure(name).name == str(measure(name)) == name
        assert measure(measure(name)) == measure(name)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ndcg@10", "NDCG@10"),
        (" map ", "MAP"),
        ("p@05", "P@5"),
        ("meanndcg", "MeanNDCG"),
    ],
)
def test_names_are_read_in_any_case(written: str, name: str) -> None:
    assert measure(written).name == name


@pytest.mark.parametrize(
    "written",
    [
        "",
        "P",
        "P@0",
        "NDCG@",
        "NDCG@-1",
        "NDCG@1.5",
        "MeanNDCG@3",
        "Disagreement@1",
        "Recall",
        "AUC@3",
        "Tau@3",
        "F",
        "SquaredError@3",
        "NDCG@²",
        None,
    ],
)
def test_another_name_is_answered_with_the_measures_there_are(written: object) -> None:
    with pytest.raises(ParameterError) as caught:
        measure(written)  # type: ignore[arg-type]
    text = str(caught.value)
    assert naming(
        "MAP MAP@k NDCG NDCG@k MeanNDCG Disagreement RR RR@k ERR ERR@k Recall@k AUC"
    ).search(text)
    assert repr(written) in text


@pytest.mark.parametrize(
    ("written", "meant"),
    [("MRR", "RR"), ("NDGC@5", "NDCG@5"), ("mpa@x", "MAP"), ("Tua@3", "Tau")],
)
def test_a_name_like_one_is_answered_with_it(written: str, meant: str) -> None:
    with pytest.raises(ParameterError, match=rf"\b{meant}\?$"):
        measure(written)


def test_only_errors_are_better_when_they_are_lower() -> None:
    lower = [f.name for f in FAMILIES if not f.higher_is_better]
    assert lower == ["Disagreement", "StrictDisagreement", "SquaredError"]
    assert not measure("disagreement").higher_is_better
    assert measure("MAP").higher_is_better


def test_help_and_label_say_which_documents() -> None:
    assert "the first 10 documents" in measure("NDCG@10").help
    assert "all documents" in measure("NDCG").help
    assert measure("P@5").label == "Precision of the first 5 documents"
    assert measure("MAP").label == "Mean average precision"
    assert all(measure(name).help.endswith(".") for name in LETOR_MEASURES)


def test_the_value_of_one_query_is_no_mean_over_queries() -> None:
    assert per_query_name("MAP") == "AP"
    assert per_query_name("map@5") == "AP@5"
    assert per_query_name("NDCG@10") == "NDCG@10"
    assert per_query_name("RR") == "RR"
    per_query = {family.per_query or family.name for family in FAMILIES}
    assert not any(
        name.startswith("M") and name[1:] in {"AP", "RR"} for name in per_query
    )
