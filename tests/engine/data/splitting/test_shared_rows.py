"""Parts that are slices of common rows: the same values, in less memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.splitting.shared_rows import share_rows
from rankstudio.engine.support import memory


def _block(number: int, rows: int = 6) -> RankingDataset:
    rng = np.random.default_rng(number)
    return RankingDataset.from_arrays(
        rng.normal(size=(rows, 3)),
        rng.integers(0, 3, rows),
        np.arange(rows) // 3 + 10 * number,
    )


def _together(blocks: list[RankingDataset]) -> RankingDataset:
    return RankingDataset.from_arrays(
        np.concatenate([block.X for block in blocks]),
        np.concatenate([block.y for block in blocks]),
        np.concatenate([block.qid for block in blocks]),
    )


def _rotated(n_folds: int = 5) -> list[Fold]:
    """Return folds as LETOR has them: three training blocks, then the validation and the test block."""
    blocks = [_block(number) for number in range(n_folds)]
    return [
        Fold(
            k + 1,
            _together(turned[:-2]),
            vali=replace(turned[-2]),
            test=replace(turned[-1]),
        )
        for k in range(n_folds)
        for turned in [blocks[k:] + blocks[:k]]
    ]


def _owners(folds: list[Fold]) -> dict[int, np.ndarray]:
    arrays = [
        part.X if part.X.base is None else part.X.base
        for fold in folds
        for part in fold.parts.values()
    ]
    return {id(array): array for array in arrays}


def _assert_same(found: list[Fold], folds: list[Fold]) -> None:
    for one, other in zip(found, folds, strict=True):
        assert one.number == other.number
        assert list(one.parts) == list(other.parts)
        for part, before in zip(one.parts.values(), other.parts.values(), strict=True):
            for name in ("X", "y", "query_ptr"):
                array = getattr(part, name)
                np.testing.assert_array_equal(array, getattr(before, name))
                assert array.flags.c_contiguous
                assert not array.flags.writeable
            assert (part.query_ids, list(part.comments)) == (
                before.query_ids,
                list(before.comments),
            )


def test_the_folds_of_letor_are_slices_of_few_rows() -> None:
    folds = _rotated()
    found = share_rows(folds)
    _assert_same(found, folds)
    (owner,) = _owners(found).values()
    # five blocks, and two again for the parts that begin with the last ones
    assert len(owner) == 7 * 6


@given(
    st.lists(
        st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True),
        min_size=2,
        max_size=5,
    )
)
def test_any_folds_keep_their_values(sequences: list[list[int]]) -> None:
    blocks = [_block(number, rows=3 + number) for number in range(4)]
    folds = [
        Fold(
            number,
            _together([blocks[i] for i in sequence]),
            test=replace(blocks[number % 4]),
        )
        for number, sequence in enumerate(sequences, start=1)
    ]
    found = share_rows(folds)
    _assert_same(found, folds)
    before = sum(part.n_documents for fold in folds for part in fold.parts.values())
    assert sum(len(array) for array in _owners(found).values()) <= before


def test_parts_that_no_others_consist_of_stay_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folds = _rotated()
    changed = folds[0].train.X.copy()
    changed[3, 1] = -changed[3, 1]
    folds[0] = replace(folds[0], train=replace(folds[0].train, X=changed))
    assert [fold.train for fold in share_rows(folds)] == [fold.train for fold in folds]
    folds = _rotated()
    monkeypatch.setattr(memory, "available", lambda: 100.0)
    assert [fold.train for fold in share_rows(folds)] == [fold.train for fold in folds]


def test_one_fold_shares_nothing() -> None:
    fold = _rotated()[0]
    assert share_rows([fold]) == [fold]


def test_folds_of_files_are_opened_as_slices(tmp_path: Path) -> None:
    lines = [
        "".join(
            f"{row % 3} qid:{10 * block + row // 3} 1:{block + row / 8} 2:{row} # docid = D{block}{row}\n"
            for row in range(6)
        )
        for block in range(5)
    ]
    for k in range(5):
        turned = lines[k:] + lines[:k]
        folder = tmp_path / f"Fold{k + 1}"
        folder.mkdir()
        for name, text in zip(
            ("train", "vali", "test"), ("".join(turned[:3]), *turned[3:]), strict=True
        ):
            (folder / f"{name}.txt").write_text(text)
    for _ in ("parsed", "from the cache"):
        dataset = open_dataset(tmp_path)
        (owner,) = _owners(list(dataset.folds)).values()
        assert len(owner) == 42
        train = dataset.folds[3].train
        assert train.X[:, 1].tolist() == [*range(6)] * 3
        assert train.comments[6] == " docid = D40"
        assert train.document_ids[17] == "D05"
