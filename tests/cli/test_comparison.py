"""``rankstudio run`` of a comparison: one table, files beside it, and what cannot run left out."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from rankstudio.cli import main
from rankstudio.engine.catalog import method
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.data.writer import save_letor


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two datasets of two folds each."""
    made = []
    for seed, name in ((3, "First"), (4, "Second")):
        root = tmp_path_factory.mktemp("data") / name
        for fold in make_ranking(n_queries=30, seed=seed).folds[:2]:
            place = root / f"Fold{fold.number}"
            place.mkdir(parents=True)
            for part, rows in fold.parts.items():
                save_letor(rows, place / f"{part}.txt")
        made.append(root)
    return made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "few.toml"
    path.write_text(
        """
        title = "A few"
        measures = ["MAP", "P@10"]
        [[runs]]
        method = ["single-feature", "mutual-information"]
        judge = "rankrls"
        [[runs]]
        method = "rankrls"
        [parameters.rankrls]
        regularization = "2^0, 2^3"
        """
    )
    return path


def options(folders: list[Path]) -> list[str]:
    return [word for folder in folders for word in ("--data", str(folder))]


def test_one_table_for_each_dataset_and_files_of_every_run(folders, file, tmp_path, capsys) -> None:
    out = tmp_path / "out"
    assert main(["run", str(file), *options(folders), "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("A few\n\nFirst: test averages of 2 folds, LETOR 4.0 convention")
    assert "\nSecond: test averages" in printed.out
    assert printed.out.count("best single feature") == 2
    assert "First, 2 of 3: Mutual information, then RankRLS" in printed.err
    with (out / "comparison.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 2 * 3 * 2
    markdown = (out / "comparison.md").read_text()
    assert markdown.startswith("# A few\n\n## First: test averages of 2 folds")
    assert len({line.count("|") for line in markdown.splitlines() if line.startswith("|")}) == 1
    folder = out / "First-single-feature-rankrls"
    values = json.loads((folder / "results.json").read_text())
    assert float(rows[0]["average"]) == values["average"]["MAP"]
    assert float(rows[0]["best_single_feature"]) == values["best_single_feature"]["MAP"]
    best = max(float(row["average"]) for row in rows if (row["data"], row["measure"]) == ("First", "MAP"))
    assert f"{best:.4f}*" in printed.out


def test_the_plan_of_a_run_in_a_comparison_gives_the_same_numbers_alone(folders, file, tmp_path) -> None:
    out = tmp_path / "out"
    main(["run", str(file), *options(folders[:1]), "--out", str(out)])
    together = out / "First-mutual-information-rankrls"
    main(["run", str(together / "plan.toml"), "--out", str(tmp_path / "alone")])
    assert (tmp_path / "alone" / "results.json").read_bytes() == (together / "results.json").read_bytes()


def test_json_has_the_rows_of_the_table(folders, file, capsys) -> None:
    assert main(["run", str(file), *options(folders[:1]), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["method"] for row in rows} == {"single-feature", "mutual-information", "rankrls"}


def test_a_method_that_lacks_something_is_left_out_with_the_reason(
    folders, file, capsys, monkeypatch
) -> None:
    entry = method("mutual-information")
    monkeypatch.setattr(type(entry), "lacking", property(lambda m: "It lacks all." if m == entry else ""))
    assert main(["run", str(file), *options(folders[:1])]) == 0
    printed = capsys.readouterr()
    assert "Left out: It lacks all." in printed.err
    assert "Mutual information" not in printed.out


def test_several_data_are_for_comparisons_alone(folders, capsys) -> None:
    assert main(["run", *options(folders), "--method", "rankrls"]) == 1
    assert "--data: one run is on one file or folder" in capsys.readouterr().err


def test_shipped_plans_are_found_by_name(folders, capsys) -> None:
    assert main(["run", "rankrls-paper", "--data", str(folders[0]), "--folds", "1"]) == 0
    assert "RankRLS on First" in capsys.readouterr().out
