"""docs/results.py: the parts of a collection, and what it writes into the page on results."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from letor_folder import save_folds

from rankstudio.cli import main

PAGE = Path(__file__).parents[3] / "docs" / "results.md"

METHODS = """\
title = "Few methods"
select_by = "MAP"
measures = ["MAP", "NDCG@10"]
[[runs]]
method = ["gas", "single-feature"]
ranker = "rankrls"
[[runs]]
method = ["rankrls", "greedy-rankrls"]
[parameters.rankrls]
regularization = "1"
[parameters.greedy-rankrls]
regularization = "1"
"""


@pytest.fixture(scope="module")
def program() -> ModuleType:
    """docs/results.py as a module."""
    specification = spec_from_file_location("results", PAGE.with_suffix(".py"))
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def source(program, collection, tmp_path_factory):
    """The runs of few methods on three datasets."""
    folder = tmp_path_factory.mktemp("guide")
    plan = folder / "few.toml"
    plan.write_text(METHODS, encoding="utf-8")
    words = ["benchmark", str(plan), "--data", str(collection)]
    assert main([*words, "--out", str(folder / "out")]) == 0
    return program.read_source(folder / "out" / "study.rankstudio")


def test_parts_have_each_query_once_with_all_documents(program, tmp_path):
    folder = tmp_path / "alpha"
    save_folds(folder, n_folds=3, n_queries=20, seed=1)
    program.write_parts("alpha", folder, tmp_path, n_parts=2)
    parts = [
        (tmp_path / f"alpha part {number} of 2.txt").read_text("utf-8").splitlines()
        for number in (1, 2)
    ]
    lines = [
        line
        for path in sorted(folder.glob("Fold*/test.txt"))
        for line in path.read_text("utf-8").splitlines()
    ]
    assert sorted(parts[0] + parts[1]) == sorted(lines)
    queries = [{line.split()[1] for line in part} for part in parts]
    assert not queries[0] & queries[1]
    assert abs(len(queries[0]) - len(queries[1])) <= 1


def test_the_section_has_tables_tests_and_ranks_of_both_families(program, source):
    texts = program.sections(source)
    assert texts["datasets"].startswith("These are 12 runs")
    for data in ("alpha", "beta", "gamma"):
        assert f"\n## {data}\n" in texts["datasets"]
    selectors, models = texts["parts"].split("### Methods that")
    for family, names in (
        (selectors, {"GAS, then RankRLS", "Single features, then RankRLS", "RankRLS"}),
        (models, {"RankRLS", "Greedy RankRLS"}),
    ):
        rows = [
            line.split("|")[1].strip() for line in family.splitlines() if "|" in line
        ]
        assert names <= set(rows)
        assert not (set(rows) - names) & {
            *("GAS, then RankRLS", "Single features, then RankRLS", "Greedy RankRLS")
        }
        assert "#### MAP, with" in family
        assert "#### NDCG@10, with" in family
        assert "Tests need at least 5 datasets, found 3" in family
    for name, contents in program.pictures(source):
        assert f"(images/results/{name})" in texts["parts"]
        assert contents.startswith(b"\x89PNG")


def test_the_texts_are_written_between_their_marks(program):
    before = PAGE.read_text("utf-8")
    texts = {"datasets": "new text", "parts": "another"}
    after = program.written(before, texts)
    for name, text in texts.items():
        begin = program.BEGIN.format(section=name)
        end = program.END.format(section=name)
        assert f"{begin}\n\n{text}\n\n{end}" in after
        assert after.partition(end)[2].startswith("\n\n#")
    assert after.partition("<!-- W")[0] == before.partition("<!-- W")[0]
    assert program.written(after, texts) == after
    with pytest.raises(SystemExit):
        program.written(before.partition("<!-- W")[0], texts)


def test_the_methods_of_the_page_are_a_plan_whose_rankers_can_be_replaced(program):
    methods = program.METHODS.read_text("utf-8")
    assert methods.count(program.RANKERS) == 1
    assert "def lightgbm_gain" in program._lightgbm_importance()
    assert "lightgbm_importance.py:lightgbm_gain" in methods
