"""``rankstudio reproduce``: every cell that a paper lets one check agrees."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from letor_folder import save_folds
from wording import naming

from rankstudio.cli import main
from rankstudio.cli.progress_bar import ProgressBar
from rankstudio.engine.analysis.published import Reproduction
from rankstudio.engine.experiment.results.events import FoldFinished
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.methods.catalog import method

_LAMBDA = {"regularization": 1.0}

PAPER = Reproduction(
    "small",
    "A small paper",
    {
        "ED, RLS": {"method": "expected-divergence", "ranker": "rankrls", "ranker_parameters": _LAMBDA},
        "WAF, RLS": {"method": "rankrls", "parameters": _LAMBDA},
    },
    [
        {
            "number": "Table 1",
            "title": "number of features",
            "dataset": "Made",
            "measure": "MAP",
            "used": {"ED": {"RLS": 60}, "WAF": {"RLS": 46}},
        }
    ],
    ("nobody knows how",),
)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five folds of LETOR text, and a small paper about them."""
    root = tmp_path / "Made"
    save_folds(root, n_queries=40, seed=3)
    monkeypatch.setattr("rankstudio.cli.commands.reproduce.load_reproduction", lambda key: PAPER)
    return root


def test_tables_notes_and_what_agrees_are_printed(made, capsys) -> None:
    assert main(["reproduce", "fs-ed", "--data", str(made)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("A small paper, on Made\n\nTable 1: number of features\n")
    used, waf = (line.split() for line in printed.out.splitlines()[5:7])
    assert (used[:2], waf) == (["ED", "60"], ["WAF", "46", "✓"])
    assert "ED, MAP" in printed.out
    assert naming("nobody knows how. 1 of 2").search(printed.out)
    assert naming("1 2 ED RLS Expected RankRLS").search(printed.err)


def test_json_has_tables_notes_and_counts(made, capsys) -> None:
    assert main(["reproduce", "fs-ed", "--data", str(made), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert (values["paper"], values["data"]) == ("A small paper", "Made")
    assert values["notes"] == ["nobody knows how"]
    assert (values["promised"], values["open"]) == (
        {"cells": 0, "agree": 0},
        {"cells": 2, "agree": 1},
    )
    (table,) = values["tables"]
    assert [row["label"] for row in table["rows"]] == ["ED", "WAF", "ED, MAP", "WAF, MAP"]


def test_what_lacks_a_library_is_told_before_the_work(made, capsys, monkeypatch) -> None:
    ranker = method("rankrls")
    monkeypatch.setattr(type(ranker), "lacking", property(lambda m: "It lacks all." if m == ranker else ""))
    assert main(["reproduce", "fs-ed", "--data", str(made)]) == 1
    assert capsys.readouterr().err == "rankstudio: It lacks all.\n"


def test_what_was_stopped_goes_on_from_its_study(made, tmp_path, monkeypatch, capfd) -> None:
    command = ["reproduce", "fs-ed", "--data", str(made), "--study", str(tmp_path / "a.rankstudio")]
    show = ProgressBar.show

    def pressing(self: ProgressBar, event: object) -> None:
        show(self, event)  # type: ignore[arg-type]
        if isinstance(event, FoldFinished) and event.result.fold == 2:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(ProgressBar, "show", pressing)
        assert main(command) == 130
    printed = capfd.readouterr()
    assert printed.out == ""
    assert naming("2 folds").search(printed.err)
    assert f"  rankstudio {' '.join(command)}" in printed.err
    assert main(command) == 0
    with Study.open(tmp_path / "a.rankstudio") as study:
        assert [bool(run.finished) for run in study.runs()] == [True, True]


@pytest.mark.realdata
@pytest.mark.thorough
def test_greedy_rankrls_on_mq2008_agrees_in_every_cell(letor_dir: Path, capsys) -> None:
    assert main(["reproduce", "greedy-rankrls", "--data", str(letor_dir / "MQ2008"), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    tables = values["tables"]
    assert values["promised"]["agree"] == values["promised"]["cells"] == 75
    assert values["notes"][0].startswith("RankSVM: trained with SVM^rank")
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
    assert naming("fsmrank Other OHSUMED MQ2008").search(capsys.readouterr().err)
