"""Which experiments there are for which data, and what is named as absent."""

from dataclasses import replace

import pytest
from experiment.small import dataset

from rankstudio.engine.analysis.airola_2011 import thesis
from rankstudio.engine.analysis.reproduction import load_reproduction

SMALL = thesis.Effort((30, 40), (1, 2), 0.005, 2)


def test_table_3_is_of_ohsumed_alone() -> None:
    data = dataset()
    names = list(thesis.experiments({}, data))
    assert names[0] == "Paper I, Figure 2"
    assert "Paper I, Table 3" not in names
    assert "Paper I, Table 3" in thesis.experiments({}, replace(data, name="OHSUMED QueryLevelNorm"))


TABLE_3 = {"RankBoost", "RankRLS All pairs"}
"""Runs that stand in Table 3 alone."""


@pytest.mark.parametrize("name", ["Paper I, Table 1", "Paper III, Figure 1", "Paper III, Tables 1 and 2"])
def test_experiments_need_no_runs(name: str) -> None:
    found = thesis.experiments({}, dataset(), SMALL)[name]()
    assert all(one.rows and one.said for one in found)
    assert len(found) == (2 if name.endswith("2") else 1)


def test_rankboost_is_run_for_table_3_alone_and_changes_no_other_table() -> None:
    paper = load_reproduction(thesis.KEY)
    assert "RankBoost" in paper.plans("OHSUMED QueryLevelNorm", "nowhere", "letor3")
    plans = paper.plans("MQ2008", "nowhere", "letor4")
    assert list(plans) == [name for name in paper.runs if name not in TABLE_3]


def test_what_has_no_data_here_is_named_with_the_reason() -> None:
    absent = thesis.absent()
    for name in ("Paper II", "Paper IV", "Paper V", "Paper I, Tables 4 and 5"):
        assert name in absent
    said = " ".join(absent.values())
    for corpus in ("Reuters", "BioInfer", "Jester", "Trec2003", "protein-protein"):
        assert corpus in said


def test_printed_numbers_have_a_row_of_ours_or_say_why_not() -> None:
    paper = load_reproduction(thesis.KEY)
    printed = thesis._values()["printed"]
    assert set(printed["BioInfer"]) == set(paper.runs) - TABLE_3
    assert set(printed["Jester"]) < set(paper.runs)
    assert paper.normalize == "query_minmax"
