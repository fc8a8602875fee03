"""``rankstudio convert``: the same documents, written anew."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine import load_letor, open_dataset
from rankstudio.engine.data.formats import dataset_writer
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.formats.data_format import BY_KEY, WRITTEN
from rankstudio.engine.data.formats.dataset_writer import save_dataset, save_letor, written_files
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import OutputError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import open_data


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "all.txt"
    save_letor(make_ranking(n_queries=20, seed=2).folds[0].train, path)
    return path


def test_a_file_comes_out_as_it_is_scaled_or_cut_down(file: Path, tmp_path: Path) -> None:
    before = load_letor(file)
    out = tmp_path / "new" / "same.txt"
    assert main(["convert", str(file), str(out)]) == 0
    np.testing.assert_array_equal(load_letor(out).X, before.X)
    few = tmp_path / "few.txt.gz"
    assert main(["convert", str(file), str(few), "--features", "7, 3", "--normalize", "query_minmax"]) == 0
    after = load_letor(few)
    kept = [column for column, i in enumerate(after.feature_ids.tolist()) if i in (3, 7)]
    scaled = load_letor(file, normalize="query_minmax")
    np.testing.assert_array_equal(after.X[:, kept], scaled.X[:, [2, 6]])
    assert not np.delete(after.X, kept, axis=1).any()
    assert (after.y == before.y).all()


def test_one_file_becomes_folds(file: Path, tmp_path: Path, capsys) -> None:
    assert main(["convert", str(file), str(tmp_path / "folds"), "--protocol", "5-fold", "--seed", "3"]) == 0
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
    assert main(["convert", str(file), str(out), "--to", "csv", "--protocol", protocol, *options]) == 0
    dealt = open_data(Plan(str(file), protocol=protocol))
    columns = [1, 6] if options else list(range(dealt.folds[0].train.n_features))
    if len(dealt.folds) == 1 and len(dealt.folds[0].parts) == 1:
        written = {(1, "train"): load_data(out)}
    else:
        found = open_dataset(out)
        written = {(fold.number, name): part for fold in found.folds for name, part in fold.parts.items()}
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
def test_features_that_are_not_there_are_named(file: Path, tmp_path: Path, capsys, features, message) -> None:
    assert main(["convert", str(file), str(tmp_path / "out.txt"), "--features", features]) == 1
    assert naming(message).search(capsys.readouterr().err)
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.parametrize("link", ["the same name", "symlink", "hardlink"])
def test_the_input_is_never_replaced(file: Path, tmp_path: Path, capsys, link: str) -> None:
    out = file if link == "the same name" else tmp_path / "link.txt"
    if link == "symlink":
        out.symlink_to(file)
    elif link == "hardlink":
        out.hardlink_to(file)
    before = file.read_bytes()
    for force in ([], ["--force"]):
        assert main(["convert", str(file), str(out), "--features", "1,2", *force]) == 1
        said = capsys.readouterr().err
        assert str(out) in said and "overwrite the input" in said
        assert file.read_bytes() == before
    assert main(["convert", str(file), str(tmp_path / "other.txt"), "--features", "1,2"]) == 0
    assert main(["convert", str(file), str(tmp_path / "other.txt"), "--features", "1"]) == 1
    assert load_letor(tmp_path / "other.txt").n_features == 2


def test_no_fold_is_replaced_and_none_is_written_beside(file: Path, tmp_path: Path, capsys) -> None:
    there = tmp_path / "folds" / "Fold5" / "test.txt"
    there.parent.mkdir(parents=True)
    there.write_text("mine")
    assert main(["convert", str(file), str(tmp_path / "folds"), "--protocol", "5-fold"]) == 1
    assert str(there) in capsys.readouterr().err
    assert list((tmp_path / "folds").rglob("*.txt")) == [there]
    assert there.read_text() == "mine"


def test_json_tells_what_was_written(file: Path, tmp_path: Path, capsys) -> None:
    assert main(["convert", str(file), str(tmp_path / "out.txt"), "--features", "1", "--json"]) == 0
    (written,) = json.loads(capsys.readouterr().out)
    part = open_dataset(tmp_path / "out.txt").folds[0].train
    sizes = {"documents": part.n_documents, "queries": part.n_queries, "features": 1}
    assert written == {"path": str(tmp_path / "out.txt"), **sizes}


@pytest.mark.parametrize(
    ("first", "second"),
    [*((form.key, "letor") for form in WRITTEN), *(("letor", key) for key in ("csv", "parquet", "lightgbm"))],
)
def test_any_format_becomes_any_other(tmp_path: Path, capsys, first: str, second: str) -> None:
    pytest.importorskip("pyarrow")
    data = make_ranking(n_queries=6, seed=2).folds[0].train
    data = replace(data, query_ids=tuple(str(i + 1) for i in range(data.n_queries)))
    (tmp_path / "a").mkdir()
    source = tmp_path / "a" / f"some{BY_KEY[first].ending}"
    save_dataset(data, source, BY_KEY[first])
    out = tmp_path / f"other{BY_KEY[second].ending}"
    assert main(["convert", str(source), str(out), "--to", second]) == 0
    assert capsys.readouterr().out.splitlines() == list(map(str, written_files(out, BY_KEY[second])))
    again = load_data(out)
    assert again.X.tobytes() == data.X.tobytes() and again.query_ids == data.query_ids


def test_the_ending_tells_the_format_and_what_is_lost_is_said(file: Path, tmp_path: Path, capsys) -> None:
    assert main(["convert", str(file), str(tmp_path / "out.csv.gz"), "--features", "3,7"]) == 0
    assert naming("CSV ids features").search(capsys.readouterr().err)
    again = load_data(tmp_path / "out.csv.gz")
    before = load_letor(file)
    np.testing.assert_array_equal(again.X, before.X[:, [2, 6]])
    assert again.feature_names == ("feature 3", "feature 7")
    assert main(["convert", str(file), str(tmp_path / "out.txt"), "--to", "xgboost"]) == 0
    assert naming("SVMlight").search(capsys.readouterr().err)
    (tmp_path / "out.txt").unlink()
    assert main(["convert", str(file), str(tmp_path / "out.txt"), "--to", "xgboost"]) == 1
    assert naming(f"{tmp_path / 'out.txt.group'}").search(capsys.readouterr().err)


def test_columns_are_told_by_options(tmp_path: Path, capsys) -> None:
    table = tmp_path / "clicks.csv"
    table.write_text("session,url,clicked,a,b\n1,x,1,2,3\n1,y,0,4,5\n")
    out = tmp_path / "out.txt"
    assert main(["convert", str(table), str(out)]) == 1
    assert naming("column query").search(capsys.readouterr().err)
    told = ["--qid", "session", "--label", "clicked"]
    assert main(["convert", str(table), str(out), *told]) == 1
    assert naming("x url").search(capsys.readouterr().err)
    assert main(["convert", str(table), str(out), *told, "--ignore", "url"]) == 0
    assert out.read_text() == "1 qid:1 1:2 2:3\n0 qid:1 1:4 2:5\n"
    assert main(["convert", str(table), str(out), *told, "--columns", "b, a", "--force"]) == 0
    assert out.read_text() == "1 qid:1 1:3 2:2\n0 qid:1 1:5 2:4\n"
    assert main(["convert", str(table), str(out), *told, "--columns", ",", "--force"]) == 1
    assert naming("--columns").search(capsys.readouterr().err)


def test_a_column_of_parts_makes_files_of_them(tmp_path: Path) -> None:
    table = tmp_path / "clicks.csv"
    table.write_text("qid,label,when,a\n1,1,train,2\n1,0,train,4\n2,0,vali,5\n3,2,test,6\n")
    out = tmp_path / "out"
    assert main(["convert", str(table), str(out), "--part", "when", "--to", "csv"]) == 0
    assert sorted(path.name for path in (out / "Fold1").iterdir()) == ["test.csv", "train.csv", "vali.csv"]
    assert open_dataset(out).folds[0].parts["test"].X.tolist() == [[6]]


def test_a_full_disk_leaves_neither_text_nor_sizes(file: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    def full(path: Path, pieces: object) -> None:
        raise OutputError(f"{path} could not be written: No space left on device.")

    monkeypatch.setattr(dataset_writer, "write_pieces", full)
    (tmp_path / "out").mkdir()
    for ending, key in ((".txt", "lightgbm"), (".csv", "csv")):
        assert main(["convert", str(file), str(tmp_path / "out" / f"a{ending}"), "--to", key]) == 1
        assert naming("No space left on device").search(capsys.readouterr().err)
    assert list((tmp_path / "out").iterdir()) == []
