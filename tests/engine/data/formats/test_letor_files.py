"""The real files: what their README counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from data import letor_oracle as oracle
from wording import naming

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.errors import MissingValueError

pytestmark = pytest.mark.realdata


def counts(d: FoldedDataset, fold: int) -> list[tuple[int, int]]:
    return [(p.n_documents, p.n_queries) for p in d.folds[fold - 1].parts.values()]


def test_mq2008(letor_dir: Path) -> None:
    d = open_dataset(letor_dir / "MQ2008")
    assert (d.name, d.origin.known, d.convention, len(d.folds)) == (
        "MQ2008",
        "letor4",
        "letor4",
        5,
    )
    assert counts(d, 1) == [(9630, 471), (2707, 157), (2874, 156)]
    tests = [f.test for f in d.folds if f.test is not None]
    assert sum(t.n_documents for t in tests) == 15211
    assert sum(t.n_queries for t in tests) == 784
    relevant = [np.add.reduceat(t.y, t.query_ptr[:-1]) for t in tests]
    assert sum(int((r == 0).sum()) for r in relevant) == 220
    constant = np.logical_and.reduce([t.constant_features for t in tests])
    assert (np.flatnonzero(constant) + 1).tolist() == [6, 7, 8, 9, 10, 43]
    assert d.feature_names[38] == "LMIR.DIR of whole document"
    train = d.folds[0].train
    assert train.document_ids[0] == "GX008-86-4444840"
    assert train.comments[0] == "docid = GX008-86-4444840 inc = 1 prob = 0.086622"
    assert train.X[0, 0] == 0.007477
    assert not d.warnings


def test_ohsumed(letor_dir: Path) -> None:
    d = open_dataset(letor_dir / "OHSUMED" / "QueryLevelNorm")
    assert (d.name, d.origin.known, d.convention) == (
        "OHSUMED QueryLevelNorm",
        "ohsumed",
        "letor3",
    )
    tests = [f.test for f in d.folds if f.test is not None]
    assert sum(t.n_documents for t in tests) == 16140
    assert sum(t.n_queries for t in tests) == 106
    assert d.n_features == 45
    assert tests[0].document_ids[0].isdigit()


def test_the_null_values_of_ohsumed(letor_dir: Path) -> None:
    folder = letor_dir / "OHSUMED" / "Feature-null"
    least, zero = open_dataset(folder), open_dataset(folder, missing="zero")
    a, b = least.folds[0].train, zero.folds[0].train
    affected = [*range(11, 16), *range(26, 31), *range(41, 46)]
    assert (np.flatnonzero(a.missing) + 1).tolist() == affected
    assert a.missing.sum() == 30980
    untouched = np.setdiff1d(np.arange(45), np.array(affected) - 1)
    assert (a.X[:, untouched] == b.X[:, untouched]).all()
    text = oracle.read((folder / "Fold1" / "train.txt").read_bytes())
    raw = np.array([[d.features[i] for i in range(1, 46)] for d in text.documents])
    for q in range(a.n_queries):
        rows = slice(a.query_ptr[q], a.query_ptr[q + 1])
        for column in range(45):
            values = raw[rows, column]
            absent = np.isnan(values)
            expected = np.where(
                absent, values[~absent].min() if (~absent).any() else 0.0, values
            )
            assert (a.X[rows, column] == expected).all()
            assert (b.X[rows, column] == np.where(absent, 0.0, values)).all()
    with pytest.raises(MissingValueError, match=naming("train.txt NULL")):
        open_dataset(folder, missing="refuse")


def test_the_features_of_ohsumed_are_what_their_names_say(letor_dir: Path) -> None:
    """BM25 and its logarithm stand where the table has them, and title and abstract add up."""
    d = (
        open_dataset(letor_dir / "OHSUMED" / "Feature-null", missing="zero")
        .folds[0]
        .train
    )
    column = {name: d.X[:, i] for i, name in enumerate(d.feature_names)}
    for stream in ("title", "abstract", "title and abstract"):
        there = column[f"BM25 of {stream}"] > 0
        logs = np.log(column[f"BM25 of {stream}"][there])
        np.testing.assert_allclose(
            logs, column[f"log(BM25) of {stream}"][there], atol=1e-5
        )
    np.testing.assert_array_equal(
        column["TF of title"] + column["TF of abstract"],
        column["TF of title and abstract"],
    )


def test_mslr(letor_dir: Path) -> None:
    d = open_dataset(letor_dir / "MSLR-WEB10K_sample")
    assert (d.origin.known, d.convention) == ("mslr", "mslr")
    assert [rows for rows, _ in counts(d, 1)] == [5000, 1063, 5000]
    train = d.folds[0].train
    assert train.feature_names[129] == "PageRank"
    assert set(np.unique(train.y)) <= {0.0, 1.0, 2.0, 3.0, 4.0}
    assert train.comments[0] == ""
    assert train.X[0, 127] == 11089534.0


@pytest.mark.parametrize(
    "name", ["MQ2008/Fold1/vali.txt", "MSLR-WEB10K_sample/Fold1/vali_sample.txt"]
)
def test_every_number_against_the_oracle(letor_dir: Path, name: str) -> None:
    d = load_letor(letor_dir / name, cache=False)
    documents = oracle.read((letor_dir / name).read_bytes()).documents
    assert d.X.tolist() == [list(x.features.values()) for x in documents]
    assert d.y.tolist() == [x.label for x in documents]
    assert list(d.comments) == [x.comment for x in documents]
