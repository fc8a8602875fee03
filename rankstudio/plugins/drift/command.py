"""``rankstudio drift``: how the features of two parts, or of two datasets, differ."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rankstudio.cli.data_options import (
    MISSING,
    NORMALIZE,
    add_column_options,
    add_data,
    columns_from,
    data_place,
)
from rankstudio.cli.memory_option import add_memory_option
from rankstudio.cli.output.text_tables import as_json, as_text, number
from rankstudio.cli.study_file_option import add_run_number, opened_run
from rankstudio.cli.terminal import tell
from rankstudio.engine.data.dataset import id_and_name
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.export.tables import p_text
from rankstudio.engine.support.number_format import percentage
from rankstudio.engine.support.work import finish

if TYPE_CHECKING:
    from rankstudio.engine.data.dataset import RankingDataset
    from rankstudio.plugins.drift.transfer import Transfer

HELP = "compare the features of two parts or datasets, and a selection made elsewhere with one made here"
DESCRIPTION = """\
Compare the features of two parts of a dataset, or of two datasets, side by side: the Kolmogorov-Smirnov
distance of their values, the shift of the mean in standard deviations, the ratio of the standard deviations,
the share of queries in which a feature is constant, and Kendall's tau of feature and label. The largest
distance comes first.

With --study, measure on DATA the model of a run on other data (learned from all of its documents with what
its folds chose), run the same plan on DATA, and compare the two query by query.

  rankstudio drift --sample
  rankstudio drift --sample --fold 2 --parts train,vali
  rankstudio drift train.txt test.txt --json
  rankstudio drift folds --study results/study.rankstudio --run 1"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_data(parser, "data file, or folder of folds")
    parser.add_argument(
        "other", metavar="OTHER", nargs="?", type=Path, help="other data; by default two parts of DATA"
    )
    parser.add_argument(
        "--study",
        metavar="STUDY",
        type=Path,
        help="study with a run on other data, whose selection is compared",
    )
    add_run_number(parser, "--run")
    parser.add_argument(
        "--parts",
        metavar="A,B",
        help="parts that are compared, of train, vali and test; by default train,test, and with OTHER "
        "train,train",
    )
    parser.add_argument("--fold", type=int, metavar="F", help="number of the fold; by default the first")
    parser.add_argument("--missing", **MISSING, default="query_min")
    parser.add_argument("--normalize", **NORMALIZE, default="none")
    add_column_options(parser.add_argument_group("columns of tables"))
    add_memory_option(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    """Carry the command out."""
    from rankstudio.plugins.drift.feature_drift import feature_drift

    if args.study is not None:
        return _transfer(args)
    if args.number is not None:
        raise PlanError("--run: expected --study with the study of the run, got none.")
    wanted = args.parts or ("train,test" if args.other is None else "train,train")
    parts = tuple(name.strip() for name in wanted.split(","))
    if len(parts) != 2 or not set(parts) <= {"train", "vali", "test"}:
        raise PlanError(f"--parts: expected two of train, vali and test, as in train,test; got {wanted!r}.")
    places = (args.data, args.data if args.other is None else args.other)
    first, second = (_part(args, place, name) for place, name in zip(places, parts, strict=True))
    found = finish(feature_drift(first, second))
    if args.json:
        tell(as_json({"parts": list(parts), "features": [asdict(one) for one in found]}))
        return 0
    named = [f"{place.name or place} {name}" for place, name in zip(places, parts, strict=True)]
    sizes = [f"{part.n_documents:,} documents of {part.n_queries:,} queries" for part in (first, second)]
    tell(f"A: {named[0]}, {sizes[0]}", f"B: {named[1]}, {sizes[1]}", "")
    header = ["feature", "distance", "shift", "scale", "constant A", "constant B", "tau A", "tau B"]
    rows = [
        [
            id_and_name(one.feature, one.name),
            f"{one.distance:.3f}",
            number(one.shift, "+.2f"),
            number(one.scale, ".2f"),
            *(percentage(share) for share in one.constant),
            *(number(tau, "+.3f") for tau in one.correlation),
        ]
        for one in found
    ]
    tell(as_text(header, rows, left=(0,)))
    return 0


def _transfer(args: argparse.Namespace) -> int:
    """Compare the selection of a run with one made on other data by the same plan."""
    from rankstudio.engine.experiment.units.given_fold import seen_sentence
    from rankstudio.plugins.drift.transfer import transfer

    for option, value in (("OTHER", args.other), ("--parts", args.parts), ("--fold", args.fold)):
        if value is not None:
            raise PlanError(
                f"{option}: not allowed with --study, which compares DATA with the data of the run."
            )
    opened = opened_run(args.study, args.number)
    found = transfer(opened.result, opened.dataset, data_place(args.data))
    folds, n = found.folds_of_features(), len(found.own.folds)
    measures = {name: _means(found, name) | asdict(found.compared(name)) for name in found.own.plan.evaluated}
    features = {i: i in found.features for i in (*found.features, *(i for i, _ in folds.most_common()))}
    if note := seen_sentence(found.given.plan.title, found.seen):
        tell(f"Note: {note}", file=sys.stderr)
    if args.json:
        rows = [{"feature": i, "model": there, "folds": folds[i]} for i, there in features.items()]
        ends = {"from": opened.result.data_name, "to": found.own.data_name, "seen": found.n_seen}
        tell(as_json(ends | {"measures": measures, "features": rows}))
        return 0
    tell(f"A: {opened.result.plan.title} on {opened.result.data_name}, one model of all documents")
    tell(f"B: the same plan on {found.own.data_name}")
    tell("Difference: A minus B over the queries of B, with its 95 % interval and the p of Fisher's")
    tell("randomisation test", "")
    header = ["measure", "A", "B", "difference", "low", "high", "p", "wins", "ties", "losses"]
    table = [
        [
            name,
            *(f"{v[key]:.4f}" for key in ("given", "own")),
            *(f"{v[key]:+.4f}" for key in ("mean_difference", "low", "high")),
            p_text(v["p_randomisation"]),
            *(str(v[key]) for key in ("wins", "ties", "losses")),
        ]
        for name, v in measures.items()
    ]
    tell(as_text(header, table))
    names = dict(zip(found.own.feature_ids.tolist(), found.own.feature_names, strict=True))
    cells = [
        [id_and_name(i, names[i]), "yes" if there else "no", f"{folds[i]} of {n}"]
        for i, there in features.items()
    ]
    tell("", as_text(["feature", "in A's model", "folds of B that select it"], cells))
    return 0


def _means(found: Transfer, name: str) -> dict[str, float]:
    """Return a measure of both over the same queries, those where both have one."""
    values = found.given.per_query(name), found.own.per_query(name)
    both = ~(np.isnan(values[0]) | np.isnan(values[1]))
    return {key: float(v[both].mean()) for key, v in zip(("given", "own"), values, strict=True)}


def _part(args: argparse.Namespace, place: Path, name: str) -> RankingDataset:
    """Return a part of some data."""
    from rankstudio.engine.experiment.runner import open_data

    told = {"missing": args.missing, "normalize": args.normalize, "columns": columns_from(args)}
    dataset = open_data(Plan(data_place(place), **told))
    numbers = [fold.number for fold in dataset.folds]
    number = numbers[0] if args.fold is None else args.fold
    if number not in numbers:
        there = ", ".join(map(str, numbers))
        raise PlanError(f"--fold: expected one of the folds of {place}, {there}; got {number}.")
    fold = dataset.folds[numbers.index(number)]
    if name not in fold.parts:
        there = ", ".join(fold.parts)
        raise PlanError(f"--parts: {place} has no part {name}; expected one of {there}.")
    part: RankingDataset = {"train": fold.train, "vali": fold.vali, "test": fold.test}[name]  # type: ignore[assignment]
    return part
