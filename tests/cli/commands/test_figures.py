"""``rankstudio figures``: the figures of a study, without what a seal covers, nothing replaced unasked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankstudio.cli import main
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import SealMark


def names(folder: Path, suffix: str) -> set[str]:
    return {path.name.removesuffix(suffix) for path in folder.glob(f"*{suffix}")}


def test_all_figures_are_listed_and_written(study: Path, tmp_path: Path, done) -> None:
    listed = {
        row["name"]
        for row in json.loads(done(["figures", str(study), "--list", "--json"]).out)
    }
    assert {
        "curves",
        "front",
        "differences",
        "run1-validation",
        "run1-map",
        "run1-candidates",
    } <= listed
    assert {"test", "alone"} <= listed and "learning" not in listed
    out = tmp_path / "new" / "figures"
    assert main(["figures", str(study), "--to", "csv", "--out", str(out)]) == 0
    assert names(out, ".csv") == names(out, ".txt") <= listed
    assert {
        "curves",
        "front",
        "differences",
        "run1-steps",
        "run1-features",
        "run1-stability",
    } <= listed
    caption = (out / "run1-validation.txt").read_text(encoding="utf-8")
    for part in (
        "Greedy RankRLS",
        "λ = 2⁰ … 2² (3 values)",
        "k = ",
        "Standard",
        "Seed 0",
        "RankStudio",
        "MAP",
    ):
        assert part in caption
    assert "numpy" not in caption, "the report has all versions"
    drawn = tmp_path / "drawn"
    command = [
        "figures",
        str(study),
        "--only",
        "run1-validation,differences",
        "--to",
        "svg,csv",
    ]
    assert main([*command, "--out", str(drawn)]) == 0
    assert (
        names(drawn, ".svg")
        == names(drawn, ".csv")
        == {"run1-validation", "differences"}
    )
    assert caption.splitlines()[2] in (drawn / "run1-validation.svg").read_text(
        encoding="utf-8"
    )


def test_the_same_study_is_the_same_bytes_and_nothing_is_replaced(
    study: Path, tmp_path: Path, capsys
) -> None:
    asked = [
        "figures",
        str(study),
        "--only",
        "curves",
        "--to",
        "pdf,png",
        "--dpi",
        "40",
    ]
    for folder in ("a", "b"):
        assert main([*asked, "--out", str(tmp_path / folder)]) == 0
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert files == ["curves.pdf", "curves.png", "curves.txt"]
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (
            tmp_path / "b" / name
        ).read_bytes()
    before = (tmp_path / "a" / "curves.pdf").read_bytes()
    assert main([*asked, "--out", str(tmp_path / "a"), "--width", "page"]) == 1
    assert "--force" in capsys.readouterr().err
    assert (tmp_path / "a" / "curves.pdf").read_bytes() == before
    assert (
        main([*asked, "--out", str(tmp_path / "a"), "--width", "page", "--force"]) == 0
    )
    assert (tmp_path / "a" / "curves.pdf").read_bytes() != before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--only", "curvs"], "only"),
        (["--to", "bmp"], "format pdf"),
        (["--width", "wide"], "width"),
        (["--font", "1"], "font"),
        (["--dpi", "1"], "dpi 30"),
    ],
)
def test_what_is_not_understood_is_a_sentence(
    study: Path, tmp_path: Path, refused, capsys, options: list[str], said: str
) -> None:
    refused(["figures", str(study), *options, "--out", str(tmp_path / "x")], said)
    assert not (tmp_path / "x").exists()
    assert main(["figures", str(study)]) == 1
    assert "--list" in capsys.readouterr().err


def test_a_sealed_test_part_is_in_no_figure(study: Path, tmp_path: Path) -> None:
    copy = tmp_path / "sealed.rankstudio"
    copy.write_bytes(study.read_bytes())
    with Study.open(copy) as opened:
        opened.note_seal(SealMark.now(sealed=True))
    assert (
        main(["figures", str(copy), "--out", str(tmp_path / "out"), "--to", "csv"]) == 0
    )
    assert "test" not in names(tmp_path / "out", ".csv")
    assert "cross-fitted" in (tmp_path / "out" / "differences.txt").read_text(
        encoding="utf-8"
    )
    assert "run1-validation" in names(tmp_path / "out", ".csv")
    assert "test part" not in (tmp_path / "out" / "curves.txt").read_text(
        encoding="utf-8"
    )


def test_a_study_without_anything_to_draw_is_refused(
    tmp_path: Path, done, refused
) -> None:
    """One setting, no validation and no test part: no curve, map or difference."""
    data, out = tmp_path / "data.txt", tmp_path / "out"
    rows = [
        f"{label} qid:{query} 1:{label + query / 9} 2:{query % 2}"
        for query in (1, 2, 3)
        for label in (0, 1)
    ]
    data.write_text("\n".join([*rows, ""]), encoding="utf-8")
    done(
        [
            "run",
            "--data",
            str(data),
            "--method",
            "rankrls",
            "--lambda",
            "1",
            "--out",
            str(out),
        ]
    )
    refused(
        ["figures", str(out / "study.rankstudio"), "--out", str(tmp_path / "figures")],
        "no results",
    )
    assert not (tmp_path / "figures").exists()


def test_a_study_without_runs_has_no_number_to_choose(tmp_path: Path, refused) -> None:
    path = tmp_path / "empty.rankstudio"
    Study.create(path).close()
    refused(["plan", str(path)], "no run")
    refused(["plan", str(path), "--run", "1"], "no run")
