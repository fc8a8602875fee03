"""Makes the report of a study, with the sections on its data, plans, protocol, seals and versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from rankstudio.engine.analysis.references import bibtex_of, references_of_runs
from rankstudio.engine.analysis.reported_runs import (
    ReportedRun,
    ReportSource,
    listed,
    runs_text,
)
from rankstudio.engine.data.dataset import FoldedDataset, Source
from rankstudio.engine.experiment.plan.as_code import as_command
from rankstudio.engine.experiment.plan.difference import (
    changed_parameters,
    parameter_texts,
)
from rankstudio.engine.experiment.plan.plan import CRITERION, SAMPLE, Plan
from rankstudio.engine.experiment.plan.protocol import GIVEN
from rankstudio.engine.experiment.plan.toml import plan_as_toml
from rankstudio.engine.experiment.storage.study_contents import (
    RecordedData,
    dataset_keys,
    marks_of,
    seal_text,
)
from rankstudio.engine.export.figures.values import Figure
from rankstudio.engine.export.tables import TextTable
from rankstudio.engine.language import in_english
from rankstudio.engine.methods.catalog import Method
from rankstudio.engine.metrics.conventions import convention, rules_text
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.report_parts import Paragraph, report_parts
from rankstudio.engine.support.item_groups import grouped
from rankstudio.engine.support.number_format import NOTHING, count_text, raised
from rankstudio.plugins.report import feature_sections, result_sections
from rankstudio.plugins.report.analysis_sections import analysis_blocks
from rankstudio.plugins.report.document import (
    SECTIONS,
    Block,
    CodeText,
    FactList,
    Report,
    ReportFigure,
    ReportSection,
    question_and_notes,
)

_RULE_TEXTS = {
    "best": "the best",
    "smallest": "the smallest not significantly worse than the best",
    "one-se": "the smallest within one standard error of the best",
}
_MISSING_TEXTS = {
    "query_min": "replaced by the lowest value in the query",
    "zero": "replaced by 0",
    "refuse": "refused",
}
_NORMALIZE_TEXTS = {
    "none": "as in the files",
    "query_minmax": "scaled to 0 … 1 within each query",
}
_MAX_FOLDS = 30  # number of folds that are listed
_PART_NAMES = {"train": "training", "vali": "validation", "test": "test"}


def question_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the question, and the notes on the study and on each run."""
    yield from question_and_notes(source.settings)
    noted = [run for run in source.runs if run.label.note or run.label.tags]
    if noted:
        rows = tuple(
            (str(run.number), run.title, run.label.note, ", ".join(run.label.tags))
            for run in noted
        )
        yield TextTable(
            "Notes on runs", ("run", "method", "note", "tags"), rows, left=(1, 2, 3)
        )


def data_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the description of each dataset: location, checksums and size."""
    for recorded, runs in _runs_by_dataset(source.runs):
        documents = next((run.data for run in runs if run.data is not None), None)
        location = runs[0].plan.data
        rows = [
            ("name", recorded.name),
            ("opened from", "the bundled sample" if location == SAMPLE else location),
        ]
        rows += [
            ("features", str(len(recorded.feature_ids))),
            ("folds", str(len(recorded.folds))),
        ]
        rows += [
            ("checksum of all parts", recorded.checksum),
            ("used by", runs_text(runs)),
        ]
        yield FactList(tuple(rows))
        if documents is not None:
            yield _part_table(documents)

        # `place` is the file or folder that was opened.
        if recorded.files:
            yield _file_table(recorded.files, recorded.place)


def plan_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield each run with its parameters, and the methods with their publications."""
    # One row for each run.
    rows = tuple(
        (
            str(run.number),
            run.title,
            run.result.data_name,
            _parameters_text(run.plan),
            f"{run.result.seconds:.1f}",
        )
        for run in source.runs
    )
    header = ("run", "method", "data", "with", "seconds")
    yield TextTable("Runs", header, rows, left=(1, 2, 3))

    # Each method and ranker once, in the order of the runs.
    methods: dict[str, Method] = {}
    for run in source.runs:
        for entry in (run.plan.entry, run.plan.ranker_entry):
            if entry is not None:
                methods.setdefault(entry.key, entry)
    described = [(entry.label, entry.description) for entry in methods.values()]
    method_rows = tuple(
        (label, f"{text.citation}: {text.title}", text.summary)
        for label, text in described
    )
    yield TextTable(
        "Methods", ("method", "published", "what it does"), method_rows, left=(0, 1, 2)
    )


def protocol_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the protocol, the selection criterion and the conventions of the measures."""
    # Runs with the same protocol share a list of facts.
    kinds = grouped(source.runs, lambda run: _protocol_rows(run.plan))
    for facts, runs in kinds.items():
        rows = facts if len(kinds) == 1 else (("holds for", runs_text(runs)), *facts)
        yield FactList(rows)
    for key in dict.fromkeys(run.plan.convention for run in source.runs):
        rules = convention(key)
        yield TextTable(
            f"{rules.label} convention",
            ("what", "how"),
            rules.rules,
            left=(0, 1),
            note=f"{rules.summary} {rules.source}",
        )


def _runs_by_dataset(
    runs: Sequence[ReportedRun],
) -> list[tuple[RecordedData, list[ReportedRun]]]:
    """Return the datasets, distinguished by opened path and checksum, with their runs."""
    datasets = grouped(runs, lambda run: (run.recorded.place, run.recorded.checksum))
    return [
        (dataset_runs[0].recorded, dataset_runs) for dataset_runs in datasets.values()
    ]


def _file_table(files: Sequence[Source], opened_folder: str) -> TextTable:
    """Return the table of the files of a dataset, with their sizes and checksums."""
    rows = tuple(
        (
            _relative_path_or_name(file.path, opened_folder),
            count_text(file.size),
            file.checksum,
        )
        for file in files
    )
    return TextTable("Files", ("file", "bytes", "checksum"), rows, left=(0, 2))


def _relative_path_or_name(file: Path, opened_folder: str) -> str:
    """Return a file's path relative to the folder that was opened; its name if it is not in that folder."""
    folder = Path(opened_folder) if opened_folder else file.parent
    return (
        str(file.relative_to(folder))
        if file != folder and file.is_relative_to(folder)
        else file.name
    )


def _part_table(data: FoldedDataset) -> TextTable:
    """Return the table of the numbers of queries and documents in the parts of each fold."""
    names = [
        name for name in _PART_NAMES if any(name in fold.parts for fold in data.folds)
    ]
    rows = []
    for fold in data.folds[:_MAX_FOLDS]:
        cells = [
            f"{part.n_queries:,} / {part.n_documents:,}"
            if (part := fold.parts.get(name))
            else NOTHING
            for name in names
        ]
        rows.append((str(fold.number), *cells))
    header = ("fold", *(f"{_PART_NAMES[name]}: queries / documents" for name in names))
    n_more = len(data.folds) - len(rows)
    note = f"And {n_more:,} more folds." if n_more else ""
    return TextTable("Parts", header, tuple(rows), left=(), note=note)


def _parameters_text(plan: Plan) -> str:
    """Return a plan's parameters as a text: the tried values, and values other than the default.

    Ranges such as "1..8" are written with an ellipsis, and powers such
    as 2^-2 with raised digits.
    """
    changed = {axis.label for axis in plan.axes} | changed_parameters(plan).keys()
    texts = [
        f"{name} {text}"
        for name, text in parameter_texts(plan).items()
        if name in changed
    ]
    return raised(" · ".join(texts).replace("..", " … ")) or "all defaults"


def _protocol_rows(plan: Plan) -> tuple[tuple[str, str], ...]:
    """Return the protocol of a plan as pairs of a name and a text, from folds to seed."""
    # The folds, and which of them were run.
    folds = "those of the files" if plan.protocol == GIVEN else plan.protocol
    folds += f", only {listed(plan.folds)}" if plan.folds else ""

    # What chooses the model: a left-out measure, the method's
    # criterion, or a validation measure.
    if plan.leaves_out:
        units = "pairs of training documents" if plan.pairs_out else "training queries"
        criterion = f"{plan.chosen_by} on left-out {units}"
    elif plan.select_by == CRITERION:
        criterion = f"the method's own criterion ({plan.criterion})"
    else:
        part = (
            f"{plan.inner} inner folds of the training part"
            if plan.inner
            else "the validation part"
        )
        criterion = f"{plan.select_by} on {part}"
    return (
        ("folds", folds),
        ("model chosen by", criterion),
        (
            "which model",
            # a rule has a key, or is a number of features
            _RULE_TEXTS.get(plan.rule, f"the best with {plan.rule} features"),
        ),
        ("measures", listed(plan.measures)),
        ("convention of measures", rules_text(plan.convention, plan.evaluated)),
        ("feature values", _NORMALIZE_TEXTS[plan.normalize]),
        ("missing values", _MISSING_TEXTS[plan.missing]),
        ("seed", str(plan.seed)),
    )


def seal_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield paragraphs on when the test part of each dataset was sealed, and when the seal was broken.

    While a test part is sealed, its numbers are not shown.
    """
    # The first key of a dataset has its name and a checksum.
    datasets = grouped(source.runs, lambda run: dataset_keys(run.recorded)[0])
    for runs in datasets.values():
        # Each mark seals the test part, or breaks the seal.
        name = runs[0].result.data_name
        recorded = runs[0].recorded
        marks = marks_of(source.seal_marks, recorded)
        if not marks:
            yield Paragraph(f"The test part of {name} was never sealed in this study.")
            continue
        yield Paragraph(f"{name}: {seal_text(marks, recorded)}.")
        rows = tuple(
            (
                str(number),
                _time_text(mark.happened),
                "sealed" if mark.sealed else "seal broken",
            )
            for number, mark in enumerate(marks, start=1)
        )
        yield TextTable(f"{name}: seals", ("", "when (UTC)", "what"), rows, left=(1, 2))


def version_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the table of the versions of software that computed the runs.

    Runs with the same versions share a column.
    """
    # the runs by their versions, each a tuple of (name, version)
    kinds = grouped(source.runs, lambda run: tuple(run.result.versions.items()))
    names = list(dict.fromkeys(name for kind in kinds for name, _ in kind))
    rows = tuple(
        (name, *(dict(kind).get(name, "") for kind in kinds)) for name in names
    )
    yield TextTable(
        "Computed with",
        ("", *(runs_text(runs) for runs in kinds.values())),
        rows,
        left=(0,),
    )


def rerun_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the plan of each run, as a command of the terminal and as TOML."""
    yield Paragraph(
        "With the same data and versions, each plan gives identical results. Save a plan as plan.toml and "
        "open it in the window, or run it with: rankstudio run plan.toml"
    )
    for run in source.runs:
        yield CodeText(
            f"Run {run.number}, {run.title}: the command", as_command(run.plan)
        )
        yield CodeText(
            f"Run {run.number}: plan.toml", plan_as_toml(run.plan).rstrip("\n")
        )


def _time_text(text: str) -> str:
    """Return a moment without its time zone: "2026-11-22 02:30:00"."""
    return text.partition("+")[0].replace("T", " ")


def reference_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the papers and programs that the runs use, as a table and as BibTeX."""
    references = references_of_runs([run.result for run in source.runs])
    rows = tuple(
        (reference.entry.key, reference.entry.line, ", ".join(reference.uses))
        for reference in references
    )
    header = ("key", "reference", "used for")
    yield TextTable("What the runs use", header, rows, left=(0, 1, 2))
    yield CodeText("The same as BibTeX", bibtex_of(references))


def ability_blocks(key: str, plugin: str, source: ReportSource) -> Iterator[Block]:
    """Yield the section of a report that a plug-in contributes, or a paragraph that the plug-in is absent.

    ``key`` is that of the section, and ``plugin`` the name of the plug-in.
    """
    part = report_parts().get(key)
    if part is None:
        text = f"This section needs the plug-in {plugin}, which is absent or left out."
        yield Paragraph(text, muted=True)
        return

    # The plug-in names its function, which is imported here.
    for block in imported(part.compute)(source):
        yield ReportFigure(block) if isinstance(block, Figure) else block


def rank_blocks(source: ReportSource) -> Iterator[Block]:
    """Yield the ranks of the methods over the datasets of a report on several ones."""
    if len(source.datasets()) > 1:
        yield from ability_blocks("ranks", "method-ranks", source)


_BLOCKS_BY_SECTION: dict[str, Callable[[ReportSource], Iterator[Block]]] = {
    "data": data_blocks,
    "references": reference_blocks,
    "plan": plan_blocks,
    "protocol": protocol_blocks,
    "results": result_sections.result_blocks,
    "tests": result_sections.paired_test_blocks,
    "risk": partial(ability_blocks, "risk", "risk"),
    "ranks": rank_blocks,
    "features": feature_sections.feature_blocks,
    "stability": feature_sections.stability_blocks,
    "evidence": partial(ability_blocks, "evidence", "evidence"),
    "substitutes": partial(ability_blocks, "substitutes", "features"),
    "analyses": analysis_blocks,
    "published": result_sections.published_blocks,
    "seal": seal_blocks,
    "versions": version_blocks,
    "rerun": rerun_blocks,
}
"""Functions that yield the blocks of the sections that need a finished run; the question needs none."""


@in_english()
def make_report(source: ReportSource) -> Report:
    """Return the report of a study with all its sections, in their usual order.

    Parameters
    ----------
    source : ReportSource
        The runs to report; the report contains no measures on sealed test parts.

    Notes
    -----
    The same source always gives the same report: it does not say when
    or where it was made, and is in English in every language of the
    window.
    """
    visible = source.shown  # without the numbers of sealed test parts
    sections = []
    for key in SECTIONS:
        # The question and the notes are there without a run, too.
        if key == "question":
            section = _section(key, tuple(question_blocks(visible)))
        elif visible.runs:
            section = _section(key, tuple(_BLOCKS_BY_SECTION[key](visible)))
        else:
            section = _section(
                key, (Paragraph("The study has no completed run.", muted=True),)
            )
        if section.blocks:
            sections.append(section)
    return Report(source.title, _report_subject(visible), tuple(sections))


def _section(key: str, blocks: tuple[Block, ...]) -> ReportSection:
    """Return the section with a key, with its title and some contents."""
    return ReportSection(key, SECTIONS[key], blocks)


def _report_subject(source: ReportSource) -> str:
    """Return the subject of the report: "3 finished runs on MQ2008 and OHSUMED"."""
    n = len(source.runs)
    on = f" on {listed(source.datasets())}" if n else ""
    return f"{n} finished run{'' if n == 1 else 's'}{on}"
