"""The papers and programs that runs use, as entries of BibTeX.

``resources/references.bib`` has the entries of RankStudio. The keywords
of an entry name what it belongs to, such as ``method:gas`` or
``convention:mslr``. Methods and plug-ins of others have their own
BibTeX. If they have none, an entry is made of their title and citation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache

from rankstudio import __version__
from rankstudio.engine.analysis.comparisons.comparability import comparable_groups
from rankstudio.engine.data.known_datasets import recorded_dataset
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.language import in_english
from rankstudio.engine.methods.catalog import Method
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.plugins.loader import plugins
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.plugins.plugin import LoadedPlugin
from rankstudio.engine.support.bibtex import (
    BibEntry,
    key_of,
    made_entry,
    parse_bibtex,
)
from rankstudio.engine.support.escaping import bibtex_escaped, comment_text
from rankstudio.engine.support.resources import resource

_PROGRAM = "program RankStudio"
# Authors and year, such as "Lai et al. 2013".
_CITATION = re.compile(r"(?P<authors>.+?),? (?P<year>(1[89]|20)\d\d)[a-z]?")


@dataclass(frozen=True)
class Reference:
    """An entry of BibTeX, with the purposes for which runs use the paper or program.

    Attributes
    ----------
    entry : BibEntry
        Entry of the paper or program.
    uses : tuple of str
        Uses of the paper or program, such as "method GAS" and "convention LETOR
        4.0".
    """

    entry: BibEntry
    uses: tuple[str, ...]

    @property
    def text(self) -> str:
        """The entry as BibTeX, below a comment with its uses."""
        return f"% {comment_text('; '.join(self.uses), 'bibtex')}\n{self.entry.text}"


@cache
def _shipped_entries() -> dict[str, tuple[BibEntry, ...]]:
    """Return the BibTeX entries of ``resources/references.bib``, by keyword.

    A keyword says what an entry is cited for, such as "method:gas"; an
    entry may have several.
    """
    by_keyword: dict[str, list[BibEntry]] = {}
    text = resource("references.bib").read_text(encoding="utf-8")
    for bib_entry in parse_bibtex(text):
        fields = tuple(field for field in bib_entry.fields if field[0] != "keywords")
        for keyword in bib_entry.value("keywords").split(", "):
            by_keyword.setdefault(keyword, []).append(replace(bib_entry, fields=fields))
    return {keyword: tuple(bib_entries) for keyword, bib_entries in by_keyword.items()}


def entries_for(keyword: str) -> tuple[BibEntry, ...]:
    """Return the BibTeX entries of RankStudio for a keyword; () if there are none.

    Keywords are, for example, "method:gas", "convention:mslr" and "tests".
    """
    return _shipped_entries().get(keyword, ())


def program_entry(versions: Iterable[str] = (__version__,)) -> BibEntry:
    """Return the entry of RankStudio, with the versions that computed the runs."""
    bib_entry, *_ = entries_for("program")
    numbers = ", ".join(dict.fromkeys(filter(None, versions)))
    version = bibtex_escaped(f"Version {numbers or __version__}")
    return replace(bib_entry, fields=(*bib_entry.fields, ("note", version)))


def program_reference() -> Reference:
    """Return the reference of RankStudio itself."""
    return Reference(program_entry(), (_PROGRAM,))


def method_entries(method: Method) -> tuple[BibEntry, ...]:
    """Return the BibTeX entries of a method's papers; () for rankings of a user."""
    if method.learns_nothing:
        return ()
    # A method of an ability of RankStudio is known even where its folder is absent.
    is_own = method.origin is None or method.origin.kind is OriginKind.ABILITY
    shipped = entries_for(f"method:{method.key}") if is_own else ()
    if shipped:
        return shipped
    description = method.description
    with suppress(ParameterError):  # a plug-in's BibTeX may be invalid
        own_entries = parse_bibtex(description.bibtex)
        if own_entries:
            return own_entries
    # Without BibTeX, an entry is made of the citation, authors and
    # year, and of the title that users see. If the citation has another
    # form, it is quoted.
    cited = _CITATION.fullmatch(description.citation)
    if cited is None:
        return (
            made_entry(
                "misc",
                f"{method.label} {description.citation}",
                title=description.title,
                howpublished=description.citation,
            ),
        )
    # The key is, for example, "Pahikkala2010Efficient".
    first_author = re.split(r" and | & | et al|,", cited["authors"])[0]
    first_word = (description.title.split() or [method.key])[0]
    key = key_of(f"{first_author}{cited['year']}{first_word}").replace("-", "")
    bib_entry = made_entry("misc", key, title=description.title, year=cited["year"])
    authors = ("author", _authors(cited["authors"]))
    return (replace(bib_entry, fields=(authors, *bib_entry.fields)),)


def _authors(text: str) -> str:
    """Return the names of authors as BibTeX: "Peng et al." as "{Peng} and others".

    Each name is in braces, in which " and " does not separate names.
    """
    names = re.split(r" and | & |, ", text.replace(" et al.", " and others"))
    return " and ".join(
        name if name == "others" else f"{{{bibtex_escaped(name)}}}" for name in names
    )


def plugin_entries(loaded: LoadedPlugin) -> tuple[BibEntry, ...]:
    """Return the BibTeX entries to be cited for a plug-in.

    For a built-in plug-in, the entry is that of RankStudio. Another one
    has its own entries, or one that is made of its package, version and
    summary.
    """
    if loaded.built_in:
        return (program_entry(),)
    plugin = loaded.plugin
    with suppress(ParameterError, TypeError):  # its BibTeX may be invalid
        own_entries = parse_bibtex(plugin.bibtex)
        if own_entries:
            return own_entries
    return (_package_entry(loaded.package, loaded.version, plugin.summary),)


def _package_entry(name: str, version: str, summary: str = "") -> BibEntry:
    """Return the entry of a package whose authors are not known."""
    title = f"{name}: {summary.rstrip('.')}" if summary else name
    return made_entry("misc", name, title=title, note=f"Version {version}")


def plan_references(plan: Plan) -> tuple[Reference, ...]:
    """Return the papers and programs that a run of a plan uses.

    Parameters
    ----------
    plan : Plan
        Plan of a run. Its dataset is recognised by the folder of its data.

    Returns
    -------
    tuple of Reference
        RankStudio, methods, dataset, measures, their convention, and
        the selection rule, each entry once.
    """
    # BibTeX and the texts on uses are English in every language of the window.
    with in_english():
        return _merged(
            [
                (program_entry(), _PROGRAM),
                *_uses_of_plan(plan, _dataset_of(plan)),
            ]
        )


def references_of_runs(runs: Sequence[RunResult]) -> tuple[Reference, ...]:
    """Return the papers and programs that runs used, and those of tests between the runs.

    Parameters
    ----------
    runs : sequence of RunResult
        Results of the runs. Their datasets are recognised by the features, too.

    Returns
    -------
    tuple of Reference
        Each entry once, with all its uses.
    """
    versions = [run.versions.get("rankstudio", "") for run in runs]
    groups = comparable_groups(dict(enumerate(runs)))
    with in_english():
        uses = [(program_entry(versions), _PROGRAM)]
        for run in runs:
            uses += _uses_of_run(run)
        if any(len(group.runs) > 1 and not group.unranked for group in groups):
            uses += _shipped_uses("tests", "comparison of runs")
        if any(run.plan.entry.selects and len(run.folds) > 1 for run in runs):
            uses += _shipped_uses("stability", "agreement of the folds")
        if len({run.data_name for run in runs}) > 1:
            uses += _shipped_uses("ranks", "methods over datasets")
        return _merged(uses)


def bibtex_of(references: Iterable[Reference]) -> str:
    """Return references as the text of a .bib file, with a comment on the uses of each."""
    return "\n".join(reference.text for reference in references)


def cited_keys(runs: Iterable[RunResult], test: str) -> tuple[str, ...]:
    """Return the keys of the BibTeX entries that a table of runs cites.

    Parameters
    ----------
    runs : iterable of RunResult
        Results of the runs.
    test : str
        Key of the paired test of the table, such as "t"; "" without tests.
    """
    uses = [(program_entry(), _PROGRAM)]
    with in_english():
        for run in runs:
            uses += _uses_of_run(run)
        for keyword in (f"test:{test}", "test:holm") if test else ():
            # The second argument is a text on the use, which keys do not have.
            uses += _shipped_uses(keyword, keyword)
        return tuple(reference.entry.key for reference in _merged(uses))


_Use = tuple[BibEntry, str]


def _uses_of_run(run: RunResult) -> Iterator[_Use]:
    """Yield each entry that a run used, with a word on its use."""
    n_features = len(run.feature_ids)
    dataset_key = _dataset_of(run.plan, run.feature_names, n_features)
    return _uses_of_plan(run.plan, dataset_key, run.data_name)


def _dataset_of(
    plan: Plan, feature_names: Sequence[str] = (), n_features: int | None = None
) -> str | None:
    """Return the key of the public dataset that a plan's data are; None for other data.

    The dataset is recognised by the location of the data, and by names
    and number of the features, if these are given.
    """
    if plan.data == SAMPLE:
        return None
    return recorded_dataset(plan.data, feature_names, n_features)


def _uses_of_plan(
    plan: Plan, dataset_key: str | None, data_name: str = ""
) -> Iterator[_Use]:
    """Yield each BibTeX entry that a plan uses, with a text on its use: "method GAS".

    Parameters
    ----------
    plan : Plan
        Plan of a run.
    dataset_key : str or None
        Key of the public dataset of the plan's data; None for other data.
    data_name : str
        Name of the data; the key by default.
    """
    for method in filter(None, (plan.entry, plan.ranker_entry)):
        for bib_entry in method_entries(method):
            yield bib_entry, f"method {method.label}"
        yield from _uses_of_package(method.origin, f"method {method.label}")
    # The dataset, the measures, the convention and the rule.
    yield from _shipped_uses(f"data:{dataset_key}", f"data {data_name or dataset_key}")
    # The family of NDCG@10 is NDCG.
    for name in dict.fromkeys(map(_family_name, plan.evaluated)):
        yield from _shipped_uses(f"measure:{name}", f"measure {name}")
    for measure_entry in plan.foreign_measures:
        yield from _uses_of_package(
            measure_entry.origin, f"measure {measure_entry.key}"
        )
    if plan.convention:
        label = convention(plan.convention).label
        yield from _shipped_uses(f"convention:{plan.convention}", f"convention {label}")
    yield from _shipped_uses(f"rule:{plan.rule}", f"rule {plan.rule}")


def _family_name(measure_name: str) -> str:
    """Return the name of a measure without its cut-off."""
    return measure(measure_name).family.name


def _shipped_uses(keyword: str, use: str) -> list[_Use]:
    """Return the entries of RankStudio for a keyword, each with a word on its use."""
    return [(bib_entry, use) for bib_entry in entries_for(keyword)]


def _uses_of_package(origin: Origin | None, use: str) -> Iterator[_Use]:
    """Yield the BibTeX entries of the package that has the code of a method or measure.

    `origin` is the origin of the code. Each entry comes with the text
    `use`, which says what the code is used for. Nothing is yielded for
    RankStudio's own code, and for Python files.
    """
    if origin is None or origin.kind not in (OriginKind.PACKAGE, OriginKind.IMPORT):
        return
    # The entries of the package's plug-ins, or one made of name and version.
    loaded = [
        plugin
        for plugin in plugins().loaded
        if plugin.package == origin.name and not plugin.built_in
    ]
    bib_entries = [
        bib_entry for plugin in loaded for bib_entry in plugin_entries(plugin)
    ]
    for bib_entry in bib_entries or [
        _package_entry(origin.name, origin.version_or_checksum)
    ]:
        yield bib_entry, use


def _merged(uses: Iterable[_Use]) -> tuple[Reference, ...]:
    """Return each BibTeX entry once, with all its uses, in the order of first use.

    `uses` has pairs of an entry and a text on its use. The keys become
    unique: another entry with the same key gets a number after it.
    """
    uses_by_entry: dict[BibEntry, list[str]] = {}
    for bib_entry, use in uses:
        uses_by_entry.setdefault(bib_entry, []).append(use)

    # References by key in lower case, because BibTeX ignores the case of keys.
    references: dict[str, Reference] = {}
    for bib_entry, entry_uses in uses_by_entry.items():
        key = bib_entry.key
        number = 2
        while key.lower() in references:
            key = f"{bib_entry.key}-{number}"
            number += 1
        references[key.lower()] = Reference(
            replace(bib_entry, key=key), tuple(dict.fromkeys(entry_uses))
        )
    return tuple(references.values())
