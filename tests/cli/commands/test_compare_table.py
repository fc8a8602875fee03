"""``rankstudio compare``: the table of a paper, in every format, from one command."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq
import pytest
from letor_folder import save_folds
from wording import naming

from rankstudio.cli import main
from rankstudio.engine import evaluate, open_dataset
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import SealMark
from rankstudio.engine.statistics.paired import signed_ranks


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two methods on two datasets."""
    root = tmp_path_factory.mktemp("tables")
    path = root / "two.rankstudio"
    for name, seed in (("Made", 7), ("Other", 8)):
        save_folds(root / name, 2, n_queries=40, seed=seed)
        for method in (["rankrls", "--lambda", "2^0"], ["single-feature"]):
            data = ["--data", str(root / name), "--convention", "letor4"]
            assert main(["run", *data, "--method", *method, "--study", str(path)]) == 0
    return path


def printed(capsys, *words: str) -> str:
    capsys.readouterr()
    assert main(["compare", *words]) == 0
    return str(capsys.readouterr().out)


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_several_datasets_stand_side_by_side(study, capsys) -> None:
    text = printed(
        capsys, str(study), "--measures", "MAP, NDCG@10", "--bold", "--digits", "3"
    )
    header, _, *rows = [line for line in text.splitlines() if line.startswith("|")]
    cells = [cell.strip() for cell in header.strip("|").split("|")]
    assert cells == ["Method", "Made MAP", "Made NDCG@10", "Other MAP", "Other NDCG@10"]
    assert [row.split("|")[1].strip() for row in rows] == ["RankRLS", "Single features"]
    assert "**0." in rows[0] + rows[1]
    assert text.startswith(
        "**MAP and NDCG@10 on Made and Other: test, 2 folds, 16 queries; mean over the folds.**"
    )


def test_the_table_has_the_numbers_of_the_study(study, capsys) -> None:
    rows = read_csv(
        printed(
            capsys, str(study), "--measures", "MAP", "--to", "csv", "--sd", "--marks"
        )
    )
    with Study.open(study) as opened:
        results = [opened.result(summary.key) for summary in opened.runs()]
    found = {(r.data_name, r.plan.title): r for r in results}
    for row in rows:
        for data in ("Made", "Other"):
            one = found[data, row["Method"]]
            assert float(row[f"{data} MAP"]) == one.average["MAP"]
            assert abs(float(row[f"{data} MAP sd"])) > 0
    assert [bool(row["Made MAP p"]) for row in rows].count(True) == 1


def test_marks_are_of_the_test_that_is_named(study, capsys) -> None:
    words = (str(study), "--measures", "MAP", "--data", "Made", "--against", "1")
    text = printed(capsys, *words, "--test", "wilcoxon")
    assert naming("Wilcoxon").search(text) and "Fisher" not in text
    (row,) = (
        r
        for r in read_csv(printed(capsys, *words, "--test", "wilcoxon", "--to", "csv"))
        if r["MAP p"]
    )
    with Study.open(study) as opened:
        results = [opened.result(summary.key) for summary in opened.runs()]
    first, other = (r.per_query("MAP") for r in results if r.data_name == "Made")
    assert float(row["MAP p"]) == signed_ranks(other, first).p


def test_measures_that_were_not_stored_are_computed_from_stored_models(
    study, capsys
) -> None:
    rows = read_csv(
        printed(
            capsys,
            str(study),
            "--measures",
            "ERR",
            "--data",
            "Made",
            "--by",
            "folds",
            "--to",
            "csv",
        )
    )
    data = open_dataset(study.parent / "Made")
    with Study.open(study) as opened:
        result = opened.result(opened.runs()[0].key)
    for fold, part in zip(result.folds, data.folds, strict=True):
        assert part.test is not None
        scores = part.test.X @ fold.chosen.step.coef
        expected = evaluate(part.test.y, scores, part.test.qid, measures=["ERR"])["ERR"]
        assert float(rows[0][f"Fold {fold.fold}"]) == pytest.approx(expected)


def test_a_study_that_is_given_twice_changes_nothing(study, tmp_path, capsys) -> None:
    copy = tmp_path / "copy.rankstudio"
    copy.write_bytes(study.read_bytes())
    options = ["--marks", "--sd", "--by", "datasets"]
    assert printed(capsys, str(study), str(copy), *options) == printed(
        capsys, str(study), *options
    )


@pytest.mark.parametrize("suffix", [".tex", ".html", ".xlsx", ".parquet"])
def test_the_suffix_says_the_format_and_nothing_is_overwritten(
    study, tmp_path, refused, suffix
) -> None:
    out = tmp_path / f"table{suffix}"
    words = ["compare", str(study), "--measures", "MAP", "--marks", "--out", str(out)]
    assert main(words) == 0
    content = out.read_bytes()
    refused(words, "file --force")
    assert main([*words, "--force"]) == 0
    if suffix != ".xlsx":  # which notes when it was made
        assert out.read_bytes() == content
    match suffix:
        case ".xlsx":
            assert openpyxl.load_workbook(out).active["A4"].value == "Method"
        case ".parquet":
            assert pq.read_table(out).num_rows == 2
        case ".tex":
            assert b"\\toprule" in content
        case ".html":
            assert content.startswith(b"<!DOCTYPE html>")


def test_html_alone_makes_it_a_table_for_print_and_tex_does_not(
    study, tmp_path, capsys
) -> None:
    for name, expected in (("a.html", "<table>"), ("b.tex", "95 \\% interval")):
        assert main(["compare", str(study), "--out", str(tmp_path / name)]) == 0
        assert expected in (tmp_path / name).read_text(encoding="utf-8")


def test_a_sealed_study_shows_its_validation_part(study, tmp_path, capsys) -> None:
    sealed = tmp_path / "sealed.rankstudio"
    sealed.write_bytes(study.read_bytes())
    with Study.open(sealed) as opened:
        opened.note_seal(SealMark(True, "2026-11-22T02:30:00+00:00"))
        results = [opened.result(summary.key) for summary in opened.runs()]
    text = printed(
        capsys, str(sealed), "--measures", "MAP", "--data", "Made", "--marks"
    )
    assert "validation part" in text
    for one in results[:2]:
        assert f"{one.average['MAP']:.4f}" not in text
        assert f"{one.average_on(Part.CROSS_FITTED)['MAP']:.4f}" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "excel"], "--to excel --out FILE Excel"),
        (["--bold", "--format", "json"], "--format latex markdown html"),
        (["--bold", "--out", "x.doc"], "--out"),
        (["--measures", "MAP", "--measure", "MAP"], "--measure --measures"),
        (["--measures", "MOP"], "measure"),
        (["--marks", "--against", "gas"], "against rankrls single-feature gas"),
        (["--bold", "--data", "Elsewhere"], "--data Elsewhere Made Other"),
    ],
)
def test_what_makes_no_table_is_told(
    study, refused, options: list[str], message: str
) -> None:
    refused(["compare", str(study), *options], message)


def test_digits_are_a_number(study, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["compare", str(study), "--digits", "16"])
    assert naming("0 15 16").search(capsys.readouterr().err)


def test_data_that_are_gone_are_told_where_they_are_needed(
    study, tmp_path, refused
) -> None:
    moved = study.parent / "Made"
    moved.rename(tmp_path / "away")
    try:
        assert main(["compare", str(study), "--measures", "MAP", "--bold"]) == 0
        refused(["compare", str(study), "--measures", "RR"], "RankRLS Made RR")
    finally:
        (tmp_path / "away").rename(moved)
