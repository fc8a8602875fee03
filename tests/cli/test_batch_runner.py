"""``rankstudio run`` of a comparison: one table, files beside it, and what cannot run left out."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from letor_folder import save_folds
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.methods.catalog import method


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two datasets of two folds each."""
    root = tmp_path_factory.mktemp("data")
    named = ((3, "First"), (4, "Second"))
    return [save_folds(root / name, 2, n_queries=30, seed=seed) for seed, name in named]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "few.toml"
    path.write_text(
        """
        title = "A few"
        measures = ["MAP", "P@10"]
        [[runs]]
        method = ["single-feature", "mutual-information"]
        ranker = "rankrls"
        [[runs]]
        method = "rankrls"
        [parameters.rankrls]
        regularization = "2^0, 2^3"
        """
    )
    return path


def options(folders: list[Path]) -> list[str]:
    return [word for folder in folders for word in ("--data", str(folder))]


def test_one_table_for_each_dataset_and_files_of_every_run(
    folders, file, tmp_path, done
) -> None:
    out = tmp_path / "out"
    printed = done(["run", str(file), *options(folders), "--out", str(out)])
    assert printed.out.startswith("A few\n\nFirst: averages, test, 2 folds, ")
    assert "\nSecond: averages, test, " in printed.out
    assert printed.out.count("best single feature") == 2
    assert naming("1 6 Single RankRLS First").search(printed.err)
    assert re.search(
        r"Run 5 of 6, \d:\d\d left: Mutual information, then RankRLS on Second\n",
        printed.err,
    )
    with (out / "comparison.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 2 * 3 * 2
    markdown = (out / "comparison.md").read_text()
    assert markdown.startswith("# A few\n\n## First: averages, test, 2 folds, ")
    averages = markdown[: markdown.index("## First: MAP, test")]
    assert (
        len({line.count("|") for line in averages.splitlines() if line.startswith("|")})
        == 1
    )
    folder = out / "First-single-feature-rankrls"
    values = json.loads((folder / "results.json").read_text())
    assert float(rows[0]["average"]) == values["average"]["MAP"]
    assert float(rows[0]["best_single_feature"]) == values["best_single_feature"]["MAP"]
    best = max(
        float(row["average"])
        for row in rows
        if (row["data"], row["measure"]) == ("First", "MAP")
    )
    assert f"{best:.4f}*" in printed.out


def test_the_plan_of_a_run_in_a_comparison_gives_the_same_numbers_alone(
    folders, file, tmp_path
) -> None:
    out = tmp_path / "out"
    main(["run", str(file), *options(folders[:1]), "--out", str(out)])
    together = out / "First-mutual-information-rankrls"
    main(["run", str(together / "plan.toml"), "--out", str(tmp_path / "alone")])
    assert (tmp_path / "alone" / "results.json").read_bytes() == (
        together / "results.json"
    ).read_bytes()


def test_json_has_the_rows_of_the_table(folders, file, answer) -> None:
    values = answer(["run", str(file), *options(folders[:1]), "--json"])
    assert values["title"] == "A few"
    assert {row["method"] for row in values["rows"]} == {
        "single-feature",
        "mutual-information",
        "rankrls",
    }


def test_it_ends_with_tests_against_the_best_or_the_one_named(
    folders, file, tmp_path, answer, done
) -> None:
    out = tmp_path / "out"
    text = done(["run", str(file), *options(folders), "--out", str(out)]).out
    first, second = (text.index(f"{name}: MAP, test, ") for name in ("First", "Second"))
    assert (
        text.index("First: averages, test")
        < first
        < text.index("Second: averages, test")
        < second
    )
    assert text.count("reference") == 2
    markdown = (out / "comparison.md").read_text()
    assert "\n## First: MAP, test, " in markdown
    with (out / "tests.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [row["data"] for row in rows] == ["First"] * 3 + ["Second"] * 3
    for name in ("First", "Second"):
        own = [row for row in rows if row["data"] == name]
        averages = [float(row["average"]) for row in own]
        assert {int(row["against"]) for row in own} == {
            averages.index(max(averages)) + 1
        }
        assert sum(row["p_holm"] == "" for row in own) == 1
    file.write_text('against = "mutual-information/rankrls"\n' + file.read_text())
    (compared,) = answer(["run", str(file), *options(folders[:1]), "--json"])["tests"]
    assert compared["reference"] == 2
    assert [run["comparison"] is None for run in compared["runs"]] == [
        False,
        True,
        False,
    ]


def test_ten_methods_on_two_datasets_run_unattended_to_a_table_with_tests(
    folders, tmp_path
) -> None:
    few = tmp_path / "ten.toml"
    few.write_text(
        f"""
        title = "Ten methods"
        data = {[str(folder) for folder in folders]}
        against = "rankrls"
        [[runs]]
        method = [
          "rankrls", "greedy-rankrls", "fsmrank", "gas", "rfe", "l1-path", "single-feature",
          "mutual-information", "expected-divergence", "ranksvm",
        ]
        """
    )
    assert main(["run", str(few), "--out", str(tmp_path / "out")]) == 0
    with (tmp_path / "out" / "tests.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len({(row["data"], row["method"]) for row in rows}) == len(rows) == 20
    for row in rows:
        assert row["against"] == "1"
        assert (
            row["method"] == "rankrls"
            or 0 < float(row["p_randomisation"]) <= float(row["p_holm"]) <= 1
        )


def test_against_has_to_be_one_of_the_runs(folders, file, capsys) -> None:
    file.write_text('against = "gas"\n' + file.read_text())
    assert main(["run", str(file), *options(folders[:1])]) == 1
    expected = "expected one of single-feature/rankrls, mutual-information/rankrls, rankrls, got 'gas'"
    assert expected in capsys.readouterr().err


def test_a_method_that_lacks_something_is_left_out_with_the_reason(
    folders, file, done, monkeypatch
) -> None:
    entry = method("mutual-information")
    monkeypatch.setattr(
        type(entry),
        "lacking",
        property(lambda m: "It lacks all." if m == entry else ""),
    )
    printed = done(["run", str(file), *options(folders[:1])])
    assert naming("lacks").search(printed.err)
    assert "Mutual information" not in printed.out


def test_data_that_cannot_be_opened_are_left_out_and_the_others_go_on(
    folders, file, tmp_path, done, capsys
) -> None:
    nowhere = tmp_path / "nowhere"
    printed = done(["run", str(file), *options([nowhere, folders[0]])])
    assert f"Left out: {nowhere}" in printed.err
    assert "First" in printed.out
    assert main(["run", str(file), *options([nowhere])]) == 1
    assert f"rankstudio: {nowhere}" in capsys.readouterr().err


def test_data_without_a_part_to_measure_on_are_refused_at_the_start(
    folders, file, tmp_path, done, capsys
) -> None:
    single = tmp_path / "single.txt"
    save_letor(make_ranking(n_queries=20, seed=1).folds[0].train, single)
    assert (
        main(["run", str(file), *options([single]), "--out", str(tmp_path / "out")])
        == 1
    )
    printed = capsys.readouterr()
    assert "rankstudio: single: " in printed.err and "protocol" in printed.err
    assert (
        "Run 1 of" not in printed.err
        and not (tmp_path / "out" / "comparison.csv").exists()
    )
    printed = done(["run", str(file), *options([single, folders[0]]), "--json"])
    assert "Left out: single: " in printed.err
    assert {row["data"] for row in json.loads(printed.out)["rows"]} == {"First"}
    file.write_text('protocol = "nested 3-fold"\n' + file.read_text())
    assert main(["run", str(file), *options([single]), "--json"]) == 0
    assert all(row["average"] for row in json.loads(capsys.readouterr().out)["rows"])


def test_a_comparison_without_data_is_refused(file: Path, refused) -> None:
    """Catches a table of nothing and the status 0."""
    file.write_text('[[runs]]\nmethod = "gas"\n')
    refused(["run", str(file)], f"{file.name} --data")


def test_several_data_are_for_comparisons_alone(folders, refused) -> None:
    refused(["run", *options(folders), "--method", "rankrls"], "--data")


def test_shipped_plans_are_found_by_name(folders, capsys) -> None:
    assert (
        main(["run", "rankrls-paper", "--data", str(folders[0]), "--folds", "1"]) == 0
    )
    assert "RankRLS on First" in capsys.readouterr().out
