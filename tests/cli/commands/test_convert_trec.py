"""``rankstudio convert --qrels``: judgements and runs of TREC become data."""

from __future__ import annotations

from pathlib import Path

import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.data.formats.data_file import load_data


def test_judged_documents_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, run, out = tmp_path / "judged.txt", tmp_path / "one", tmp_path / "out.csv"
    qrels.write_text("7 0 a 2\n7 0 b 0\n8 0 c 1\n")
    run.write_text("7 Q0 b 1 0.5 t\n7 Q0 a 2 0.25 t\n8 Q0 x 1 1 t\n")
    command = ["convert", "--qrels", str(qrels), "--run", f"bm25={run}", "--run", f"again={run}", str(out)]
    assert main([*command, "--missing", "zero"]) == 0
    assert naming("1 documents judgement").search(capsys.readouterr().err)
    data = load_data(out)
    assert data.feature_names == ("bm25", "again") and data.y.tolist() == [2, 0, 1]
    assert data.X.tolist() == [[0.25, 0.25], [0.5, 0.5], [0, 0]]
    assert data.document_ids == ("a", "b", "c")
    assert main(command) != 0 and "--force" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--qrels", "q", "out"], "--qrels --run TREC"),
        (["--qrels", "q", "--run", "b", "out"], "--run"),
    ],
)
def test_what_is_wrong_is_said(
    options: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = [str(tmp_path / o) if o in ("out", "q") else o for o in options]
    assert main(["convert", *names]) != 0
    assert naming(sentence).search(capsys.readouterr().err)
