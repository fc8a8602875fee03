"""Judgments and runs of TREC as data: a row a judged document, a feature a run; collections by their ids."""

from __future__ import annotations

import gzip
import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wording import naming

from rankstudio.cli import main
from rankstudio.engine import load_letor
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.data_file import load_data, load_trec
from rankstudio.engine.data.formats.trec import collection_judgments
from rankstudio.engine.data.source_file import read_lines
from rankstudio.engine.errors import (
    DataError,
    DatasetError,
    FormatError,
    MissingExtraError,
    MissingValueError,
)

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
    assert part.feature_names == ("bm25", "ql") and data.origin.read_as.format == "trec"
    assert part.query_ids == ("7", "8") and part.document_ids == (
        "a",
        "b",
        "c",
        "a",
        "d",
    )
    assert part.y.tolist() == [2, 0, 1, 0, 1]  # a negative grade counts as 0
    assert part.X.tolist() == [[2.5, -4], [0, 0], [3.5, 0], [0, -1], [9, -2]]
    assert part.missing.tolist() == [2, 2]
    assert naming("2 documents judgment").search("".join(part.warnings))
    assert "1 negative judgment counts" in "".join(part.warnings)


def test_what_a_run_did_not_retrieve_is_missing(folder: Path) -> None:
    part = open_dataset(folder).folds[0].train
    # the least score of the query
    assert part.X[:, 0].tolist() == [2.5, 2.5, 3.5, 9, 9]
    with pytest.raises(MissingValueError, match="line 2"):
        open_dataset(folder, missing="refuse")


def test_files_may_be_named(folder: Path) -> None:
    named = load_trec(
        folder / "qrels.txt", {"x": folder / "ql.trec.gz", "y": folder / "bm25.run"}
    )
    beside = load_data(folder / "qrels.txt")
    assert named.feature_names == ("x", "y")
    assert np.array_equal(named.X, beside.X[:, ::-1]) and named.source != beside.source


def test_a_changed_run_is_other_data(folder: Path) -> None:
    before = open_dataset(folder).origin.checksum
    (folder / "bm25.run").write_text(BM25.replace("3.5", "3.25"))
    assert open_dataset(folder).origin.checksum != before


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
def test_what_is_wrong_is_said(
    folder: Path, name: str, content: str, sentence: str
) -> None:
    (folder / name).write_text(content)
    with pytest.raises(DataError, match=naming(sentence)):
        open_dataset(folder)


def test_judgments_alone_are_refused(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text(QRELS)
    with pytest.raises(DataError, match=naming("TREC")):
        open_dataset(tmp_path)


PAIRS = st.dictionaries(
    st.tuples(st.sampled_from("pqr"), st.sampled_from("abcdef")),
    st.integers(0, 3),
    min_size=1,
)
RUN = st.dictionaries(
    st.tuples(st.sampled_from("pqrs"), st.sampled_from("abcdefg")),
    st.floats(-1e6, 1e6),
    min_size=1,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(judged=PAIRS, runs=st.lists(RUN, min_size=1, max_size=3))
def test_every_judged_document_has_its_scores(
    judged: dict[tuple[str, str], int],
    runs: list[dict[tuple[str, str], float]],
    tmp_path: Path,
) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"{q} 0 {d} {y}\n" for (q, d), y in judged.items()))
    paths = {}
    for i, run in enumerate(runs):
        paths[f"r{i}"] = tmp_path / f"r{i}.run"
        paths[f"r{i}"].write_text(
            "".join(f"{q} Q0 {d} 0 {s!r} t\n" for (q, d), s in run.items())
        )
    data = load_trec(qrels, paths, missing="zero")
    rows = [
        (data.query_ids[q], d)
        for q, d in zip(data.query_index.tolist(), data.document_ids, strict=True)
    ]
    assert sorted(rows) == sorted(judged)
    assert data.y.tolist() == [judged[row] for row in rows]
    assert data.X.tolist() == [[run.get(row, 0.0) for run in runs] for row in rows]


TrecQrel = namedtuple("TrecQrel", "query_id doc_id relevance iteration")
GenericQrel = namedtuple("GenericQrel", "query_id doc_id relevance")
Preference = namedtuple("Preference", "query_id doc_id_a doc_id_b")

JUDGED = [
    TrecQrel("7", "a", 2, "0"),
    GenericQrel("7", "b", 0),
    TrecQrel("8", "a", -2, ""),
    GenericQrel("8", "d", 1),
]
PLACE = Path("ir_datasets:msmarco-passage/dev")
ONE_RUN = "7 Q0 a 1 3.5 x\n8 Q0 d 1 9 x\n"


class Library:
    """What is documented of the module: load(id), which is unknown or has judgments to iterate over."""

    def __init__(self, qrels: list[Any] | Exception | None) -> None:
        self.qrels = qrels

    def load(self, name: str) -> Any:
        if name != "msmarco-passage/dev":
            raise KeyError(name)
        if self.qrels is None:
            return SimpleNamespace(docs_iter=list)
        return SimpleNamespace(qrels_iter=self.iterate)

    def iterate(self) -> Any:
        if isinstance(self.qrels, Exception):
            raise self.qrels
        yield from self.qrels or ()


@pytest.fixture
def collections(monkeypatch: pytest.MonkeyPatch) -> Library:
    """The judgments of a collection, in place of the library."""
    library = Library(JUDGED)
    monkeypatch.setitem(sys.modules, "ir_datasets", library)
    return library


@pytest.mark.usefixtures("collections")
def test_judgments_are_those_of_a_file_with_the_same_lines(tmp_path: Path) -> None:
    found = collection_judgments(PLACE)
    (tmp_path / "qrels").write_text("7 0 a 2\n7 0 b 0\n8 0 a -2\n8 0 d 1")
    file = read_lines(tmp_path / "qrels")
    assert (found.lines, found.checksum, found.size) == (
        file.lines,
        file.checksum,
        file.size,
    )
    assert found.path == PLACE


@pytest.mark.usefixtures("collections")
def test_the_terminal_converts_them(tmp_path: Path, capsys) -> None:
    (tmp_path / "one.run").write_text(ONE_RUN)
    out = tmp_path / "graded.txt"
    command = [
        "convert",
        "--qrels",
        str(PLACE),
        "--run",
        f"one={tmp_path / 'one.run'}",
        str(out),
    ]
    assert main([*command, "--missing", "zero"]) == 0
    data = load_letor(out)
    assert data.y.tolist() == [2, 0, 0, 1] and data.X[:, 0].tolist() == [3.5, 0, 0, 9]
    assert data.document_ids == ("a", "b", "a", "d")
    assert main(["convert", str(PLACE), str(out), "--force"]) != 0
    assert naming("--run TREC").search(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("qrels", "sentence"),
    [
        (None, "no judgments"),
        (
            OSError("docs.tgz does not exist.\n\nTo proceed, …"),
            "docs.tgz does not",
        ),
        ([Preference("7", "a", "b")], "'Preference' object has no attribute"),
        ([GenericQrel("7", "a b", 1)], "expected an id without spaces, found 'a b'"),
        ([GenericQrel("7", "", 1)], "expected an id without spaces, found ''"),
    ],
)
def test_what_is_wrong_with_a_collection_is_said(
    qrels: Any, sentence: str, collections: Library
) -> None:
    collections.qrels = qrels
    with pytest.raises(
        DatasetError, match=f"^ir_datasets:msmarco-passage/dev: .*{sentence}"
    ):
        collection_judgments(PLACE)


@pytest.mark.usefixtures("collections")
def test_a_collection_that_is_not_known_is_named() -> None:
    with pytest.raises(DatasetError, match=naming("msmarco")):
        collection_judgments(Path("ir_datasets:msmarco"))


def test_lines_are_checked_as_those_of_a_file(
    tmp_path: Path, collections: Library
) -> None:
    collections.qrels = [*JUDGED, JUDGED[0]]
    (tmp_path / "one.run").write_text(ONE_RUN)
    with pytest.raises(FormatError, match=naming("msmarco-passage/dev 5")):
        load_trec(PLACE, {"one": tmp_path / "one.run"})


def test_without_the_library_its_extra_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(
        MissingExtraError, match=r'pip install "rankstudio\[ir-datasets\]"'
    ):
        collection_judgments(PLACE)


def test_the_library_itself_gives_what_it_has_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = pytest.importorskip(
        "ir_datasets", reason="the extra ir-datasets is not installed"
    )
    (tmp_path / "qrels").write_text("7 0 a 2\n7 0 b 0\n")
    made = library.create_dataset(qrels_trec=str(tmp_path / "qrels"))
    monkeypatch.setattr(library, "load", lambda name: made)
    assert collection_judgments(PLACE).lines == ("7 0 a 2", "7 0 b 0")
    monkeypatch.undo()
    with pytest.raises(DatasetError, match="no/such"):
        collection_judgments(Path("ir_datasets:no/such"))
