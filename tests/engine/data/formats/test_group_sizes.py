"""SVMlight text beside files of sizes, and ids from 0."""

from __future__ import annotations

from pathlib import Path

import lightgbm
import numpy as np
import pytest
from wording import naming

from rankstudio.engine.data.fold_files import path_to_open
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.formats.dataset_writer import save_dataset
from rankstudio.engine.data.formats.format_catalog import format_of_key
from rankstudio.engine.data.formats.query_sizes import read_sizes, sizes_file
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import DataError, DatasetError, FormatError

TEXT = "1 1:0.5 3:2\n0 2:1 # a comment\n\n2 1:3\n"


@pytest.mark.parametrize(
    "name", ["train.txt.group", "train.group", "train.txt.query", "train.query"]
)
@pytest.mark.parametrize("sizes", ["2\n1\n", "2 0 1", "\ufeff2\r\n1"])
def test_sizes_tell_the_queries(tmp_path: Path, name: str, sizes: str) -> None:
    (tmp_path / "train.txt").write_text(TEXT)
    (tmp_path / name).write_text(sizes)
    data = load_data(tmp_path / "train.txt")
    assert data.query_ptr.tolist() == [0, 2, 3] and data.n_queries == 2
    assert data.query_ids == (("1", "3") if "0" in sizes else ("1", "2"))
    assert data.X.tolist() == [[0.5, 0, 2], [0, 1, 0], [3, 0, 0]]
    assert list(data.comments) == ["", " a comment", ""]
    assert open_dataset(tmp_path).origin.read_as.qid == name


def test_queries_that_the_text_tells_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 qid:a 1:2\n")
    (tmp_path / "train.txt.group").write_text("no numbers\n")
    assert load_data(tmp_path / "train.txt").query_ids == ("a",)


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ("2\n2\n", "3 4 documents query sizes"),
        ("2\nx\n", "train.txt.group 2"),
        ("-1\n", "1 -1"),
        ("1.0\n", "1 1.0"),
        ("9" * 30, "documents"),
        ("", "query sizes"),
        ("0\n0\n", "query sizes"),
    ],
)
def test_sizes_that_do_not_fit_are_told(
    tmp_path: Path, sizes: str, sentence: str
) -> None:
    (tmp_path / "train.txt").write_text(TEXT)
    (tmp_path / "train.txt.group").write_text(sizes)
    with pytest.raises(DataError) as error:
        load_data(tmp_path / "train.txt")
    assert naming(sentence).search(str(error.value))


def test_other_sizes_are_other_data(tmp_path: Path) -> None:
    """The text is the same, and what the cache has of it is not."""
    (tmp_path / "train.txt").write_text(TEXT)
    found = []
    for sizes in ("2 1", "1 2"):
        (tmp_path / "train.txt.group").write_text(sizes)
        found.append(load_data(tmp_path / "train.txt"))
    assert [data.query_ptr.tolist() for data in found] == [[0, 2, 3], [0, 1, 3]]
    assert found[0].source != found[1].source


def test_an_id_0_tells_that_ids_begin_there(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 qid:1 2:5 0:0.5\n0 qid:1 1:7\n")
    (tmp_path / "test.txt").write_text("1 qid:1 1:3\n")
    data = open_dataset(tmp_path)
    assert data.folds[0].train.X.tolist() == [[0.5, 0, 5], [0, 7, 0]]
    test = data.folds[0].test
    assert test is not None and test.X.tolist() == [[0, 3, 0]]
    assert data.feature_names == (
        "id 0",
        "id 1",
        "id 2",
    ) and data.feature_ids.tolist() == [1, 2, 3]
    (tmp_path / "features.csv").write_text("id,name\n0,tf\n1,idf\n")
    assert open_dataset(tmp_path).feature_names == ("tf", "idf", "id 2")


def test_where_ids_begin_can_be_told(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 qid:1 1:5\n")
    assert load_data(tmp_path / "train.txt", columns={"ids_from": 0}).X.tolist() == [
        [0, 5]
    ]
    (tmp_path / "train.txt").write_text("1 qid:1 0:5\n")
    with pytest.raises(FormatError, match=naming("1 feature id")):
        load_data(tmp_path / "train.txt", columns={"ids_from": 1})
    with pytest.raises(FormatError, match=naming("1 feature id")):
        open_dataset(tmp_path, columns={"ids_from": 1})


def test_sizes_are_looked_for_beside_the_data_alone(tmp_path: Path) -> None:
    assert sizes_file(tmp_path / "train.txt") is None
    (tmp_path / "train.group").mkdir()
    assert sizes_file(tmp_path / "train.txt") is None
    (tmp_path / "rank.train.query").write_text("3")
    assert sizes_file(tmp_path / "rank.train.gz") == tmp_path / "rank.train.query"
    (tmp_path / "empty").write_text("")
    with pytest.raises(DatasetError):
        read_sizes(tmp_path / "empty")


def test_sizes_are_opened_with_their_data(tmp_path: Path) -> None:
    for name in ("rank.train", "rank.test"):
        (tmp_path / name).write_text(TEXT)
        (tmp_path / f"{name}.query").write_text("3")
    every = [
        str(tmp_path / name)
        for name in ("rank.train", "rank.train.query", "rank.test.query", "rank.test")
    ]
    assert path_to_open(every) == str(tmp_path)
    assert path_to_open(every[:2]) == str(tmp_path / "rank.train")


def test_lightgbm_reads_what_is_written_for_it(tmp_path: Path) -> None:
    """An independent reader: labels, sizes of queries and values are the same."""
    data = make_ranking(n_queries=20, seed=1).folds[0].train
    save_dataset(data, tmp_path / "rank.train", format_of_key("lightgbm"))
    quiet = {
        "verbosity": -1,
        "min_data_in_bin": 1,
        "min_data_in_leaf": 1,
        "deterministic": True,
        "num_threads": 1,
    }
    read = lightgbm.Dataset(str(tmp_path / "rank.train"), params=quiet).construct()
    given = lightgbm.Dataset(
        # its columns are counted from 0
        np.column_stack([np.zeros(data.n_documents), data.X]),
        data.y,
        group=np.diff(data.query_ptr),
        params=quiet,
    ).construct()
    assert read.get_label().tolist() == given.get_label().tolist()
    assert read.get_group().tolist() == np.diff(data.query_ptr).tolist()
    models = [
        lightgbm.train({**quiet, "objective": "lambdarank"}, part, 3).predict(
            np.column_stack([np.zeros(data.n_documents), data.X])
        )
        for part in (read, given)
    ]
    assert models[0].tolist() == models[1].tolist()
    again = load_data(tmp_path / "rank.train")
    assert again.X.tobytes() == data.X.tobytes()
