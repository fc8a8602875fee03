"""Damaged LETOR text, plain and packed: the numbers of the slow oracle, or a sentence with its line."""

from __future__ import annotations

import gzip
import math
import random
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
from data import letor_oracle as oracle
from fuzzer import Fuzz, Outcome, refusal
from mutations import mutated
from samples import LETOR, damaged_letor

from rankstudio.engine.data import source_file
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats import letor as parser
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.errors import (
    DatasetError,
    FileAccessError,
    FormatError,
    MissingValueError,
    OutputError,
    RankStudioError,
)
from rankstudio.engine.support.sparse_rows import SparseRows


def matrix(contents: oracle.Contents, missing: str, ids: Sequence[int]) -> np.ndarray:
    """Return the features of some ids as the oracle read them, with what is missing filled in by queries."""
    documents = contents.grouped()
    place = {feature: column for column, feature in enumerate(ids)}
    X = np.zeros((len(documents), len(ids)))
    for row, document in enumerate(documents):
        for feature, value in document.features.items():
            X[row, place[feature]] = value
    for feature in sorted(
        {f for d in documents for f, value in d.features.items() if math.isnan(value)}
    ):
        for query in {d.query for d in documents}:
            rows = [row for row, d in enumerate(documents) if d.query == query]
            own = [value for value in X[rows, place[feature]] if not math.isnan(value)]
            least = min(own) + 0.0 if own and missing == "query_min" else 0.0
            for row in rows:
                if math.isnan(X[row, place[feature]]):
                    X[row, place[feature]] = least
    return X


def has_missing(contents: oracle.Contents) -> bool:
    return any(
        math.isnan(value) for d in contents.documents for value in d.features.values()
    )


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    a, b = np.asarray(a), np.asarray(b)  # of sparse rows, too
    return (
        a.shape == b.shape
        and bool((a == b).all())
        and bool((np.signbit(a) == np.signbit(b)).all())
    )


def compare(data: RankingDataset, contents: oracle.Contents, missing: str) -> None:
    documents = contents.grouped()
    ids = [int(i) for i in data.feature_ids]
    assert max(ids) == contents.width
    assert same_bits(data.X, matrix(contents, missing, ids))
    assert same_bits(data.y, np.array([d.label for d in documents]))
    assert [data.query_ids[q] for q in data.query_index] == [d.query for d in documents]
    assert list(data.comments) == [d.comment for d in documents]


@contextmanager
def pieces(rng: random.Random) -> Iterator[None]:
    """Have files read, unpacked and parsed in pieces of any size."""
    size = rng.choice((7, 40, 1000, 1 << 20, 1 << 20))
    parsed, read = (
        mock.patch.object(parser, "_PIECE", size),
        mock.patch.object(source_file, "_PIECE_BYTES", size),
    )
    with mock.patch.object(parser, "_PEEK", size), parsed, read:
        yield


def text_of(content: bytes) -> bytes | None:
    """Return the text in a file that may be packed, None where it cannot be unpacked."""
    if content[:2] != b"\x1f\x8b":
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        return None


def check(path: Path, content: bytes, missing: str, *, cache: bool) -> Outcome:
    """Hold the reader to the oracle's verdict."""
    path.write_bytes(content)
    try:
        data = load_letor(path, missing=missing, cache=cache)
        if cache:
            again = load_letor(path, missing=missing)
            assert same_bits(data.X, again.X) and same_bits(data.y, again.y)
            assert data.query_ids == again.query_ids and list(data.comments) == list(
                again.comments
            )
    except (FormatError, FileAccessError, DatasetError) as error:
        refuse(path, text_of(content), error, missing)
        return refusal(error, path)
    text = text_of(content)
    assert text is not None, "a damaged gzip file was read"
    contents = oracle.read(text)
    assert missing != "refuse" or not has_missing(contents)
    compare(data, contents, missing)
    return Outcome.READ


def without_repeats(text: bytes) -> tuple[int, int] | None:
    """Return what is wrong first but for features that come again, which sparse text is searched for last."""
    try:
        oracle.read(text, repeats=True)
    except oracle.Refused as refused:
        return refused.place
    return None


def refuse(
    path: Path, text: bytes | None, error: RankStudioError, missing: str
) -> None:
    """Make sure that what was refused had to be, at the place that the sentence tells."""
    # of a gzip file's head, which Python's reader looks at with less care
    flags = path.read_bytes()[3:4]
    if text is None or (isinstance(error, FileAccessError) and flags != b"\0"):
        assert isinstance(error, FileAccessError | FormatError)
        return
    # too much before anything else is looked at: a million columns
    if isinstance(error, DatasetError):
        assert b"00000:" in text
        return
    try:
        contents = oracle.read(text)
    except oracle.Refused as refused:
        if not isinstance(error, MissingValueError):  # which may come before it
            assert isinstance(error, FormatError)
            assert (error.line, error.column) in (refused.place, without_repeats(text))
        assert not error.line or f"line {error.line}" in str(error)
        return
    assert isinstance(error, MissingValueError), "nothing is wrong with it"
    assert missing == "refuse" and has_missing(contents)


def test_letor_text(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        missing = rng.choice(("query_min", "query_min", "zero", "refuse"))
        with pieces(rng):
            return check(
                folder / "train.txt",
                damaged_letor(rng),
                missing,
                cache=rng.random() < 0.1,
            )

    fuzz("LETOR text", attempt, 700)


def test_packed_letor_text(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        content = gzip.compress(damaged_letor(rng), mtime=0)
        if rng.random() < 0.5:
            content = mutated(rng, gzip.compress(rng.choice(LETOR), mtime=0), [content])
        elif rng.random() < 0.3:
            content += rng.choice(
                (b"\0" * 9, gzip.compress(rng.choice(LETOR)), b"\n", b"\x1f\x8b")
            )
        with pieces(rng):
            return check(folder / "train.txt.gz", content, "query_min", cache=False)

    fuzz("LETOR text packed", attempt, 400)


def test_folders_of_letor_text(fuzz: Fuzz) -> None:
    """One damaged part among others; what is read can be written, and is the same when read again."""

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        contents = {name: rng.choice(LETOR) for name in ("train", "vali", "test")}
        chosen = rng.choice(list(contents))
        contents[chosen] = damaged_letor(rng)
        for name, content in contents.items():
            (folder / f"{name}.txt").write_bytes(content)
        normalize = rng.choice((False, False, "query_minmax"))
        try:
            opened = open_dataset(folder, normalize=normalize, cache=False)
        except RankStudioError as error:
            return refusal(error, folder)
        part = opened.folds[0].parts[chosen]
        assert part.n_features == opened.n_features
        assert np.isfinite(part.X).all() and part.query_ptr[-1] == part.n_documents
        if normalize:
            # sparse ones are divided by the span, but zeros are not shifted
            values = np.asarray(part.X)
            least = -1.0 if isinstance(part.X, SparseRows) else 0.0
            assert values.min() >= least and values.max() <= 1.0
        if part.n_features < 10_000:
            written_again(part, folder / "again.txt")
        return Outcome.READ

    fuzz("LETOR folders", attempt, 250)


def written_again(data: RankingDataset, path: Path) -> None:
    if isinstance(data.X, SparseRows) and not np.asarray(data.X).any():
        return  # the text of a part without a feature cannot be read alone
    try:
        save_letor(data, path)
    except OutputError as error:
        refusal(error, path)
        return
    again = load_letor(path, cache=False)
    X, there = np.asarray(data.X), np.isin(data.feature_ids, again.feature_ids)
    # whose features are the ids that occur
    assert isinstance(data.X, SparseRows) or there.all()
    assert (
        same_bits(X[:, there], again.X)
        and not X[:, ~there].any()
        and same_bits(data.y, again.y)
    )
    assert list(data.query_ids) == list(again.query_ids)
