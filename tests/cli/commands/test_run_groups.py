"""``rankstudio run --groups``: from a file, from text, and again from the plan."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankstudio.cli import main
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking

OPTIONS = ["--lambda", "1", "--select-by", "criterion"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file of LETOR text with five features."""
    path = tmp_path_factory.mktemp("data") / "made.txt"
    made = make_ranking(
        30, n_informative=3, n_redundant=1, n_noise=1, n_constant=0, seed=3
    )
    save_letor(made.folds[0].train, path)
    return path


def test_groups_of_a_file_are_in_the_table_the_plan_and_the_rerun(
    data: Path, tmp_path: Path, done, capsys
) -> None:
    table, out = tmp_path / "groups.csv", tmp_path / "out"
    table.write_text("feature,group\n1,Body\n4,Body\n5,Title\n2,Title\n")
    run = ["run", "--data", str(data), *OPTIONS]
    printed = done([*run, "--groups", str(table), "--out", str(out)]).out
    assert "Body (1 4)" in printed
    assert "Title (2 5)" in printed
    assert (out / "selection_path.csv").read_text().splitlines()[0].endswith(",group")
    assert json.loads((out / "results.json").read_text())["plan"]["groups"] == {
        "Body": [1, 4],
        "Title": [2, 5],
    }
    assert main(["run", str(out / "plan.toml"), "--out", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "results.json").read_bytes() == (
        out / "results.json"
    ).read_bytes()
    assert (
        main(
            [*run, "--groups", "Body: 1 4; Title: 2 5", "--out", str(tmp_path / "text")]
        )
        == 0
    )
    assert (tmp_path / "text" / "results.json").read_bytes() == (
        out / "results.json"
    ).read_bytes()
    capsys.readouterr()
    assert main(["run", str(out / "plan.toml"), "--groups", "", "--json"]) == 0
    assert "groups" not in json.loads(capsys.readouterr().out)["plan"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--groups", "nothing.csv"], "nothing.csv"),
        (["--groups", "a: 1; b: 1"], "1 feature"),
        (["--groups", "a: 1, 2", "--method", "rfe"], "Recursive"),
        (["--groups", "a: 1, 99"], "a 1 5 99"),
        (["--groups", "a: 1, 2", "--features", "5"], "1 4 number"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    data: Path, options: list[str], sentence: str, refused
) -> None:
    refused(["run", "--data", str(data), *OPTIONS, *options], sentence)
