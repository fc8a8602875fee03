"""``rankstudio convert``: read data in one format and write them in another."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

from rankstudio.cli.command_parser import check_numbers
from rankstudio.cli.data_options import (
    MISSING,
    NORMALIZE,
    add_column_options,
    add_data,
    add_feature_set_option,
    by_name,
    columns_from,
    data_place,
)
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json
from rankstudio.cli.replacement import add_force_option, check_outputs
from rankstudio.cli.streams import (
    input_file,
    is_standard,
    print_file,
    refuse_output_with_json,
)
from rankstudio.cli.study_file_option import add_run_number, one_run, reading
from rankstudio.cli.terminal import tell
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.data_format import DataFormat
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset, changed_parts
from rankstudio.engine.data.formats.format_catalog import (
    format_of_key,
    format_to_write,
    written_formats,
)
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.support.files import read_text, temporary_folder

HELP = "convert data: change format, scaling, features or folds"
DESCRIPTION = """\
Convert a data file or a folder of folds to the format given by the ending of OUT or by --to. Options fill
missing values, scale or select features, and create folds.

  rankstudio convert train.txt train.parquet
  rankstudio convert --sample sample-csv --to csv
  rankstudio convert clicks.csv clicks.txt --qid session --label clicked --ignore url
  rankstudio convert train.txt train-scaled.txt --normalize query_minmax
  rankstudio convert --sample sample-few --features 39,23,37,32
  rankstudio convert --sample sample-own --selected results/results.json --selected-fold 1 --renumber
  rankstudio convert all.txt five-folds --protocol 5-fold
  rankstudio convert --qrels qrels.txt --run bm25=run1.txt --run ql=run2.txt graded.txt
  rankstudio convert logs.ndjson graded.csv --judgments ratings.csv
  rankstudio convert --qrels ir_datasets:msmarco-passage/dev --run bm25=run1.txt msmarco.txt

TREC data contain the judged documents only. A judged document that a run did not retrieve has a missing
value; a retrieved document without a judgment is left out.

Feature logs of Elasticsearch, OpenSearch, Solr or Vespa contain the documents that are both logged and
judged; a note counts the others, and --unmatched writes them to a file.

One file becomes one file, unless a protocol creates folds; folds are written as OUT/Fold1/train.txt and so
on. --renumber also writes a table of new ids, names and original ids: OUT/features.csv for folds, or
NAME.features.csv for one file. RankStudio reads the names from OUT/features.csv when it opens OUT.

Endings .gz, .bz2, .xz and .zst compress the file. Numbers are written without loss; a note lists what the
format cannot store, such as comments. Existing files are overwritten only with --force."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the data to read, the features to keep, and the files to write."""
    # Standard input has no second file for query sizes.
    piped = [entry.key for entry in written_formats() if not entry.sizes]

    # Input and output, with their formats.
    add_data(parser, "data file or folder of folds; - is standard input")
    parser.add_argument(
        "out",
        metavar="OUT",
        type=Path,
        help="file or folder to write; - is standard output",
    )
    parser.add_argument(
        "--from",
        dest="form",
        choices=piped,
        metavar="FORMAT",
        help=f"format of standard input: {', '.join(piped)}; letor by default",
    )
    parser.add_argument(
        "--to",
        choices=[entry.key for entry in written_formats()],
        metavar="FORMAT",
        help="output format: "
        + "; ".join(f"{entry.key}: {entry.label}" for entry in written_formats())
        + "; by default the format of OUT's ending, otherwise letor",
    )

    # Judgments of search engines, with the runs or the feature logs.
    parser.add_argument(
        "--qrels",
        action="store_true",
        help="DATA is a TREC judgment file, or a collection such as ir_datasets:msmarco-passage/dev (extra "
        '"ir-datasets"); give the runs with --run',
    )
    parser.add_argument(
        "--run",
        dest="runs",
        action="append",
        metavar="NAME=FILE",
        help="TREC run for the judgments DATA; its scores become feature NAME; repeatable",
    )
    parser.add_argument(
        "--unmatched",
        metavar="FILE",
        type=Path,
        help="also write the documents of feature logs that are only logged or only judged, as a CSV file",
    )

    # Features to keep.
    parser.add_argument(
        "--features", help="ids of the features to keep, such as 39,23; all by default"
    )
    add_selection_options(parser)
    add_feature_set_option(
        parser, "--renumber also writes the part with the kept features"
    )

    # Preprocessing, and the folds to create.
    parser.add_argument("--missing", **MISSING, default="query_min")
    parser.add_argument("--normalize", **NORMALIZE, default="none")
    parser.add_argument(
        "--protocol",
        default="given",
        help="protocol that creates folds: given, 5-fold, split 60/20/20 …",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the protocol; 0 by default"
    )
    parser.add_argument("--no-comments", action="store_true", help="omit comments")
    add_column_options(parser.add_argument_group("columns of tables"))
    add_force_option(parser)
    add_memory_option(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the written files and their sizes as JSON",
    )


def run(args: argparse.Namespace) -> int:
    """Read the data that the options name, write them in another format, and return 0."""
    from rankstudio.engine.data.formats.dataset_writer import NAMES
    from rankstudio.engine.experiment.runner import open_data
    from rankstudio.engine.export.dataset_files import DatasetFiles

    check_numbers(args, seed=0)

    # Before a long file is read.
    check_outputs([args.out, *filter(None, [args.unmatched])], args)

    # Read the data, or join the runs with their judgments.
    runs = _named_runs(args)
    form = _output_format(args)
    plan = Plan(
        data_place(_input_path(args)),
        missing=args.missing,
        normalize=args.normalize,
        protocol=args.protocol,
        seed=args.seed,
        columns=columns_from(args),
    )
    if runs is not None and args.judgments is not None:
        raise PlanError("--judgments and --run: expected one of them, got both.")
    dataset = (
        open_data(plan) if runs is None else _judged_documents(plan, args.data, runs)
    )
    if form.has_word_ids and format_of_key(dataset.origin.read_as.format).is_joined:
        dataset = _with_plain_ids(dataset)

    # Tell what the input has that the output does not show.
    for warning in dict.fromkeys(dataset.warnings):
        tell(f"Note: {warning}", file=sys.stderr)
    if dataset.origin.columns.judges:
        label = dataset.origin.columns.label
        tell(
            f"Note: the labels of {label} are written, and no others.", file=sys.stderr
        )
    files = DatasetFiles(
        dataset=dataset,
        out=args.out,
        form=form,
        kept=_kept_feature_ids(args),
        renumber=args.renumber,
    )

    # Refuse outputs that cannot be written, before anything is written.
    if not files.single and is_standard(args.out):
        raise PlanError(f"OUT: expected a folder for {len(files.parts)} files, got -.")
    if not files.single and args.out.is_file():
        raise PlanError(
            f"{args.out}: expected a folder for {len(dataset.folds)} folds, found a file."
        )
    check_outputs(files.paths, args)
    if args.unmatched is not None:
        _write_unmatched(args, plan)

    # One file goes to standard output; files on disk are written one by one.
    comments = not args.no_comments
    if is_standard(args.out):
        _print_data(
            files.written_data(next(iter(files.parts.values()))),
            form,
            comments=comments,
        )
        return 0
    written: list[dict[str, Any]] = []
    lost: dict[str, None] = {}
    for part in files.save(comments=comments):
        if not args.json:
            tell(*map(str, part.files))
        data = part.data
        sizes = {
            "documents": data.n_documents,
            "queries": data.n_queries,
            "features": data.n_features,
        }
        written.append({"path": str(part.path), **sizes})

        # The table of features that
        # --renumber writes has their names.
        lost |= dict.fromkeys(
            w for w in part.losses if not (args.renumber and w == NAMES)
        )
    if lost:
        tell(
            f"Note: {form.label} cannot store {', '.join(lost)}; not written.",
            file=sys.stderr,
        )
    if args.json:
        tell(as_json(written))
    return 0


def _output_format(args: argparse.Namespace) -> DataFormat:
    """Return the format to write: that of ``--to``, or else that of the file's ending.

    Some formats have a second file, with the sizes of queries.

    Raises
    ------
    PlanError
        For a format of several files on the standard output.
    """
    form = format_of_key(args.to) if args.to else format_to_write(args.out.name)
    refuse_output_with_json(args)
    if is_standard(args.out) and (form.sizes or args.renumber):
        reason = "--renumber writes" if args.renumber else f"{form.label} has"
        raise PlanError(f"OUT: expected a file, because {reason} two files, got -.")
    return form


def _input_path(args: argparse.Namespace) -> Path:
    """Return the path of the data to read; standard input is first copied to a temporary file.

    The temporary file has the ending of the format of ``--from``, LETOR
    text by default.
    """
    if args.form and not is_standard(args.data):
        raise PlanError(
            f"--from: only for standard input (DATA is -), got {args.data}. Omit --from."
        )
    return input_file(args.data, format_of_key(args.form or "letor").ending)


def _print_data(part: RankingDataset, form: DataFormat, *, comments: bool) -> None:
    """Write the documents of a part to the standard output, in a format.

    ``comments`` says whether to write the comments on documents, too.
    """
    from rankstudio.engine.data.formats.dataset_writer import save_dataset

    path = temporary_folder() / f"data{form.ending}"
    save_dataset(part, path, form, comments=comments)
    print_file(path)


def _named_runs(args: argparse.Namespace) -> dict[str, Path] | None:
    """Return the files of TREC runs that ``--run`` names, by their names.

    A TREC run is a file with the scores of one ranking method. Return
    None without the option. Raise an error for judgments (qrels) alone:
    they have no features, and need the scores of a run.
    """
    from rankstudio.engine.data.formats.trec import is_collection

    if (args.qrels or is_collection(args.data)) and args.runs is None:
        raise PlanError(
            "--qrels: expected at least one TREC run, as in --run bm25=run.txt, got none."
        )
    return None if args.runs is None else by_name(args.runs, "--run", "bm25=run.txt")


def _judged_documents(plan: Plan, qrels: Path, runs: dict[str, Path]) -> FoldedDataset:
    """Return the judged documents of a file of judgments (qrels), divided into folds as a plan says.

    The features of a document are its scores in TREC runs, which are
    files with the scores of one ranking method each. ``runs`` has these
    files by the names of the features.
    """
    from rankstudio.engine.data.formats.data_file import load_trec
    from rankstudio.engine.data.table import scaling

    data = load_trec(
        qrels, runs, missing=plan.missing, normalize=scaling(plan.normalize)
    )
    return parse_protocol(plan.protocol).divide(FoldedDataset.of(data), plan.seed)


def _with_plain_ids(dataset: FoldedDataset) -> FoldedDataset:
    """Return a dataset whose query ids are fit for LETOR text.

    If an id has a space or the sign "#", all queries are numbered from
    1, and a note is printed. Otherwise the dataset is returned as it
    is.
    """
    # The queries of all parts, each once; a query keeps its number in all folds.
    parts = (part for fold in dataset.folds for part in fold.parts.values())
    queries = dict.fromkeys(query for part in parts for query in part.query_ids)
    are_single_words = all(
        len(query.split()) == 1 and "#" not in query for query in queries
    )
    if are_single_words:
        return dataset
    tell(
        "Note: LETOR text has no queries of several words: they are numbered from 1.",
        file=sys.stderr,
    )
    numbers = {query: str(number) for number, query in enumerate(queries, start=1)}

    def numbered(part: RankingDataset) -> RankingDataset:
        """Return a part with numbers as query ids."""
        return part.changed(query_ids=tuple(numbers[query] for query in part.query_ids))

    return replace(dataset, folds=changed_parts(dataset.folds, numbered))


def _write_unmatched(args: argparse.Namespace, plan: Plan) -> None:
    """Write a CSV file of the documents that are only logged or only judged, with the reason.

    ``args.unmatched`` is the file. The plan names the feature logs, and
    the judgments in its columns.
    """
    from rankstudio.engine.data.formats.data_file import unmatched_documents
    from rankstudio.engine.export.tables import save_csv

    rows = unmatched_documents(Path(plan.data), *DataColumns.of(plan.columns).judgments)
    save_csv(args.unmatched, ("query", "document", "reason"), rows)


def _kept_feature_ids(args: argparse.Namespace) -> tuple[int, ...] | None:
    """Return the ids of the features to keep; None for all features.

    The options list the ids, or name a model or run that selected them.

    Raises
    ------
    PlanError
        If the options contradict each other, or the ids are invalid.
    """
    # Features that a model or a run selected.
    if args.selected is not None:
        if args.features is not None:
            raise PlanError(
                "--features and --selected: expected one of them, got both."
            )
        return selected_features(args.selected, args.number, args.fold)

    # Options that need a selected run.
    for option, value in (
        ("--selected-run", args.number),
        ("--selected-fold", args.fold),
    ):
        if value is not None:
            raise PlanError(
                f"{option}: only with --selected. Add --selected, or omit {option}."
            )

    # Listed ids.
    if args.features is None:
        return None
    text = str(args.features)
    try:
        ids = tuple(int(item) for item in text.replace(",", " ").split())
    except ValueError:
        ids = ()  # refused below
    if not ids or len(set(ids)) != len(ids):
        raise PlanError(
            f"--features: expected distinct ids such as 39,23, got {text!r}."
        )
    return ids


_MAX_LISTED_FOLDS = 10  # folds in a sentence
_ID_LIMIT = 1 << 31  # ids are smaller: they are signed numbers of 32 bits
_EXPECTED_SOURCE = "a study, the results.json of a run, or a model in JSON"


def add_selection_options(parser: Any) -> None:
    """Add the options of the run or model whose features are kept.

    The options are --selected, --selected-run, --selected-fold and --renumber.
    """
    parser.add_argument(
        "--selected",
        type=Path,
        metavar="FILE",
        help="keep the features selected by a run: a study, a results.json or a model in JSON",
    )
    add_run_number(parser, "--selected-run")
    parser.add_argument(
        "--selected-fold",
        type=int,
        dest="fold",
        metavar="F",
        help="number of the fold; needed only if there are several",
    )
    parser.add_argument(
        "--renumber",
        action="store_true",
        help="renumber the kept features as 1, 2, … and write features.csv with their original ids",
    )


def selected_features(
    path: Path, number: int | None, fold: int | None
) -> tuple[int, ...]:
    """Return the ids of the features that a run selected in a fold, or that a model uses.

    The file is a study, the results.json of a run, or a model in JSON.
    ``number`` is that of a run of a study, and ``fold`` that of a fold;
    None stands for the only one.

    Raises
    ------
    PlanError
        Where the file has no selected features, or has several runs or
        folds of which none is named.
    DataError, StoreError
        Where a model or a study cannot be read.
    """
    if path.suffix.lower() != ".json":
        return _selection_of_fold(path, _folds_of_study(path, number), fold)
    if number is not None:
        raise PlanError(f"--selected-run: expected a study as --selected, got {path}.")
    folds = _folds_of_results(path)
    if folds is not None:
        return _selection_of_fold(path, folds, fold)
    from rankstudio.engine.export.models import load_model

    if fold is not None:
        raise PlanError(
            f"--selected-fold: expected a study or a results.json as --selected, got {path}."
        )

    # The features that the model may use.
    return tuple(sorted(load_model(path).needed))


def _selection_of_fold(
    path: Path, folds: dict[int, tuple[int, ...]], fold: int | None
) -> tuple[int, ...]:
    """Return the ids of the features that a run selected in a fold.

    ``fold`` is None for the only fold; ``folds`` has the ids by fold;
    ``path`` is the file, for errors.

    Raises
    ------
    PlanError
        Without such a fold, for a fold without features, or for None
        where there are several folds.
    """
    numbers = ", ".join(map(str, list(folds)[:_MAX_LISTED_FOLDS]))
    if len(folds) > _MAX_LISTED_FOLDS:
        numbers += " …"
    if fold is None and len(folds) != 1:
        raise PlanError(
            f"--selected-fold: {path} has folds {numbers}; expected one of them, got none."
        )
    ids = folds.get(next(iter(folds)) if fold is None else fold)
    if not ids:
        raise PlanError(
            f"--selected-fold: expected a fold of {path} with selected features ({numbers}), got {fold}."
        )
    return ids


def _folds_of_results(path: Path) -> dict[int, tuple[int, ...]] | None:
    """Return the ids of the selected features, by fold, in the file results.json of a run.

    Return None if the file at ``path`` is other JSON. Raise a PlanError
    if it cannot be read or is no JSON.
    """
    # Read the file; other JSON than results gives None.
    try:
        values = json.loads(read_text(path))
    except OSError as error:
        raise PlanError(
            f"{path}: the file cannot be read: {error.strerror}. Expected {_EXPECTED_SOURCE}."
        ) from error
    except (ValueError, RecursionError) as error:
        raise PlanError(
            f"{path}: expected {_EXPECTED_SOURCE}, found invalid JSON ({error})."
        ) from error
    if not isinstance(values, dict) or "folds" not in values:
        return None

    # Each fold has to be there once, with a list of feature ids. If
    # "folds" is no list at all, the entry None is refused below.
    entries = values["folds"] if isinstance(values["folds"], list) else [None]
    folds = {}
    for position, entry in enumerate(entries, start=1):
        number = entry.get("fold") if isinstance(entry, dict) else None
        ids = entry.get("selected") if isinstance(entry, dict) else None
        if not _is_id(number) or not _are_ids(ids):
            raise PlanError(
                f'{path}: entry {position} of "folds" is invalid: expected a "fold" number from 1 up, '
                f'and in "selected" a list of distinct ids. Expected {_EXPECTED_SOURCE}.'
            )
        if number in folds:
            raise PlanError(
                f"{path}: found fold {number} twice, expected each fold once."
            )
        folds[number] = tuple(ids)
    if not folds:
        raise PlanError(
            f"{path}: expected {_EXPECTED_SOURCE}, found results without folds."
        )
    return folds


def _is_id(value: object) -> TypeGuard[int]:
    """Return whether a value is a number that an id may be, from 1 up."""
    return (
        isinstance(value, int)
        and not isinstance(value, bool)
        and 1 <= value < _ID_LIMIT
    )


def _are_ids(values: object) -> TypeGuard[list[int]]:
    """Return whether a value is a list of distinct ids."""
    return (
        isinstance(values, list)
        and all(map(_is_id, values))
        and len(set(values)) == len(values)
    )


def _folds_of_study(path: Path, number: int | None) -> dict[int, tuple[int, ...]]:
    """Return the ids of the selected features, by fold, of a finished run of a study.

    ``path`` is the study, and ``number`` that of the run; None for the
    only run.
    """
    # The results of one run: one, or none if it is not finished.
    with reading(path) as (study, runs):
        results = study.finished([one_run(path, runs, number, "--selected-run")])
    if not results:
        raise PlanError(
            f"--selected-run: expected a completed run of {path}, found an unfinished one."
        )
    return {fold.fold: fold.selected for fold in results[0].folds}
