"""The analysis of drift: a table of the differences of features, or tables of a selection made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset, id_and_name
from rankstudio.engine.errors import ParameterError, one_line
from rankstudio.engine.experiment.plan.as_code import (
    column_words,
    data_word,
    field_words,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import GIVEN
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.units.given_fold import seen_sentence
from rankstudio.engine.export.tables import p_text
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.analysis import (
    AnalysisResult,
    AnalysisTable,
    Cell,
    formatted,
)
from rankstudio.engine.support.number_format import percentage
from rankstudio.engine.support.work import Waiting
from rankstudio.plugins.drift.feature_drift import feature_drift
from rankstudio.plugins.drift.transfer import Transfer, transfer


def drift_result(
    subject: FoldedDataset | RunResult,
    data: FoldedDataset | None = None,
    location: str = "",
    /,
    *,
    first: str = "train",
    second: str = "test",
    fold: int | None = None,
) -> Waiting[AnalysisResult]:
    """Compare the features of two parts or datasets; or a run's selection with one made on other data.

    Parameters
    ----------
    subject : FoldedDataset or RunResult
        The first data, whose features are compared; or a run, whose
        selected features are compared.
    data : FoldedDataset, optional
        The second data, by default the same as the first; or the data of the run.
    location : str
        For a run only: path of the other data, on which its model is
        measured and its plan is run again.
    first, second : {"train", "vali", "test"}
        The part of the first data, and the part of the second data.
    fold : int or None
        Number of the fold; None for the first.

    Returns
    -------
    generator of AnalysisResult
        Yields its progress, and returns tables and plain values.

    Raises
    ------
    ParameterError
        If there is no such fold or part.
    """
    # For a run, `data` are its own; the others are at `location`.
    if isinstance(subject, RunResult):
        assert data is not None
        return _transfer_result(transfer(subject, data, location), subject)

    # Two parts of the same data are compared unless other data are given.
    data = subject if data is None else data
    first_part = part_of(subject, first, fold)
    second_part = part_of(data, second, fold)
    rows = yield from feature_drift(first_part, second_part)
    names = (f"{file_name(subject)} {first}", f"{file_name(data)} {second}")

    # One line for each of the two parts, above the table.
    lines = []
    for letter, name, part in zip("AB", names, (first_part, second_part), strict=True):
        text = tr("{letter}: {part}, {documents:,} documents of {queries:,} queries")
        line = text.format(
            letter=letter,
            part=name,
            documents=part.n_documents,
            queries=part.n_queries,
        )
        lines.append(one_line(line))

    # One row for each feature that both parts have. A column whose
    # title ends in A or B has values of that part.
    header = (
        tr("feature"),
        tr("distance"),
        tr("shift"),
        tr("scale"),
        tr("constant A"),
        tr("constant B"),
        tr("tau A"),
        tr("tau B"),
    )
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (
            id_and_name(row.feature, row.name),
            formatted(row.distance, ".3f"),
            formatted(row.shift, "+.2f"),
            formatted(row.scale, ".2f"),
            # two columns each, for A and for B
            *(formatted(share, percentage) for share in row.constant),
            *(formatted(tau, "+.3f") for tau in row.correlation),
        )
        for row in rows
    )
    first_name, second_name = names
    title = tr("{first} and {second}").format(first=first_name, second=second_name)
    table = AnalysisTable(title, header, cells, above="\n".join((*lines, "")))
    values = {"parts": [first, second], "features": [asdict(row) for row in rows]}
    return AnalysisResult((table,), values)


def drift_words(plan: Plan, values: Mapping[str, Any]) -> list[str] | None:
    """Return the words of the command line of a comparison, after the command's name.

    ``plan`` names the data, and ``values`` are the chosen options by
    name. Return None for a plan with folds that the files do not give.
    """
    if plan.protocol != GIVEN:
        return None
    words = [data_word(plan), "--parts", f"{values['first']},{values['second']}"]
    words += ["--fold", str(values["fold"])] if values["fold"] is not None else []
    return [*words, *field_words(plan, ("missing", "normalize")), *column_words(plan)]


def file_name(data: FoldedDataset) -> str:
    """Return the name of the file or folder of some data.

    For data without a file, return the name that the data have themselves.
    """
    return data.path.name if data.path else data.name


def part_of(data: FoldedDataset, name: str, number: int | None) -> RankingDataset:
    """Return one part of one fold of some data.

    ``name`` is "train", "vali" or "test". ``number`` is that of the
    fold; None for the first fold.

    Raises
    ------
    ParameterError
        If there is no such fold or part.
    """
    folds = {fold.number: fold for fold in data.folds}
    number = data.folds[0].number if number is None else number
    if number not in folds:
        text = tr("one of the folds of {data}, {folds}")
        expected = text.format(data=file_name(data), folds=", ".join(map(str, folds)))
        raise ParameterError("fold", number, expected)
    parts = folds[number].parts
    if name not in parts:
        text = tr("one of the parts of {data}, {parts}")
        raise ParameterError(
            "parts", name, text.format(data=file_name(data), parts=", ".join(parts))
        )
    return parts[name]


def _transfer_result(transferred: Transfer, run: RunResult) -> AnalysisResult:
    """Return the tables that compare a selection made elsewhere (A) with the one made here (B).

    ``run`` is the run of A on the other data. Here, its model was
    measured in each fold of B, by ``transferred.transferred_run``; the
    run of B is ``transferred.own_run``.
    """
    own_run = transferred.own_run

    # For each feature id, the number of folds of B that select the feature.
    folds = transferred.folds_of_features()

    # Both mean measures with their comparison, by the name of the measure.
    measures = {
        name: _means_of_both(transferred, name) | asdict(transferred.compared(name))
        for name in own_run.plan.evaluated
    }

    # Whether A's model has each feature: first the features of A, then
    # those of B, the most frequent first.
    ids = (*transferred.features, *(i for i, _ in folds.most_common()))
    features = {i: i in transferred.features for i in ids}
    tables = (
        _measures_table(run, own_run, measures),
        _features_table(own_run, features, folds),
    )

    # The same results as plain values, for JSON.
    rows = [
        {"feature": i, "model": in_model, "folds": folds[i]}
        for i, in_model in features.items()
    ]
    values = {
        "from": run.data_name,
        "to": own_run.data_name,
        "seen": transferred.n_queries_of_training,
        "measures": measures,
        "features": rows,
    }

    # A note if A's model was trained on queries on which it is measured here.
    note = seen_sentence(
        transferred.transferred_run.plan.title, transferred.training_counts
    )
    return AnalysisResult(tables, values, (note,) if note else ())


def _measures_table(
    run: RunResult, own_run: RunResult, measures: Mapping[str, Mapping[str, Any]]
) -> AnalysisTable:
    """Return the table that compares the measures of two runs, with a row for each measure.

    ``run`` is a run on other data, whose model was measured on these
    data. ``own_run`` is the run of the same plan on these data.
    ``measures`` has for the name of each measure a dict from column to
    number: a row of the table.
    """
    header = (
        tr("measure"),
        "A",
        "B",
        tr("difference"),
        tr("low"),
        tr("high"),
        "p",
        tr("wins"),
        tr("ties"),
        tr("losses"),
    )
    cells: list[tuple[Cell, ...]] = [
        (
            name,
            *(formatted(values[key], ".4f") for key in ("given", "own")),
            *(
                formatted(values[key], "+.4f")
                for key in ("mean_difference", "low", "high")
            ),
            formatted(values["p_randomisation"], p_text),
            *(values[key] for key in ("wins", "ties", "losses")),
        )
        for name, values in measures.items()
    ]

    # Lines above the table that explain A, B and the difference.
    difference = tr(
        "Difference: A minus B over the queries of B, with its 95 % interval and the p of Fisher's\n"
        "randomisation test"
    )
    lines = (
        tr("A: {plan} on {data}, one model of all documents").format(
            plan=run.plan.title, data=run.data_name
        ),
        tr("B: the same plan on {data}").format(data=own_run.data_name),
        *difference.split("\n"),
        "",
    )
    above = "\n".join(map(one_line, lines))
    return AnalysisTable(tr("Measures"), header, tuple(cells), above=above)


def _features_table(
    own_run: RunResult, features: Mapping[int, bool], folds: Mapping[int, int]
) -> AnalysisTable:
    """Return a table of features: whether a model from other data has them, and how many folds select them.

    The folds are those of ``own_run``, the run on these data.
    ``features`` says by the id of a feature whether the model has it.
    ``folds`` has by id the number of folds that select the feature.
    """
    n_folds = len(own_run.folds)
    names = dict(zip(own_run.feature_ids.tolist(), own_run.feature_names, strict=True))

    # Texts of False and True, which count as the positions 0 and 1.
    yes_no = (tr("no"), tr("yes"))
    selected: list[tuple[Cell, ...]] = [
        (
            id_and_name(i, names[i]),
            formatted(int(in_model), yes_no.__getitem__),
            formatted(
                folds[i],
                lambda n: tr("{count} of {total}").format(count=int(n), total=n_folds),
            ),
        )
        for i, in_model in features.items()
    ]
    titles = (tr("feature"), tr("in A's model"), tr("folds of B that select it"))
    return AnalysisTable(tr("Features"), titles, tuple(selected), above="")


def _means_of_both(transferred: Transfer, name: str) -> dict[str, float]:
    """Return the mean of a measure of both runs, over the queries in which both runs have a value.

    ``transferred`` has the two runs, and ``name`` is the measure. In
    the result, "given" is the mean of the model that was trained on
    other data, "own" that of the selection on these data. A measure
    that is not defined for a query is NaN.
    """
    given_values = transferred.transferred_run.per_query(name)
    own_values = transferred.own_run.per_query(name)
    have_both = ~(np.isnan(given_values) | np.isnan(own_values))
    return {
        "given": float(given_values[have_both].mean()),
        "own": float(own_values[have_both].mean()),
    }
