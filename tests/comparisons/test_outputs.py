"""No output ranks, marks, tests, draws or describes runs together that are not comparable.

Random studies go through the comparison, the tables for publication and the report. Each of these is
read, and held against what the runs were drawn with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import product
from math import isnan
from random import Random
from typing import Any

import pytest

pytest.importorskip("rankstudio.plugins.report")  # its folder may be absent

from drawn_studies import MEASURES, DrawnStudy, PooledRun, drawn_study

from rankstudio.cli.output.comparison_tables import group_tables
from rankstudio.engine.analysis.comparisons.comparability import comparable_groups
from rankstudio.engine.analysis.comparisons.significance import compare_groups
from rankstudio.engine.analysis.result_table.builder import result_table, table_runs
from rankstudio.engine.analysis.result_table.query import TableQuery
from rankstudio.engine.errors import PlanError
from rankstudio.engine.export.result_table.formats import table_format
from rankstudio.engine.export.result_table.table import TableStyle
from rankstudio.engine.export.tables import TextTable
from rankstudio.plugins.report.document import Paragraph, ReportFigure, ReportSection
from rankstudio.plugins.report.report import make_report

NAME = MEASURES[0]
_RUN = re.compile(r"\bruns? (\d+(?:(?:, | and )\d+)*)", re.IGNORECASE)
_DESCRIBES_EACH_RUN = (
    "question",
    "published",
    "plan",
    "protocol",
    "seal",
    "rerun",
    "versions",
    "data",
)


@pytest.fixture
def study(
    pool: tuple[PooledRun, ...], studies_seed: int, study_number: int
) -> DrawnStudy:
    """Return the study of this number."""
    return drawn_study(Random(f"{studies_seed} {study_number}"), pool)


def test_nothing_shows_runs_together_that_are_not_comparable(study: DrawnStudy) -> None:
    check_groups(study)
    check_comparison(study)
    check_table(study)
    check_report(study)


def check_groups(study: DrawnStudy) -> None:
    """The groups are the runs that were drawn alike, and each run is in one of them."""
    shown = {run.number: run.result for run in study.source.shown.runs}
    groups = comparable_groups(shown)
    assert sorted(number for group in groups for number in group.runs) == sorted(shown)
    for group in groups:
        first = next(iter(group.runs))
        alike = [number for number in shown if study.belong_together([first, number])]
        assert sorted(group.runs) == alike
        assert group.key.part is study.part(first)
        assert bool(group.unranked) is not study.is_ranked(first)
        assert group.key.data_name == study.belonging[first].data


def check_comparison(study: DrawnStudy) -> None:
    """Tests and references are within a group, by the values of the part; every run is listed once."""
    shown = study.source.shown
    for data in dict.fromkeys(run.result.data_name for run in shown.runs):
        numbered = {
            run.number: run.result for run in shown.runs if run.result.data_name == data
        }
        compared = compare_groups(numbered, NAME)
        assert sorted(
            number for comparison in compared for number in comparison.numbers
        ) == sorted(numbered)
        for comparison in compared:
            numbers = comparison.numbers
            assert study.belong_together(numbers)
            is_tested = len(numbers) > 1 and study.is_ranked(numbers[0])
            assert any(test is not None for test in comparison.tests) is is_tested
            if is_tested:
                best = max(study.mean(number, NAME) for number in numbers)
                assert study.mean(comparison.against or 0, NAME) == pytest.approx(best)
            for table in group_tables(comparison, 0):
                assert data in table.title
                assert study.belong_together(table_numbers(table))


def check_table(study: DrawnStudy) -> None:
    """Bold, underlined and marked cells are within a block, and a block has runs of one group per dataset."""
    table = result_table(table_runs([study.source]), TableQuery((NAME,)))
    style = TableStyle(bold=True, marks=True)
    ranks = table.ranks(style.shown_digits)
    for column, block in product(
        range(len(table.columns)), {row.block for row in table.rows}
    ):
        cells = [
            (row.cells[column], rank[column])
            for row, rank in zip(table.rows, ranks, strict=True)
            if row.block == block
        ]
        means = [
            cell.mean for cell, _ in cells if cell.is_estimate and not isnan(cell.mean)
        ]
        assert any(
            {round(mean, 9) for mean in means} <= group
            for group in ranked_means(study.with_data)
        )
        for cell, rank in cells:
            assert not (rank and not cell.is_estimate)
            if rank == "best":
                assert round(cell.mean, style.shown_digits) == round(
                    max(means), style.shown_digits
                )
    latex = table_format("latex").text
    assert latex is not None
    assert latex(table, style).count(r"\textbf") == sum(
        rank.count("best") for rank in ranks
    )


def ranked_means(study: DrawnStudy) -> list[set[float]]:
    """Return the means of each group of runs that may be ranked; an empty set for no runs."""
    groups = [
        {
            round(study.mean(other, NAME), 9)
            for other in study.belonging
            if study.belong_together([number, other])
        }
        for number in study.belonging
        if study.is_ranked(number)
    ]
    return [*groups, set()]


def check_report(study: DrawnStudy) -> None:
    """Sections that compare runs name only comparable ones in each table, sentence and figure."""
    for section in make_report(study.source).sections:
        if section.key not in _DESCRIBES_EACH_RUN:
            check_section(study, section)


def check_section(study: DrawnStudy, section: ReportSection) -> None:
    """Each block of a section belongs to one group."""
    for block in section.blocks:
        if isinstance(block, Paragraph):
            for sentence in block.text.split(". "):
                assert study.belong_together(named_runs(sentence)), sentence
            if "the best mean" in block.text:
                number = min(named_runs(block.text.split(". ", maxsplit=1)[0]))
                rivals = [
                    other
                    for other in study.belonging
                    if study.belong_together([number, other])
                ]
                assert len(rivals) > 1
                assert study.is_ranked(number)
                best = max(study.mean(other, NAME) for other in rivals)
                assert study.mean(number, NAME) == pytest.approx(best)
        elif isinstance(block, TextTable):
            numbers = table_numbers(block)
            assert study.belong_together(numbers), block.title
            if block.bold and numbers:
                assert study.is_ranked(min(numbers)), block.title
                assert len(numbers) > 1, block.title
        elif isinstance(block, ReportFigure):
            numbers = {
                number for text in texts_of(block.figure) for number in named_runs(text)
            }
            assert study.belong_together(numbers), block.caption
            for number in numbers:
                assert study.belonging[number].data in block.caption


def table_numbers(table: TextTable) -> set[int]:
    """Return the numbers of the runs that have a row or a column in a table."""
    header = [str(cell) for cell in table.header]
    numbers = {
        int(cell.removeprefix("run "))
        for cell in header
        if cell.removeprefix("run ").isdecimal()
    }
    if header[0] == "run":
        numbers |= {int(row[0]) for row in table.rows if row[0].isdecimal()}
    return numbers


def named_runs(text: str) -> set[int]:
    """Return the numbers of the runs that a text names."""
    return {
        int(number)
        for match in _RUN.finditer(text)
        for number in re.findall(r"\d+", match[1])
    }


def texts_of(value: Any) -> Iterator[str]:
    """Yield all texts of a figure."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from texts_of(getattr(value, field.name))
    elif isinstance(value, Sequence):
        for part in value:
            yield from texts_of(part)


def test_the_studies_have_what_could_be_mixed(pool: tuple[PooledRun, ...]) -> None:
    """Without this, the test above could pass by never drawing two groups."""
    studies = [drawn_study(Random(f"0 {number}"), pool) for number in range(120)]
    n_groups = [
        len({study.group(number) for number in study.belonging}) for study in studies
    ]
    assert max(n_groups) > 3
    by_hand = {
        s.is_ranked(number)
        for s in studies
        for number, b in s.belonging.items()
        if b.hand_chosen
    }
    assert by_hand == {True, False}
    ranked = [
        study
        for study in studies
        if any(
            study.is_ranked(one) and study.belong_together([one, other])
            for one in study.belonging
            for other in study.belonging
            if one < other
        )
    ]
    assert len(ranked) > 10
    with pytest.raises(PlanError):
        compare_groups({})
