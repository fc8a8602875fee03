"""``rankstudio export``: write a model in the format of another program, and verify that it ranks alike."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.cli.data_options import (
    add_model,
    add_sample_option,
    refuse_both,
    take_model,
)
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, explained
from rankstudio.cli.replacement import add_force_option, check_outputs, inputs_of_plan
from rankstudio.cli.streams import is_standard, refuse_output_with_json, write_output
from rankstudio.cli.terminal import tell
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.feature_sets import (
    LABELS,
    FeatureSet,
    feature_set_beside,
    read_feature_set,
)
from rankstudio.engine.errors import PlanError, RankStudioError
from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.engine.experiment.plan.toml import plan_from_dict
from rankstudio.engine.export.formats.model_format import ABOUT, ModelFormat
from rankstudio.engine.export.formats.registry import model_format, model_formats
from rankstudio.engine.export.models import Model, load_model
from rankstudio.engine.export.score_function import (
    ScoreFunction,
    defined,
    defined_where_possible,
    score_function,
)
from rankstudio.engine.language import tr
from rankstudio.engine.support.files import write_text

if TYPE_CHECKING:
    from rankstudio.engine.export.proof import RankingProof

FEATURE_SET = "feature-set"
"""Key in ``--to`` for the definitions of the model's features, without the model."""

HELP = "export a model to the format of another program"
DESCRIPTION = """\
Export a RankStudio model to the format of another program. The export is then verified: an independent reader
loads the file, ranks the test documents, and the number of identically ranked queries is printed.

  rankstudio export results/models/fold1.json --to ranklib --out fold1.txt
  rankstudio export results/models/fold1.json --to python --out fold1.py --sample
  rankstudio export results/models/fold1.json --to sql --out fold1.sql --no-proof --json
  rankstudio export results/models/fold1.json --to solr --feature-set store.json --out model.json
  rankstudio export results/models/fold1.json --to feature-set --feature-set store.json --out reduced.json

Without --data, the data of the model's plan are used if they are available. A feature set beside the data
(featureset.json, features.json or features.profile) is used without --feature-set."""


def _epilog() -> str:
    """Return the end of the help: the formats.

    Each format comes with its description, its limits and the extras
    that it needs.
    """
    entries = []
    for form in model_formats().values():
        # A format is for linear models, for tree models, or for both.
        limit = (
            ""
            if form.linear and form.trees
            else f"{'Tree' if form.trees else 'Linear'} models only."
        )
        extra = f'Needs the extra "{form.extra}".' if form.extra else ""
        entries.append((form.key, " ".join(filter(None, (form.summary, limit, extra)))))
    entries.append(
        (
            FEATURE_SET,
            "The feature set of a search engine with the features of the model alone.",
        )
    )
    return f"formats:\n{explained(entries)}"


EPILOG = _epilog()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the model, the format, and the data for the verification."""
    # The model and its format.
    add_model(parser)
    parser.add_argument(
        "--to",
        metavar="FORMAT",
        choices=[*model_formats(), FEATURE_SET],
        required=True,
        help="format (see below)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        required=True,
        help="file to write; - prints it",
    )

    # How the export is verified.
    parser.add_argument(
        "--data", type=Path, help="data file or folder of folds for the verification"
    )
    add_sample_option(parser, "verify on the bundled sample")
    parser.add_argument(
        "--feature-set",
        metavar="FILE",
        type=Path,
        help="feature set of Elasticsearch, OpenSearch or Solr, or rank features of Vespa: the export then "
        "contains the definitions of the model's features",
    )
    add_memory_option(parser)
    parser.add_argument("--no-proof", action="store_true", help="skip the verification")
    add_force_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="print files and verification as JSON"
    )


def run(args: argparse.Namespace) -> int:
    """Write a model in the format of another program, and return 0.

    The command verifies that the written model ranks alike.
    """
    from rankstudio.engine.export.proof import fitted_function, ranking_proof, unproved

    # Set `args.model`, and refuse --data with --sample; both may be absent.
    take_model(args)
    refuse_both(args, neither=True)
    model = load_model(args.model)
    if args.to == FEATURE_SET:
        return _write_feature_set(args, model)
    form = model_format(args.to)

    # The function of the model with the definitions of its features,
    # and a note if these are missing.
    function, unfit = _score_function(args, model, form)

    # Documents on which the written model is compared with the
    # original, what they are called, and why there are none.
    parts, source, reason = (
        ([], "", "") if args.no_proof else _trial_documents(args, model)
    )

    # A format may have several forms of the function, such as one with
    # rounded numbers; the documents show which one ranks alike.
    fitted = fitted_function(model, function, form, parts)
    files = form.files(fitted)

    # Write the files, unless standard output takes the only one.
    refuse_output_with_json(args)
    written: list[str] = []
    if is_standard(args.out):
        # Keys of `files` are endings of names; ABOUT is that of the
        # file that describes the model, and is not needed to score.
        n_scored = len(set(files) - {ABOUT})
        if n_scored > 1:
            raise PlanError(
                f"--out: expected a file, because {form.label} has {n_scored} files, got -."
            )
    else:
        check_outputs([*form.paths(args.out).values()], args, _data_paths(model))
        written = [str(path) for path in form.save(args.out, files)]

        # Read the files again, so that the proof is of what was written.
        files = form.scored_files(args.out)

    # Rank with the written files to prove that the ranking is the same.
    proof = None
    if not args.no_proof:
        proof = (
            unproved(reason)
            if reason
            else ranking_proof(model, function, form, files, parts)
        )

    # A note, if the function was changed for the format.
    notes = " ".join(
        filter(None, (unfit, tr(form.fitted) if fitted != function else ""))
    )
    _print_outcome(args, written, notes, proof, source)
    if is_standard(args.out):
        write_output(args.out, next(iter(files.values())))
    return 0


def _score_function(
    args: argparse.Namespace, model: Model, form: ModelFormat
) -> tuple[ScoreFunction, str]:
    """Return the score function of a model with the definitions of a feature set, and a note.

    A feature set of a search engine defines how the engine computes the
    features. The feature set of ``--feature-set`` has to be for the
    engine of the format. Without the option, a feature set that lies
    beside the data is used if possible. The note says why that set is
    not used, and is "" otherwise.
    """
    function = score_function(model)
    if args.feature_set is not None:
        features = read_feature_set(args.feature_set)
        if features.engine != form.engine:
            keys = (
                entry.key
                for entry in model_formats().values()
                if entry.engine == features.engine
            )
            raise PlanError(
                f"--feature-set: {args.feature_set} is for {LABELS[features.engine]}, "
                f"expected --to {' or '.join(keys)}, got --to {form.key}."
            )
        return defined(function, features), ""
    return defined_where_possible(
        function, _feature_set_of_data(args, model), form.engine
    )


def _feature_set_of_data(args: argparse.Namespace, model: Model) -> FeatureSet | None:
    """Return the feature set of a search engine that lies beside the data; None without one.

    The data are those of ``--data``, or else the data on which the
    model was trained.
    """
    places = [args.data] if args.data is not None else _data_paths(model)
    return feature_set_beside(places[0]) if places else None


def _write_feature_set(args: argparse.Namespace, model: Model) -> int:
    """Write the part of a search engine's feature set that a model needs; return 0.

    The feature set is that of ``--feature-set``, or else the feature
    set beside the data.
    """
    feature_set = (
        read_feature_set(args.feature_set)
        if args.feature_set
        else _feature_set_of_data(args, model)
    )
    if feature_set is None:
        raise PlanError(
            "--feature-set: found no feature set beside the data. Give the file of the feature set with "
            "which the data were logged."
        )

    # The part with the features of the model, and those that they are
    # derived from. `used` has their names in the set by their ids.
    used = feature_set.of([(feature.id, feature.name) for feature in model.features])
    text = feature_set.reduced(used.values()).text()

    # Print it, or write it with a summary.
    refuse_output_with_json(args)
    if is_standard(args.out):
        write_output(args.out, text.encode())
        return 0
    check_outputs(
        [args.out], args, [*_data_paths(model), *filter(None, [args.feature_set])]
    )
    write_text(args.out, text)
    n = len(used)
    size = len(feature_set.names)
    summary = f"{n} of the {size} features of the set are used."
    if args.json:
        tell(
            as_json(
                {
                    "format": FEATURE_SET,
                    "written": [str(args.out)],
                    "used": n,
                    "features": size,
                }
            )
        )
    else:
        tell(f"Written: {args.out}", file=sys.stderr)
        tell(summary)
    return 0


def _print_outcome(
    args: argparse.Namespace,
    written: list[str],
    note: str,
    proof: RankingProof | None,
    data_name: str,
) -> None:
    """Print the outcome of an export.

    The outcome is which files are written, what was changed for the
    format, and whether the exported model ranks alike. ``note`` is a
    sentence on the changes. ``proof`` is the outcome of the
    verification, None without one, and ``data_name`` names its
    documents.
    """
    # Without a verification there are no numbers of queries. Some
    # formats compute in single precision, in which more queries may
    # rank alike.
    sentence = _proof_sentence(proof, data_name) if proof else ""
    if args.json:
        outcome = (
            {"identical": proof.identical, "queries": proof.n_queries} if proof else {}
        )
        single = (
            {"identical_in_single_precision": proof.single}
            if proof and proof.single is not None
            else {}
        )
        tell(
            as_json(
                {
                    "format": args.to,
                    "written": written,
                    **outcome,
                    **single,
                    "proof": sentence,
                    "note": note,
                }
            )
        )
        return

    # Standard output may be the exported file, so notes go to standard error.
    if written:
        tell(f"Written: {', '.join(written)}", file=sys.stderr)
    if note:
        tell(f"Note: {note}", file=sys.stderr)
    if sentence:
        tell(sentence, file=sys.stderr if is_standard(args.out) else sys.stdout)


def _data_paths(model: Model) -> list[Path]:
    """Return the data that a model's plan names, which the verification may read."""
    return inputs_of_plan(plan_from_dict(model.plan)) if model.plan else []


def _trial_documents(
    args: argparse.Namespace, model: Model
) -> tuple[list[RankingDataset], str, str]:
    """Return documents to verify a written model, the name of their dataset, and why there are none.

    The documents are one or more parts of a dataset: the dataset of
    ``--data`` or --sample, or else that of the model. The reason is ""
    if there are documents. If the options name data that cannot be
    read, an error is raised instead.
    """
    from rankstudio.engine.experiment.model_data import trial_parts

    try:
        return (*trial_parts(model, SAMPLE if args.sample else args.data), "")
    except RankStudioError as error:
        if args.data is not None or args.sample:
            raise
        return [], "", str(error)


def _proof_sentence(proof: RankingProof, data_name: str) -> str:
    """Return the sentence on a verification, with the name of its documents."""
    return (
        f"{proof.sentence} Data: {data_name}."
        if data_name and not proof.failure
        else proof.sentence
    )
