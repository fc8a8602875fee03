"""``rankstudio reproduce``: every cell that a paper lets one check agrees, and the findings of a thesis."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from letor_folder import save_folds
from wording import naming

from rankstudio.cli import main
from rankstudio.cli.progress_bar import ProgressBar
from rankstudio.engine.experiment.results.events import FoldFinished
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.methods.catalog import method
from rankstudio.plugins.papers import airola_2011
from rankstudio.plugins.papers.commands import reproduce
from rankstudio.plugins.papers.reproduction import Reproduction, load_reproduction

_LAMBDA = {"regularization": 1.0}

PAPER = Reproduction(
    "small",
    "A small paper",
    {
        "ED, RLS": {
            "method": "expected-divergence",
            "ranker": "rankrls",
            "ranker_parameters": _LAMBDA,
        },
        "WAF, RLS": {"method": "rankrls", "parameters": _LAMBDA},
    },
    [
        {
            "number": "Table 1",
            "title": "number of features",
            "dataset": "Made",
            "measure": "MAP",
            "used": {"ED": {"RLS": 60}, "WAF": {"RLS": 20}},
        }
    ],
    ("nobody knows how",),
    claims=(
        {
            "printed": "Selection helps",
            "run": "ED, RLS",
            "against": "WAF, RLS",
            "measures": ["MAP", "NDCG@10"],
        },
    ),
)


@pytest.fixture
def made(tmp_path: Path, monkeypatch) -> Path:
    """Five folds of LETOR text, and a small paper about them."""
    root = tmp_path / "Made"
    save_folds(root, n_queries=40, seed=3)
    monkeypatch.setattr(reproduce, "load_reproduction", lambda key: PAPER)
    return root


def test_tables_notes_and_what_agrees_are_printed(made, done) -> None:
    printed = done(["reproduce", "fs-ed", "--data", str(made)])
    assert printed.out.startswith(
        "A small paper, on Made\n\nTable 1: number of features\n"
    )
    used, waf = (line.split() for line in printed.out.splitlines()[5:7])
    assert (used[:2], waf) == (["ED", "60"], ["WAF", "20", "✓"])
    assert "ED, MAP" in printed.out
    assert naming("nobody knows how. 1 of 2").search(printed.out)
    assert naming("1 2 ED RLS Expected RankRLS").search(printed.err)
    claim = printed.out[
        printed.out.index("The paper: Selection helps.\nOurs: ED, RLS minus WAF, RLS") :
    ]
    assert [line.split()[0] for line in claim.splitlines()[4:6]] == ["MAP", "NDCG@10"]


def test_json_has_tables_notes_and_counts(made, answer) -> None:
    values = answer(["reproduce", "fs-ed", "--data", str(made), "--json"])
    assert (values["paper"], values["data"]) == ("A small paper", "Made")
    assert values["notes"] == ["nobody knows how"]
    (claim,) = values["claims"]
    assert (claim["printed"], claim["run"], claim["against"]) == (
        "Selection helps",
        "ED, RLS",
        "WAF, RLS",
    )
    numbers = {
        row["label"]: float(row["cells"][0]["ours"])
        for row in values["tables"][0]["rows"][2:]
    }
    assert claim["comparisons"]["MAP"]["mean_difference"] == pytest.approx(
        numbers["ED, MAP"] - numbers["WAF, MAP"], abs=1e-4
    )
    assert (values["promised"], values["open"]) == (
        {"cells": 0, "agree": 0},
        {"cells": 2, "agree": 1},
    )
    (table,) = values["tables"]
    assert [row["label"] for row in table["rows"]] == [
        "ED",
        "WAF",
        "ED, MAP",
        "WAF, MAP",
    ]


def test_what_lacks_a_library_is_told_before_the_work(
    made, capsys, monkeypatch
) -> None:
    ranker = method("rankrls")
    monkeypatch.setattr(
        type(ranker),
        "lacking",
        property(lambda m: "It lacks all." if m == ranker else ""),
    )
    assert main(["reproduce", "fs-ed", "--data", str(made)]) == 1
    assert capsys.readouterr().err == "rankstudio: It lacks all.\n"


def test_what_was_stopped_goes_on_from_its_study(
    made, tmp_path, monkeypatch, capfd
) -> None:
    command = [
        "reproduce",
        "fs-ed",
        "--data",
        str(made),
        "--study",
        str(tmp_path / "a.rankstudio"),
    ]
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
def test_greedy_rankrls_on_mq2008_agrees_in_every_cell(
    letor_dir: Path, answer, monkeypatch
) -> None:
    # whose cells need not agree
    choose(monkeypatch, "greedy-rankrls", ranksvm={"C": 2.0**-8})
    values = answer(
        ["reproduce", "greedy-rankrls", "--data", str(letor_dir / "MQ2008"), "--json"]
    )
    tables = values["tables"]
    assert values["promised"]["agree"] == values["promised"]["cells"] == 75
    assert values["notes"][0].startswith("RankSVM: trained with SVM^rank")
    assert [table["title"].split(":")[0] for table in tables] == [
        f"Table {n}" for n in (2, 7, 8, 9, 10)
    ]
    for table in tables:
        for row in table["rows"]:
            for column, cell in zip(table["columns"], row["cells"], strict=True):
                assert cell["agrees"] or column == "RankSVM", (
                    table["title"],
                    row["label"],
                    column,
                    cell,
                )


def test_data_without_a_table_are_refused(tmp_path: Path, refused) -> None:
    (tmp_path / "Other").mkdir()
    for name in ("train", "vali", "test"):
        (tmp_path / "Other" / f"{name}.txt").write_text(
            "1 qid:1 1:0.5\n0 qid:1 1:0.25\n"
        )
    refused(
        ["reproduce", "fsmrank", "--data", str(tmp_path / "Other")],
        "fsmrank Other OHSUMED MQ2008",
    )


def test_tables_of_folds_need_all_of_them(tmp_path: Path, refused) -> None:
    one = tmp_path / "MQ2008" / "Fold1"
    one.mkdir(parents=True)
    for name in ("train", "vali", "test"):
        (one / f"{name}.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.25\n")
    refused(
        ["reproduce", "greedy-rankrls", "--data", str(one.parent)], "MQ2008 1 5 folds"
    )


SMALL = airola_2011.Effort((30, 40), (1, 2), 0.005, 2)


def choose(
    monkeypatch: pytest.MonkeyPatch,
    key: str = airola_2011.KEY,
    folds: Sequence[int] = (),
    **parameters: Any,
) -> None:
    """Give methods of a paper some parameters, instead of the values that validation chooses from."""
    paper = load_reproduction(key)
    runs = {
        name: {
            **run,
            "folds": tuple(folds),
            "parameters": run["parameters"] | parameters.get(run["method"], {}),
        }
        for name, run in paper.runs.items()
    }
    monkeypatch.setattr(
        reproduce, "load_reproduction", lambda key: replace(paper, runs=runs)
    )


@pytest.fixture
def ohsumed(tmp_path: Path, monkeypatch) -> Path:
    """Five folds of LETOR text by a known name, small grids and little simulation."""
    root = tmp_path / "OHSUMED"
    save_folds(root, n_queries=40, seed=3)
    choose(
        monkeypatch,
        ranksvm={"C": 0.1},
        rankboost={"n_rounds": 5},
        rankrls={"regularization": 1.0},
    )
    monkeypatch.setattr(
        airola_2011, "experiments", partial(airola_2011.experiments, effort=SMALL)
    )
    return root


def test_everything_is_printed_in_the_order_of_the_thesis(
    ohsumed, tmp_path, done, capsys
) -> None:
    out = tmp_path / "found.txt"
    printed = done(
        ["reproduce", airola_2011.KEY, "--data", str(ohsumed), "--out", str(out)]
    )
    assert printed.out == ""
    assert ": RLS Regressor (RankRLS)" in printed.err
    text = out.read_text(encoding="utf-8")
    sources = [
        *(
            "Paper I, Figure 2: ",
            "Paper I, Table 1: ",
            "Paper I, Tables 2 and 6: ",
            "Paper I, Table 3: ",
        ),
        *("Paper III, Figure 1: ", "Paper III, Table 1: ", "Paper III, Table 2: "),
        *("Section 5.4: ", "Section 5.5: ", "Not run:", "Paper IV: "),
    ]
    places = [text.index(f"\n{source}") for source in sources]
    assert places == sorted(places)
    assert naming("LETOR 2.0 25").search(text)
    assert re.search(r"^RankBoost +0\.351 +0\.\d{4}$", text, re.MULTILINE)
    assert naming("RankBoost 5").search(text)
    assert re.search(r"^RankRLS \(21\) +0.222 +0.371 +0\.\d{4}$", text, re.MULTILINE)
    assert (
        main(["reproduce", airola_2011.KEY, "--data", str(ohsumed), "--out", str(out)])
        == 1
    )
    assert "--force" in capsys.readouterr().err


def test_json_has_all_digits(ohsumed, answer) -> None:
    values = answer(["reproduce", airola_2011.KEY, "--data", str(ohsumed), "--json"])
    found = {one["source"]: one for one in values["findings"]}
    assert (
        found["Paper I, Figure 2"]["rows"][1]["relevant"]
        < 0
        < found["Paper I, Figure 2"]["rows"][1]["all"]
    )
    rows = found["Paper I, Tables 2 and 6"]["rows"]
    assert {"method", "bioinfer_printed", "ours", "p_wilcoxon", "p_holm"} < set(rows[0])
    assert len(rows) == 8
    assert found["Paper I, Table 3"]["rows"][-1]["method"] == "RankBoost"
    assert [row["per_query"] for row in found["Paper III, Table 1"]["rows"]] == [1, 2]
    assert set(values["absent"]) == set(airola_2011.absent())
    assert values["promised"] == {"cells": 0, "agree": 0}
    assert values["notes"]


@pytest.mark.realdata
@pytest.mark.thorough
def test_on_mq2008_pairs_of_different_queries_are_harmful_as_printed(
    letor_dir: Path, monkeypatch, capsys
) -> None:
    # What is only timed is not looked at here, and is short; what is measured is whole.
    brief = airola_2011.Effort(
        sizes=(200, 500), per_query=(1,), share=0.3, repetitions=8
    )
    monkeypatch.setattr(
        airola_2011, "experiments", partial(airola_2011.experiments, effort=brief)
    )
    monkeypatch.setattr(
        airola_2011, "removal_error", partial(airola_2011.removal_error, per_query=1)
    )
    few = {"ranksvm": {"C": 2.0**-8}, "rankrls": {"regularization": (1.0, 2.0**8)}}
    # 470 test queries, and C as chosen on most folds
    choose(monkeypatch, folds=(1, 2, 3), **few)
    assert (
        main(
            [
                "reproduce",
                airola_2011.KEY,
                "--data",
                str(letor_dir / "MQ2008"),
                "--json",
            ]
        )
        == 0
    )
    found = {
        one["source"]: one for one in json.loads(capsys.readouterr().out)["findings"]
    }
    rows = {row["method"]: row for row in found["Paper I, Tables 2 and 6"]["rows"]}
    assert rows["RLS Regressor"]["p_holm"] < 0.05
    # as for parses, too
    assert max(rows, key=lambda name: rows[name]["ours"]) == "RLS Regressor"
    assert (
        "significantly more error in 3 of 3"
        in found["Paper I, Tables 2 and 6"]["said"][1]
    )
    assert all(
        text.startswith("Holds here") for text in found["Section 5.4"]["said"][1:]
    )
    errors = found["Paper III, Figure 1"]["rows"]
    assert errors[0]["ratio"] > 4
    assert errors[-1]["ratio"] == pytest.approx(1.0, abs=1e-3)
    assert all(row["optimism"] > 0 for row in found["Section 5.5"]["rows"])
