"""Analyses of packages in reports: of runs and of training parts, sealed, failing, and without data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from experiment.small import dataset, ended, quick
from installed_analyses import installed_analyses

from rankstudio.api import Analysis, Needs
from rankstudio.engine.analysis.reported_runs import ReportedRun, ReportSource
from rankstudio.engine.data.fingerprint import fingerprint
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.storage.study_contents import RecordedData, SealMark
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.methods.catalog import method
from rankstudio.engine.plugins import entries
from rankstudio.engine.plugins.loader import plugins_with
from rankstudio.plugins.report.document import Paragraph, every_section
from rankstudio.plugins.report.report import make_report

MODULE = """
from rankstudio.api import AnalysisTable


def tested(run, data):
    n_tests = sum(fold.test is not None for fold in data.folds)
    return AnalysisTable("Folds", ("tests", "measured"), ((n_tests, str(any(f.test for f in run.folds))),))


def documents(data):
    return AnalysisTable("Documents", ("n",), ((data.n_documents,),))


def raises(data):
    raise RuntimeError("no luck")
"""


def entry(name: str, needs: Needs = Needs.DATA) -> Analysis:
    """Return the analysis of a function of the module, for reports."""
    return Analysis(
        name,
        name.title(),
        "Do it",
        f"report_analyses_of_test:{name}",
        needs=needs,
        in_report=True,
    )


ENTRIES = (entry("tested", Needs.RUN), entry("documents"), entry("raises"))


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    unseen = replace(ENTRIES[1], key="unseen", in_report=False)
    with installed_analyses(
        monkeypatch, tmp_path, "report_analyses_of_test", MODULE
    ) as install:
        install(*ENTRIES, unseen)
        yield


@pytest.fixture
def source() -> ReportSource:
    """A run on small data."""
    data = dataset(2)
    key = "greedy-rankrls"
    result = ended(run(Plan("small", key, quick(method(key))), data))
    ids = tuple(data.feature_ids.tolist())
    recorded = RecordedData(
        "Small", "", fingerprint(data).checksum, (), (1, 2), ids, data.feature_names
    )
    return ReportSource("My study", (ReportedRun(1, result, recorded, data),))


@pytest.mark.parametrize("sealed", [True, False])
def test_a_section_has_the_tables(source: ReportSource, sealed: bool) -> None:
    marks = (SealMark(sealed, "2026-11-22T02:30:00+00:00"),)
    (section,) = (
        make_report(replace(source, seal_marks=marks)).arranged(["analyses"]).sections
    )
    tested, documents, failed = section.blocks
    assert (
        isinstance(tested, TextTable)
        and isinstance(documents, TextTable)
        and isinstance(failed, Paragraph)
    )
    assert [*tested.rows[0]] == (["0", "False"] if sealed else ["2", "True"])
    data = source.runs[0].data
    assert data is not None and [*documents.rows[0]] == [
        str(data.folds[0].train.n_documents)
    ]


def test_without_data_it_says_so(source: ReportSource) -> None:
    absent = replace(source, runs=(replace(source.runs[0], data=None),))
    (section,) = make_report(absent).arranged(["analyses"]).sections
    assert len(section.blocks) == len(ENTRIES)
    assert all(isinstance(block, Paragraph) and block.muted for block in section.blocks)


def test_without_such_an_analysis_there_is_no_section(
    source: ReportSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "analyses" in every_section(())
    monkeypatch.setattr(entries, "plugins_with", plugins_with)
    assert "analyses" not in every_section(())
    assert "analyses" not in [section.key for section in make_report(source).sections]
