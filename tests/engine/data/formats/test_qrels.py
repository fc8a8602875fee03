"""Judgements and runs of TREC as data: one row a judged document, one feature a run."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.data_file import load_data, load_trec
from rankstudio.engine.errors import DataError, MissingValueError

QRELS = "7 0 a 2\n7 0 b 0\n7 0 c 1\n8 0 a -2\n8 0 d 1\n"
BM25 = "7 Q0 c 1 3.5 x\n7 Q0 a 2 2.5 x\n7 Q0 z 3 1 x\n8 Q0 d 1 9 x\n"
QL = "8 Q0 a 1 -1 y\n8 Q0 d 2 -2e0 y\n9 Q0 a 1 1 y\n7 Q0 a 1 -4\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(BM25)
    (tmp_path / "ql.trec.gz").write_bytes(gzip.compress(QL.encode()))
    return tmp_path


def test_a_folder_opens_with_a_feature_for_each_run(folder: Path) -> None:
    data = open_dataset(folder, missing="zero")
    part = data.folds[0].train
    assert part.feature_names == ("bm25", "ql") and data.read_as.format == "trec"
    assert part.query_ids == ("7", "8") and part.document_ids == ("a", "b", "c", "a", "d")
    assert part.y.tolist() == [2, 0, 1, 0, 1]  # a negative grade counts as 0
    assert part.X.tolist() == [[2.5, -4], [0, 0], [3.5, 0], [0, -1], [9, -2]]
    assert part.missing.tolist() == [2, 2]
    assert naming("2 documents judgement").search("".join(part.warnings))
    assert "1 negative judgements" in "".join(part.warnings)


def test_what_a_run_did_not_retrieve_is_missing(folder: Path) -> None:
    part = open_dataset(folder).folds[0].train
    assert part.X[:, 0].tolist() == [2.5, 2.5, 3.5, 9, 9]  # the least score of the query
    with pytest.raises(MissingValueError, match="line 2"):
        open_dataset(folder, missing="refuse")


def test_files_may_be_named(folder: Path) -> None:
    named = load_trec(folder / "qrels.txt", {"x": folder / "ql.trec.gz", "y": folder / "bm25.run"})
    beside = load_data(folder / "qrels.txt")
    assert named.feature_names == ("x", "y")
    assert np.array_equal(named.X, beside.X[:, ::-1]) and named.source != beside.source


def test_a_changed_run_is_other_data(folder: Path) -> None:
    before = open_dataset(folder).checksum
    (folder / "bm25.run").write_text(BM25.replace("3.5", "3.25"))
    assert open_dataset(folder).checksum != before


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("bm25.run", "7 Q0 a 1 nan x\n", "bm25.run 1 TREC"),
        ("bm25.run", "", "lines"),
        ("bm25.run", "7 Q0 a 1 inf x\n", "bm25 7"),
        ("qrels.txt", QRELS + "7 0 a 1\n", "6 document query"),
        ("qrels.txt", QRELS + "7 0 q high\n", "6 TREC"),
        ("ql.run", QL, "ql.run ql.trec.gz"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, name: str, content: str, sentence: str) -> None:
    (folder / name).write_text(content)
    with pytest.raises(DataError, match=naming(sentence)):
        open_dataset(folder)


def test_judgements_alone_are_refused(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    with pytest.raises(DataError, match=naming("TREC")):
        open_dataset(tmp_path)


PAIRS = st.dictionaries(
    st.tuples(st.sampled_from("pqr"), st.sampled_from("abcdef")), st.integers(0, 3), min_size=1
)
RUN = st.dictionaries(
    st.tuples(st.sampled_from("pqrs"), st.sampled_from("abcdefg")), st.floats(-1e6, 1e6), min_size=1
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(judged=PAIRS, runs=st.lists(RUN, min_size=1, max_size=3))
def test_every_judged_document_has_its_scores(
    judged: dict[tuple[str, str], int], runs: list[dict[tuple[str, str], float]], tmp_path: Path
) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"{q} 0 {d} {y}\n" for (q, d), y in judged.items()))
    paths = {}
    for i, run in enumerate(runs):
        paths[f"r{i}"] = tmp_path / f"r{i}.run"
        paths[f"r{i}"].write_text("".join(f"{q} Q0 {d} 0 {s!r} t\n" for (q, d), s in run.items()))
    data = load_trec(qrels, paths, missing="zero")
    rows = [(data.query_ids[q], d) for q, d in zip(data.query_index.tolist(), data.document_ids, strict=True)]
    assert sorted(rows) == sorted(judged)
    assert data.y.tolist() == [judged[row] for row in rows]
    assert data.X.tolist() == [[run.get(row, 0.0) for run in runs] for row in rows]
