"""Results are completed by the same run, and replaced by another one only with ``--force``."""

from __future__ import annotations

from pathlib import Path

import pytest
from wording import naming

from rankstudio.cli import main


def test_another_run_replaces_results_only_by_force(
    folder: Path, tmp_path: Path, capsys
) -> None:
    command = [
        "run",
        "--data",
        str(folder),
        "--method",
        "rankrls",
        "--out",
        str(tmp_path),
        "--lambda",
    ]
    assert main([*command, "1"]) == 0
    before = {
        name: (tmp_path / name).read_bytes() for name in ("results.json", "plan.toml")
    }
    assert main([*command, "1"]) == 0  # the same again goes on with it
    study = str(tmp_path / "study.rankstudio")
    assert main(["run", "--resume", study, "--out", str(tmp_path)]) == 0
    assert main(["run", str(tmp_path / "plan.toml"), "--out", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main([*command, "2"]) == 1
    sentence = "results.json: the file belongs to another run. Choose another place, or use --force to overwrite it."
    assert sentence in capsys.readouterr().err
    assert before == {name: (tmp_path / name).read_bytes() for name in before}
    assert main([*command, "2", "--force"]) == 0
    assert before["results.json"] != (tmp_path / "results.json").read_bytes()


@pytest.mark.parametrize(
    "name", ["metrics.csv", "plan.toml", "selection_path.csv", "criterion.png"]
)
def test_a_file_of_somebody_else_stays(
    folder: Path, tmp_path: Path, capsys, name: str
) -> None:
    (tmp_path / name).write_text("mine")
    assert (
        main(["run", "--data", str(folder), "--out", str(tmp_path), "--figures"]) == 1
    )
    assert name in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_plan_that_is_run_into_its_own_folder_keeps_its_comments(
    folder: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(f'# the first try\nmethod = "rankrls"\ndata = "{folder}"\n')
    before = plan.read_text()
    assert main(["run", str(plan), "--out", str(tmp_path)]) == 0
    assert plan.read_text() == before
    assert (tmp_path / "results.json").exists()


def test_another_comparison_replaces_tables_only_by_force(
    folder: Path, tmp_path: Path, capsys
) -> None:
    out = tmp_path / "out"
    for name, key in (
        ("one", "rankrls"),
        ("other", "single-feature"),
        ("grid", "rankrls"),
    ):
        (tmp_path / f"{name}.toml").write_text(f'[[runs]]\nmethod = "{key}"\n')
    with (tmp_path / "grid.toml").open("a") as file:
        file.write("parameters = { regularization = [1.0] }\n")

    def status(name: str, *options: str) -> int:
        return main(
            [
                "run",
                str(tmp_path / f"{name}.toml"),
                "--data",
                str(folder),
                "--out",
                str(out),
                *options,
            ]
        )

    assert status("one") == 0
    assert status("one") == 0
    before = (out / "comparison.csv").read_bytes()
    capsys.readouterr()
    assert status("other") == 1
    assert naming("comparison.csv").search(capsys.readouterr().err)
    for table in out.glob("comparison.*"):
        table.rename(tmp_path / table.name)
    assert status("grid") == 1  # its folder has the same name
    assert naming("Made-rankrls/results.json").search(capsys.readouterr().err)
    assert status("other", "--force") == 0
    assert (out / "comparison.csv").read_bytes() != before


def test_a_table_is_replaced_only_by_force(
    folder: Path, tmp_path: Path, refused
) -> None:
    study, table = str(tmp_path / "a.rankstudio"), tmp_path / "table.tex"
    for value in ("1", "2"):
        run = [
            "run",
            "--data",
            str(folder),
            "--method",
            "rankrls",
            "--lambda",
            value,
            "--study",
            study,
        ]
        assert main(run) == 0
    table.write_text("mine")
    refused(["compare", study, "--out", str(table)], f"{table}")
    assert table.read_text() == "mine"
    assert main(["compare", study, "--out", str(table), "--force"]) == 0
    assert "tabular" in table.read_text()
