"""The ranking of methods as tables: ranks, values, pairs, wins, and what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rankstudio.engine.export.tables import TextTable, csv_text, p_text
from rankstudio.engine.language import tr
from rankstudio.plugins.method_ranks.mean_ranks import MethodRanking, RankTests
from rankstudio.plugins.method_ranks.rank_tests import MethodPair

_MAX_MATRIX = 20  # methods up to which wins are a matrix


def ranking_tables(ranking: MethodRanking) -> tuple[TextTable, ...]:
    """Return all tables of a ranking, in the order in which they are read."""
    tables = [ranks_table(ranking)]
    tables += [pairs_table(ranking)] if ranking.tests is not None else []
    tables += [wins_table(ranking)] if len(ranking.methods) <= _MAX_MATRIX else []
    tables.append(values_table(ranking))
    tables += [left_out_table(ranking)] if ranking.table.left_out else []
    return tuple(tables)


def ranks_table(ranking: MethodRanking) -> TextTable:
    """Return the methods with mean rank, mean value, and number of datasets on which they are best.

    If the ranking has tests, letters say which methods do not differ
    significantly.
    """
    # `wins` has the number of datasets on which each method is best, (k,).
    best = ranking.ranks.min(axis=1, keepdims=True)
    wins = (ranking.ranks == best).sum(axis=0)
    means = ranking.table.values.mean(axis=0)
    groups = ranking.tests.groups if ranking.tests is not None else ()
    letters = [_letters(groups, column) for column in range(len(ranking.methods))]
    rows = tuple(
        (name, f"{rank:.3f}", f"{mean:.4f}", str(count), *([letter] if groups else []))
        for name, rank, mean, count, letter in zip(
            ranking.methods,
            ranking.mean_ranks,
            means.tolist(),
            wins.tolist(),
            letters,
            strict=True,
        )
    )
    title = tr("{measure}: mean ranks over {n} datasets").format(
        measure=ranking.table.measure, n=ranking.n_datasets
    )
    header = (
        tr("method"),
        tr("mean rank"),
        tr("mean"),
        tr("best on"),
        *([tr("group")] if groups else []),
    )
    notes = list(ranking.notes())
    if groups:
        notes.append(
            tr(
                "Methods with a common letter do not differ significantly by Nemenyi's test."
            )
        )

    # Methods and letters are aligned to the left.
    left_columns = (0, 4) if groups else (0,)
    return TextTable(title, header, rows, left_columns, " ".join(notes))


def _letters(groups: tuple[tuple[int, ...], ...], column: int) -> str:
    """Return the letters of the groups that a method is in; numbers after the 26th."""
    names = [chr(ord("a") + n) if n < 26 else f"({n + 1})" for n in range(len(groups))]
    return "".join(
        name for name, group in zip(names, groups, strict=True) if column in group
    )


def pairs_table(ranking: MethodRanking) -> TextTable:
    """Return the table of the tests of all pairs of methods, with the better ranked method of a pair first.

    Of very many methods, only pairs with the best one have posterior
    probabilities.
    """
    assert ranking.tests is not None
    return _tests_table(
        ranking, tr("Pairs of methods"), ranking.tests, ranking.tests.pairs
    )


def best_pairs_table(ranking: MethodRanking) -> TextTable:
    """Return the table of the tests of each method against the one with the best mean rank."""
    tests = ranking.tests
    assert tests is not None
    pairs = [pair for pair in tests.pairs if pair.first == 0]
    title = tr("Tests against {method}, which has the best mean rank")
    return _tests_table(ranking, title.format(method=ranking.methods[0]), tests, pairs)


def _tests_table(
    ranking: MethodRanking, title: str, tests: RankTests, pairs: Sequence[MethodPair]
) -> TextTable:
    """Return a table of the tests of some pairs of methods."""
    rows = []
    for pair in pairs:
        # `wins` has the number of datasets on which the first method of a pair wins.
        wins = int(ranking.wins[pair.first, pair.second])
        losses = int(ranking.wins[pair.second, pair.first])
        posterior = tests.posterior.get((pair.first, pair.second))
        counts = f"{wins}/{ranking.n_datasets - wins - losses}/{losses}"
        numbers = (p_text(pair.p_nemenyi), p_text(pair.p_wilcoxon), p_text(pair.p_holm))
        shares = (
            ("", "", "")
            if posterior is None
            else tuple(f"{share:.3f}" for share in posterior)
        )
        names = (ranking.methods[pair.first], ranking.methods[pair.second])
        rows.append(
            (*names, f"{abs(pair.rank_difference):.3f}", counts, *numbers, *shares)
        )
    header = (
        *(tr("better ranked"), tr("than"), tr("ranks apart"), tr("win/tie/loss")),
        *(tr("p (Nemenyi)"), tr("p (W)"), tr("p (W, Holm)")),
        *(tr("P(better)"), tr("P(equal)"), tr("P(worse)")),
    )
    text = tr(
        "p (W): Wilcoxon's signed ranks, exact for up to 50 datasets, without datasets that do not differ. "
        "Holm corrects for all pairs. P: Bayesian signed ranks; equal means within ±{rope:g}."
    )
    return TextTable(title, header, rows, (0, 1), text.format(rope=ranking.rope))


def wins_table(ranking: MethodRanking) -> TextTable:
    """Return a matrix with the datasets on which a method wins, ties and loses against each other one.

    The rows are the methods by name, and the columns the methods by number.
    """
    n = ranking.n_datasets
    rows = []
    for row, name in enumerate(ranking.methods):
        counts = [
            (int(ranking.wins[row, other]), int(ranking.wins[other, row]))
            for other in _columns(ranking)
        ]
        cells = [f"{win}/{n - win - loss}/{loss}" for win, loss in counts]
        cells[row] = "–"
        rows.append((f"{row + 1} {name}", *cells))
    header = (tr("method"), *(str(column + 1) for column in _columns(ranking)))
    return TextTable(tr("Datasets won/tied/lost against each method"), header, rows)


def _columns(ranking: MethodRanking) -> range:
    """Return the columns of the methods, in the order of the ranking."""
    return range(len(ranking.methods))


def values_table(ranking: MethodRanking) -> TextTable:
    """Return the value and rank of each method on each dataset."""
    rows = []
    for dataset, scores, ranks in zip(
        ranking.table.datasets,
        ranking.table.values.tolist(),
        ranking.ranks.tolist(),
        strict=True,
    ):
        cells = (
            f"{score:.4f} ({rank:g})" for score, rank in zip(scores, ranks, strict=True)
        )
        rows.append((dataset.name, dataset.scope, *cells))
    header = (tr("dataset"), tr("values from"), *ranking.methods)
    title = tr("{measure} and rank on each dataset").format(
        measure=ranking.table.measure
    )
    return TextTable(title, header, rows, (0, 1), tr("Values are means over queries."))


def left_out_table(ranking: MethodRanking) -> TextTable:
    """Return the runs, methods and datasets that are not compared, with the reasons."""
    rows = [(exclusion.name, exclusion.reason) for exclusion in ranking.table.left_out]
    return TextTable(tr("Left out"), (tr("what"), tr("reason")), rows, (0, 1))


def values_csv(ranking: MethodRanking) -> str:
    """Return the values and ranks with all digits as CSV: a row per dataset and method."""
    rows = [
        (dataset.name, method, score, rank, dataset.scope)
        for dataset, scores, ranks in zip(
            ranking.table.datasets,
            ranking.table.values.tolist(),
            ranking.ranks.tolist(),
            strict=True,
        )
        for method, score, rank in zip(ranking.methods, scores, ranks, strict=True)
    ]
    header = ("data", "method", ranking.table.measure, "rank", "scope")
    return csv_text(header, rows)


def ranking_as_dict(ranking: MethodRanking) -> dict[str, Any]:
    """Return a ranking as plain values for JSON."""
    table = ranking.table
    tests = ranking.tests
    return {
        "measure": table.measure,
        "alpha": ranking.alpha,
        "rope": ranking.rope,
        "methods": [
            {"method": name, "mean_rank": rank}
            for name, rank in zip(ranking.methods, ranking.mean_ranks, strict=True)
        ],
        "datasets": [
            {
                "data": dataset.name,
                "scope": dataset.scope,
                "values": scores,
                "ranks": ranks,
            }
            for dataset, scores, ranks in zip(
                table.datasets,
                table.values.tolist(),
                ranking.ranks.tolist(),
                strict=True,
            )
        ],
        "wins": ranking.wins.tolist(),
        "friedman": tests.friedman._asdict() if tests is not None else None,
        "critical_difference": tests.critical_difference if tests is not None else None,
        "groups": [[ranking.methods[c] for c in group] for group in tests.groups]
        if tests is not None
        else [],
        "pairs": [
            {
                "first": ranking.methods[pair.first],
                "second": ranking.methods[pair.second],
                "rank_difference": pair.rank_difference,
                "p_nemenyi": pair.p_nemenyi,
                "p_wilcoxon": pair.p_wilcoxon,
                "p_wilcoxon_holm": pair.p_holm,
                "n_differences": pair.n_differences,
                "posterior": posterior._asdict() if posterior is not None else None,
            }
            for pair in (tests.pairs if tests is not None else ())
            # a loop over one item, which names it
            for posterior in [
                tests.posterior.get((pair.first, pair.second))
                if tests is not None
                else None
            ]
        ],
        "notes": list(ranking.notes()),
        "left_out": [
            {"name": exclusion.name, "reason": exclusion.reason}
            for exclusion in table.left_out
        ],
    }
