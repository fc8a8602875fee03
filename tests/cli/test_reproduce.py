"""``rankstudio reproduce``: every cell that a paper lets one check agrees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankstudio.cli import main


@pytest.mark.realdata
@pytest.mark.slow
def test_greedy_rankrls_on_mq2008_agrees_in_every_cell(letor_dir: Path, capsys) -> None:
    assert main(["reproduce", "greedy-rankrls", "--data", str(letor_dir / "MQ2008"), "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert [table["title"].split(":")[0] for table in tables] == [f"Table {n}" for n in (2, 7, 8, 9, 10)]
    for table in tables:
        for row in table["rows"]:
            for column, cell in zip(table["columns"], row["cells"], strict=True):
                assert cell["agrees"] or column == "RankSVM", (table["title"], row["label"], column, cell)


def test_data_without_a_table_are_refused(tmp_path: Path, capsys) -> None:
    (tmp_path / "Other").mkdir()
    for name in ("train", "vali", "test"):
        (tmp_path / "Other" / f"{name}.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.25\n")
    assert main(["reproduce", "fsmrank", "--data", str(tmp_path / "Other")]) == 1
    assert "fsmrank has no table on Other; it has some on OHSUMED, MQ2008." in capsys.readouterr().err
