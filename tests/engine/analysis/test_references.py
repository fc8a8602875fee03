"""What runs use: every method, measure, convention, dataset and plug-in of the catalog can be cited."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from experiment.runs import fold, result
from hypothesis import example, given
from hypothesis import strategies as st
from toy_method import ENTRY

from rankstudio import __version__
from rankstudio.engine.analysis.references import (
    bibtex_of,
    cited_keys,
    entries_for,
    method_entries,
    plan_references,
    plugin_entries,
    program_entry,
    references_of_runs,
)
from rankstudio.engine.data.known_datasets import (
    KNOWN,
    recorded_dataset,
    table_of_names,
)
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.catalog.method import Method
from rankstudio.engine.methods.catalog.registry import refuse_invalid
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.names import families
from rankstudio.engine.plugins.loader import plugins
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.plugins.plugin import LoadedPlugin, Plugin
from rankstudio.engine.support.bibtex import BibEntry, parse_bibtex
from rankstudio.engine.support.resources import resource

SHIPPED = parse_bibtex(resource("references.bib").read_text(encoding="utf-8"))
CITATION = Path(__file__).resolve().parents[3] / "CITATION.cff"
HOSTILE = "}}, note = {x}\n@misc{other, <b>&\\input{x}\x1b[31m"


def ran(method: str) -> RunResult:
    """Return a finished run of a method on two folds."""
    folds = [fold(number, [0.1, 0.2, 0.3]) for number in (1, 2)]
    return result(folds, method=method)


def cited(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the uses of each entry that a plan cites."""
    return {r.entry.key: r.uses for r in plan_references(plan)}


def test_every_method_has_its_paper() -> None:
    for entry in methods():
        papers = method_entries(entry)
        titles = [paper.plain("title").lower() for paper in papers]
        assert entry.description.title.lower() in titles, entry.key
        paper = papers[titles.index(entry.description.title.lower())]
        assert entry.description.citation.endswith(paper.value("year")), entry.key
        first_author = paper.plain("author").partition(",")[0]
        assert entry.description.citation.startswith(first_author), entry.key


def test_every_convention_dataset_and_plug_in_can_be_cited() -> None:
    for key in CONVENTIONS:
        assert entries_for(f"convention:{key}"), key
    for keywords in KNOWN:
        assert entries_for(f"data:{keywords.key}"), keywords.key
    for loaded in plugins().loaded:
        for entry in plugin_entries(loaded):
            assert parse_bibtex(entry.text) == (entry,), loaded.plugin.name


@pytest.mark.shipped
def test_every_keyword_is_of_something_that_exists() -> None:
    """A misspelt keyword would leave an entry out, silently."""
    expected = {f"method:{entry.key}" for entry in methods()}
    expected |= {f"convention:{key}" for key in CONVENTIONS}
    expected |= {f"data:{keywords.key}" for keywords in KNOWN}
    expected |= {f"measure:{family.name}" for family in families()}
    expected |= {f"rule:{name}" for name in ("best", "smallest", "one-se")}
    expected |= {f"test:{name}" for name in ("t", "wilcoxon", "randomisation", "holm")}
    expected |= {"test:bootstrap", "program", "tests", "stability", "ranks"}
    keywords = {
        keyword for entry in SHIPPED for keyword in entry.value("keywords").split(", ")
    }
    assert keywords <= expected


def test_shipped_entries_have_unique_keys_and_what_their_kind_needs() -> None:
    needed = {
        "article": ("author", "title", "journal", "year"),
        "inproceedings": ("author", "title", "booktitle", "year"),
        "book": ("author", "title", "publisher", "year"),
        "phdthesis": ("author", "title", "school", "year"),
        "techreport": ("author", "title", "institution", "year"),
        "misc": ("author", "title"),
    }
    keys = [entry.key.lower() for entry in SHIPPED]
    assert len(set(keys)) == len(keys)
    for entry in SHIPPED:
        assert all(map(entry.value, needed[entry.kind])), entry.key
        assert re.fullmatch(r"(10\.\d{4,}/\S+)?", entry.value("doi")), entry.key
        year = entry.value("year")
        assert not year or year in entry.key, entry.key


def test_the_program_and_the_papers_are_those_of_the_citation_file() -> None:
    text = CITATION.read_text(encoding="utf-8")
    program = program_entry()
    (address,) = re.findall(r"^repository-code: (.+)$", text, re.MULTILINE)
    (author,) = re.findall(r"^ {2}- name: (.+)$", text, re.MULTILINE)
    doi = re.findall(r"^doi: (.+)$", text, re.MULTILINE)
    assert program.value("url") == address
    assert program.plain("author") == author
    assert [program.value("doi")] == (doi or [""])
    assert program.value("note") == f"Version {__version__}"
    titles = {entry.plain("title").lower(): entry for entry in SHIPPED}
    for title, year in re.findall(r'title: "([^"]+)"\n {4}year: (\d{4})\n', text):
        assert titles[title.lower()].value("year") == year, title


def test_a_plan_cites_methods_measures_data_convention_and_rule() -> None:
    plan = Plan(
        method="fsmrank",
        ranker="ranksvm",
        data="/somewhere/MSLR-WEB10K",
        measures=("NDCG@10", "ERR", "NDCG@5"),
        select_by="NDCG@10",
        convention="sklearn",
        rule="one-se",
    )
    assert cited(plan) == {
        "rankstudio": ("program RankStudio",),
        "lai2013fsmrank": ("method FSMRank",),
        "joachims2002optimizing": ("method RankSVM",),
        "chapelle2010efficient": ("method RankSVM",),
        "qin2013introducing": ("data mslr",),
        "jarvelin2002cumulated": ("measure NDCG",),
        "chapelle2009expected": ("measure ERR",),
        "pedregosa2011scikit": ("convention scikit-learn",),
        "breiman1984classification": ("rule one-se",),
    }
    assert "qin2013introducing" not in cited(Plan(method="gas", data="sample"))


@pytest.mark.parametrize(
    ("path", "names", "n_features", "expected"),
    [
        ("/d/MQ2008", (), None, "letor4"),
        ("/d/MQ2008", (), 46, "letor4"),
        ("/d/MQ2008", (), 47, None),
        ("/d/mine", tuple(table_of_names("mslr").values()), 136, "mslr"),
        ("/d/mine", ("a", "b"), 2, None),
        ("/d/istella-s", (), 220, "istella"),
        ("/d/OHSUMED/QueryLevelNorm", (), 45, "ohsumed"),
        (str(resource("sample")), tuple(table_of_names("letor4").values()), 46, None),
        ("", (), 0, None),
    ],
)
def test_datasets_are_recognised_without_their_documents(
    path, names, n_features, expected
) -> None:
    assert recorded_dataset(path, names, n_features) == expected


def test_runs_cite_each_entry_once_and_the_tests_that_compare_them() -> None:
    first, second = ran("gas"), ran("single-feature")
    alone = {r.entry.key: r.uses for r in references_of_runs([first])}
    both = {r.entry.key: r.uses for r in references_of_runs([first, second])}
    tests = {entry.key for entry in entries_for("tests")}
    assert not tests & set(alone)
    assert tests <= set(both)
    assert both["geng2007feature"] == ("method GAS", "method Single features")
    assert both["nogueira2018stability"]
    text = bibtex_of(references_of_runs([first, second]))
    assert [entry.key for entry in parse_bibtex(text)] == list(both)


def test_the_versions_that_computed_the_runs_are_those_of_the_program() -> None:
    runs = [
        replace(ran("gas"), versions={"rankstudio": version})
        for version in ("0.0.9", "0.1.0", "0.0.9")
    ]
    (program, *_) = references_of_runs(runs)
    assert program.entry.value("note") == "Version 0.0.9, 0.1.0"


def test_a_table_cites_the_test_of_its_marks() -> None:
    runs = [ran("gas"), ran("rfe")]
    plain = cited_keys(runs, "")
    tested = cited_keys(runs, "wilcoxon")
    assert set(tested) - set(plain) == {"wilcoxon1945individual", "holm1979simple"}
    assert "student1908probable" not in tested


OWN = (
    "@article{peng2005feature, author = {Peng, H.}, title = {On features}, year = 2005}"
)


def of_package(**description: str) -> Method:
    """Return a method of a package, with other texts in its description."""
    return replace(
        ENTRY,
        description=replace(ENTRY.description, **description),
        origin=Origin(OriginKind.PACKAGE, "their-package", "1.2"),
    )


def test_a_method_of_others_gives_its_own_entries_or_gets_one() -> None:
    (own_entries,) = method_entries(of_package(bibtex=OWN))
    assert own_entries.key == "peng2005feature"
    (entry_text,) = method_entries(
        of_package(citation="Peng et al. 2005", title="On features")
    )
    assert entry_text == BibEntry(
        "misc",
        "peng2005on",
        (("author", "{Peng} and others"), ("title", "On features"), ("year", "2005")),
    )
    (two,) = method_entries(of_package(citation="Naini and Altıngövde 2014"))
    assert two.value("author") == "{Naini} and {Altıngövde}"
    (program,) = method_entries(of_package(citation="my_method.py (SHA-256 12)"))
    assert program.plain("howpublished") == "my_method.py (SHA-256 12)"


@pytest.mark.parametrize("bibtex", ["@article{", "peng2005", "@a{b, c = {}} x", 3])
def test_bibtex_of_others_that_cannot_be_read_is_refused(bibtex) -> None:
    with pytest.raises(PlanError, match=r"toy: (BibTeX|bibtex): expected"):
        refuse_invalid(of_package(bibtex=bibtex))


def test_a_plug_in_gives_its_own_entry_or_gets_one() -> None:
    loaded = LoadedPlugin(Plugin("theirs", summary="Does it."), "their-package", "1.2")
    (entry_text,) = plugin_entries(loaded)
    assert entry_text.key == "their-package"
    assert entry_text.plain("title") == "their-package: Does it"
    assert entry_text.plain("note") == "Version 1.2"
    own_entries = replace(loaded, plugin=Plugin("theirs", bibtex=OWN))
    assert [entry.key for entry in plugin_entries(own_entries)] == ["peng2005feature"]
    broken = replace(loaded, plugin=Plugin("theirs", summary="Does it.", bibtex="@a"))
    assert plugin_entries(broken) == (entry_text,)


@given(st.text(max_size=40), st.text(max_size=40))
@example(HOSTILE, HOSTILE)
@example("X and Y 2010", HOSTILE)
@example("{ 2010", "} @")
def test_hostile_names_are_texts_of_one_entry(citation: str, title: str) -> None:
    method = of_package(citation=citation, title=title)
    entries = method_entries(method)
    text = "".join(entry.text for entry in entries)
    assert parse_bibtex(text) == entries
    assert len(entries) == 1
    assert {name for name, _ in entries[0].fields} <= {
        "author",
        "title",
        "year",
        "howpublished",
    }


def test_hostile_names_of_a_run_are_texts_of_a_comment() -> None:
    run = replace(ran("gas"), versions={"rankstudio": HOSTILE}, data_name=HOSTILE)
    run = replace(run, plan=run.plan.changed(data="/d/MQ2008"), feature_ids=range(46))
    references = references_of_runs([run])
    text = bibtex_of(references)
    assert [e.key for e in parse_bibtex(text)] == [r.entry.key for r in references]
    comments = [line for line in text.splitlines() if line.startswith("%")]
    assert len(comments) == len(references)
    assert not set("".join(comments)) & set("@{}\\")
    assert "\x1b" not in text


def test_different_entries_with_one_key_get_different_keys() -> None:
    """Two packages may choose the same key for different papers."""
    from rankstudio.engine.analysis.references import _merged  # noqa: PLC0415

    first, second, third = (
        BibEntry("misc", key, (("title", title),))
        for key, title in (("a", "one"), ("A", "two"), ("a", "three"))
    )
    merged = _merged([(first, "x"), (second, "y"), (first, "z"), (third, "y")])
    assert [r.entry.key for r in merged] == ["a", "A-2", "a-3"]
    assert merged[0].uses == ("x", "z")
