"""``rankstudio evidence``: how sure a selection of features is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.command_parser import check_numbers, place_name
from rankstudio.cli.data_options import add_column_options, add_sample_option
from rankstudio.cli.interrupts import exit_status
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, as_text
from rankstudio.cli.progress_bar import clock, last_share
from rankstudio.cli.replacement import add_force_option, check_outputs, write_new
from rankstudio.cli.run_options import (
    add_costs,
    add_parameters,
    add_reading_options,
    costs_from,
    fold_of_data,
)
from rankstudio.cli.study_file_option import OpenedRun, opened_run, study_at, whole
from rankstudio.cli.terminal import tell
from rankstudio.cli.worker_options import add_worker_options, workers
from rankstudio.engine.data.dataset import id_and_name
from rankstudio.engine.errors import PlanError, StoreError
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.number_format import percentage
from rankstudio.engine.support.threads import available

if TYPE_CHECKING:
    from rankstudio.engine.data.dataset import FoldedDataset
    from rankstudio.engine.data.feature_costs import FeatureCosts
    from rankstudio.engine.experiment.execution.workers import Workers
    from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
    from rankstudio.plugins.evidence.judged_selection import JudgedSelection
    from rankstudio.plugins.evidence.selection_evidence import (
        EvidenceOptions,
        Gathering,
    )

HELP = "show how sure a selection of features is"
DESCRIPTION = """\
Show how sure a selection of features is: for each selected feature how often halves of the queries select it,
its share of the left-out gain, what is lost without it, how many queries decide its step, the best substitute
and a verdict; for the whole set whether it is the best of its size, and where to stop.

  rankstudio evidence results/study.rankstudio --run 1 --fold 1
  rankstudio evidence --sample --k 5 --lambda 64 --loss MAP
  rankstudio evidence --sample --k 4 --lambda 64 --best --out evidence

For a study, the selection is that of the run's model on a fold, and the study keeps the evidence, which the
window then shows; with --data the selection is that of the options.
Documents without queries (--no-queries) are one ranking: halves of the documents select, and what compares
queries is left out.
Greedy RankRLS supports all of these; other selectors support some of them. These are trained again on each
half, which may take long: with --out each half is stored when it is done, and the same command resumes.
Ctrl+C stops and prints the results so far."""

CSV = "evidence.csv"
HALVES = "halves.rankstudio"
_MIN_ANNOUNCED_SECONDS = 5.0  # estimates of shorter trainings are not announced
_USUAL_SIZE = 5
_NO_TIME_LIMIT = float("inf")
_K_PARAMETER = "parameter_n_features_to_select"
_NOT_WITH_A_STUDY = (
    "method",
    "convention",
    "protocol",
    "preferences",
    "groups",
    "missing",
    "normalize",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options: the selection to judge, the parts, and the output."""
    parser.add_argument(
        "study", type=Path, metavar="STUDY", nargs="?", help="study file with the run"
    )
    parser.add_argument(
        "--run",
        type=int,
        dest="number",
        metavar="N",
        help="number of the run in the study",
    )
    parser.add_argument(
        "--data", type=place_name, metavar="DATA", help="data file or folder of folds"
    )
    add_sample_option(parser, "use the bundled sample as data")
    parser.add_argument(
        "--fold", dest="folds", metavar="FOLD", help="fold number; the first by default"
    )
    keys = [m.key for m in methods() if m.selects]
    parser.add_argument(
        "--method",
        metavar="NAME",
        choices=keys,
        help=f"one of {', '.join(keys)}; greedy-rankrls by default",
    )
    parser.add_argument(
        "--halves",
        type=int,
        default=50,
        metavar="B",
        help="number of divisions of the queries, or of the documents of one ranking, into halves; default: 50",
    )
    parser.add_argument(
        "--permutations",
        type=int,
        default=99,
        metavar="N",
        help="permutations of each step; default: 99",
    )
    parser.add_argument(
        "--best",
        action="store_true",
        help="search until the best set is proved; by default the search stops after 20 seconds",
    )
    parser.add_argument(
        "--loss",
        metavar="MEASURE",
        help="measure of the losses; the squared error by default",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="T",
        help="minimum selection probability of a secure feature; default: 0.9",
    )
    parser.add_argument(
        "--seed",
        type=int,
        help="seed of the halves and permutations; 0, or that of the run",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help=f"folder for {CSV}, the figures and halves",
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of a table"
    )
    add_force_option(parser)
    opened = parser.add_argument_group("with --data")
    opened.add_argument(
        "--convention",
        choices=list(CONVENTIONS),
        help="evaluation convention; the usual one of the data by default",
    )
    add_reading_options(opened)
    add_costs(opened)
    add_memory_option(parser)
    add_worker_options(parser)
    add_column_options(parser.add_argument_group("columns of tables"))
    about = "see rankstudio methods; one value each, with --data"
    selectors = [m for m in methods() if m.selects]
    add_parameters(
        parser, "parameters of the method", selectors, "parameter_", about=about
    )
    parser.set_defaults(plan=None)


def run(args: argparse.Namespace) -> int:
    """Gather the evidence for a selection, and print, write and store it.

    ``args`` are the command's options. Return the exit code. After
    Ctrl+C, the evidence so far is printed and written to files, but not
    stored in the study.
    """
    # The numbers are the minimum of each option.
    check_numbers(args, halves=1, permutations=1, seed=0)
    _evidence_options(args, 0)  # raises for invalid options before data are read

    # Exactly one of them names the data.
    if (args.study is not None) + (args.data is not None) + args.sample != 1:
        raise PlanError("STUDY: expected one of a study file, --data and --sample.")

    # Only a study has a run with which the evidence can be stored.
    judged, dataset, run = (
        _selection_of_study(args)
        if args.study is not None
        else (*_selection_of_data(args), None)
    )
    if args.out is not None:
        # Data files of the study must not be overwritten either.
        check_outputs([args.out / CSV], args, [] if run is None else run.recorded)

    with (
        workers(args) as processes,
        _gathering_on_halves(args, judged, processes) as work,
    ):
        # `last_share` shows the progress, and ends with the work or by Ctrl+C.
        state, stopped = last_share(
            work, lambda update: f"{percentage(update.share)} {update.what}"
        )

    # The state is the last partial result, also after Ctrl+C.
    evidence = state.found
    names = _Names(dataset)
    advice = _advice(args, evidence, run)
    if args.json:
        tell(as_json({**as_dict(judged, evidence, names), "advice": advice or None}))
    else:
        tell(
            *([advice, ""] if advice else []), *_printed_lines(judged, evidence, names)
        )
    if args.out is not None:
        _write_files(args, judged, evidence, names)
    if run is not None and not stopped:
        _store_evidence(args, judged, evidence, run)
    return exit_status(stopped, f"Stopped at {percentage(state.share)}: {state.what}.")


def _advice(
    args: argparse.Namespace, evidence: SelectionEvidence, run: OpenedRun | None
) -> str:
    """Return a sentence on the smallest set that is as good as the selection.

    The sentence compares the sets by the run's measures on validation
    queries. It is "" without a run, or if the run has no such measures.
    """
    from rankstudio.engine.analysis.tried_models.smallest_set import smallest_set_beside

    if run is None:
        return ""
    sets = smallest_set_beside(run.plan, run.fold(args.folds), evidence.selected)
    return sets.sentence if sets is not None else ""


@contextmanager
def _gathering_on_halves(
    args: argparse.Namespace, judged: JudgedSelection, processes: Workers
) -> Iterator[Gathering]:
    """Provide the generator that gathers the evidence.

    Methods that are trained again on each half use the workers, and a
    study in the folder of ``--out`` stores the halves, so that the same
    command can resume.
    """
    seconds = judged.refitting_seconds(_n_parallel_halves(args, processes))

    # 0: paths on halves follow from sums over queries, or preferences
    # are learned from, which the workers do not support.
    if not seconds:
        yield judged.steps()
        return
    from rankstudio.engine.experiment.execution.executors import on_threads

    if seconds > _MIN_ANNOUNCED_SECONDS:
        without = (
            f" and at most {judged.n_refits} times without some queries"
            if judged.n_refits
            else ""
        )
        tell(
            f"{2 * args.halves} halves to learn from{without}, about {clock(seconds)}.",
            file=sys.stderr,
        )
    path = None if args.out is None else args.out / HALVES
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)

    # The workers need the number of trainings, and the number of values
    # that each reads. `serving` is None if other processes are not
    # worth starting.
    serving = processes.serve(
        2 * args.halves, judged.train.n_documents * judged.train.n_features
    )

    with study_at(path) as study, on_threads(1) as single_thread:
        yield judged.steps(study=study, executor=serving or single_thread)


def _store_evidence(
    args: argparse.Namespace,
    judged: JudgedSelection,
    evidence: SelectionEvidence,
    run: OpenedRun,
) -> None:
    """Store the evidence with the run of a study, from which the window reads it.

    Evidence that the window would not compute itself, with other costs
    or another seed, is not stored; a note on standard error says so, as
    it does if writing fails.
    """
    from rankstudio.engine.experiment.storage.study import Study
    from rankstudio.plugins.evidence.evidence_codec import pack_evidence
    from rankstudio.plugins.evidence.model_importance import model_place
    from rankstudio.plugins.evidence.selection_evidence import EvidenceOptions

    if args.costs is not None or judged.options.seed != run.plan.seed:
        tell(
            "Note: the evidence is not stored, as the run has other costs or another seed.",
            file=sys.stderr,
        )
        return
    usual = EvidenceOptions()
    halves = evidence.stability
    tests = evidence.significance
    has_few_halves = halves is not None and halves.n_paths < 2 * usual.n_halves
    has_few_permutations = (
        tests is not None and len(tests.permuted) < usual.n_permutations
    )

    # Parts of which the window computes more are not stored as done:
    # the window continues them.
    is_incomplete = {
        "stability": has_few_halves,
        "near_best": evidence.near_best is None,
        "significance": has_few_permutations,
        "repeated": has_few_permutations,
    }
    done = tuple(part for part in evidence.done if not is_incomplete.get(part, False))
    evidence = replace(evidence, done=done)

    # the position of the model's path in the run, and its columns
    model_key = model_place(
        run.fold(args.folds).chosen.unit.position, evidence.selected
    )
    try:
        with Study.open(args.study) as study:
            study.save_evidence(
                run.key, judged.fold, model_key, pack_evidence(evidence)
            )
    except StoreError as error:
        tell(f"Note: the evidence is not stored. {error}", file=sys.stderr)


def _n_parallel_halves(args: argparse.Namespace, processes: Workers) -> int:
    """Return how many halves are expected to be learned from at a time.

    ``processes`` are the workers, which may not have started yet.
    Without workers, the number is 1.
    """
    if processes.executor is None:
        return 1
    return int(args.workers) if args.workers is not None else available()


def _evidence_options(args: argparse.Namespace, plan_seed: int) -> EvidenceOptions:
    """Return the options of the evidence, as the arguments of the command say.

    ``plan_seed`` is the seed of the plan, by which halves and
    permutations are drawn.
    """
    from rankstudio.plugins.evidence.selection_evidence import EvidenceOptions
    from rankstudio.plugins.evidence.verdicts import VerdictRules

    # "" is the squared error
    name = measure(args.loss).name if args.loss else ""
    rules = (
        VerdictRules()
        if args.threshold is None
        else VerdictRules(threshold=args.threshold)
    )
    options = EvidenceOptions(
        measure=name,
        n_halves=args.halves,
        n_permutations=args.permutations,
        seed=plan_seed,
        rules=rules,
    )
    # With --best, the search goes on until the best set is proved.
    return replace(options, max_seconds=_NO_TIME_LIMIT) if args.best else options


def _selection_of_study(
    args: argparse.Namespace,
) -> tuple[JudgedSelection, FoldedDataset, OpenedRun]:
    """Return the selection of a run of a study, the data of the run, and the run.

    Raise PlanError for options that only go with ``--data``: the run
    has its own method, data and parameters.
    """
    from rankstudio.plugins.evidence.judged_selection import JudgedSelection

    # Names with this prefix are options of the method's parameters. The
    # size is allowed: it asks for the first features of the same path.
    parameters = [
        name
        for name in vars(args)
        if name.startswith("parameter_") and name != _K_PARAMETER
    ]

    for name in (*parameters, *_NOT_WITH_A_STUDY):
        if getattr(args, name) is not None:
            option = name.removeprefix("parameter_").replace("_", "-")
            raise PlanError(
                f"--{option}: not allowed with a study, whose run has its own. Omit it."
            )

    run = opened_run(args.study, args.number)
    costs = costs_from(args, run.plan)
    plan = run.plan if costs is None else run.plan.changed(costs=costs.plain())
    fold_result = run.fold(args.folds)
    seed = run.plan.seed if args.seed is None else args.seed
    options = replace(_evidence_options(args, seed), convention=plan.convention)
    k = getattr(args, _K_PARAMETER)
    if k is not None:  # `whole` refuses a text that is no whole number
        options = replace(options, n_features=whole("--k", k))
    return (
        JudgedSelection.of_run(plan, run.dataset, fold_result, options),
        run.dataset,
        run,
    )


def _selection_of_data(
    args: argparse.Namespace,
) -> tuple[JudgedSelection, FoldedDataset]:
    """Return the selection of a method on ``--data`` or the sample, and the data.

    Without a number of features among the options, up to 5 features are
    selected.
    """
    from rankstudio.engine.methods.catalog.method import StepKind
    from rankstudio.plugins.evidence.judged_selection import JudgedSelection

    if args.number is not None:
        raise PlanError("--run: only with a study. Omit it, or give a study file.")

    # `option_names` are the parameters and settings that options have set.
    plan, dataset, option_names = fold_of_data(args, "--fold")
    options = replace(
        _evidence_options(args, plan.seed),
        convention=plan.convention or dataset.convention,
    )
    limit = StepKind.FEATURES.limit  # the parameter with the number of features
    if limit in plan.entry.defaults and limit not in option_names:
        options = replace(
            options, n_features=min(_USUAL_SIZE, len(dataset.feature_ids))
        )
    return JudgedSelection.of_plan(plan, dataset, option_names, options), dataset


class _Names:
    """Ids and names of features."""

    def __init__(self, dataset: FoldedDataset) -> None:
        self.dataset = dataset

    def id(self, column: int) -> str:
        """Return the id of a column as a text."""
        return str(int(self.dataset.feature_ids[column]))

    def full(self, column: int) -> str:
        """Return the id and the name of a column."""
        return id_and_name(
            int(self.dataset.feature_ids[column]), self.dataset.feature_names[column]
        )


def _plan_or_data_costs(judged: JudgedSelection, names: _Names) -> FeatureCosts | None:
    """Return the feature costs of the plan, or else those of the data.

    ``names`` has the data. The result is None if neither the plan nor
    the data have costs.
    """
    from rankstudio.engine.data.feature_costs import FeatureCosts

    return judged.plan.extension(FeatureCosts) or names.dataset.extension(FeatureCosts)


def as_dict(
    judged: JudgedSelection, evidence: SelectionEvidence, names: _Names
) -> dict[str, Any]:
    """Return the evidence as plain values for JSON; None for parts that were not computed.

    In the result, "features" has a dict for each selected feature,
    "best" a dict for each size of a set, "p" a p value for each step,
    and "optimism" a value for each size.
    """
    from rankstudio.plugins.evidence.evidence_table import (
        evidence_rows,
        evidence_sentences,
    )

    ids = names.dataset.feature_ids
    best = evidence.best.sizes if evidence.best is not None else ()
    return {
        "data": names.dataset.name,
        "fold": judged.fold,
        "method": judged.plan.method,
        "queries": evidence.n_queries,
        "documents": evidence.n_documents,
        "seed": judged.options.seed,
        "measure": judged.options.measure or None,
        "threshold": evidence.rules.threshold,
        "features": evidence_rows(
            evidence, ids, names.full, _plan_or_data_costs(judged, names)
        ),
        "best": [
            {
                "size": subset.size,
                "features": [int(ids[column]) for column in subset.features],
                "criterion": subset.criterion,
                "proved": subset.proved,
                "gap": subset.gap,
                "sets": subset.n_sets,
            }
            for subset in best
        ],
        "near_best": None
        if evidence.near_best_of_k is None
        else len(evidence.near_best_of_k.sets),
        "p": None
        if evidence.significance is None
        else evidence.significance.p_values.tolist(),
        "stop": None if evidence.stop is None else evidence.stop.n_features,
        "optimism": None
        if evidence.repeated is None
        else evidence.repeated.optimism.tolist(),
        "sentences": evidence_sentences(evidence, names.id),
    }


def _printed_lines(
    judged: JudgedSelection, evidence: SelectionEvidence, names: _Names
) -> Iterator[str]:
    """Yield the lines that the command prints: a title, the table of features, and sentences."""
    from rankstudio.plugins.evidence.evidence_table import (
        column_milliseconds,
        evidence_sentences,
        evidence_text,
    )

    has_folds = len(names.dataset.folds) > 1
    part = f", training part of fold {judged.fold}" if has_folds else ""
    yield f"{judged.plan.title} on {names.dataset.name}{part}"
    halves = evidence.stability.n_paths if evidence.stability is not None else 0
    n = len(names.dataset.feature_ids)
    units = (
        f"{evidence.n_queries:,} queries, {halves} halves"
        if evidence.n_documents is None
        else f"one ranking, {halves} halves of its {evidence.n_documents:,} documents"
    )
    yield f"{evidence.k} of {n} features, {units}"
    yield ""
    milliseconds = column_milliseconds(
        _plan_or_data_costs(judged, names), names.dataset.feature_ids
    )

    # no title, as the first line has it
    table = evidence_text(
        "", evidence, evidence.rows, names.id, names.full, milliseconds
    )
    yield as_text(table.header, table.rows, table.left)
    yield ""
    yield from evidence_sentences(evidence, names.id)


def _write_files(
    args: argparse.Namespace,
    judged: JudgedSelection,
    evidence: SelectionEvidence,
    names: _Names,
) -> None:
    """Write the table and the figures of the evidence into the folder of ``--out``."""
    from rankstudio.engine.export.figures.files import figure_files
    from rankstudio.engine.export.tables import csv_text
    from rankstudio.plugins.evidence.evidence_figures import evidence_figures
    from rankstudio.plugins.evidence.evidence_table import HEADER, evidence_rows

    rows = evidence_rows(
        evidence,
        names.dataset.feature_ids,
        names.full,
        _plan_or_data_costs(judged, names),
    )
    table = csv_text(HEADER, [list(row.values()) for row in rows])
    title = f"{names.dataset.name}, {judged.plan.title}"
    files = figure_files(tuple(evidence_figures(evidence, title, names.full)), args.out)
    write_new([(args.out / CSV, table.encode()), *files], args.out, args)
