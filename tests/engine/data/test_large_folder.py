"""Made-up data written as text: the text says the numbers, and depends on nothing but what was asked for."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.data import _letor_kernel as kernels
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.large_folder import LargeData, write_folder
from rankstudio.engine.errors import OutputError, ParameterError

SMALL = LargeData(3000, 40, 21, seed=3)


def test_the_folder_is_opened_as_a_fold(tmp_path: Path) -> None:
    assert list(write_folder(SMALL, tmp_path / "new"))[-1] == 3000
    fold = open_dataset(tmp_path / "new", cache=False).folds[0]
    assert [part.n_queries for part in fold.parts.values()] == [24, 8, 8]
    assert sum(part.n_documents for part in fold.parts.values()) == 3000
    assert fold.train.query_ids == tuple(str(i + 1) for i in range(24))
    np.testing.assert_array_equal(np.diff(fold.train.query_ptr), SMALL.sizes[:24])
    labels = np.concatenate([part.y for part in fold.parts.values()])
    assert set(np.unique(labels)) == {0.0, 1.0, 2.0, 3.0, 4.0}
    X = np.concatenate([part.X for part in fold.parts.values()])
    # the first feature tells, the eighth does not
    assert np.corrcoef(X[:, 0], labels)[0, 1] > 0.2
    assert abs(np.corrcoef(X[:, 7], labels)[0, 1]) < 0.08
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "test.txt",
        "train.txt",
        "vali.txt",
    ]


def test_the_text_is_that_of_the_seed() -> None:
    def digest(data: LargeData) -> str:
        return hashlib.sha256(
            b"".join(piece.tobytes() for _, piece in data.text("vali"))
        ).hexdigest()

    assert digest(SMALL) == digest(LargeData(3000, 40, 21, seed=3))
    assert digest(SMALL) != digest(LargeData(3000, 40, 21, seed=4))


def test_a_large_query_is_a_piece_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankstudio.engine.data.large_folder._PIECE", 2)
    pieces = [documents for documents, _ in SMALL.text("train")]
    assert pieces == SMALL.sizes[:24].tolist()


def test_numbers_are_written_as_decimals_say() -> None:
    units = np.array(
        [[0, 1, 120, 2_000_000_001], [7, 1_000_000, 1_500_000, 10]], dtype=np.int32
    )
    out = np.zeros(200, dtype=np.uint8)
    decimals = np.array([0, 6, 6, 3])
    size = kernels.format_lines(
        units, decimals, np.array([0, 4]), np.array([9, 10]), out
    )
    lines = out[:size].tobytes().decode().splitlines()
    assert lines == [
        "0 qid:9 1:0 2:0.000001 3:0.00012 4:2000000.001",
        "4 qid:10 1:7 2:1 3:1.5 4:0.01",
    ]


@pytest.mark.parametrize("sizes", [(3, 3, 5), (4, 5, 5), (10, 5, 0)])
def test_too_few_of_something_is_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ParameterError, match=naming("number")):
        LargeData(*sizes)


def test_a_part_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "train.txt").mkdir()
    with pytest.raises(OutputError, match=naming("train.txt")):
        list(write_folder(SMALL, tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["train.txt"]
