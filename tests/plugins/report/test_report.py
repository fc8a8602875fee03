"""The report of a study: its sections, what a seal leaves out, and the HTML file."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiment.small import dataset, ended, quick
from wording import naming

from rankstudio.engine import evaluate
from rankstudio.engine.analysis.features.candidate_map import Margin
from rankstudio.engine.analysis.reported_runs import ReportedRun, ReportSource
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.fingerprint import fingerprint
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.storage.study_contents import (
    RecordedData,
    ReportSettings,
    RunLabel,
    SealMark,
)
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.methods.catalog import method
from rankstudio.engine.methods.catalog.method import CandidateScore, ScoreSource
from rankstudio.engine.statistics.paired import compare_paired
from rankstudio.engine.support.escaping import html_text
from rankstudio.engine.support.resources import resource
from rankstudio.plugins.report.best_run import against_single_feature
from rankstudio.plugins.report.document import (
    STYLE,
    Paragraph,
    Report,
    every_section,
    html_page,
    section_keys,
    wanted_keys,
)
from rankstudio.plugins.report.feature_sections import _margin_text
from rankstudio.plugins.report.report import ability_blocks, make_report

VOID = {"meta", "br", "path", "line", "rect", "circle", "polyline", "polygon", "stop"}
PLACES = {
    "head": {"html"},
    "body": {"html"},
    "title": {"head", "svg"},
    "meta": {"head"},
    "style": {"head"},
    "header": {"body"},
    "nav": {"body"},
    "main": {"body"},
    "footer": {"body"},
    "section": {"main"},
    "h1": {"header"},
    "h2": {"section"},
    "h3": {"section"},
    "li": {"ul"},
    "dl": {"section"},
    "dt": {"dl"},
    "dd": {"dl"},
    "figure": {"section"},
    "figcaption": {"figure"},
    "svg": {"div"},
    "table": {"div"},
    "caption": {"table"},
    "thead": {"table"},
    "tbody": {"table"},
    "tr": {"thead", "tbody"},
    "th": {"tr"},
    "td": {"tr"},
    "code": {"pre"},
}
"""Where a tag may stand; others stand anywhere."""
BLOCKS = {"p", "div", "ul", "dl", "table", "figure", "section", "pre", "h1", "h2", "h3"}
DRAWN = {"title", "rect", "text", "path", "g", "defs", "use", "clippath"}
HOSTILE = (
    '<script>alert("x")</script><img src=http://x/y onerror=alert(1)>&amp;\x00\u202e'
)


class Reader(HTMLParser):
    """Collects the tags of a page, and whether each is closed in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []

    def _check_place(self, tag: str) -> None:
        """Refuse what stands where HTML does not allow it."""
        inside = self._open[-1] if self._open else ""
        assert inside in PLACES.get(tag, {inside}), f"<{tag}> in <{inside}>"
        assert tag not in BLOCKS or not {"p", "h1", "h2", "h3", "pre", "caption"} & set(
            self._open
        ), tag
        assert "svg" not in self._open or tag in DRAWN, f"<{tag}> in a drawing"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._check_place(tag)
        assert len(dict(attrs)) == len(attrs), f"an attribute twice in <{tag}>"
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self._open, f"<{tag}/> outside a drawing"
        self._check_place(tag)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def close(self) -> None:
        super().close()
        assert self._open == []


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def reported(
    data: FoldedDataset, number: int, key: str, label: RunLabel, **changes: Any
) -> ReportedRun:
    ids = tuple(data.feature_ids.tolist())
    checksum = fingerprint(data).checksum
    recorded = RecordedData(
        "Small", "", checksum, (), (1, 2, 3), ids, data.feature_names
    )
    result = ended(run(Plan("small", key, quick(method(key)), **changes), data))
    return ReportedRun(number, result, recorded, data, label)


@pytest.fixture(scope="module")
def source() -> ReportSource:
    """Three runs on small data, one with a name and a note."""
    data, first = dataset(3), RunLabel("The first", "worth a look", ("a", "b"))
    labels = {"greedy-rankrls": first, "gas": RunLabel(), "fsmrank": RunLabel()}
    runs = [
        reported(data, number, *one)
        for number, one in enumerate(labels.items(), start=1)
    ]
    return ReportSource(
        "My study", tuple(runs), ReportSettings("Which features?", "One.\n\nTwo.")
    )


@pytest.fixture(scope="module")
def report(source: ReportSource) -> Report:
    return make_report(source)


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return html_page(report)


def tables(report: Report, key: str) -> list[TextTable]:
    [section] = report.arranged([key]).sections
    return [block for block in section.blocks if isinstance(block, TextTable)]


def test_a_page_is_complete_by_itself_and_every_tag_is_closed(
    report: Report, page: str
) -> None:
    found = read(page)
    names = {name for name, _ in found.tags}
    assert not names & {
        "link",
        "iframe",
        "object",
        "embed",
        "img",
        "base",
        "form",
    }
    assert [attributes for name, attributes in found.tags if name == "script"] == [{}]
    for name, attributes in found.tags:
        assert not [key for key in attributes if key.startswith("on")]
        assert all(
            (value or "").startswith("#")
            for key, value in attributes.items()
            if key in ("href", "src")
        )
        assert name != "svg" or "viewbox" in attributes
    # The references have addresses as texts; nothing else names one.
    without_references = re.sub(
        r'<section id="references">.*?</section>', "", page, flags=re.S
    )
    assert without_references != page
    assert "http" not in re.sub(
        r"http://www\.w3\.org/2000/svg|http-equiv", "", without_references
    )
    assert "data-curves" in without_references
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    used = {attributes["href"] for name, attributes in found.tags if name == "use"}
    assert used <= {f"#{name}" for name in ids}
    targets = [a["href"] for name, a in found.tags if name == "a"]
    assert targets == [f"#{section.key}" for section in report.sections]


BROWSER = shutil.which("chromium")


@pytest.mark.skipif(
    BROWSER is None, reason="there is no Chromium, whose parser of HTML is another one"
)
def test_a_browser_finds_the_very_tags(page: str, tmp_path: Path) -> None:
    """A parser of HTML5 mends what is not valid by moving, closing or adding tags: it has nothing to mend."""
    # The script of the page would change its tags.
    page = re.sub(r"<script>.*</script>", "", page, flags=re.S)
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    quiet = ("background-networking", "component-update", "gpu", "quic", "sync")
    options = [
        "--headless",
        "--no-sandbox",
        "--no-first-run",
        *(f"--disable-{what}" for what in quiet),
    ]
    place = f"--user-data-dir={tmp_path / 'profile'}"
    command = [
        str(BROWSER),
        *options,
        place,
        "--dump-dom",
        (tmp_path / "report.html").as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, check=True, timeout=200)
    dom = re.sub(r"></(path|rect|use)>", "/>", done.stdout.decode("utf-8"))
    found, written = read(dom), read(page)
    assert [name for name, _ in found.tags] == [name for name, _ in written.tags]
    assert [attributes for _, attributes in found.tags] == [
        attributes for _, attributes in written.tags
    ]
    assert "".join(found.text.split()) == "".join(written.text.split())


def test_every_section_says_something(report: Report) -> None:
    keys = [key for key in every_section(()) if key != "ranks"]  # of several datasets
    assert [section.key for section in report.sections] == keys
    assert all(section.blocks for section in report.sections)


def test_the_same_source_gives_the_same_bytes(source: ReportSource, page: str) -> None:
    assert html_page(make_report(source)) == page


def test_sections_come_as_asked(report: Report) -> None:
    asked = report.arranged(section_keys("results, question"))
    assert [section.key for section in asked.sections] == ["results", "question"]
    with pytest.raises(ParameterError, match=naming("question data")):
        section_keys("results,nonsense")


def test_sections_that_were_stored_keep_their_order_and_new_ones_come_last() -> None:
    found = every_section([("results", False), ("gone", True), ("data", True)])
    assert list(found)[:3] == ["results", "data", "question"]
    assert set(found) == set(every_section(()))
    assert wanted_keys([("results", False), ("data", True)])[:2] == ("data", "question")
    assert wanted_keys(()) == tuple(every_section(()))


def test_averages_are_those_of_the_runs(source: ReportSource, report: Report) -> None:
    averages, by_fold = tables(report, "results")
    for row, one in zip(averages.rows, source.runs, strict=False):
        assert row[0] == str(one.number)
        assert [cell.split(" ")[0] for cell in row[3:]] == [
            f"{one.result.average[name]:.4f}" for name in one.plan.measures
        ]
    assert averages.rows[0][1].startswith("The first")
    assert [row[0] for row in by_fold.rows] == ["1", "2", "3", "mean", "sd"]
    for at, fold in enumerate(source.runs[1].result.folds):
        assert by_fold.rows[at][2] == f"{fold.test['MAP']:.4f}"


def test_no_number_of_a_sealed_test_part_is_in_the_report(
    source: ReportSource, page: str
) -> None:
    sealed = replace(source, seal_marks=(SealMark(True, "2026-11-22T02:30:00+00:00"),))
    covered = read(html_page(make_report(sealed))).text
    opened = read(page).text
    numbers = {
        f"{value:.4f}"
        for one in source.runs
        for values in (one.result.average, *(fold.test for fold in one.result.folds))
        for name, value in values.items()
        if name == "MAP"
    }
    elsewhere = {
        f"{value:.4f}"
        for one in sealed.shown.runs
        for values in (
            one.result.average,
            *(fold.validation for fold in one.result.folds),
        )
        for value in values.values()
    }
    assert all(number in opened for number in numbers)
    assert not any(number in covered for number in numbers - elsewhere)
    assert numbers - elsewhere
    assert naming("Small sealed").search(covered)
    assert covered.count("The test part of Small is sealed") == 2


def test_looks_at_the_test_part_are_counted(source: ReportSource) -> None:
    moments = [f"2026-11-22T02:3{i}:00+00:00" for i in range(4)]
    marks = tuple(SealMark(i % 2 == 0, moment) for i, moment in enumerate(moments))
    looked = replace(source, seal_marks=marks)
    found = make_report(looked).arranged(["seal"])
    assert naming("twice").search(html_page(found))
    [table] = tables(found, "seal")
    assert table.rows[1] == ("2", "2026-11-22 02:31:00", "seal broken")


def test_the_chapters_of_the_results_are_groups_and_a_run_alone_is_described(
    source: ReportSource,
) -> None:
    """A set on one fold had the best mean above runs on all folds."""
    first, second, third = source.runs
    kept = third.result.folds[2]
    flattered = replace(kept, test={**kept.test, "MAP": 0.9999})
    alone = replace(
        third.result,
        folds=(flattered,),
        plan=third.plan.changed(folds=(3,)),
        complete=True,
    )
    mixed = replace(source, runs=(first, second, replace(third, result=alone)))
    whole, part = mixed.groups
    assert [[run.number for run in group.runs] for group in (whole, part)] == [
        [1, 2],
        [3],
    ]
    report = make_report(mixed)
    [section] = report.arranged(["results"]).sections
    sentences = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    best = [text for text in sentences if "best mean" in text]
    assert (
        len(best) == 1
        and naming(whole.best.name[4:]).search(best[0])
        and "0.9999" not in best[0]
    )
    assert any("0.9999" in text and "has the mean" in text for text in sentences)
    of_part = [
        table for table in tables(report, "results") if "0.9999" in str(table.rows)
    ]
    assert of_part and not any(table.bold for table in of_part)
    tested = [table for table in tables(report, "tests") if table.header[1] == "method"]
    assert [{row[0] for row in table.rows} for table in tested] == [{"1", "2"}]


def test_the_best_run_is_tested_against_the_next_and_against_the_best_single_feature(
    source: ReportSource,
) -> None:
    [group] = source.groups
    best, data = group.best, dataset(3)
    test = against_single_feature(best, "MAP")
    assert test is not None
    single = []
    for fold, parts in zip(best.result.folds, data.folds, strict=True):
        assert parts.test is not None
        column = best.result.feature_ids.tolist().index(fold.baseline.feature)
        scores = parts.test.X[:, column] * (1.0 if fold.baseline.descending else -1.0)
        values = evaluate(
            parts.test.y, scores, parts.test.qid, measures=["MAP"]
        ).per_query["MAP"]
        assert values.mean() == pytest.approx(fold.baseline.test["MAP"])
        single.append(values)
    expected = compare_paired(best.result.per_query("MAP"), np.concatenate(single))
    assert test.p_randomisation == expected.p_randomisation
    assert test.mean_difference == pytest.approx(expected.mean_difference)
    assert against_single_feature(replace(best, data=None), "MAP") is None
    fitted = replace(
        source, seal_marks=(SealMark(True, "2026-11-22T02:30:00+00:00"),)
    ).shown.groups[0]
    sealed = against_single_feature(fitted.best, "MAP")
    assert sealed is not None and sealed.n == sum(fitted.best.result.queries_per_fold)


def test_each_dataset_has_its_own_seal(source: ReportSource) -> None:
    first, second, third = source.runs
    other = replace(
        third,
        result=replace(third.result, data_name="Other"),
        recorded=replace(third.recorded, name="Other"),
    )
    marks = (
        SealMark(True, "2026-11-22T02:30:00+00:00"),
        SealMark.now(sealed=False, data=other.recorded),
    )
    report = make_report(replace(source, runs=(first, second, other), seal_marks=marks))
    shown = replace(source, runs=(first, second, other), seal_marks=marks).shown
    assert [run.part for run in shown.runs] == ["validation, cross-fitted"] * 2 + [
        "test"
    ]
    averages = {
        table.title: table
        for table in tables(report, "results")
        if table.header[1] == "method"
    }
    for table, runs in zip(averages.values(), ((first, second), (other,)), strict=True):
        means = [run.result.average["MAP"] for run in runs]
        written = [row[3].split(" ")[0] for row in table.rows[:-1]]
        assert (written == [f"{mean:.4f}" for mean in means]) is (runs == (other,))
    small, tested = tables(report, "seal")
    assert [row[2] for row in small.rows] == ["sealed"]
    assert [row[2] for row in tested.rows] == ["sealed", "seal broken"]


def test_names_of_others_stay_text(source: ReportSource) -> None:
    first = source.runs[0]
    names = tuple(f"{HOSTILE}{i}" for i in range(6))
    result = replace(first.result, feature_names=names, data_name=HOSTILE)
    recorded = replace(first.recorded, name=HOSTILE, place=HOSTILE, feature_names=names)
    label = RunLabel(HOSTILE, HOSTILE, (HOSTILE,))
    run_ = replace(first, result=result, recorded=recorded, label=label)
    hostile = ReportSource(HOSTILE, (run_,), ReportSettings(HOSTILE, HOSTILE))
    page = html_page(make_report(hostile))
    found = read(page)
    tags = {name for name, _ in found.tags}
    assert "img" not in tags
    assert [name for name, _ in found.tags].count("script") == 1  # its own
    assert found.text.count('<script>alert("x")</script>') > 10
    assert "\x00" not in page


def test_characters_that_no_page_may_have_are_replaced() -> None:
    assert (
        html_text("a\x00b\x1b\ud800\ufffe\x85c\nd")
        == "a\ufffdb\ufffd\ufffd\ufffd\ufffdc\nd"
    )
    html_text("".join(map(chr, range(0x11000)))).encode()


def test_a_study_without_a_finished_run_has_a_report() -> None:
    page = html_page(make_report(ReportSource("Empty", ())))
    assert "0 finished runs" in page
    read(page)


def test_what_stands_in_the_wrong_place_is_found() -> None:
    for wrong in (
        "<section><p><table></table></p></section>",
        "<p><b></p></b>",
        "<div><td></td></div>",
        "<p/>",
    ):
        with pytest.raises(AssertionError):
            read(f"<html><body><main>{wrong}</main></body></html>")


def test_a_figure_is_recoloured_in_the_dark_by_the_colours_that_it_is_drawn_in() -> (
    None
):
    style = resource("templates", "report.css").read_text(encoding="utf-8")
    named = set(re.findall(r'\[style\*="(?:fill|stroke): (#\w+)"\]', style))
    runs = {STYLE.category(number) for number in range(1, 8)}
    assert {STYLE.text, STYLE.muted, STYLE.line, STYLE.faint} | runs <= named
    assert not re.search(r"url\(|@import|https?:", style)


@pytest.mark.ability("features")
def test_groups_are_told_as_they_are_swapped() -> None:
    data = dataset(3)
    ids = data.feature_ids.tolist()
    groups = {"First": tuple(ids[:2]), "Others": tuple(ids[2:4])}
    only = reported(data, 1, "greedy-rankrls", RunLabel(), groups=groups)
    source = ReportSource("Groups", (only,), ReportSettings())
    made = tables(make_report(source), "substitutes")
    [swaps] = [table for table in made if "swapped as a whole" in table.title]
    assert swaps.header == ("in the model", "best replaced by", "change of criterion")
    assert any(
        row[side].startswith(("First (", "Others ("))
        for row in swaps.rows
        for side in (0, 1)
    )
    changes = [float(row[2].replace("−", "-")) for row in swaps.rows]
    assert changes == sorted(changes)
    assert naming("error document").search(swaps.note)


@pytest.mark.parametrize(
    ("own", "rival", "expected"),
    [
        (-0.2, -0.4, "none lowered the error"),
        (0.2, -0.4, "no other lowered the error"),
        (-0.2, 0.4, "two would have lowered the error"),
        (0.4, 0.2, "50 % ahead of two (fold 3)"),
    ],
)
def test_a_lead_is_told_only_of_candidates_that_lower_the_criterion(
    own: float, rival: float, expected: str
) -> None:
    score = CandidateScore("drop in error", "", ScoreSource.CRITERION)
    margin = Margin(4, 0, own, 1, rival, 0.5)
    assert (
        _margin_text(score, margin, ("one", "two"), 3 if "fold" in expected else 0)
        == expected
    )


def test_a_run_on_too_many_features_says_why_it_has_no_substitutes(
    source: ReportSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = pytest.importorskip("rankstudio.plugins.features.report_part")

    def texts() -> list[str]:
        return [
            block.text
            for block in part.substitute_blocks(source)
            if isinstance(block, Paragraph)
        ]

    assert not any("too many, or sparse" in text for text in texts())
    monkeypatch.setattr(part, "is_wide", lambda _: True)
    assert any("too many, or sparse" in text for text in texts())


def test_a_section_of_an_absent_ability_says_its_name(
    source: ReportSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankstudio.plugins.report.report.report_parts", dict)
    (block,) = ability_blocks("substitutes", "features", source)
    assert isinstance(block, Paragraph) and block.muted
    assert naming("plug-in features").search(block.text)
