"""``rankstudio run``: results, plans, errors, interruption."""

from __future__ import annotations

import json

import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.methods.catalog import methods


@pytest.mark.parametrize("value", ["1e160", "1e-200"])
def test_a_feature_beyond_the_arithmetic_is_named(value: str, tmp_path, capsys) -> None:
    lines = [
        f"{i % 2} qid:{q} 7:{i} 9:{i % 3}{value[1:]}"
        for q in range(4)
        for i in range(6)
    ]
    (tmp_path / "data.txt").write_text("\n".join(lines), encoding="utf-8")
    for method in ("greedy-rankrls", "ranksvm"):
        assert (
            main(
                [
                    "run",
                    "--data",
                    str(tmp_path / "data.txt"),
                    "--method",
                    method,
                    "--folds",
                    "1",
                ]
            )
            == 1
        )
        said = capsys.readouterr().err
        assert naming("9 feature").search(said)
        assert "Scale the feature." in said


def test_data_and_a_folder_of_results_are_understood_in_the_place_of_a_plan(
    folder, tmp_path, answer
) -> None:
    few = ["--lambda", "1", "--features", "2", "--folds", "1", "--json"]
    by_option = answer(
        ["run", "--data", str(folder), *few, "--out", str(tmp_path / "out")]
    )
    assert answer(["run", str(folder), *few])["folds"] == by_option["folds"]
    assert (
        answer(["run", str(tmp_path / "out"), "--json"])["folds"] == by_option["folds"]
    )
    assert (
        main(
            [
                "run",
                str(folder / "Fold1" / "train.txt"),
                *few,
                "--select-by",
                "criterion",
            ]
        )
        == 0
    )


@pytest.mark.smoke
def test_features_are_named_as_the_data_name_them(done, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    few = [
        "run",
        "--sample",
        "--lambda",
        "1",
        "--features",
        "3",
        "--folds",
        "1",
        "--json",
    ]
    runs = []
    for pin, ban in (("33, 41", "29"), ("bm25 of URL; PageRank", "BM25 of title")):
        runs.append(json.loads(done([*few, "--pin", pin, "--ban", ban]).out))
    assert runs[0]["plan"] == runs[1]["plan"]
    assert runs[0]["folds"] == runs[1]["folds"]
    assert runs[0]["folds"][0]["selected"][:2] == [33, 41]


@pytest.mark.parametrize("search", ["swap", "best"])
def test_other_searches_run_and_too_many_sets_are_refused(
    search, folder, done, refused, tmp_path
) -> None:
    few = ["--lambda", "64", "--folds", "1", "--json", "--search", search, "--out"]
    four = [
        "run",
        "--data",
        str(folder),
        *few,
        str(tmp_path / "four"),
        "--features",
        "4",
    ]
    values = json.loads(done(four).out)
    assert values["plan"]["parameters"]["search"] == search
    assert 1 <= len(values["folds"][0]["selected"]) <= 4
    if search == "best":
        twenty = ["run", "--sample", *few, str(tmp_path / "twenty"), "--features", "20"]
        refused(twenty, "n_features_to_select")


def test_a_run_prints_its_tables_and_writes_its_files(folder, tmp_path, capsys) -> None:
    out = tmp_path / "out"
    assert (
        main(
            [
                "run",
                "--data",
                str(folder),
                "--lambda",
                "2^0..2^2",
                "--features",
                "5",
                "--out",
                str(out),
            ]
        )
        == 0
    )
    printed = capsys.readouterr()
    printed_run = json.loads((out / "results.json").read_text())
    assert [f["fold"] for f in printed_run["folds"]] == [1, 2]
    assert printed_run["plan"]["parameters"]["regularization"] == [1.0, 2.0, 4.0]
    assert naming("Greedy RankRLS Made Standard").search(printed.out)
    assert f"{printed_run['average']['MAP']:.4f}" in printed.out
    assert naming("Fold 2").search(printed.err)
    files = {
        "results.json",
        "metrics.csv",
        "selection_path.csv",
        "plan.toml",
        "study.rankstudio",
        "models",
    }
    assert {p.name for p in out.iterdir()} == files


def test_a_plan_runs_again_bit_for_bit_and_options_change_it(
    folder, tmp_path, answer
) -> None:
    main(
        [
            "run",
            "--data",
            str(folder),
            "--lambda",
            "0.5, 2",
            "--ban",
            "1 2",
            "--out",
            str(tmp_path / "a"),
        ]
    )
    main(["run", str(tmp_path / "a" / "plan.toml"), "--out", str(tmp_path / "b")])
    assert (tmp_path / "a" / "results.json").read_bytes() == (
        tmp_path / "b" / "results.json"
    ).read_bytes()
    values = answer(
        [
            "run",
            str(tmp_path / "a" / "plan.toml"),
            "--folds",
            "2",
            "--pin",
            "3",
            "--json",
        ]
    )
    assert [f["fold"] for f in values["folds"]] == [2]
    assert values["folds"][0]["selected"][0] == 3
    assert values["plan"]["parameters"]["banned"] == [1, 2]


def test_a_plans_relative_data_is_found_beside_it(
    folder, tmp_path, monkeypatch, answer
) -> None:
    (folder.parent / "plan.toml").write_text(
        'data = "Made/Fold1"\nmethod = "rankrls"\n'
    )
    monkeypatch.chdir(tmp_path)
    assert (
        len(answer(["run", str(folder.parent / "plan.toml"), "--json"])["folds"]) == 1
    )


def test_one_file_is_chosen_by_the_criterion(folder, done) -> None:
    printed = done(["run", "--data", str(folder / "Fold1" / "train.txt")])
    assert naming("validation criterion").search(printed.err)
    assert naming("error document").search(printed.out)


def test_folds_are_made_anew_and_a_rule_chooses(folder, tmp_path, done) -> None:
    file = str(folder / "Fold1" / "train.txt")
    options = [
        "--protocol",
        "3-fold",
        "--rule",
        "at most 2",
        "--seed",
        "5",
        "--lambda",
        "1",
    ]
    printed = done(["run", "--data", file, *options, "--out", str(tmp_path / "a")])
    assert naming("3-fold Standard").search(printed.out)
    assert "no validation part" not in printed.err
    values = json.loads((tmp_path / "a" / "results.json").read_text())
    assert (values["plan"]["protocol"], values["plan"]["rule"]) == (
        "3-fold",
        "at most 2",
    )
    assert [fold["fold"] for fold in values["folds"]] == [1, 2, 3]
    assert all(fold["chosen"]["n_features"] <= 2 for fold in values["folds"])
    main(["run", str(tmp_path / "a" / "plan.toml"), "--out", str(tmp_path / "b")])
    assert (tmp_path / "a" / "results.json").read_bytes() == (
        tmp_path / "b" / "results.json"
    ).read_bytes()


def test_two_folds_choose_by_the_criterion_and_say_so(folder, capsys) -> None:
    file = str(folder / "Fold1" / "train.txt")
    assert main(["run", "--data", file, "--protocol", "2-fold", "--lambda", "1"]) == 0
    assert naming("validation criterion").search(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run"], "--data"),
        (["run", "none.toml"], "none.toml No such file"),
        (["run", "fsmrank"], "--method fsmrank"),
        (["run", "{}/Fold1", "--sample"], "{}/Fold1 TOML --sample"),
        (["run", "{}/Fold1", "--data", "x"], "TOML --data x"),
        (["run", "--data", "{}", "--lambda", "0"], "λ 0"),
        (["run", "--data", "{}", "--lambda", "x"], "λ 2^0..2^10"),
        (["run", "--data", "{}", "--features", "99"], "1 20 99"),
        (["run", "--data", "{}", "--pin", "99"], "pinned 1 20"),
        (["run", "--data", "{}", "--folds", "9"], "Made 9 1 2"),
        (["run", "--data", "{}", "--folds", "x"], "--folds 1,3 x"),
        (["run", "--data", "{}", "--select-by", "MAPS"], "MAPS"),
        (
            ["run", "--data", "{}", "--method", "rankrls", "--pin", "1"],
            "RankRLS --pin --lambda",
        ),
        (["run", "--data", "{}", "--protocol", "all"], "protocol given 5-fold"),
        (["run", "--data", "{}", "--protocol", "5-fold"], "Made folds test"),
        (["run", "--data", "{}", "--rule", "least"], "rule best one-se"),
        (["methods", "magic"], "magic"),
    ],
)
def test_what_cannot_be_run_is_one_sentence_and_exit_status_1(
    folder, capsys, arguments, sentence
) -> None:
    assert main([a.format(folder) for a in arguments]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("rankstudio: ")
    assert naming(sentence.format(folder)).search(printed.err)
    assert len(printed.err.strip().splitlines()) == 1


def test_a_ranker_learns_with_the_selected_features(folder, answer) -> None:
    command = ["run", "--data", str(folder), "--method", "single-feature", "--json"]
    plan = answer([*command, "--ranker", "rankrls", "--ranker-lambda", "3"])["plan"]
    assert "rankrls" in plan.values()
    assert plan["ranker_parameters"]["regularization"] == [3.0]


def test_a_folder_of_results_is_its_plan(tmp_path, refused) -> None:
    (tmp_path / "plan.toml").touch()
    refused(["run", str(tmp_path)], f"{tmp_path / 'plan.toml'}")


def test_a_folder_that_cannot_be_made_is_told_before_the_work(
    folder, tmp_path, refused
) -> None:
    (tmp_path / "file").write_text("")
    refused(
        ["run", "--data", str(folder), "--out", str(tmp_path / "file" / "out")],
        "folder",
    )


def test_methods_lists_the_catalog(answer, done) -> None:
    text = done(["methods"]).out
    assert "greedy-rankrls" in text
    assert "--lambda" in text
    assert naming("Pahikkala 2010 3").search(text)
    entries = answer(["methods", "--json"])
    assert [e["key"] for e in entries] == [entry.key for entry in methods()]
    assert entries[0]["parameters"][0]["default"] == [2.0**e for e in range(11)]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--lambda", "5"], "--lambda"),
        (["--ranker-lambda", "5"], "--ranker-lambda"),
        (["--method", "gas"], "--method"),
        (["--select-by", "MAP"], "--select-by"),
        (["--study", "other.rankstudio"], "--study"),
        (["--sample"], "--sample"),
        (["plan.toml"], "PLAN"),
    ],
)
def test_options_that_a_study_to_go_on_with_ignores_are_refused(
    options, named, tmp_path, refused
) -> None:
    path = tmp_path / "study.rankstudio"
    Study.create(path).close()
    refused(["run", *options, "--resume", str(path)], f"rankstudio {named} --resume")


def test_an_option_of_a_ranker_that_is_not_there_is_refused_by_its_name(
    refused,
) -> None:
    refused(["run", "--sample", "--ranker-C", "1"], "rankstudio --ranker-C --ranker")


def test_left_out_queries_choose_in_the_terminal_and_a_rerun_has_the_same_bits(
    folder, tmp_path, refused, done
) -> None:
    file = str(folder / "Fold1" / "train.txt")
    options = [
        "--method",
        "rankrls",
        "--select-by",
        "leave-query-out MAP",
        "--lambda",
        "1,4",
    ]
    printed = done(["run", "--data", file, *options, "--out", str(tmp_path / "a")])
    assert naming("Standard").search(printed.out)
    assert "no validation part" not in printed.err
    assert (
        main(["run", str(tmp_path / "a" / "plan.toml"), "--out", str(tmp_path / "b")])
        == 0
    )
    assert (tmp_path / "a" / "results.json").read_bytes() == (
        tmp_path / "b" / "results.json"
    ).read_bytes()
    values = json.loads((tmp_path / "a" / "results.json").read_text())
    assert values["plan"]["select_by"] == "leave-query-out MAP"
    assert len(values["folds"][0]["left_out"]["paths"]) == 2
    refused(
        [
            "run",
            "--data",
            file,
            "--method",
            "gas",
            "--select-by",
            "leave-query-out MAP",
        ],
        "GAS leave-query-out RankRLS",
    )
