"""What is not understood on a command line."""

from __future__ import annotations

import pytest
from wording import naming

from rankstudio.cli import main


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("run --lamda", "--lamda --lambda"),
        ("run --lamda=1", "--lamda=1 --lambda"),
        ("run --kd", "--kd --kde"),
        ("run --method gaz", "--method gaz gas"),
        ("run --method zzz", "zzz greedy-rankrls"),
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
def test_k_is_the_number_of_features_to_select(option: str, capsys) -> None:
    assert main(["run", "--sample", "--folds", "1", "--lambda", "1", option, "0"]) == 1
    assert naming("1 features number").search(capsys.readouterr().err)
