"""What is not understood on a command line."""

from __future__ import annotations

import pytest

from rankstudio.cli import main


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("run --lamda", "rankstudio run: error: unrecognized arguments: --lamda; did you mean --lambda?"),
        ("run --lamda=1", "unrecognized arguments: --lamda=1; did you mean --lambda?"),
        ("run --kd", "unrecognized arguments: --kd; did you mean --kde?"),
        ("run --method gaz", "argument --method: invalid choice: 'gaz'; did you mean gas?"),
        ("run --method zzz", "invalid choice: 'zzz' (choose from greedy-rankrls, "),
        ("convert a b c", "rankstudio convert: error: unrecognized arguments: c\n"),
        ("rnu", "rnu: there is no such file or folder, and no such command; did you mean rankstudio run?"),
    ],
)
def test_what_may_have_been_meant_is_said(typed: str, said: str, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(typed.split())
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_hidden_options_are_not_proposed(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--kk", "x"])
    assert "--k?" not in capsys.readouterr().err


@pytest.mark.parametrize("option", ["-k", "--k", "--features"])
def test_k_is_the_number_of_features_to_select(option: str, capsys) -> None:
    assert main(["run", "--sample", "--folds", "1", "--lambda", "1", option, "0"]) == 1
    assert "features k: expected a whole number from 1 up" in capsys.readouterr().err
