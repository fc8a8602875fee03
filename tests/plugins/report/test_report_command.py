"""``rankstudio report``: a study as one HTML file."""

from __future__ import annotations

from pathlib import Path

import pytest
from letor_folder import save_folds

from rankstudio.cli import main
from rankstudio.engine.analysis import reported_runs
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import open_data


def test_a_report_is_written_and_replaced_only_by_force(
    study: Path, tmp_path: Path, capsys
) -> None:
    out = tmp_path / "report.html"
    assert main(["report", str(study), "--out", str(out)]) == 0
    page = out.read_text(encoding="utf-8")
    assert "Fold1/train.txt" in page
    assert "rankstudio run --data" in page
    assert page.count("sha256:") >= 7
    assert (
        main(["report", str(study), "--out", str(out), "--sections", "versions"]) == 1
    )
    assert "--force" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == page
    assert (
        main(
            [
                "report",
                str(study),
                "--out",
                str(out),
                "--sections",
                "versions",
                "--force",
            ]
        )
        == 0
    )
    assert "numpy" in out.read_text(encoding="utf-8")
    assert "<h2>Data</h2>" not in out.read_text(encoding="utf-8")


def test_an_unknown_section_is_refused(study: Path, tmp_path: Path, capsys) -> None:
    assert (
        main(
            [
                "report",
                str(study),
                "--out",
                str(tmp_path / "r.html"),
                "--sections",
                "resluts",
            ]
        )
        == 1
    )
    assert "question, results, tests" in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


def test_no_page_is_written_as_a_pdf(study: Path, tmp_path: Path, capsys) -> None:
    assert (
        main(
            [
                "report",
                str(study),
                "--without-data",
                "--out",
                str(tmp_path / "report.pdf"),
            ]
        )
        == 1
    )
    assert ".html" in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_documents_that_changed_are_left_out(study: Path, tmp_path: Path) -> None:
    bare, with_data = tmp_path / "bare.html", tmp_path / "data.html"
    command = ["report", str(study), "--sections", "data", "--out"]
    assert main([*command, str(with_data)]) == 0
    assert main([*command, str(bare), "--without-data"]) == 0
    assert "queries / documents" in with_data.read_text(encoding="utf-8")
    assert "queries / documents" not in bare.read_text(encoding="utf-8")
    train = study.parent / "Made" / "Fold1" / "train.txt"
    before = train.read_bytes()
    try:
        train.write_bytes(before + before.splitlines(keepends=True)[-1])
        changed = tmp_path / "changed.html"
        assert main([*command, str(changed)]) == 0
        assert changed.read_bytes() == bare.read_bytes()
    finally:
        train.write_bytes(before)


def test_a_report_covers_one_dataset_or_the_runs_that_are_asked_for(
    tmp_path: Path, capsys
) -> None:
    both = tmp_path / "both.rankstudio"
    for name, seed in (("Made", 7), ("Other", 8)):
        save_folds(tmp_path / name, 2, n_queries=20, seed=seed)
        command = ["run", "--data", str(tmp_path / name), "--method", "single-feature"]
        assert main([*command, "--study", str(both)]) == 0
    page = tmp_path / "page.html"

    def written(*options: str) -> str:
        capsys.readouterr()
        command = [
            "report",
            str(both),
            "--out",
            str(page),
            "--sections",
            "results",
            "--force",
            *options,
        ]
        assert main(command) == 0
        return page.read_text(encoding="utf-8")

    for options, named in (
        ((), ["Other"]),
        (("--data", "Made"), ["Made"]),
        (("--data", "all"), ["Made", "Other"]),
        (("--runs", "1"), ["Made"]),
    ):
        text = written(*options)
        assert [
            name for name in ("Made", "Other") if f"{name}: test, 2 folds" in text
        ] == named
        assert ("Made" in capsys.readouterr().err) == (not options)
        assert "best mean" not in text
    for wrong in (("--data", "Elsewhere"), ("--runs", "3"), ("--runs", "x")):
        assert main(["report", str(both), "--out", str(page), "--force", *wrong]) == 1


def test_reports_and_figures_open_only_the_data_of_their_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    both = tmp_path / "both.rankstudio"
    for name, seed in (("Made", 7), ("Other", 8)):
        save_folds(tmp_path / name, 2, n_queries=20, seed=seed)
        command = ["run", "--data", str(tmp_path / name), "--method", "single-feature"]
        assert main([*command, "--study", str(both)]) == 0
    opened: list[str] = []

    def opening(plan: Plan) -> FoldedDataset:
        opened.append(Path(plan.data).name)
        return open_data(plan)

    monkeypatch.setattr(reported_runs, "open_data", opening)
    drawn = ["figures", str(both), "--only", "curves", "--to", "csv", "--out"]
    for options, named in (
        ((), ["Other"]),
        (("--data", "Made"), ["Made"]),
        (("--runs", "1"), ["Made"]),
    ):
        opened.clear()
        out = tmp_path / "-".join(["page", *options])
        page = [str(both), "--out", str(out.with_suffix(".html")), "--sections", "data"]
        assert main(["report", *page, *options]) == 0
        assert main([*drawn, str(out), *options]) == 0
        assert opened == named * 2
        (caption,) = out.glob("*.txt")
        assert [
            name
            for name in ("Made", "Other")
            if name in caption.read_text(encoding="utf-8")
        ] == named
        assert capsys.readouterr().err.count("Note:") == (0 if options else 2)
