"""Folders with folds and parts, as people have them."""

from __future__ import annotations

import gzip
from pathlib import Path
from types import SimpleNamespace

import pytest
from wording import naming

from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats import part_reader
from rankstudio.engine.errors import (
    Cancelled,
    DatasetError,
    FileAccessError,
    FormatError,
    SeveralDatasetsError,
)
from rankstudio.engine.support import memory

LINE = b"1 qid:1 1:0.5 2:%d\n"


def make(root: Path, *names: str, content: bytes = LINE % 1) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def parts(path: Path) -> dict[int, list[str]]:
    return {fold.number: list(fold.parts) for fold in open_dataset(path).folds}


ALL = ["train", "vali", "test"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["Fold1/train.txt", "Fold1/vali.txt", "Fold1/test.txt"], {1: ALL}),
        (
            ["fold-2/Train.txt", "FOLD 10/trainingset.txt", "Fold_1/train_5k.txt"],
            {k: ["train"] for k in (1, 2, 10)},
        ),
        (["Fold1/train.txt", "Fold1/validationset.dat", "Fold1/TESTSET.svm"], {1: ALL}),
        (["train.txt", "dev.txt", "test.txt"], {1: ALL}),
        (["train.letor", "valid.letor"], {1: ["train", "vali"]}),
        (["train", "test"], {1: ["train", "test"]}),
        (["set1.train.txt", "set1.valid.txt", "set1.test.txt"], {1: ALL}),
        (
            ["a/b.txt", "Q/Fold1/train.txt", "Q/Fold2/train.txt"],
            {1: ["train"], 2: ["train"]},
        ),
        (
            ["train.txt", "train.txt.score", "readme.md", "train.py", "notes/x"],
            {1: ["train"]},
        ),
    ],
)
def test_what_is_recognised(
    tmp_path: Path, names: list[str], expected: dict[int, list[str]]
) -> None:
    found = parts(make(tmp_path / "data-of-mine", *names))
    # folds in the order of their numbers
    assert list(found.items()) == list(expected.items())


def test_the_parts_are_the_right_files(tmp_path: Path) -> None:
    for i, name in enumerate(ALL):
        make(tmp_path / "Fold3", f"{name}.txt", content=LINE % i)
    (fold,) = open_dataset(tmp_path / "Fold3").folds
    assert fold.number == 3
    assert [part.X[0, 1] for part in fold.parts.values()] == [0, 1, 2]


def test_the_files_of_a_part_are_read_in_the_order_of_their_numbers(
    tmp_path: Path,
) -> None:
    for i in (10, 9, 1):
        make(tmp_path, f"train-{i}.txt", content=b"%d qid:%d 1:0.5\n" % (i, i))
    assert open_dataset(tmp_path).folds[0].train.y.tolist() == [1, 9, 10]


def test_packed_parts(tmp_path: Path) -> None:
    make(
        tmp_path,
        "Fold1/train.txt.gz",
        "Fold1/test.txt.GZ",
        content=gzip.compress(LINE % 1),
    )
    assert parts(tmp_path) == {1: ["train", "test"]}


def test_a_file_is_a_dataset_with_one_fold(tmp_path: Path) -> None:
    make(tmp_path, "some.data.txt")
    d = open_dataset(tmp_path / "some.data.txt")
    assert [list(f.parts) for f in d.folds] == [["train"]]
    assert (d.name, d.path, d.origin.known, d.convention) == (
        "some",
        tmp_path / "some.data.txt",
        None,
        "standard",
    )


@pytest.mark.parametrize(
    ("file", "opened", "name"),
    [
        ("MQ2008/Fold1/train.txt", "MQ2008", "MQ2008"),
        ("MQ2008/Fold1/train.txt", "MQ2008/Fold1", "MQ2008 Fold1"),
        ("MQ2008/Fold1/train.txt", "MQ2008/Fold1/train.txt", "MQ2008 Fold1 train"),
        (
            "OHSUMED/QueryLevelNorm/Fold1/train.txt",
            "OHSUMED/QueryLevelNorm",
            "OHSUMED QueryLevelNorm",
        ),
        ("OHSUMED/QueryLevelNorm/Fold1/train.txt", "OHSUMED", "OHSUMED QueryLevelNorm"),
        ("mine/train.txt", "mine", "mine"),
    ],
)
def test_names(tmp_path: Path, file: str, opened: str, name: str) -> None:
    make(tmp_path, file)
    assert open_dataset(tmp_path / opened).name == name


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["readme.md"], "Fold1 Fold2"),
        (["test.txt", "vali.txt"], "vali.txt test.txt"),
        (["Fold1/test.txt"], "Fold1 train.txt"),
        (["Fold1/train.txt", "Fold1/train_5k.txt"], "train.txt train_5k.txt"),
        (["Fold1/train.txt", "fold-1/train.txt"], "Fold1 fold-1"),
        (["A/Fold1/train.txt", "B/train.txt"], "2 A B"),
    ],
)
def test_what_cannot_be_opened(tmp_path: Path, names: list[str], words: str) -> None:
    make(tmp_path, *names)
    with pytest.raises(DatasetError, match=naming(words)):
        open_dataset(tmp_path)


def test_an_error_on_several_datasets_names_what_to_type(tmp_path: Path) -> None:
    make(tmp_path, "A/train.txt", "B/train.txt", "C/train.txt")
    with pytest.raises(SeveralDatasetsError) as caught:
        open_dataset(tmp_path)
    assert caught.value.found == tuple(tmp_path / name for name in "ABC")
    assert all(str(place) in str(caught.value) for place in caught.value.found)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="none"):
        open_dataset(tmp_path / "none")


def test_an_error_names_the_file_in_the_folder(tmp_path: Path) -> None:
    make(tmp_path, "Fold1/train.txt")
    make(tmp_path, "Fold1/test.txt", content=b"1 1:2\n")
    with pytest.raises(FormatError, match=naming("Fold1/test.txt 1 3")):
        open_dataset(tmp_path)


def test_dense_parts_must_have_the_same_features(tmp_path: Path) -> None:
    make(tmp_path, "train.txt")
    make(tmp_path, "test.txt", content=b"1 qid:1 1:0.5 2:1 3:1\n")
    with pytest.raises(DatasetError, match=naming("train.txt 2 test.txt 3")):
        open_dataset(tmp_path)


def test_sparse_parts_are_widened_with_a_note(tmp_path: Path) -> None:
    make(tmp_path, "train.txt", content=b"1 qid:1 1:0.5\n1 qid:1 2:1\n")
    make(tmp_path, "test.txt", content=b"1 qid:1 4:1\n")
    d = open_dataset(tmp_path)
    assert d.n_features == 4
    assert d.folds[0].train.X.tolist() == [[0.5, 0, 0, 0], [0, 1, 0, 0]]
    assert d.folds[0].test is not None
    assert d.folds[0].test.n_features == 4
    assert d.warnings == (
        f"{tmp_path / 'train.txt'}: the last feature is 2; features 3 to 4 are 0 in this file.",
    )


def test_options_reach_every_part(tmp_path: Path) -> None:
    content = b"1 qid:1 1:2 2:nan\n0 qid:1 1:4 2:4\n"
    make(tmp_path, "train.txt", "test.txt", content=content)
    for part in (
        open_dataset(tmp_path, missing="zero", normalize="query_minmax")
        .folds[0]
        .parts.values()
    ):
        assert part.X.tolist() == [[0, 0], [1, 1]]


def test_progress_is_over_all_files(tmp_path: Path) -> None:
    make(tmp_path, "train.txt", "test.txt")
    calls: list[tuple[int, int]] = []
    open_dataset(tmp_path, progress=lambda *call: calls.append(call))
    total = 2 * len(LINE % 1)
    assert calls == sorted(calls)
    assert calls[-1] == (total, total)


def test_cancel_between_files(tmp_path: Path) -> None:
    make(tmp_path, "train.txt", "test.txt")
    asked = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 4

    with pytest.raises(Cancelled):
        open_dataset(tmp_path, cancelled=cancelled, cache=False)


def test_names_beside_the_folds_win_and_a_bad_file_of_names_warns_once(
    tmp_path: Path,
) -> None:
    make(tmp_path, "Fold1/train.txt", "Fold1/test.txt", "Fold2/train.txt")
    (tmp_path / "feature_names.txt").write_text("1\tBM25\n2: Page rank\n")
    d = open_dataset(tmp_path)
    assert d.feature_names == ("BM25", "Page rank")
    assert all(
        part.feature_names == d.feature_names
        for f in d.folds
        for part in f.parts.values()
    )
    (tmp_path / "feature_names.txt").write_text("BM25\n")
    assert len(open_dataset(tmp_path).warnings) == 1


def test_more_than_the_machine_can_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "Fold1/train.txt", "Fold2/train.txt")
    none_free = SimpleNamespace(
        available=lambda: 0.0, budget=memory.budget, size=memory.size
    )
    monkeypatch.setattr(part_reader, "memory", none_free)
    with pytest.raises(DatasetError, match=naming("fold")):
        open_dataset(tmp_path)
    with pytest.raises(DatasetError, match=naming("memory unused features")):
        open_dataset(tmp_path / "Fold1" / "train.txt")
    monkeypatch.undo()
    monkeypatch.setattr(memory, "available", lambda: float(len(LINE % 1) - 1))
    with pytest.raises(FileAccessError, match=naming("memory")):
        open_dataset(tmp_path)
