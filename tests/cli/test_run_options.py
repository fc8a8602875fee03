"""What is typed on a command line, and what of it is not understood."""

from __future__ import annotations

import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.cli.run_options import costs_by_id, feature_ids
from rankstudio.engine.errors import ParameterError


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("run --lamda", "--lamda --lambda"),
        ("run --lamda=1", "--lamda=1 --lambda"),
        ("run --kd", "--kd --kde"),
        ("run --method gaz", "--method gaz gas"),
        ("run --method zzz", "zzz --help"),
        ("convert a b c", "convert: unrecognized c"),
        ("rnu", "rnu run"),
    ],
)
def test_what_may_have_been_meant_is_said(typed: str, said: str, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(typed.split())
    assert ended.value.code == 2
    assert naming(said).search(capsys.readouterr().err)


def test_hidden_options_are_not_proposed(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--kk", "x"])
    assert "--k?" not in capsys.readouterr().err


@pytest.mark.parametrize("option", ["-k", "--k", "--features"])
def test_k_is_the_number_of_features_to_select(option: str, refused) -> None:
    refused(
        ["run", "--sample", "--folds", "1", "--lambda", "1", option, "0"],
        "1 features number",
    )


NAMES = {
    3: "BM25 of title",
    7: "TF, log of body",
    9: "PageRank",
    12: "Length",
    13: "length",
}


def _never() -> dict[int, str]:
    raise AssertionError("names are read only where something is no id")


@pytest.mark.parametrize(
    "text", ["", "25", "25, 39", "25 39", "1, 2 | 3", "-4", "1,,2"]
)
def test_ids_stay_as_they_were_typed(text: str) -> None:
    assert feature_ids(text, "--pin", _never) == text


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("PageRank", "9"),
        ("pagerank,  bm25  of title", "9, 3"),
        ("3, PageRank", "3, 9"),
        ("TF, log of body", "7"),
        ("TF, log of body; 3; PageRank", "7, 3, 9"),
        ("PageRank | 3, 9", "9 | 3, 9"),
    ],
)
def test_names_become_ids(text: str, ids: str) -> None:
    assert feature_ids(text, "--pin", lambda: NAMES) == ids


def test_costs_are_given_by_name_too() -> None:
    assert costs_by_id("25: 3, 39: 0.5", "--costs", _never) == "25: 3, 39: 0.5"
    assert (
        costs_by_id("PageRank: 3; 3: 0.5", "--costs", lambda: NAMES) == "9: 3, 3: 0.5"
    )
    assert (
        costs_by_id("PageRank: 3 | BM25 of title:2", "--costs", lambda: NAMES)
        == "9: 3 | 3:2"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("PageRang", "--pin PageRank PageRang"),
        ("zzz", "--pin zzz"),
        ("Length", "12 13 Length"),
    ],
)
def test_what_no_single_feature_is_called_is_refused(text: str, said: str) -> None:
    with pytest.raises(ParameterError, match=naming(said)):
        feature_ids(text, "--pin", lambda: NAMES)
