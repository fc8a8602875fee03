"""``rankstudio convert``: the same documents, written anew, judged ones and those with some features too."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine import load_letor, open_dataset
from rankstudio.engine.data.formats import dataset_writer
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import OutputError
from rankstudio.engine.experiment.plan.as_code import as_command
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.experiment.storage.study import Study


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "all.txt"
    save_letor(make_ranking(n_queries=20, seed=2).folds[0].train, path)
    return path


def test_a_file_comes_out_as_it_is_scaled_or_cut_down(
    file: Path, tmp_path: Path
) -> None:
    before = load_letor(file)
    out = tmp_path / "new" / "same.txt"
    assert main(["convert", str(file), str(out)]) == 0
    np.testing.assert_array_equal(load_letor(out).X, before.X)
    few = tmp_path / "few.txt.gz"
    assert (
        main(
            [
                "convert",
                str(file),
                str(few),
                "--features",
                "7, 3",
                "--normalize",
                "query_minmax",
            ]
        )
        == 0
    )
    after = load_letor(few)
    kept = [
        column for column, i in enumerate(after.feature_ids.tolist()) if i in (3, 7)
    ]
    scaled = load_letor(file, normalize="query_minmax")
    np.testing.assert_array_equal(after.X[:, kept], scaled.X[:, [2, 6]])
    assert not np.delete(after.X, kept, axis=1).any()
    assert (after.y == before.y).all()


def test_one_file_becomes_folds(file: Path, tmp_path: Path, capsys) -> None:
    assert (
        main(
            [
                "convert",
                str(file),
                str(tmp_path / "folds"),
                "--protocol",
                "5-fold",
                "--seed",
                "3",
            ]
        )
        == 0
    )
    assert len(capsys.readouterr().out.splitlines()) == 15
    made = open_dataset(tmp_path / "folds")
    assert len(made.folds) == 5
    tested = [q for fold in made.folds if fold.test for q in fold.test.query_ids]
    assert sorted(tested) == sorted(load_letor(file).query_ids)


FEW = ["--features", "7,2"]


@pytest.mark.parametrize(
    ("protocol", "options"),
    [
        ("given", []),
        ("given", FEW),
        ("3-fold", FEW),
        ("split 60/20/20", []),
        ("split 60/20/20", [*FEW, "--renumber"]),
        ("leave-query-out", [*FEW, "--renumber"]),
        ("nested 20", FEW),
    ],
)
def test_folds_of_every_protocol_are_written_with_some_features(
    file: Path, tmp_path: Path, protocol: str, options: list[str]
) -> None:
    out = tmp_path / "out"
    assert (
        main(
            [
                "convert",
                str(file),
                str(out),
                "--to",
                "csv",
                "--protocol",
                protocol,
                *options,
            ]
        )
        == 0
    )
    dealt = open_data(Plan(str(file), protocol=protocol))
    columns = [1, 6] if options else list(range(dealt.folds[0].train.n_features))
    if len(dealt.folds) == 1 and len(dealt.folds[0].parts) == 1:
        written = {(1, "train"): load_data(out)}
    else:
        found = open_dataset(out)
        written = {
            (fold.number, name): part
            for fold in found.folds
            for name, part in fold.parts.items()
        }
    for fold in dealt.folds:
        for name, part in fold.parts.items():
            again = written.pop((fold.number, name))
            assert again.query_ids == part.query_ids and (again.y == part.y).all()
            assert (part.X[:, columns] == again.X).all()
    assert not written


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("3, x", "--features 39,23 x"),
        ("3 3", "--features 39,23"),
        ("999", "--features 1"),
    ],
)
def test_features_that_are_not_there_are_named(
    file: Path, tmp_path: Path, refused, features, message
) -> None:
    refused(
        ["convert", str(file), str(tmp_path / "out.txt"), "--features", features],
        message,
    )
    assert not (tmp_path / "out.txt").exists()


def test_no_fold_is_replaced_and_none_is_written_beside(
    file: Path, tmp_path: Path, capsys
) -> None:
    there = tmp_path / "folds" / "Fold5" / "test.txt"
    there.parent.mkdir(parents=True)
    there.write_text("mine")
    assert (
        main(["convert", str(file), str(tmp_path / "folds"), "--protocol", "5-fold"])
        == 1
    )
    assert str(there) in capsys.readouterr().err
    assert list((tmp_path / "folds").rglob("*.txt")) == [there]
    assert there.read_text() == "mine"


def test_json_tells_what_was_written(file: Path, tmp_path: Path, answer) -> None:
    (written,) = answer(
        ["convert", str(file), str(tmp_path / "out.txt"), "--features", "1", "--json"]
    )
    part = open_dataset(tmp_path / "out.txt").folds[0].train
    sizes = {"documents": part.n_documents, "queries": part.n_queries, "features": 1}
    assert written == {"path": str(tmp_path / "out.txt"), **sizes}


def test_the_ending_tells_the_format_and_what_is_lost_is_said(
    file: Path, tmp_path: Path, refused, capsys
) -> None:
    assert (
        main(["convert", str(file), str(tmp_path / "out.csv.gz"), "--features", "3,7"])
        == 0
    )
    assert naming("CSV ids features").search(capsys.readouterr().err)
    again = load_data(tmp_path / "out.csv.gz")
    before = load_letor(file)
    np.testing.assert_array_equal(again.X, before.X[:, [2, 6]])
    assert again.feature_names == ("feature 3", "feature 7")
    assert (
        main(["convert", str(file), str(tmp_path / "out.txt"), "--to", "xgboost"]) == 0
    )
    assert naming("SVMlight").search(capsys.readouterr().err)
    (tmp_path / "out.txt").unlink()
    refused(
        ["convert", str(file), str(tmp_path / "out.txt"), "--to", "xgboost"],
        f"{tmp_path / 'out.txt.group'}",
    )


def test_columns_are_told_by_options(tmp_path: Path, refused) -> None:
    table = tmp_path / "clicks.csv"
    table.write_text("session,url,clicked,a,b\n1,x,1,2,3\n1,y,0,4,5\n")
    out = tmp_path / "out.txt"
    refused(["convert", str(table), str(out)], "column query")
    told = ["--qid", "session", "--label", "clicked"]
    refused(["convert", str(table), str(out), *told], "x url")
    assert main(["convert", str(table), str(out), *told, "--ignore", "url"]) == 0
    assert out.read_text() == "1 qid:1 1:2 2:3\n0 qid:1 1:4 2:5\n"
    assert (
        main(["convert", str(table), str(out), *told, "--columns", "b, a", "--force"])
        == 0
    )
    assert out.read_text() == "1 qid:1 1:3 2:2\n0 qid:1 1:5 2:4\n"
    refused(
        ["convert", str(table), str(out), *told, "--columns", ",", "--force"],
        "--columns",
    )


def test_a_column_of_parts_makes_files_of_them(tmp_path: Path) -> None:
    table = tmp_path / "clicks.csv"
    table.write_text(
        "qid,label,when,a\n1,1,train,2\n1,0,train,4\n2,0,vali,5\n3,2,test,6\n"
    )
    out = tmp_path / "out"
    assert main(["convert", str(table), str(out), "--part", "when", "--to", "csv"]) == 0
    assert sorted(path.name for path in (out / "Fold1").iterdir()) == [
        "test.csv",
        "train.csv",
        "vali.csv",
    ]
    assert open_dataset(out).folds[0].parts["test"].X.tolist() == [[6]]


def test_a_full_disk_leaves_neither_text_nor_sizes(
    file: Path, tmp_path: Path, monkeypatch, refused
) -> None:
    def full(path: Path, pieces: object) -> None:
        raise OutputError(f"{path} could not be written: No space left on device.")

    monkeypatch.setattr(dataset_writer, "write_pieces", full)
    (tmp_path / "out").mkdir()
    for ending, key in ((".txt", "lightgbm"), (".csv", "csv")):
        refused(
            ["convert", str(file), str(tmp_path / "out" / f"a{ending}"), "--to", key],
            "No space left on device",
        )
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    "source", ["study.rankstudio", "results.json", "models/fold2.json"]
)
def test_the_features_of_a_fold_are_kept(
    place: Path, tmp_path: Path, source: str
) -> None:
    folds = json.loads((place / "out" / "results.json").read_text())["folds"]
    chosen = sorted(folds[1]["selected"])
    file = place / "data" / "Fold2" / "test.txt"
    fold = [] if "models" in source else ["--selected-fold", "2"]
    kept = ["--selected", str(place / "out" / source), *fold]
    assert main(["convert", str(file), str(tmp_path / "ids.txt"), *kept]) == 0
    assert (
        main(["convert", str(file), str(tmp_path / "new.txt"), *kept, "--renumber"])
        == 0
    )
    before = load_letor(file).X[:, [i - 1 for i in chosen]]
    same, new = load_letor(tmp_path / "ids.txt"), load_letor(tmp_path / "new.txt")
    np.testing.assert_array_equal(same.X[:, [i - 1 for i in chosen]], before)
    np.testing.assert_array_equal(new.X, before)
    table = [
        line.split(",")
        for line in (tmp_path / "new.features.csv").read_text().splitlines()
    ]
    assert table[0] == ["id", "name", "original_id"]
    assert [(int(i), int(old)) for i, _, old in table[1:]] == list(
        enumerate(chosen, start=1)
    )
    assert not (tmp_path / "ids.features.csv").exists()


@pytest.mark.parametrize("form", ["letor", "csv", "lightgbm"])
def test_a_folder_has_its_map_and_its_names_when_it_is_opened(
    place: Path, tmp_path: Path, form: str
) -> None:
    out = tmp_path / "few"
    command = [
        "convert",
        str(place / "data"),
        str(out),
        "--features",
        "7,3",
        "--renumber",
        "--to",
        form,
    ]
    assert main(command) == 0
    opened = open_dataset(out)
    assert opened.feature_ids.tolist() == [1, 2]
    before = open_dataset(place / "data")
    np.testing.assert_array_equal(
        opened.folds[1].train.X, before.folds[1].train.X[:, [2, 6]]
    )
    assert "2,feature 7,7" in (out / "features.csv").read_text().lower()
    if form == "letor":
        assert opened.feature_names == (
            before.feature_names[2],
            before.feature_names[6],
        )
    assert main(command) == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--selected", "out/results.json"], "--selected-fold 1 2"),
        (["--selected", "out/results.json", "--selected-fold", "7"], "1 2 7 features"),
        (
            ["--selected", "out/study.rankstudio", "--selected-run", "9"],
            "--selected-run 1",
        ),
        (
            ["--selected", "out/models/fold1.json", "--selected-fold", "1"],
            "--selected-fold results.json",
        ),
        (
            ["--selected", "out/results.json", "--features", "1"],
            "--features --selected",
        ),
        (["--selected-fold", "1"], "--selected-fold"),
        (["--selected", "nothing.json"], "nothing.json results.json"),
        (["--selected", "odd.json"], "odd.json results.json"),
    ],
)
def test_what_does_not_say_which_features_is_a_sentence(
    place: Path, tmp_path: Path, monkeypatch, refused, options: list[str], sentence: str
) -> None:
    (place / "odd.json").write_text('{"folds": [{"fold": "one"}, 3]}')
    monkeypatch.chdir(place)
    out = tmp_path / "new.txt"
    refused(["convert", "data/Fold1/test.txt", str(out), *options], sentence)
    assert not list(tmp_path.iterdir())


def test_judged_documents_are_written(tmp_path: Path, done, capsys) -> None:
    qrels, run, out = tmp_path / "judged.txt", tmp_path / "one", tmp_path / "out.csv"
    qrels.write_text("7 0 a 2\n7 0 b 0\n8 0 c 1\n")
    run.write_text("7 Q0 b 1 0.5 t\n7 Q0 a 2 0.25 t\n8 Q0 x 1 1 t\n")
    command = [
        "convert",
        "--qrels",
        str(qrels),
        "--run",
        f"bm25={run}",
        "--run",
        f"again={run}",
        str(out),
    ]
    assert naming("1 document judgment").search(
        done([*command, "--missing", "zero"]).err
    )
    data = load_data(out)
    assert data.feature_names == ("bm25", "again") and data.y.tolist() == [2, 0, 1]
    assert data.X.tolist() == [[0.25, 0.25], [0.5, 0.5], [0, 0]]
    assert data.document_ids == ("a", "b", "c")
    assert main(command) != 0 and "--force" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--qrels", "q", "out"], "--qrels --run TREC"),
        (["--qrels", "q", "--run", "b", "out"], "--run"),
    ],
)
def test_what_is_wrong_is_said(
    options: list[str], sentence: str, capsys, tmp_path: Path
) -> None:
    names = [str(tmp_path / o) if o in ("out", "q") else o for o in options]
    assert main(["convert", *names]) != 0
    assert naming(sentence).search(capsys.readouterr().err)


def logged(folder: Path) -> tuple[Path, Path]:
    """Feature logs with text queries, and ratings as Quepid exports them, one of a document without a log."""
    folder.mkdir()
    responses = [
        {
            "query": query,
            "hits": {
                "hits": [
                    {
                        "_id": f"d{i}",
                        "fields": {
                            "_ltrlog": [{"log": [{"name": "bm25", "value": i / 4 + n}]}]
                        },
                    }
                    for i in range(4)
                ]
            },
        }
        for n, query in enumerate(("red dress", "blue, shoes"))
    ]
    logs, ratings = folder / "log.ndjson", folder / "ratings.csv"
    logs.write_text("".join(f"{json.dumps(response)}\n" for response in responses))
    rows = [
        f'"{q}",d{i},{i % 3}\n' for q in ("red dress", "blue, shoes") for i in range(3)
    ]
    ratings.write_text("query,docid,rating\n" + "".join(rows) + "red dress,d77,3\n")
    return logs, ratings


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("graded.parquet", marks=pytest.mark.ability("tables")),
        "graded.csv",
        "graded.txt",
    ],
)
@pytest.mark.ability("search_engines")
def test_feature_logs_and_judgments_become_one_dataset(
    tmp_path: Path, name: str, capsys
) -> None:
    logs, ratings = logged(tmp_path / "logs")
    assert (
        main(["convert", str(logs), str(tmp_path / name), "--judgments", str(ratings)])
        == 0
    )
    said = capsys.readouterr().err
    assert (
        naming("2 logged documents judgment").search(said)
        and "red dress d3; blue, shoes d3" in said
    )
    assert naming("1 judged document logs").search(said) and "red dress d77" in said
    data = open_dataset(tmp_path / name).folds[0].train
    assert data.n_documents == 6 and data.n_queries == 2
    assert data.X[:, 0].tolist() == [0.0, 0.25, 0.5, 1.0, 1.25, 1.5]
    assert data.y.tolist() == [0.0, 1.0, 2.0] * 2
    text = name.endswith(".txt")
    assert data.query_ids == (("1", "2") if text else ("red dress", "blue, shoes"))
    assert (
        data.document_ids == ("d0", "d1", "d2") * 2
        and "query = red dress" in data.comments[0]
    )
    assert main(["convert", str(logs), str(tmp_path / f"again-{name}")]) == 0, (
        "judgments beside are found"
    )
    assert (tmp_path / f"again-{name}").read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.ability("search_engines")
def test_documents_that_are_not_in_both_are_written(tmp_path: Path, capsys) -> None:
    logs, ratings = logged(tmp_path / "logs")
    out = [
        "convert",
        str(logs),
        str(tmp_path / "x.csv"),
        "--unmatched",
        str(tmp_path / "left.csv"),
    ]
    assert main(out) == 0
    with (tmp_path / "left.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["query", "document", "reason"]
    assert rows == [
        ["red dress", "d3", "not judged"],
        ["blue, shoes", "d3", "not judged"],
        ["red dress", "d77", "not logged"],
    ]
    assert main(out) == 1 and naming("x.csv --force").search(capsys.readouterr().err)
    assert main([*out[:4], str(ratings), "--force"]) == 1, (
        "what is read is not replaced"
    )
    letor = tmp_path / "train.txt"
    letor.write_text("1 qid:1 1:2\n")
    left = ["--unmatched", str(tmp_path / "no.csv")]
    assert main(["convert", str(letor), str(tmp_path / "y.csv"), *left]) == 1
    assert naming("train.txt feature logs").search(capsys.readouterr().err)


@pytest.mark.ability("search_engines")
def test_a_run_names_judgments_and_feature_set_and_its_plan_keeps_them(
    tmp_path: Path, capsys
) -> None:
    logs, ratings = logged(tmp_path / "logs")
    mine = ratings.rename(tmp_path / "mine.csv")
    own = tmp_path / "set.json"
    own.write_text(
        json.dumps({"features": [{"name": "bm25", "params": [], "template": {}}]})
    )
    files = ["--judgments", str(mine), "--feature-set", str(own)]
    run = [
        "run",
        "--data",
        str(logs),
        "--lambda",
        "1",
        *files,
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(run) == 0
    plan = load_plan(tmp_path / "out" / "plan.toml")
    assert plan.columns == {"judgments": str(mine), "feature_set": str(own)}
    assert main(shlex.split(as_command(plan))[1:]) == 0
    with Study.open(tmp_path / "out" / "study.rankstudio") as study:
        assert study.data(study.runs()[0].key).feature_set is not None
    capsys.readouterr()
    assert main(["run", "--data", str(logs), "--lambda", "1"]) == 1
    assert naming("log.ndjson").search(capsys.readouterr().err)


@pytest.mark.ability("search_engines")
def test_judgments_and_runs_are_not_mixed(tmp_path: Path, capsys) -> None:
    logs, ratings = logged(tmp_path / "logs")
    asked = ["--judgments", str(ratings), "--run", f"a={logs}"]
    assert main(["convert", str(logs), str(tmp_path / "x.csv"), *asked]) == 1
    assert naming("--judgments --run").search(capsys.readouterr().err)


def test_a_reduced_feature_set_is_written_beside_renumbered_data(
    tmp_path: Path, capsys
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "train.txt").write_text("2 qid:1 1:0.1 2:3 3:1\n0 qid:1 1:0.2 2:1 3:2\n")
    features = [
        {"name": f"q{i}", "params": [], "template": {"match": {"t": i}}}
        for i in (1, 2, 3)
    ]
    whole = tmp_path / "set.json"
    whole.write_text(json.dumps({"featureset": {"name": "s", "features": features}}))
    out = tmp_path / "few.txt"
    asked = ["--features", "3,2", "--renumber", "--feature-set", str(whole)]
    assert main(["convert", str(data / "train.txt"), str(out), *asked]) == 0
    written = json.loads((tmp_path / "few.featureset.json").read_text())["featureset"][
        "features"
    ]
    assert written == features[1:]
    printed = capsys.readouterr()
    assert "few.featureset.json" in printed.out
    assert "names of features" not in printed.err, "few.features.csv has them"
    assert main(["convert", str(data / "train.txt"), str(out), *asked]) == 1, (
        "nothing is replaced"
    )
