"""``rankstudio convert``: the same documents, written anew."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rankstudio.cli import main
from rankstudio.engine import load_letor, open_dataset
from rankstudio.engine.data.letor.writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "all.txt"
    save_letor(make_ranking(n_queries=30, seed=2).folds[0].train, path)
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


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("3, x", "--features: expected ids such as 39,23, each once, got '3, x'."),
        ("3 3", "--features: expected ids such as 39,23, each once, got '3 3'."),
        ("999", "--features: expected ids of the features there are, 1 to"),
    ],
)
def test_features_that_are_not_there_are_named(file: Path, tmp_path: Path, capsys, features, message) -> None:
    assert main(["convert", str(file), str(tmp_path / "out.txt"), "--features", features]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.parametrize("link", ["the same name", "symlink", "hardlink"])
def test_the_input_is_replaced_only_by_force(file: Path, tmp_path: Path, capsys, link: str) -> None:
    out = file if link == "the same name" else tmp_path / "link.txt"
    if link == "symlink":
        out.symlink_to(file)
    elif link == "hardlink":
        out.hardlink_to(file)
    before = file.read_bytes()
    assert main(["convert", str(file), str(out), "--features", "1,2"]) == 1
    assert (
        f"{out}: There is such a file already; expected another place, or --force" in capsys.readouterr().err
    )
    assert file.read_bytes() == before
    assert main(["convert", str(file), str(out), "--features", "1,2", "--force"]) == 0
    assert load_letor(out).n_features == 2
    assert (file.read_bytes() == before) is (out != file)


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
