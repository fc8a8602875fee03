"""Names that spreadsheets would compute are written as texts, and read back as they were."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.export.tables import csv_text
from rankstudio.engine.support.escaping import guarded, unguarded

FORMULAS = ("=cmd|' /C calc'!A0", "+cmd", "-2+3", "@SUM(A1)", "\t=1", "＝1", "-", "--x")


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize("name", FORMULAS)
def test_a_formula_is_written_as_text(name: str, separator: str) -> None:
    ((cell,),) = csv.reader(io.StringIO(csv_text([name], [], separator), newline=""), delimiter=separator)
    assert cell.startswith("'") and "\t=" not in cell
    assert unguarded(cell) == name


def test_a_formula_behind_a_semicolon_is_written_as_text() -> None:
    assert guarded("BM25;=cmd") == "BM25;'=cmd"


def test_numbers_and_other_texts_stay_as_they_are() -> None:
    row = [-0.5, -3, True, None, "-0.5", "+1e-3", "-inf", "BM25 of title", "a-b", "x = 1", "'quoted'"]
    assert csv_text(["n"], [row]).splitlines()[1] == (
        "-0.5,-3,True,,-0.5,+1e-3,-inf,BM25 of title,a-b,x = 1,'quoted'"
    )


@given(st.text(alphabet="'=+-@\t\r\n;,a1 ＝", max_size=12))
@example("'=x")
@example("''-")
def test_what_is_guarded_reads_back(text: str) -> None:
    assert unguarded(str(guarded(text))) == text


def test_names_of_features_that_we_wrote_are_read_as_they_were(tmp_path: Path) -> None:
    names = ["=cmd|' /C calc'!A0", "-2+3", "'=quoted", "BM25, title"]
    (tmp_path / "data.txt").write_text("1 qid:1 1:0 2:0 3:0 4:1\n0 qid:1 1:1 2:0 3:0 4:1\n")
    (tmp_path / "features.csv").write_text(csv_text(("id", "name"), enumerate(names, start=1)))
    data = load_letor(tmp_path / "data.txt", cache=False)
    assert list(data.feature_names) == names
