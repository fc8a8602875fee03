"""``rankstudio reproduce airola-2011``: findings, notes and what is absent, as text, JSON and a file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from letor_folder import save_folds
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.analysis import airola_2011
from rankstudio.engine.analysis.published import load_reproduction

SMALL = airola_2011.Effort((30, 40), (1, 2), 0.005, 2)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five folds of LETOR text by a known name, small grids and little simulation."""
    root = tmp_path / "OHSUMED"
    save_folds(root, n_queries=40, seed=3)
    paper = load_reproduction(airola_2011.KEY)
    runs = {name: {**values, "parameters": {**values["parameters"]}} for name, values in paper.runs.items()}
    grids = {"ranksvm": {"C": 0.1}, "rankboost": {"n_rounds": 5}, "rankrls": {"regularization": 1.0}}
    for values in runs.values():
        values["parameters"].update(grids[values["method"]])
    small = replace(paper, runs=runs)
    monkeypatch.setattr("rankstudio.cli.commands.reproduce.load_reproduction", lambda key: small)
    monkeypatch.setattr(airola_2011, "experiments", partial(airola_2011.experiments, effort=SMALL))
    return root


def test_everything_is_printed_in_the_order_of_the_thesis(made, tmp_path, capsys) -> None:
    out = tmp_path / "found.txt"
    assert main(["reproduce", airola_2011.KEY, "--data", str(made), "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert ": RLS Regressor (RankRLS)" in printed.err
    text = out.read_text(encoding="utf-8")
    sources = [
        *("Paper I, Figure 2: ", "Paper I, Table 1: ", "Paper I, Tables 2 and 6: ", "Paper I, Table 3: "),
        *("Paper III, Figure 1: ", "Paper III, Table 1: ", "Paper III, Table 2: "),
        *("Section 5.4: ", "Section 5.5: ", "Not run:", "Paper IV: "),
    ]
    places = [text.index(f"\n{source}") for source in sources]
    assert places == sorted(places)
    assert naming("LETOR 2.0 25").search(text)
    assert re.search(r"^RankBoost +0\.351 +0\.\d{4}$", text, re.MULTILINE)
    assert naming("RankBoost 5").search(text)
    assert re.search(r"^RankRLS \(21\) +0.222 +0.371 +0\.\d{4}$", text, re.MULTILINE)
    assert main(["reproduce", airola_2011.KEY, "--data", str(made), "--out", str(out)]) == 1
    assert "--force" in capsys.readouterr().err


def test_json_has_all_digits(made, capsys) -> None:
    assert main(["reproduce", airola_2011.KEY, "--data", str(made), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    found = {one["source"]: one for one in values["findings"]}
    assert (
        found["Paper I, Figure 2"]["rows"][1]["relevant"] < 0 < found["Paper I, Figure 2"]["rows"][1]["all"]
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
    letor_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    # What is only timed is not looked at here, and is short; what is measured and simulated is whole.
    brief = partial(airola_2011.experiments, effort=airola_2011.Effort(sizes=(200, 500), per_query=(1,)))
    monkeypatch.setattr(airola_2011, "experiments", brief)
    assert main(["reproduce", airola_2011.KEY, "--data", str(letor_dir / "MQ2008"), "--json"]) == 0
    found = {one["source"]: one for one in json.loads(capsys.readouterr().out)["findings"]}
    rows = {row["method"]: row for row in found["Paper I, Tables 2 and 6"]["rows"]}
    assert rows["RLS Regressor"]["p_holm"] < 0.05
    assert max(rows, key=lambda name: rows[name]["ours"]) == "RLS Regressor"  # as for parses, too
    assert naming("3 error").search(found["Paper I, Tables 2 and 6"]["said"][1])
    assert all(text.startswith("Holds here") for text in found["Section 5.4"]["said"][1:])
    errors = found["Paper III, Figure 1"]["rows"]
    assert errors[0]["ratio"] > 4
    assert errors[-1]["ratio"] == pytest.approx(1.0, abs=1e-3)
    assert all(row["optimism"] > 0 for row in found["Section 5.5"]["rows"])
