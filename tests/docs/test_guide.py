"""The guide is true: generated pages are current, links lead somewhere, its Python runs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from rankstudio.engine.data.letor.writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def generated() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: page() for name, page in module.PAGES.items()}


def test_the_generated_pages_are_those_of_the_present_catalog() -> None:
    for name, text in generated().items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == text, "run python docs/generate.py"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda p: p.name)
def test_every_link_and_picture_is_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_is_reached_from_the_first() -> None:
    first = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert {p.name for p in PAGES} - {"index.md"} == set(re.findall(r"\((\w[\w-]*\.md)\)", first))


def test_the_python_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for fold in make_ranking(n_queries=60, seed=5).folds:
        (tmp_path / "MQ2008" / f"Fold{fold.number}").mkdir(parents=True)
        for name, part in fold.parts.items():
            save_letor(part, tmp_path / "MQ2008" / f"Fold{fold.number}" / f"{name}.txt")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    code = "\n".join(line[4:] for line in text.splitlines() if line.startswith("    ") or not line)
    exec(compile(code, "python.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert 0 < float(printed[4]) <= 1
