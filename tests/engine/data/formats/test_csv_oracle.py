"""Odd but legal CSV is what Python's own reader makes of it, in memory and read by pieces."""

from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.formats import csv_text
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.formats.part_reader import part_of, read_files, read_to_disk
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.table import Table
from rankstudio.engine.data.table_builder import Treatment
from rankstudio.engine.data.table_preview import preview_table
from rankstudio.engine.data.tabular.recognition import clean_name

DELIMITERS = ",;|\t"
ODD = st.text(alphabet='ab"\n\r ,;|\tß', max_size=6)
NAMES = st.builds(lambda first, rest: first + rest, st.sampled_from("cdef"), ODD)


@dataclass(frozen=True)
class CsvFile:
    """A file, and what it is told of: the first column has the query, the second one the label."""

    content: bytes
    delimiter: str
    names: tuple[str, ...]

    @property
    def told(self) -> DataColumns:
        """Which columns are query and label; the last one is a text."""
        return DataColumns(clean_name(self.names[0]), clean_name(self.names[1]), ignore=("note",))

    def documents(self) -> list[list[str]]:
        """Return the cells of each document by Python's reader; a line of blanks is none."""
        text = self.content.decode("utf-8-sig")
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, skipinitialspace=True)
        return [row for row in rows if len(row) > 1][1:]


@st.composite
def csv_files(draw: st.DrawFn) -> CsvFile:
    """Draw a file with breaks, quotation marks, separators and blanks in its header and its cells."""
    delimiter = draw(st.sampled_from(DELIMITERS))
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    names = (*draw(st.lists(NAMES, min_size=3, max_size=5, unique_by=clean_name)), "note")
    blank = st.sampled_from(["", "", "", end, end + end, " " + end])

    def cell(value: str) -> str:
        needs = any(c in value for c in '"\r\n' + DELIMITERS) or value != value.strip()
        if needs or draw(st.booleans()):
            value = '"' + value.replace('"', '""') + '"'
        return draw(st.sampled_from(["", "", " "])) + value

    def number() -> str:
        return draw(st.sampled_from(["0", "1", "-2.5", "1e3", " 4 ", "7"]))

    rows = [names]
    for _ in range(draw(st.integers(1, 12))):
        query, label = draw(st.sampled_from(["7", "q 8", "09"])), draw(st.sampled_from("0123"))
        rows.append((query, label, *(number() for _ in names[3:]), draw(ODD)))
    text = draw(blank) + "".join(delimiter.join(map(cell, row)) + end + draw(blank) for row in rows)
    if draw(st.booleans()):
        text = text.removesuffix(end)
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return CsvFile((mark + text).encode(), delimiter, names)


def read(file: CsvFile, *, on_disk: bool, chunk: int) -> Table:
    """Read a file, so many characters at a time, into memory or as one larger than the memory budget."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKSTUDIO_CACHE_DIR", str(Path(folder) / "cache"))
        patch.setattr(csv_text, "CHUNK", chunk)
        path = Path(folder) / "some.csv"
        path.write_bytes(file.content)
        if on_disk:
            part = part_of((path,), "csv", file.told, refuse=False)
            return read_to_disk(part, ReadProgress(), Treatment("zero", False)).table
        return read_files((path,), ReadProgress(), file.told, refuse=False, cache=False).table


def hold(file: CsvFile, table: Table) -> None:
    """Hold what was read against Python's reader: counts, queries, labels, sums and every value."""
    rows = file.documents()
    ids = list(dict.fromkeys(row[0].strip() for row in rows))
    assert len(table.y) == len(rows) and list(table.query_ids) == ids
    by_query = sorted(rows, key=lambda row: ids.index(row[0].strip()))
    values: Floats = np.array([[float(cell) for cell in row[1:-1]] for row in by_query])
    assert np.asarray(table.y).tolist() == values[:, 0].tolist()
    assert np.diff(table.query_ptr).tolist() == [sum(row[0].strip() == name for row in rows) for name in ids]
    assert table.X.sum() == pytest.approx(values[:, 1:].sum())
    assert np.asarray(table.X).tolist() == values[:, 1:].tolist()
    assert table.feature_names == tuple(map(clean_name, file.names[2:-1]))


def of(text: str) -> CsvFile:
    """Return a file with commas, four columns, and the names that its header has."""
    names = next(row for row in csv.reader(io.StringIO(text, newline="")) if len(row) > 1)
    return CsvFile(text.encode(), ",", tuple(names))


BREAK_IN_HEADER = of('c,d,"e\ne\ne",note\n1,1,1,\n1,0,2,\n2,1,3,\n2,0,4,\n')
CARRIAGE_RETURNS = of('\rc,d,e,note\r1,1,1,\r1,0,"2",\r2,1,3,\r2,0,4,\r')
SEPARATORS_IN_HEADER = of('c,d,"e;;;;;;",note\n1,1,1,\n1,0,2,\n')
MARK_IN_CELL = of('c,d,e,note\n1,1,1,12" pipe\n1,0,2,"a\nb"\n2,1,3,\n2,0,4,""\n')


@given(csv_files())
@example(BREAK_IN_HEADER)
@example(CARRIAGE_RETURNS)
@example(SEPARATORS_IN_HEADER)
@example(MARK_IN_CELL)
def test_every_document_is_read_in_memory(file: CsvFile) -> None:
    hold(file, read(file, on_disk=False, chunk=1 << 20))
    hold(file, read(file, on_disk=False, chunk=30))


@given(csv_files())
@example(BREAK_IN_HEADER)
@example(CARRIAGE_RETURNS)
@example(SEPARATORS_IN_HEADER)
@example(MARK_IN_CELL)
def test_every_document_is_read_by_pieces(file: CsvFile) -> None:
    hold(file, read(file, on_disk=True, chunk=30))


def test_the_preview_shows_the_documents_below_a_header_of_several_lines(tmp_path: Path) -> None:
    (tmp_path / "some.csv").write_bytes(BREAK_IN_HEADER.content)
    preview = preview_table(tmp_path / "some.csv")
    assert preview.names == ("c", "d", "e e e", "note")
    assert [row[2] for row in preview.rows] == ["1", "2", "3", "4"]


def test_a_header_longer_than_what_is_looked_at_first(tmp_path: Path) -> None:
    names = [f"a feature with a very long name {i:06d}" for i in range(4000)]
    rows = [["qid", "label", *names], ["1", "2", *map(str, range(4000))]]
    (tmp_path / "some.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    data = load_data(tmp_path / "some.csv", cache=False)
    assert data.feature_names == tuple(names) and data.X.tolist() == [list(range(4000))]
