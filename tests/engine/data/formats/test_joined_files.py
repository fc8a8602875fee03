"""Files of formats whose ability may be absent: told by their marks, and refused with the plug-in's name."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from wording import naming

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats import format_catalog, joined_files, recognised_form
from rankstudio.engine.data.formats.built_in import FORMATS
from rankstudio.engine.data.formats.joined_files import (
    formats_to_record,
    holds_logs,
    logs_in,
    marked_formats,
)
from rankstudio.engine.errors import DatasetError, PlanError
from rankstudio.engine.support.resources import resource

LOG = {
    "_id": "d1",
    "fields": {"_ltrlog": [{"main": [{"name": "bm25", "value": 0.5}]}]},
    "qid": "1",
}
ABSENT = naming("search-engines absent")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "log.json").write_text(json.dumps(LOG))
    (tmp_path / "other.json").write_text('{"a": 1}')
    (tmp_path / "qrels.txt").write_text("1 0 d1 2\n")
    return tmp_path


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the formats of abilities out."""
    for module in (format_catalog, joined_files, recognised_form):
        monkeypatch.setattr(module, "data_formats", lambda: FORMATS)


def test_logs_are_told_by_name_and_beginning(logs: Path) -> None:
    assert logs_in(logs) == (logs / "log.json",)
    assert not holds_logs(logs) and not holds_logs(logs / "none.json")
    assert not any(
        form.is_begun_by(b'1 qid:1 1:2 # "_ltrlog"\n') for form in marked_formats()
    )
    assert all(
        form.is_begun_by('{"_ltrlog": []}'.encode("utf-16"))
        for form in marked_formats()
    )


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize("name", [".", "log.json"])
def test_without_the_ability_it_is_named(logs: Path, name: str) -> None:
    with pytest.raises(DatasetError, match=ABSENT):
        open_dataset(logs / name)
    with pytest.raises(DatasetError, match=ABSENT):
        open_dataset(logs / name, columns={"judgments": str(logs / "qrels.txt")})
    with pytest.raises(DatasetError, match=ABSENT):
        format_catalog.named_format("logs", logs)
    with pytest.raises(DatasetError, match=ABSENT):
        recognised_form.recognised_form(logs / "log.json", DataColumns())


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize(
    ("name", "content", "plugin"),
    [
        ("a.parquet", b"PAR1\0\0", "tables"),
        ("a", b"ARROW1\0\0aa", "tables"),
        ("a.feather", b"x y z\n", "tables"),
        ("a.jsonl", b'{"qid": 1}\n', "tables"),
        ("train.jsonl.gz", gzip.compress(b'{"qid": 1}\n', mtime=0), "tables"),
    ],
)
def test_without_an_ability_tables_are_told(
    tmp_path: Path, name: str, content: bytes, plugin: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DatasetError, match=naming(f"{plugin} absent")):
        open_dataset(tmp_path / name)


@pytest.mark.usefixtures("without")
def test_what_another_format_certainly_is_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("1 qid:1 1:2\n0 qid:1 1:1\n")
    assert open_dataset(tmp_path / "a.parquet").folds[0].train.n_documents == 2
    with pytest.raises(PlanError, match=naming("tables absent")):
        format_catalog.format_to_write("a.parquet.gz")
    assert format_catalog.format_to_write("a.csv").key == "csv"


def test_marked_formats_are_recorded_for_where_a_folder_is_absent() -> None:
    recorded = json.loads(
        resource("abilities", "data_formats.json").read_text(encoding="utf-8")
    )
    assert all(one in recorded for one in formats_to_record()), (
        "python packaging/abilities.py"
    )
