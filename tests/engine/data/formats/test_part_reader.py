"""Datasets larger than the memory budget are mapped from files, and are what they are in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from data.same_data import assert_same_part
from wording import naming

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.dataset_writer import save_dataset
from rankstudio.engine.data.formats.format_catalog import format_of_key
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.memory import within

LITTLE = 2e4


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))


def assert_same(a: FoldedDataset, b: FoldedDataset) -> None:
    for one, other in zip(a.folds, b.folds, strict=True):
        assert list(one.parts) == list(other.parts)
        for here, there in zip(one.parts.values(), other.parts.values(), strict=True):
            assert_same_part(here, there)
    assert (a.name, a.origin) == (b.name, b.origin)


@pytest.mark.parametrize("key", ["letor", "parquet", "arrow", "xgboost", "csv"])
def test_folds_are_the_same_mapped_and_in_memory(tmp_path: Path, key: str) -> None:
    form = format_of_key(key)
    for fold in make_ranking(40, seed=3).folds[:2]:
        folder = tmp_path / "data" / f"Fold{fold.number}"
        folder.mkdir(parents=True)
        for name, part in fold.parts.items():
            save_dataset(part, folder / f"{name}{form.ending}", form)
    whole = open_dataset(tmp_path / "data")
    with within(LITTLE):
        mapped = open_dataset(tmp_path / "data")
    assert not any(
        in_file(part.X) for fold in whole.folds for part in fold.parts.values()
    )
    assert all(in_file(part.X) for fold in mapped.folds for part in fold.parts.values())
    assert_same(mapped, whole)
    notes = [warning for warning in mapped.warnings if naming("disk").search(warning)]
    assert len(notes) == 1
    assert not any(naming("disk").search(warning) for warning in whole.warnings)


def test_a_part_that_leaves_the_last_features_out_is_widened(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 qid:1 1:1 5:2\n0 qid:1 2:1\n" * 20)
    (tmp_path / "test.txt").write_text("1 qid:1 1:1\n0 qid:1 2:NULL\n" * 20)
    whole = open_dataset(tmp_path)
    with within(1e3 * 5):
        mapped = open_dataset(tmp_path)
    assert mapped.folds[0].test is not None and mapped.folds[0].test.n_features == 5
    assert in_file(mapped.folds[0].test.X)
    assert_same(mapped, whole)


def test_equal_files_share_their_arrays(tmp_path: Path) -> None:
    for fold, test in ((1, "a"), (2, "b")):
        (tmp_path / f"Fold{fold}").mkdir()
        (tmp_path / f"Fold{fold}" / "train.txt").write_text(
            "1 qid:1 1:NULL\n0 qid:1 1:2\n"
        )
        (tmp_path / f"Fold{fold}" / "test.txt").write_text(f"1 qid:{test} 1:1\n")
    first, second = open_dataset(tmp_path, normalize="query_minmax").folds
    assert np.shares_memory(first.train.X, second.train.X)
    assert first.train.source is not None and second.train.source is not None
    assert first.train.source.path != second.train.source.path
    assert first.test is not None and second.test is not None
    assert (first.test.query_ids, second.test.query_ids) == (("a",), ("b",))


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("kind", ["letor", "packed", "parquet", "arrow"])
def test_several_files_are_one_part(tmp_path: Path, kind: str, below: bool) -> None:
    data = make_ranking(40, seed=3).folds[0].train
    frames = np.array_split(np.arange(data.n_documents), 11)
    form = format_of_key("letor" if kind == "packed" else kind)
    ending = ".txt.gz" if kind == "packed" else form.ending
    folder = tmp_path / "data" / "train" if below else tmp_path / "data"
    folder.mkdir(parents=True)
    for number, rows in enumerate(frames):
        texts = [data.comments[i] for i in rows.tolist()]
        piece = RankingDataset.from_arrays(
            data.X[rows], data.y[rows], data.qid[rows], comments=texts
        )
        save_dataset(
            piece, folder / f"{'part' if below else 'train'}-{number}{ending}", form
        )
    (opened,) = open_dataset(tmp_path / "data").folds
    assert opened.train.X.tobytes() == data.X.tobytes()
    assert opened.train.query_ptr.tolist() == data.query_ptr.tolist()
    assert list(opened.train.comments) == list(data.comments)
    assert not in_file(opened.train.X)
    with within(LITTLE):
        (mapped,) = open_dataset(tmp_path / "data").folds
    assert in_file(mapped.train.X)
    assert mapped.train.X.tobytes() == data.X.tobytes()


def test_several_files_of_csv_are_refused(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"train-{number}.csv").write_text("qid,label,a\n1,1,1\n")
    with pytest.raises(DatasetError, match=naming("2 LETOR")):
        open_dataset(tmp_path)
