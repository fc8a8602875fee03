"""Data files packed by any of the usual programs."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.data import source_file
from rankstudio.engine.data.file_access import (
    ENDINGS,
    packed_pieces,
    unpacked_pieces,
    without_ending,
)
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import FileAccessError, MissingExtraError
from rankstudio.engine.support import memory

TEXT = b"1 qid:1 1:0.5\n0 qid:1 1:0.25\n"


def packers() -> dict[str, Callable[[bytes], bytes]]:
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.ZstdCompressor()
    return {
        ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": packed.compress
    }  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_reads_back(tmp_path: Path, ending: str) -> None:
    data = make_ranking(n_queries=10, seed=0).folds[0].train
    path = tmp_path / f"train.txt{ending}"
    save_letor(data, path)
    again = load_letor(path)
    assert (again.X == data.X).all() and again.query_ids == data.query_ids
    once, twice = (b"".join(packed_pieces(path, [TEXT])) for _ in range(2))
    assert once == twice != TEXT
    assert b"".join(packed_pieces(path, [TEXT[:9], TEXT[9:]])) == once


@pytest.mark.parametrize("ending", ENDINGS)
def test_several_members_are_one_text(tmp_path: Path, ending: str) -> None:
    pack = packers()[ending]
    path = tmp_path / "any.name"  # it is known by its bytes
    path.write_bytes(pack(TEXT) + pack(b"") + pack(TEXT.replace(b"qid:1", b"qid:2")))
    assert load_letor(path, cache=False).query_ids == ("1", "2")


@pytest.mark.parametrize("ending", ENDINGS)
def test_members_of_several_pieces_are_one_text(tmp_path: Path, ending: str) -> None:
    """Catches a tail that zlib gives back again and again."""
    pack, lines = packers()[ending], 2_000_000 // len(TEXT) * TEXT
    packed = pack(lines) + pack(TEXT)
    assert (
        b"".join(unpacked_pieces(tmp_path / "train.txt", iter([packed])))
        == lines + TEXT
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, ending: str) -> None:
    packed = packers()[ending](TEXT)
    path = tmp_path / "train.txt"
    for size in range(8, len(packed)):
        path.write_bytes(packed[:size])
        with pytest.raises(FileAccessError, match=naming("compressed file")):
            load_letor(path, cache=False)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_a_file_with_a_flipped_bit_is_refused_or_the_same(
    tmp_path: Path, ending: str
) -> None:
    packed = packers()[ending](TEXT)
    path = tmp_path / "train.txt"
    for bit in range(64, 8 * len(packed), 3):
        flipped = bytearray(packed)
        flipped[bit // 8] ^= 1 << bit % 8
        path.unlink(missing_ok=True)  # to write over a file waits for the disk
        path.write_bytes(bytes(flipped))
        try:
            data = load_letor(path, cache=False)
        except FileAccessError:
            continue
        assert data.X.tolist() == [[0.5], [0.25]]


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_more_is_unpacked_than_fits(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.txt").write_bytes(
        packers()[ending](b"1 qid:1 1:1 #" + b"x" * (32 << 20))
    )
    seen: list[int] = []
    unpacked = source_file.unpacked_pieces

    def counted(path: Path, packed: Iterator[bytes]) -> Iterator[bytes]:
        for piece in unpacked(path, packed):
            seen.append(len(piece))
            yield piece

    monkeypatch.setattr(source_file, "unpacked_pieces", counted)
    monkeypatch.setattr(memory, "available", lambda: 16 << 20)
    with pytest.raises(FileAccessError, match=naming("memory")):
        load_letor(tmp_path / "train.txt", cache=False)
    assert sum(seen) < 32 << 20


def test_a_missing_library_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.txt.zst").write_bytes(packers()[".zst"](TEXT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"pip install \"rankstudio\[zstd\]\""):
        load_letor(tmp_path / "train.txt.zst", cache=False)


def test_names_without_their_ending() -> None:
    assert [without_ending(name) for name in ("a.TXT.GZ", "b.csv.zst", "c.txt")] == [
        "a.TXT",
        "b.csv",
        "c.txt",
    ]
    assert np.unique([without_ending(f"x{ending}") for ending in ENDINGS]).tolist() == [
        "x"
    ]
