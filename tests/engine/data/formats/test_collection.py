"""Judgements of collections by their ids in ir_datasets."""

from __future__ import annotations

import sys
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine import load_letor
from rankstudio.engine.data.formats.data_file import load_trec
from rankstudio.engine.data.formats.trec import collection_judgements
from rankstudio.engine.data.source_file import read_lines
from rankstudio.engine.errors import DatasetError, FormatError, MissingExtraError

TrecQrel = namedtuple("TrecQrel", "query_id doc_id relevance iteration")
GenericQrel = namedtuple("GenericQrel", "query_id doc_id relevance")
Preference = namedtuple("Preference", "query_id doc_id_a doc_id_b")

QRELS = [
    TrecQrel("7", "a", 2, "0"),
    GenericQrel("7", "b", 0),
    TrecQrel("8", "a", -2, ""),
    GenericQrel("8", "d", 1),
]
PLACE = Path("ir_datasets:msmarco-passage/dev")
RUN = "7 Q0 a 1 3.5 x\n8 Q0 d 1 9 x\n"


class Library:
    """What is documented of the module: load(id), which is unknown or has judgements to iterate over."""

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


def test_judgements_are_those_of_a_file_with_the_same_lines(tmp_path: Path) -> None:
    found = collection_judgements(PLACE, lambda: Library(QRELS))
    (tmp_path / "qrels").write_text("7 0 a 2\n7 0 b 0\n8 0 a -2\n8 0 d 1")
    file = read_lines(tmp_path / "qrels")
    assert (found.lines, found.checksum, found.size) == (file.lines, file.checksum, file.size)
    assert found.path == PLACE


def test_they_become_data_with_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", Library(QRELS))
    (tmp_path / "one.run").write_text(RUN)
    data = load_trec(PLACE, {"one": tmp_path / "one.run"}, missing="zero")
    assert data.document_ids == ("a", "b", "a", "d") and data.y.tolist() == [2, 0, 0, 1]
    assert data.X[:, 0].tolist() == [3.5, 0, 0, 9]
    assert data.source is not None and data.source.path == PLACE


def test_the_terminal_converts_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", Library(QRELS))
    (tmp_path / "one.run").write_text(RUN)
    out = tmp_path / "graded.txt"
    assert main(["convert", "--qrels", str(PLACE), "--run", f"one={tmp_path / 'one.run'}", str(out)]) == 0
    assert load_letor(out).y.tolist() == [2, 0, 0, 1]
    assert main(["convert", str(PLACE), str(out), "--force"]) != 0
    assert naming("--run TREC").search(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("qrels", "sentence"),
    [
        (None, "no judgements"),
        (
            OSError("docs.tgz does not exist.\n\nTo proceed, …"),
            "docs.tgz does not",
        ),
        ([Preference("7", "a", "b")], "'Preference' object has no attribute"),
        ([GenericQrel("7", "a b", 1)], "expected an id without spaces, found 'a b'"),
        ([GenericQrel("7", "", 1)], "expected an id without spaces, found ''"),
    ],
)
def test_what_is_wrong_is_said(qrels: Any, sentence: str) -> None:
    with pytest.raises(DatasetError, match=f"^ir_datasets:msmarco-passage/dev: .*{sentence}"):
        collection_judgements(PLACE, lambda: Library(qrels))


def test_a_collection_that_is_not_known_is_named() -> None:
    with pytest.raises(DatasetError, match=naming("msmarco")):
        collection_judgements(Path("ir_datasets:msmarco"), lambda: Library(QRELS))


def test_lines_are_checked_as_those_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", Library([*QRELS, QRELS[0]]))
    (tmp_path / "one.run").write_text(RUN)
    with pytest.raises(FormatError, match=naming("msmarco-passage/dev 5")):
        load_trec(PLACE, {"one": tmp_path / "one.run"})


def test_without_the_library_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(MissingExtraError, match=r'pip install "rankstudio\[ir-datasets\]"'):
        collection_judgements(PLACE)


def test_the_library_itself_gives_what_it_has_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = pytest.importorskip("ir_datasets", reason="the extra ir-datasets is not installed")
    (tmp_path / "qrels").write_text("7 0 a 2\n7 0 b 0\n")
    made = library.create_dataset(qrels_trec=str(tmp_path / "qrels"))
    monkeypatch.setattr(library, "load", lambda name: made)
    assert collection_judgements(PLACE).lines == ("7 0 a 2", "7 0 b 0")
    monkeypatch.undo()
    with pytest.raises(DatasetError, match="no/such"):
        collection_judgements(Path("ir_datasets:no/such"))
