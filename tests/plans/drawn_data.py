"""Small made-up data in every layout that is read, kept beside their files as plain Python values."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

FOLDED, PARTS, UNVALIDATED, ONE_FILE, TABLE, PARTED_TABLE = (
    "Fold1, Fold2, Fold3",
    "train, vali and test",
    "train and test",
    "one file",
    "a table",
    "a table with parts",
)
LAYOUTS = (FOLDED, FOLDED, PARTS, PARTS, UNVALIDATED, ONE_FILE, TABLE, PARTED_TABLE)

FOLDS = 3
# of a query: scikit-learn's measures are means over all orders of equal scores
MOST_DOCUMENTS = 6
MISSING = None


@dataclass(frozen=True)
class Document:
    """A document as it stands in a file."""

    label: int
    values: tuple[float | None, ...]
    name: str


@dataclass(frozen=True)
class Query:
    """A query with its documents, in the order of the file."""

    name: str
    documents: tuple[Document, ...]


@dataclass(frozen=True)
class DrawnData:
    """A dataset and its files.

    Attributes
    ----------
    layout : str
        One of LAYOUTS.
    place : Path
        What ``--data`` is given.
    queries : dict of str to Query
        All of them, by name.
    folds : dict of int to dict of str to list of str
        For each fold the names of the queries of each part; of one file a training part alone.
    whole : Path
        A file of all documents, each once.
    n_features : int
    """

    layout: str
    place: Path
    queries: dict[str, Query]
    folds: dict[int, dict[str, list[str]]]
    whole: Path
    n_features: int

    @property
    def greatest_label(self) -> int:
        """The greatest label of all documents."""
        return max(
            document.label
            for query in self.queries.values()
            for document in query.documents
        )


def drawn_data(rng: Random, folder: Path) -> DrawnData:
    """Draw a dataset and write its files into a folder."""
    layout, n_features, n_queries = (
        rng.choice(LAYOUTS),
        rng.randint(3, 6),
        rng.randint(9, 18),
    )
    has_ids, shuffled = rng.random() < 0.6, rng.random() < 0.5
    greatest = rng.choice((2, 2, 4))
    kinds = [
        rng.choice(("random", "random", "rounded", "constant", "per query"))
        for _ in range(n_features)
    ]
    weights = [rng.choice((0.0, 1.0, 2.0, -1.0)) for _ in range(n_features)]
    twin = rng.random() < 0.3  # the last feature is the first one again
    missing = rng.choice((0.0, 0.0, 0.1))
    names = [str(10 + 7 * number) for number in range(n_queries)]
    queries = {}
    for name in names:
        rows = _rows(rng, kinds, twin)
        labels = [_label(rng, values, weights, greatest) for values in rows]
        ids = (
            rng.sample(range(100, 1000), len(rows))
            if shuffled
            else range(100, 100 + len(rows))
        )
        queries[name] = Query(
            name,
            tuple(
                Document(
                    label,
                    tuple(
                        MISSING if rng.random() < missing else value for value in values
                    ),
                    f"D{number}" if has_ids else "",
                )
                for label, values, number in zip(labels, rows, ids, strict=True)
            ),
        )
    folds = _folds(layout, names)
    place, whole = _write(layout, folder, queries, folds)
    return DrawnData(layout, place, queries, folds, whole, n_features)


def _rows(rng: Random, kinds: Sequence[str], twin: bool) -> list[list[float]]:
    """Draw the features of a query's documents; sometimes a document is there twice."""
    shared = [round(rng.random(), 3) for _ in kinds]
    rows: list[list[float]] = []
    for _ in range(rng.randint(1, MOST_DOCUMENTS)):
        if rows and rng.random() < 0.1:
            rows.append(list(rng.choice(rows)))
            continue
        values = []
        for kind, common in zip(kinds, shared, strict=True):
            match kind:
                case "constant":
                    values.append(0.25)
                case "per query":
                    values.append(common)
                case "rounded":
                    values.append(round(rng.random(), 1))
                case _:
                    values.append(round(rng.random(), 6))
        rows.append([*values[:-1], values[0]] if twin else values)
    return rows


def _label(
    rng: Random, values: Sequence[float], weights: Sequence[float], greatest: int
) -> int:
    worth = sum(weight * value for weight, value in zip(weights, values, strict=True))
    return min(greatest, max(0, round(worth * greatest / 2 + rng.gauss(0, 0.5))))


def _folds(layout: str, names: Sequence[str]) -> dict[int, dict[str, list[str]]]:
    dealt = [list(names[start::FOLDS]) for start in range(FOLDS)]
    train, vali, test = dealt
    match layout:
        case "Fold1, Fold2, Fold3":
            turns = {
                number: [dealt[(number + j) % FOLDS] for j in range(FOLDS)]
                for number in range(FOLDS)
            }
            return {
                n + 1: {"train": t[0], "vali": t[1], "test": t[2]}
                for n, t in turns.items()
            }
        case "train, vali and test" | "a table with parts":
            return {1: {"train": train, "vali": vali, "test": test}}
        case "train and test":
            return {1: {"train": train + vali, "test": test}}
        case _:
            return {1: {"train": list(names)}}


def _write(
    layout: str,
    folder: Path,
    queries: dict[str, Query],
    folds: dict[int, dict[str, list[str]]],
) -> tuple[Path, Path]:
    """Write the files; return the place of the data, and a file of everything."""
    tabular = layout in (TABLE, PARTED_TABLE)
    whole = folder / ("whole.csv" if tabular else "whole.txt")
    place = folder / "data"
    if tabular:
        write_table(whole, queries.values())
        place = folder / "data.csv"
        parts = {name: part for part, names in folds[1].items() for name in names}
        write_table(place, queries.values(), parts if layout == PARTED_TABLE else None)
        return place, whole
    write_letor(whole, queries.values())
    if layout == ONE_FILE:
        place = folder / "data.txt"
        write_letor(place, queries.values())
        return place, whole
    for number, parts_of_fold in folds.items():
        inside = place / f"Fold{number}" if layout == FOLDED else place
        inside.mkdir(parents=True)
        for part, own in parts_of_fold.items():
            write_letor(inside / f"{part}.txt", [queries[name] for name in own])
    return place, whole


def write_letor(path: Path, queries: Iterable[Query]) -> None:
    """Write LETOR text."""
    lines = []
    for query in queries:
        for document in query.documents:
            values = " ".join(
                f"{number}:{'NULL' if value is None else value}"
                for number, value in enumerate(document.values, 1)
            )
            comment = f" # docid = {document.name}" if document.name else ""
            lines.append(f"{document.label} qid:{query.name} {values}{comment}\n")
    path.write_text("".join(lines), encoding="utf-8")


def write_table(
    path: Path, queries: Iterable[Query], parts: dict[str, str] | None = None
) -> None:
    """Write CSV; with the part of each query where these are given."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for number, row in enumerate(_table_rows(queries, parts)):
            if not number:
                writer.writerow([name for name, _ in row])
            writer.writerow([value for _, value in row])


def _table_rows(
    queries: Iterable[Query], parts: dict[str, str] | None
) -> Iterator[list[tuple[str, object]]]:
    for query in queries:
        for document in query.documents:
            row: list[tuple[str, object]] = [
                ("qid", query.name),
                ("label", document.label),
            ]
            if document.name:
                row.append(("docid", document.name))
            if parts is not None:
                row.append(("part", parts[query.name]))
            named = enumerate(document.values, 1)
            yield [
                *row,
                *((f"f{number}", "" if v is None else v) for number, v in named),
            ]
