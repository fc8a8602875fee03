"""LETOR text read piece by piece is what it is read whole: the same numbers, the same errors."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest
from data import letor_strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankstudio.engine.data.large import text_chunks
from rankstudio.engine.data.large.letor_reader import LargePart, read_large, read_letor
from rankstudio.engine.data.large.table_writer import Treatment
from rankstudio.engine.data.letor import text_pieces
from rankstudio.engine.data.letor.parsed_table import Table
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.data.letor.reader import make_dataset, read_table
from rankstudio.engine.data.source import Source
from rankstudio.engine.errors import FormatError

thorough = settings(
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
treatments = st.builds(Treatment, st.sampled_from(["query_min", "zero", "refuse"]), st.booleans())


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))


@contextmanager
def pieces_of(chunk: int, piece: int) -> Iterator[None]:
    """Have text cut into chunks and pieces of so many bytes."""
    with (
        mock.patch.object(text_chunks, "_PIECE", chunk),
        mock.patch.object(text_chunks.text_chunks, "__defaults__", (chunk,)),
        mock.patch.object(text_pieces, "_PIECE", piece),
    ):
        yield


def by_pieces(path: Path, treatment: Treatment, chunk: int, piece: int = 7) -> tuple[Table, Source]:
    with pieces_of(chunk, piece):
        return read_large(LargePart((path,), treatment), ReadProgress(), read_letor)


def whole(path: Path, treatment: Treatment) -> tuple[Table, Source]:
    table, source = read_table(path, ReadProgress(), refuse=treatment.missing == "refuse", cache=False)
    made = make_dataset(
        table, source, missing=treatment.missing, n_features=None, normalize=treatment.normalize
    )
    assert made.X is table.X
    return table, source


def assert_equal(found: tuple[Table, Source], expected: tuple[Table, Source]) -> None:
    a, b = found[0], expected[0]
    for name in ("X", "y", "query_ptr", "missing", "file_rows"):
        here, there = getattr(a, name), getattr(b, name)
        assert (here.dtype, here.shape) == (there.dtype, there.shape), name
        assert here.tobytes() == there.tobytes(), name
        assert not here.flags.writeable
    assert a.X.flags.c_contiguous
    assert list(a.comments) == list(b.comments)
    assert (a.query_ids, a.dense, a.scattered) == (b.query_ids, b.dense, b.scattered)
    assert found[1] == expected[1]


@thorough
@given(
    content=st.one_of(letor_strategies.texts(), letor_strategies.broken_texts()),
    treatment=treatments,
    chunk=st.integers(1, 200),
    piece=st.integers(1, 60),
    packed=st.booleans(),
)
def test_pieces_give_what_the_whole_gives(
    tmp_path_factory: pytest.TempPathFactory,
    content: bytes,
    treatment: Treatment,
    chunk: int,
    piece: int,
    packed: bool,
) -> None:
    path = tmp_path_factory.mktemp("text") / "train.txt"
    path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    try:
        expected = whole(path, treatment)
    except FormatError as error:
        with pytest.raises(FormatError) as raised:
            by_pieces(path, treatment, max(chunk, 10) if packed else chunk, piece)
        assert (type(raised.value), str(raised.value)) == (type(error), str(error))
        return
    assert_equal(by_pieces(path, treatment, max(chunk, 10) if packed else chunk, piece), expected)
