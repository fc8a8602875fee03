"""The page of a benchmark: means of each part, tests against a choice by other values, ranks."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from rankstudio.cli import main
from rankstudio.engine.analysis.reported_runs import read_study
from rankstudio.engine.analysis.reported_runs import tests_of as paired_tests
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import RunLabel, SealMark
from rankstudio.engine.export.tables import p_text
from rankstudio.plugins.benchmark import command
from rankstudio.plugins.benchmark.commands.results_page import (
    dataset_tables,
    means_table,
    results_page,
)

THREE = """\
title = "Three | methods"
select_by = "MAP"
measures = ["MAP", "NDCG@10"]
[[runs]]
method = ["gas", "rankrls", "ranksvm"]
[parameters.rankrls]
regularization = "2^0..2^2"
[parameters.ranksvm]
C = "2^0..2^2"
"""


MEANS = (2, 3, 5, 6)
P = 4
"""Columns of the tables: the means of both measures, and p of MAP between them."""


@pytest.fixture(scope="module")
def out(collection, tmp_path_factory):
    """The folder of a finished benchmark of three methods on three datasets."""
    folder = tmp_path_factory.mktemp("page")
    plan = folder / "three.toml"
    plan.write_text(THREE, encoding="utf-8")
    words = ["benchmark", str(plan), "--data", str(collection)]
    assert main([*words, "--out", str(folder / "out")]) == 0
    return folder / "out"


@pytest.fixture
def source(out):
    with Study.open(out / "study.rankstudio", reading=True) as study:
        return read_study(study)


def rows_of(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading, without the line below its header."""
    _, _, text = page.partition(f"## {heading}\n\n")
    lines = text.partition("\n\n")[0].splitlines()
    assert re.fullmatch(r"\|( -+:? \|)+", lines[1])
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in (lines[0], *lines[2:])]
    return [[cell.strip() for cell in row] for row in cells]


def test_cells_are_the_means_of_both_parts_over_the_folds(out, source):
    page = (out / "results.md").read_text("utf-8")
    assert page.startswith("# Three \\| methods\n\n9 runs, computed in ")
    for data, runs in source.datasets().items():
        header, *rows = rows_of(page, data)
        assert header == [
            *("method", "k", "MAP, cross-fitted", "MAP, test", "p (MAP)"),
            *("NDCG@10, cross-fitted", "NDCG@10, test"),
        ]
        assert len(rows) == len(runs) == 3
        for row, run in zip(rows, runs, strict=True):
            means = [
                sum(fold.measured(part)[name] for fold in run.result.folds)
                / len(run.result.folds)
                for name in ("MAP", "NDCG@10")
                for part in (Part.CROSS_FITTED, Part.TEST)
            ]
            cells = [row[column] for column in MEANS]
            assert [float(cell.strip("*")) for cell in cells] == pytest.approx(
                means, abs=5.1e-5
            )
        for column in MEANS:
            cells = [row[column] for row in rows]
            best = max(float(cell.strip("*")) for cell in cells)
            bold = [float(cell.strip("*")) for cell in cells if cell.startswith("*")]
            assert bold
            assert set(bold) == {best}
    assert "![Mean ranks by MAP](ranks.png)" in page
    assert (out / "ranks.png").read_bytes().startswith(b"\x89PNG")


def test_the_reference_has_the_best_cross_fitted_mean(source):
    for group in source.groups:
        table = means_table(group)
        p_cells = [row[P] for row in table.rows]
        reference = p_cells.index("reference")
        means = [run.result.average_on(Part.CROSS_FITTED)["MAP"] for run in group.runs]
        assert means[reference] == max(means)
        tested = paired_tests(group.runs, group.runs[reference], "MAP")
        p_values = {row.key: row.p_holm for row in tested}
        for run, cell in zip(group.runs, p_cells, strict=True):
            if cell != "reference":
                assert cell == p_text(p_values[run.number])


def test_the_best_test_mean_is_not_always_the_reference(source):
    # Otherwise the test above could not tell one choice from the other.
    differ = 0
    for group in source.groups:
        means = [run.result.average["MAP"] for run in group.runs]
        p_cells = [row[P] for row in means_table(group).rows]
        differ += p_cells.index("reference") != means.index(max(means))
    assert differ > 0


def test_nothing_of_a_sealed_test_part_is_on_the_page(out, source, collection):
    with Study.open(out / "study.rankstudio", reading=True) as study:
        run = next(run for run in study.runs() if run.data_name == "alpha")
        mark = SealMark.now(sealed=True, data=study.data(run.key))
    sealed = replace(source, seal_marks=(mark,))
    tables = {table.title: table for table in dataset_tables(sealed)}
    assert "MAP, test" not in tables["alpha"].header
    assert "MAP, cross-fitted" in tables["alpha"].header
    assert "MAP, test" in tables["beta"].header
    page = results_page("t", sealed, None, "ranks.png")
    assert "ranks.png" not in page
    header, *rows = rows_of(page, "alpha")
    assert not [label for label in header if "test" in label]
    for column, name in ((2, "MAP"), (4, "NDCG@10")):
        assert header[column].startswith(name)
        means = [
            f"{run.result.average_on(Part.CROSS_FITTED)[name]:.4f}"
            for run in source.datasets()["alpha"]
        ]
        assert [row[column].strip("*") for row in rows] == means


def width_of(picture: Path) -> float:
    """Return the width of a PNG of 300 dots per inch in millimetres."""
    return int.from_bytes(picture.read_bytes()[16:20]) / 300 * 25.4


def test_long_names_make_the_diagram_as_wide_as_a_page(
    out, collection, tmp_path, monkeypatch
):
    assert width_of(out / "ranks.png") == pytest.approx(85, abs=1)
    folder = shutil.copytree(out.parent, tmp_path / "copy")
    monkeypatch.setattr(command, "_COLUMN_LETTERS", len("RankSVM") - 1)
    words = ["benchmark", str(folder / "three.toml"), "--data", str(collection)]
    assert main([*words, "--out", str(folder / "out")]) == 0
    assert width_of(folder / "out" / "ranks.png") == pytest.approx(178, abs=1)


HOSTILE = "a](x) <script>alert(1)</script> **b** | `c` # \n## d"


def test_hostile_names_are_text(source):
    runs = tuple(
        replace(run, result=replace(run.result, data_name=HOSTILE))
        for run in source.datasets()["alpha"]
    )
    page = results_page(HOSTILE, replace(source, runs=runs), None, "ranks.png")
    tree = MarkdownIt("commonmark").enable("table").parse(page)
    # One heading each for the page and the table; nothing is HTML, a link or code.
    assert [token.tag for token in tree if token.type == "heading_open"] == ["h1", "h2"]
    kinds = {child.type for token in tree for child in token.children or ()}
    assert kinds <= {"text", "text_special", "strong_open", "strong_close"}
    assert not {"html_block", "fence", "code_block"} & {token.type for token in tree}


def test_the_name_that_a_user_gave_a_run_is_that_of_its_row(source):
    first, *others = source.runs
    named = replace(first, label=RunLabel(name="my baseline"))
    table = next(iter(dataset_tables(replace(source, runs=(named, *others)))))
    names = [row[0] for row in table.rows]
    assert [name == "my baseline" for name in names] == [True, False, False]


def test_a_single_run_has_no_best_and_no_test(source):
    lonely = replace(source, runs=source.runs[:1])
    [table] = dataset_tables(lonely)
    assert not table.bold
    assert "p (MAP)" not in table.header
    assert "Fisher" not in table.note
