"""Numbers that an option cannot have are refused by the option's name, before any work begins."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands_there import of_commands_there
from wording import naming

from rankstudio.cli import main

# not first imported while it is replaced
from rankstudio.engine.analysis import reported_runs as _source

assert _source

WORK = (
    "rankstudio.engine.experiment.runner.open_data",
    "rankstudio.engine.data.folders.open_dataset",
    "rankstudio.engine.experiment.storage.study.Study.open",
)


@pytest.mark.parametrize(
    ("command", "option", "value"),
    of_commands_there(
        [
            *(
                (["evidence", "x.rankstudio"], f"--{name}", "-1")
                for name in ("permutations", "halves", "seed")
            ),
            (["evidence", "x.rankstudio"], "--permutations", "0"),
            *(
                (["importance", "x.txt", "--model", "m.json"], f"--{name}", "-1")
                for name in ("repeats", "seed")
            ),
            *(
                (["permute", "x.txt"], f"--{name}", "-1")
                for name in ("permutations", "seed")
            ),
            *(
                (["judges", "x.csv", "--labels", "a,b"], f"--{name}", "-1")
                for name in ("draws", "queries")
            ),
            (["compare", "x.rankstudio"], "--seed", "-1"),
            (["convert", "x.txt", "y.csv"], "--seed", "-1"),
            (["cascade", "x.rankstudio"], "--budget", "-1"),
            (["cascade", "x.rankstudio"], "--budget", "nan"),
            *(
                (["lab", "selection", "x.txt"], f"--{name}", "-1")
                for name in ("queries", "repetitions", "seed")
            ),
            (["figures", "x.rankstudio", "--out", "o"], "--dpi", "-1"),
        ]
    ),
)
def test_a_number_is_refused_before_anything_is_opened(
    command: list[str],
    option: str,
    value: str,
    refused,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``--permutations -1`` was refused after 72 s."""

    def work(*_: object, **__: object) -> None:
        raise AssertionError("work began")

    for place in WORK:
        monkeypatch.setattr(place, work)
    refused([*command, option, value], f"{option} {value}")


@pytest.mark.parametrize(
    "command",
    [
        *(
            f"run --data x.txt --method rankrls --{one}"
            for one in ("seed -1", "workers 0", "folds -1")
        ),
        *(
            f"run --data x.txt --method rankrls --{one}"
            for one in ("rule foo", "protocol foo", "measures foo")
        ),
        "figures x.rankstudio --out o --font -1",
        "figures x.rankstudio --out o --to foo",
        "figures x.rankstudio --out o --measure foo",
        *(
            pytest.param(
                f"lab selection x.txt --{setting}", marks=pytest.mark.ability("lab")
            )
            for setting in ("vary queries --values 2.5", "protocol foo")
        ),
    ],
)
def test_a_setting_is_refused_before_anything_is_opened(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(*_: object, **__: object) -> None:
        raise AssertionError("work began")

    for place in WORK:
        monkeypatch.setattr(place, work)
    assert main(command.split()) == 1
    assert "expected" in capsys.readouterr().err


def test_an_id_that_is_too_large_beside_an_id_0_is_not_said_to_be_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ids that begin at 0 count from 1 here, so that the greatest is one less."""
    path = tmp_path / "a.txt"
    path.write_text(
        "0 qid:1 0:1 2147483647:1\n1 qid:1 0:2 2147483647:1\n", encoding="utf-8"
    )
    assert main(["convert", str(path), str(tmp_path / "a.csv")]) == 1
    assert naming("2147483647 2147483646").search(capsys.readouterr().err)


@pytest.mark.ability("evidence")
def test_a_model_without_features_has_no_losses(
    folder: Path, tmp_path: Path, refused
) -> None:
    path = tmp_path / "m.json"
    empty = '"method": "lambdamart", "parameters": {}, "features": [], "origin": {}'
    path.write_text(
        f'{{"format": "rankstudio-model", "version": 3, {empty}}}', encoding="utf-8"
    )
    refused(
        ["importance", str(folder / "Fold1" / "test.txt"), "--model", str(path)],
        "model no features",
    )
