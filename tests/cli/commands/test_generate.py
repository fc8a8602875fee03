"""``rankstudio generate``, as a user calls it."""

from __future__ import annotations

from pathlib import Path

import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.data.folders import open_dataset

FEW = ["--documents", "1e2", "--queries", "10", "--features", "4"]


def test_the_same_options_give_the_same_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert main(["generate", str(tmp_path / name), *FEW]) == 0
    for part in ("train.txt", "vali.txt", "test.txt"):
        assert (tmp_path / "a" / part).read_bytes() == (
            tmp_path / "b" / part
        ).read_bytes()
    assert open_dataset(tmp_path / "a").folds[0].train.n_queries == 6


def test_what_was_written_is_printed(tmp_path: Path, answer) -> None:
    printed = answer(["generate", str(tmp_path), *FEW, "--json"])
    assert [Path(entry["path"]).stat().st_size for entry in printed] == [
        e["bytes"] for e in printed
    ]


def test_files_are_replaced_with_force_alone(tmp_path: Path, refused) -> None:
    (tmp_path / "vali.txt").write_text("mine")
    refused(["generate", str(tmp_path), *FEW], "vali.txt --force")
    assert (tmp_path / "vali.txt").read_text() == "mine"
    assert main(["generate", str(tmp_path), *FEW, "--force"]) == 0


def test_a_number_that_is_not_whole_is_a_wrong_command_line(
    tmp_path: Path, capsys
) -> None:
    with pytest.raises(SystemExit):
        main(["generate", str(tmp_path), "--documents", "1.5"])
    assert naming("31531 3.77e6 1.5").search(capsys.readouterr().err)
