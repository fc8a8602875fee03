"""``rankstudio importance``: what a model loses without each of its features, or with it permuted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.cli.command_parser import check_numbers
from rankstudio.cli.data_options import (
    SAMPLE_FILE,
    add_column_options,
    add_data,
    columns_from,
    data_file,
)
from rankstudio.cli.interrupts import exit_status
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, as_text
from rankstudio.cli.progress_bar import last_share
from rankstudio.cli.replacement import add_force_option, check_outputs, write_new
from rankstudio.cli.study_file_option import OpenedRun, add_run_number, opened_run
from rankstudio.cli.terminal import tell
from rankstudio.engine.data.dataset import id_and_name
from rankstudio.engine.errors import PlanError, StoreError
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.number_format import percentage
from rankstudio.engine.support.work import finish

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.fsmrank_bounds import FSMRankBounds
    from rankstudio.engine.data.dataset import Fold, RankingDataset
    from rankstudio.engine.experiment.results.results import FoldResult
    from rankstudio.plugins.evidence.model_importance import Importance
    from rankstudio.plugins.evidence.permutation_importance import PermutationImportance

HELP = "show what a model loses without each feature, and with it permuted"
DESCRIPTION = """\
Print what a measure loses without each feature of a model, and with the feature permuted among the documents
of each query, with 95 % intervals over queries. The model stays as it is, trees included: a feature that
others could replace may show a loss all the same. "Without" sets the feature to its mean in each query.
Use documents that the model was not trained on.

  rankstudio importance --sample --model results/models/fold1.json
  rankstudio importance test.txt --model results/models/fold1.json --measure MAP --repeats 50 --json
  rankstudio importance test.txt --model lightgbm.txt
  rankstudio importance results/study.rankstudio --run 2 --fold 1 --out importance

Without --model, DATA is a study: the model is that of its run on a fold, and the documents are those of the
validation part, or of the training part without one. The study keeps the losses with features permuted, for
its report. For FSMRank, FSMSVM and GAS a second table has the importance s of each feature, and the feature
of the model that is most similar to it, with their similarity A."""

CSV = "importance.csv"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options: the model, the measure, permutations, and the output."""
    # DATA and --sample, which stands for it; DATA may also be a study file.
    add_data(
        parser, "data file, or study file with the run", SAMPLE_FILE, also=("study",)
    )
    parser.add_argument(
        "--model", metavar="MODEL", type=Path, help="model, of another program too"
    )
    add_run_number(parser, "--run")
    parser.add_argument(
        "--fold",
        dest="folds",
        metavar="FOLD",
        help="fold of the run; the first by default",
    )
    parser.add_argument(
        "--measure",
        metavar="NAME",
        default="NDCG@10",
        help="measure, such as MAP; default: NDCG@10",
    )
    parser.add_argument(
        "--repeats",
        type=int,
        default=10,
        metavar="N",
        help="permutations of each feature; default: 10",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the permutations; default: 0"
    )
    parser.add_argument(
        "--convention",
        choices=list(CONVENTIONS),
        help="evaluation convention; by default the usual one for this dataset",
    )
    # --qid, --label and others for data in tables; then --memory
    add_column_options(parser.add_argument_group("columns of tables"))
    add_memory_option(parser)
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help=f"folder for {CSV} and a figure"
    )
    parser.add_argument(
        "--json", action="store_true", help="print JSON instead of a table"
    )
    add_force_option(parser)


def run(args: argparse.Namespace) -> int:
    """Measure the loss of a model without each feature and with it permuted; print and write it.

    ``args`` are the command's options. Return the exit code. After
    Ctrl+C, the permutations so far are printed and written to files,
    but not stored in the study.
    """
    from rankstudio.plugins.evidence.partial_result import PartialResult

    check_numbers(args, repeats=1, seed=0)
    args.data = data_file(args.data)
    model = _model_of_file(args) if args.model is not None else _model_of_run(args)
    if args.out is not None:
        check_outputs([args.out / CSV], args, model.recorded)
    without = finish(model.losses)  # quick: one scoring per feature

    # `model.importance` is the work that permutes; a partial result has
    # the importance so far. Progress is None before the first one: a
    # command stopped by then has nothing to print.
    steps = (
        progress if isinstance(progress, PartialResult) else None
        for progress in model.importance
    )
    state, stopped = last_share(steps)
    if not stopped:
        model.keep(state.found)  # in the study; nothing for a model of a file
    if args.json:
        values = as_dict(without, state.found, model.data, model.convention)
        bounds = {} if model.bounds is None else {"bounds": asdict(model.bounds)}
        weighed = {"weighed": _weighed_as_dicts(model)} if model.weighed else {}
        tell(as_json({**values, **weighed, **bounds}))
    else:
        tell(*_loss_lines(without, state.found, model.data), *_weight_lines(model))
    if args.out is not None:
        _write_files(args, model, without, state.found)
    return exit_status(stopped, f"Stopped at {percentage(state.share)}.")


@dataclass(frozen=True)
class Weighed:
    """How the method of a run weighs a feature of its model.

    Attributes
    ----------
    column : int
        0-based column of the feature.
    importance, of_negative : float
        Importance of the feature, the paper's s, and that of the
        feature with negative values.
    closest : int or None
        Column of the most similar other feature of the model; None for
        the only feature.
    similarity : float
        Similarity of the feature to the closest one, the paper's A; NaN
        for the only feature.
    """

    column: int
    importance: float
    of_negative: float
    closest: int | None
    similarity: float


def _weighed_features(run: OpenedRun, result: FoldResult, fold: Fold) -> list[Weighed]:
    """Return how FSMRank, FSMSVM or GAS weighs the features of its model; [] for other methods.

    These methods select features that are important and not similar to
    each other. Each feature comes with its most similar other feature
    of the model.
    """
    from rankstudio.engine.analysis.features.feature_penalties import feature_penalties
    from rankstudio.engine.experiment.units.fold_context import group_training

    columns = list(result.chosen.step.selected)
    if not run.plan.entry.weighs_features:
        return []

    # importance (k,) of the k features and of their negatives, and the
    # similarity (k, k) of each two
    penalties = feature_penalties(
        run.plan,
        result.chosen.unit.parameters,
        group_training(fold),
        fold.train.feature_ids,
        columns,
        columns,
    )

    # A feature is not compared with itself.
    similarity = np.where(
        np.eye(len(columns), dtype=bool), -np.inf, penalties.similarity
    )
    has_others = len(columns) > 1
    return [
        Weighed(
            column,
            importance=float(penalties.importance[index]),
            of_negative=float(penalties.of_negative[index]),
            closest=columns[int(np.argmax(similarity[index]))] if has_others else None,
            similarity=float(similarity[index].max()) if has_others else float("nan"),
        )
        for index, column in enumerate(columns)
    ]


def _fsmrank_bounds(
    run: OpenedRun, result: FoldResult, fold: Fold
) -> FSMRankBounds | None:
    """Return the bounds that theorems prove for an FSMRank model.

    The bounds say how far the model's objective is above the minimum,
    and how many more unseen pairs may be in error. The result is None
    for other methods, or where the theorems do not hold.
    """
    from rankstudio.engine.analysis.features.fsmrank_bounds import bounds_of
    from rankstudio.engine.experiment.units.fold_context import group_training

    chosen = result.chosen
    return bounds_of(
        run.plan, chosen.unit.parameters, chosen.step, group_training(fold), fold.train
    )


@dataclass(frozen=True, eq=False)
class _ModelToMeasure:
    """A model with documents, and the work that measures its losses on them.

    ``data`` are the documents, and ``part`` names them. ``losses`` is a
    generator that measures the losses without each feature, and
    ``importance`` one for the losses with each feature permuted.
    ``keep`` stores the losses of permuted features with the run of a
    study. ``recorded`` are files that are not to be overwritten.
    ``weighed`` and ``bounds`` are what some methods say about their own
    features.
    """

    title: str
    data: RankingDataset
    part: str
    convention: str
    losses: Importance
    importance: Importance
    keep: Callable[[PermutationImportance], None] = lambda _: None
    recorded: Sequence[Path] = ()
    weighed: Sequence[Weighed] = ()
    bounds: FSMRankBounds | None = None


def _model_of_file(args: argparse.Namespace) -> _ModelToMeasure:
    """Return the model of the file ``--model``, with the documents of the data file."""
    from rankstudio.engine.data.known_datasets import identify
    from rankstudio.engine.export.model_files import model_and_data, other_names
    from rankstudio.plugins.evidence.model_importance import model_importance

    # The options --run and --fold name a model of a study.
    for name in ("number", "folds"):
        if getattr(args, name) is not None:
            raise PlanError(
                f"--{_OPTION_NAMES[name]}: only without --model, with a study. Omit it."
            )

    metric = measure(args.measure)
    model, data = model_and_data(args.model, args.data, columns_from(args))

    # A feature with other names in model and data may be another feature.
    for note in (*other_names(model, data), *data.warnings):
        tell(f"Note: {note}", file=sys.stderr)
    convention = args.convention or identify(args.data, data).convention

    # No number of permutations: leave each feature out instead.
    losses = model_importance(model, data, metric, convention, None)
    work = model_importance(model, data, metric, convention, args.repeats, args.seed)
    return _ModelToMeasure(
        title=args.model.name,
        data=data,
        part=args.data.name,
        convention=convention,
        losses=losses,
        importance=work,
    )


_OPTION_NAMES = {"number": "run", "folds": "fold"}


def _model_of_run(args: argparse.Namespace) -> _ModelToMeasure:
    """Return the model of a run of a study, with the documents to measure it on.

    The documents are those of the validation part, or those of the
    training part if the fold has no validation part.
    """
    from rankstudio.engine.experiment.storage.study import Study
    from rankstudio.plugins.evidence.evidence_codec import pack_evidence
    from rankstudio.plugins.evidence.model_importance import (
        MeasuredImportance,
        model_place,
        step_importance,
    )

    metric = measure(args.measure)
    run = opened_run(args.data, args.number)
    result = run.fold(args.folds)
    fold = next(
        dataset_fold
        for dataset_fold in run.dataset.folds
        if dataset_fold.number == result.fold
    )
    part, name = (
        (fold.vali, "validation") if fold.vali is not None else (fold.train, "training")
    )
    convention = args.convention or run.plan.convention or run.dataset.convention
    step = result.chosen.step
    unit = result.chosen.unit

    def keep(importance: PermutationImportance) -> None:
        """Store a model's losses with its run in the study; print a note if the study cannot be written.

        In the enclosing function, ``name`` is that of the part with the
        documents, and ``step`` and ``unit`` are the model and its place
        in the run.
        """
        measured = MeasuredImportance(importance, name, convention, step.n_selected)

        # The key names the part, the measure, the convention, and the
        # model by its path and columns.
        model_key = measured.place(model_place(unit.position, step.selected))
        try:
            with Study.open(args.data) as study:
                study.save_evidence(
                    run.key, result.fold, model_key, pack_evidence(measured)
                )
        except StoreError as error:
            tell(f"Note: the losses are not stored. {error}", file=sys.stderr)

    # No number of permutations: leave each feature out instead.
    losses = step_importance(step, part, metric, convention, None)
    work = step_importance(step, part, metric, convention, args.repeats, args.seed)
    title = f"{run.dataset.name}, {run.plan.title}, fold {result.fold}"
    weighed = _weighed_features(run, result, fold)
    bounds = _fsmrank_bounds(run, result, fold)
    return _ModelToMeasure(
        title=title,
        data=part,
        part=name,
        convention=convention,
        losses=losses,
        importance=work,
        keep=keep,
        recorded=run.recorded,
        weighed=weighed,
        bounds=bounds,
    )


def as_dict(
    without: PermutationImportance,
    permuted: PermutationImportance,
    data: RankingDataset,
    convention: str,
) -> dict[str, Any]:
    """Return the losses as plain values for JSON, the greatest loss without a feature first.

    ``without`` has the losses with each feature left out, ``permuted``
    those with its values permuted.
    """
    return {
        "measure": permuted.measure.name,
        "convention": convention,
        "queries": int(permuted.baseline.size),
        "features": [
            {
                "feature": int(data.feature_ids[permuted.groups[index][0]]),
                "without": _loss_as_dict(without, index),
                "permuted": _loss_as_dict(permuted, index),
            }
            for index in _order_by_loss(without)
        ],
    }


def _write_files(
    args: argparse.Namespace,
    model: _ModelToMeasure,
    without: PermutationImportance,
    permuted: PermutationImportance,
) -> None:
    """Write the table of losses and the figure of ``permuted`` into the folder of ``--out``.

    ``without`` has the losses with each feature left out, ``permuted``
    those with its values permuted. The greatest loss without a feature
    comes first.
    """
    from rankstudio.engine.export.figures.files import figure_files
    from rankstudio.engine.export.tables import csv_text
    from rankstudio.plugins.evidence.evidence_figures import importance_figure
    from rankstudio.plugins.evidence.model_importance import MeasuredImportance

    data = model.data

    # three columns for each kind of loss: mean and the ends of its interval
    header = [
        "feature",
        "name",
        *(
            f"{kind}{end}"
            for kind in ("without", "permuted")
            for end in _COLUMN_ENDINGS
        ),
    ]
    rows = []

    for index in _order_by_loss(without):
        column = permuted.groups[index][0]  # each group is a single feature here
        losses = [
            value
            for importance in (without, permuted)
            for value in _loss_as_dict(importance, index).values()
        ]
        rows.append(
            [int(data.feature_ids[column]), data.feature_names[column], *losses]
        )

    measured = MeasuredImportance(
        permuted, model.part, model.convention, len(permuted.groups)
    )
    figure = importance_figure(
        measured, model.title, lambda column: data.feature_names[column]
    )
    table = args.out / CSV, csv_text(header, rows).encode()
    write_new(
        [table, *figure_files((figure,), args.out)], args.out, args, model.recorded
    )


_COLUMN_ENDINGS = ("", "_low", "_high")


def _order_by_loss(without: PermutationImportance) -> list[int]:
    """Return the positions of the features, the greatest loss without a feature first."""
    order: list[int] = (-without.mean).argsort(kind="stable").tolist()
    return order


def _loss_as_dict(importance: PermutationImportance, index: int) -> dict[str, float]:
    """Return the mean loss of a feature with its interval as plain values."""
    return {
        "mean": float(importance.mean[index]),
        "low": float(importance.low[index]),
        "high": float(importance.high[index]),
    }


def _loss_lines(
    without: PermutationImportance,
    permuted: PermutationImportance,
    data: RankingDataset,
) -> Iterator[str]:
    """Yield the table of a model's losses without each feature and with it permuted, as text.

    The greatest loss without a feature comes first.
    """
    # The baseline is the measure of each query with nothing changed,
    # NaN if undefined. A group of columns is a single feature here.
    baseline = float(np.nanmean(permuted.baseline))
    yield (
        f"{len(permuted.groups)} of {data.n_features} features are used; "
        f"{permuted.measure.name} {baseline:.4f} on {permuted.baseline.size:,} queries"
    )
    yield ""
    rows = []

    for index in _order_by_loss(without):
        feature = _id_and_name(data, permuted.groups[index][0])
        rows.append(
            [
                feature,
                *(_loss_text(importance, index) for importance in (without, permuted)),
            ]
        )

    yield as_text(["feature", "loss without", "loss permuted"], rows, left_columns=(0,))


def _weighed_as_dicts(model: _ModelToMeasure) -> list[dict[str, Any]]:
    """Return the importance and similarity by which the method weighs features, as plain values.

    Each feature comes with its most similar other feature of the model.
    The only feature of a model has none: its dict has no "closest" and
    no "similarity".
    """
    ids = model.data.feature_ids
    return [
        {
            "feature": int(ids[feature.column]),
            "importance": feature.importance,
            "importance_of_negative": feature.of_negative,
            **(
                {}
                if feature.closest is None
                else {
                    "closest": int(ids[feature.closest]),
                    "similarity": feature.similarity,
                }
            ),
        }
        for feature in model.weighed
    ]


def _weight_lines(model: _ModelToMeasure) -> Iterator[str]:
    """Yield the table of importance and similarity, if the method weighs features by them.

    For FSMRank, the bounds that theorems prove for the model follow.
    """
    if not model.weighed:
        return
    yield ""
    yield "Importance and similarity by which the method weighs the features, on the training part"
    rows = []

    for feature in model.weighed:
        # the two last cells of the row; empty for the only feature of a model
        closest = (
            [""] * 2
            if feature.closest is None
            else [
                _id_and_name(model.data, feature.closest),
                f"{feature.similarity:.4f}",
            ]
        )
        rows.append(
            [
                _id_and_name(model.data, feature.column),
                f"{feature.importance:.4f}",
                f"{feature.of_negative:.4f}",
                *closest,
            ]
        )

    bounds = model.bounds
    header = [
        "feature",
        "importance s",
        "s of negative",
        "most similar of the model",
        "similarity A",
    ]
    yield as_text(header, rows, left_columns=(0, 3))
    if bounds is not None:
        yield ""
        least = f"{bounds.above_minimum:.2g}"
        yield f"Objective {bounds.objective:.4f}, at most {least} above the minimum (Theorem 2)"
        if bounds.unseen is None:
            yield "On unseen pairs: no bound (Theorem 3 is not proven for the logistic loss)"
        else:
            unseen = f"{bounds.unseen:.2g}"
            yield f"On unseen pairs at most {unseen} more with probability 0.95 (Theorem 3, far from tight)"


def _id_and_name(data: RankingDataset, column: int) -> str:
    """Return the id and the name of the feature in a column."""
    return id_and_name(int(data.feature_ids[column]), data.feature_names[column])


def _loss_text(importance: PermutationImportance, index: int) -> str:
    """Return a mean loss with its interval as a text."""
    return f"{importance.mean[index]:.4f} [{importance.low[index]:.4f}, {importance.high[index]:.4f}]"
