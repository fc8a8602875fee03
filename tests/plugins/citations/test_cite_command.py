"""The command ``cite``: what a study, a run or a plan uses, printed, written and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankstudio.cli import main
from rankstudio.engine.support.bibtex import parse_bibtex
from rankstudio.engine.support.resources import resource

SAMPLE_STUDY = str(resource("sample", "run.rankstudio"))


def keys(text: str) -> list[str]:
    """Return the keys of the entries in a text."""
    return [entry.key for entry in parse_bibtex(text)]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a study with two runs on the sample, the second with a final ranker."""
    path = tmp_path_factory.mktemp("cite") / "s.rankstudio"
    run = ["run", "--sample", "--k", "2", "--study", str(path)]
    assert main([*run, "--method", "gas"]) == 0
    assert main([*run, "--method", "single-feature", "--ranker", "rankrls"]) == 0
    return path


def test_without_a_study_the_program_is_cited(capsys) -> None:
    assert main(["cite"]) == 0
    assert keys(capsys.readouterr().out) == ["rankstudio"]


def test_a_study_cites_all_runs_and_their_tests_and_a_run_only_its_own(
    study, capsys
) -> None:
    assert main(["cite", str(study)]) == 0
    everything = keys(capsys.readouterr().out)
    assert everything[0] == "rankstudio"
    assert {"geng2007feature", "pahikkala2009efficient", "holm1979simple"} <= {
        *everything
    }
    assert len(set(everything)) == len(everything)
    assert main(["cite", str(study), "--run", "1"]) == 0
    own = keys(capsys.readouterr().out)
    assert "geng2007feature" in own
    assert not {"pahikkala2009efficient", "holm1979simple"} & {*own}


def test_the_bundled_study_is_not_cited_as_letor_data(capsys) -> None:
    assert main(["cite", SAMPLE_STUDY, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    uses = [use for entry in listed for use in entry["uses"]]
    assert not any(use.startswith("data ") for use in uses)
    assert "convention LETOR 4.0" in uses
    assert all(keys(entry["bibtex"]) == [entry["key"]] for entry in listed)


def test_a_plan_is_cited(tmp_path, capsys) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('method = "fsmrank"\ndata = "MQ2008"\nrule = "one-se"\n')
    out = tmp_path / "new" / "references.bib"
    assert main(["cite", str(plan), "--out", str(out)]) == 0
    assert capsys.readouterr().out == ""
    written = keys(out.read_text(encoding="utf-8"))
    assert written[:2] == ["rankstudio", "lai2013fsmrank"]
    assert {"qin2013introducing", "breiman1984classification"} <= {*written}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cite", "--run", "1"], "--run: expected a study with the run"),
        (["cite", SAMPLE_STUDY, "--run", "7"], "numbers of completed runs: 1"),
        (["cite", "absent.rankstudio"], "absent.rankstudio"),
        (["cite", "absent.toml"], "absent.toml"),
    ],
)
def test_what_cannot_be_cited_is_told(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 1
    assert message in capsys.readouterr().err


def test_the_citations_of_a_table_are_those_of_its_study(study, tmp_path) -> None:
    table = tmp_path / "table.tex"
    bib = tmp_path / "references.bib"
    assert main(["compare", str(study), "--to", "latex", "--out", str(table)]) == 0
    assert main(["cite", str(study), "--out", str(bib)]) == 0
    text = table.read_text(encoding="utf-8")
    (citation,) = [line for line in text.splitlines() if "\\cite{" in line]
    cited = citation.removeprefix("% \\cite{").removesuffix("}").split(",")
    assert len(cited) > 3
    assert {*cited} <= {*keys(bib.read_text(encoding="utf-8"))}
