"""Tables as Markdown and LaTeX: nothing in a cell is taken for markup."""

from __future__ import annotations

import csv
import io

import pytest

from rankstudio.engine.export.tables import (
    csv_text,
    latex_text,
    markdown_text,
    p_text,
    range_text,
)


def test_markdown_has_no_empty_cells_and_keeps_bars() -> None:
    assert markdown_text(["method", "MAP"], [["a|b", "0.5"], ["", " 0.25 "]]) == (
        "| method |  MAP |\n| ------ | ---: |\n| a\\|b   |  0.5 |\n| –      | 0.25 |"
    )


def test_highlighted_cells_are_bold_in_markdown() -> None:
    rows = [["*a*", "0.5"], ["b", "0.25"]]
    lines = markdown_text(["method", "MAP"], rows, bold={(0, 0), (1, 1)}).splitlines()
    assert lines[2] == r"| **\*a\*** |      0.5 |"
    assert lines[3] == "| b         | **0.25** |"


@pytest.mark.parametrize("separator", [",", "\t"])
def test_csv_keeps_ends_of_lines_within_a_cell(separator: str) -> None:
    rows = [["a\rb", "c\nd", "e\n"], ["1", "2", "3"]]
    text = csv_text(["x", "y", "z"], rows, separator)
    assert list(csv.reader(io.StringIO(text, newline=""), delimiter=separator)) == [
        ["x", "y", "z"],
        *rows,
    ]
    assert text.endswith(f"1{separator}2{separator}3\n")


def test_an_end_of_a_line_within_a_cell_is_a_blank_in_markdown_and_latex() -> None:
    assert markdown_text(["n"], [["a\r\nb"]]).splitlines()[-1] == "| a b |"
    assert r"a b \\" in latex_text(["n"], [["a\nb"]]).splitlines()


def test_latex_is_a_table_for_booktabs() -> None:
    text = latex_text(
        ["run", "method", "p"], [["1", "RankRLS", "<0.0001"]], (1,), "MAP of 100 %"
    )
    assert text.splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\setlength{\belowcaptionskip}{\smallskipamount}",
        r"\caption{MAP of 100 \%}",
        r"\begin{tabular}{rlr}",
        r"\toprule",
        r"run & method & p \\",
        r"\midrule",
        r"1 & RankRLS & $<$0.0001 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("95 % & more", r"95 \% \& more"),
        ("features_k {3}", r"features\_k \{3\}"),
        ("2^10", "$2^{10}$"),
        ("2^0..2^-4", "$2^{0}$..$2^{-4}$"),
        ("x^2", r"x\textasciicircum{}2"),
        ("R²", "R$^{2}$"),
        ("p < 0.05†‡", r"p $<$ 0.05$\dagger$$\ddagger$"),
        ("a\\b", r"a\textbackslash{}b"),
        ("−0.01 … +0.02", r"$-$0.01 \ldots{} +0.02"),
        ("-0.01 … +0.02", r"$-$0.01 \ldots{} +0.02"),
        ("FS-BFS of 10-fold", "FS-BFS of 10-fold"),
        ("1–7", "1--7"),
        ("λ₁", r"$\lambda$$_1$"),
        ("Größe", "Größe"),
    ],
)
def test_what_means_something_in_latex_is_written_out(cell, expected) -> None:
    assert f"\n{expected} \\\\" in latex_text(["x"], [[cell]])


def test_latex_knows_powers_and_dots() -> None:
    lines = latex_text(["λ"], [["2⁻¹⁰ · 3"]]).splitlines()
    assert r"$2^{-10}$ $\cdot$ 3 \\" in lines


def test_a_p_value_is_never_written_as_zero() -> None:
    assert [p_text(p) for p in (0.0, 0.00009, 0.0001, 0.04999, 1.0)] == [
        "<0.0001",
        "<0.0001",
        "0.0001",
        "0.0500",
        "1.0000",
    ]


def test_numbers_are_written_from_where_to_where_they_go() -> None:
    assert [range_text(sizes) for sizes in ((), (4,), (7, 1, 3))] == ["", "4", "1–7"]
