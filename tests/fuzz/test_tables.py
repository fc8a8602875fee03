"""Damaged tables and files of sizes: read as they stand, or refused by a sentence."""

from __future__ import annotations

import csv
import io
import random
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from fuzzer import Fuzz, Outcome, refusal
from mutations import mutated
from samples import LETOR, letor_text

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.formats.dataset_writer import save_dataset
from rankstudio.engine.data.formats.format_catalog import format_of_key
from rankstudio.engine.data.table_preview import preview_table
from rankstudio.engine.data.tabular.documents import MISSING
from rankstudio.engine.errors import RankStudioError

TABLES = (
    b"qid,label,tf,idf\n7,2,0.5,1e-3\n7,0,0.25,3\n8,1,,4\n",
    b'"query_id";"rel";"a; b";"comment"\r\n"x y";1;0.5;"a ""word"""\r\n"z";0;NULL;\r\n',
    b"\xef\xbb\xbfsrch_id\tgrade\tdocid\tx\n007\t1\tD1\t-0\n007\t0\tD2\t1.7976931348623157e308\n",
    b"2,10,0.5\n0,10,0.25\n",
    b"qid,label,split,tf\n7,2,train,0.5\n7,0,test,0.25\n8,1,dev,4\n9,0,Train,\n",
    b"qid|y|n\xc3\xa4me|flag\n1|0|3|True\n2|1|4|False\n1|2|5|true\n",
)
SIZES = (b"4\n3\n5\n", b"4 3 0 5", b"\xef\xbb\xbf12\r\n")


def hold(data: RankingDataset) -> None:
    """Hold what was read against what every dataset is."""
    assert np.isfinite(data.X).all() and np.isfinite(data.y).all()
    assert data.query_ptr[0] == 0 and data.query_ptr[-1] == data.n_documents == len(
        data.y
    )
    assert (np.diff(data.query_ptr) > 0).all() and len(
        set(data.query_ids)
    ) == data.n_queries
    assert all(data.query_ids) and len(data.feature_names) == data.n_features
    assert len(data.comments) == data.n_documents


def hold_parts(opened: FoldedDataset, whole: RankingDataset) -> None:
    """Hold the parts of a file against all of its documents."""
    parts = opened.folds[0].parts.values()
    for part in parts:
        hold(part)
    assert sorted(label for part in parts for label in part.y.tolist()) == sorted(
        whole.y.tolist()
    )
    assert sum(part.missing.sum() for part in parts) == whole.missing.sum()


def values_of(content: bytes) -> set[float]:
    """Return every number in a table, as Python's own reader has it."""
    text = content.decode("utf-8-sig", errors="replace")
    found: set[float] = {0.0, 1.0}
    for delimiter in ",;|\t":
        for row in csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True
        ):
            for cell in row:
                if cell.strip() not in MISSING:
                    try:
                        found.add(float(cell))
                    except ValueError:
                        continue
    return found


def test_csv(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        content = mutated(rng, rng.choice(TABLES), TABLES)
        path = folder / rng.choice(("some.csv", "some.tsv", "train.csv"))
        path.write_bytes(content)
        told = rng.choice(
            (
                {},
                {},
                {"qid": "qid", "label": "label"},
                {"qid": "column 2"},
                {"ignore": ["tf"]},
                {"part": "split"},
                {"labels": ["label", "tf"], "label": rng.choice(("label", "tf"))},
            )
        )
        try:
            data = load_data(path, columns=told, cache=rng.random() < 0.2)
            if data.n_documents and rng.random() < 0.5:
                hold_parts(
                    open_dataset(path, columns=told, missing="zero", cache=False), data
                )
        except RankStudioError as error:
            return refusal(error, path)
        hold(data)
        known = values_of(content)
        assert all(
            value in known for value in (*data.X.ravel().tolist(), *data.y.tolist())
        )
        return Outcome.READ

    fuzz("CSV", attempt, 700)


def test_parquet_and_arrow(fuzz: Fuzz, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "train.txt").write_bytes(letor_text(1))
    whole = {}
    for key in ("parquet", "arrow"):
        path = tmp_path / f"some{format_of_key(key).ending}"
        save_dataset(load_data(tmp_path / "train.txt"), path, format_of_key(key))
        whole[key] = path.read_bytes()

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        key = rng.choice(("parquet", "arrow"))
        path = folder / f"some{format_of_key(key).ending}"
        path.write_bytes(mutated(rng, whole[key], tuple(whole.values())))
        try:
            data = load_data(path, cache=False)
        except RankStudioError as error:
            return refusal(error, path)
        hold(data)
        return Outcome.READ

    fuzz("Parquet and Arrow", attempt, 300)


RECORDS = tuple(
    text.encode()
    for text in (
        '{"qid": 1, "label": 2, "bm": 0.25, "tf": 3}\n{"qid": 1, "label": 0, "bm": null, "tf": 1}\n',
        '{"qid": "a", "label": 1, "features": [1, 2.5, 0]}\n{"qid": 2, "label": 0, "features": [0, 1, 9]}\n',
        '[{"query_id": 7, "rel": 1, "v": [1, null], "id": "d1"},\n {"query_id": 7, "rel": 0, "v": [3, 4]}]',
    )
)


def test_records_of_json(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / rng.choice(("some.jsonl", "some.json", "train.ndjson"))
        path.write_bytes(mutated(rng, rng.choice(RECORDS), RECORDS))
        with suppress(RankStudioError):
            preview_table(path)
        try:
            data = load_data(path, cache=False)
        except RankStudioError as error:
            return refusal(error, path)
        hold(data)
        return Outcome.READ

    fuzz("Records of JSON", attempt, 300)


def test_sizes_of_queries(fuzz: Fuzz) -> None:
    """Either file may be damaged; a query has as many documents as the sizes say."""

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        text = b"\n".join(
            b" ".join(word for word in line.split(b" ") if not word.startswith(b"qid:"))
            for line in rng.choice(LETOR).split(b"\n")
        )
        sizes = rng.choice(SIZES)
        if rng.random() < 0.5:
            text = mutated(rng, text, LETOR)
        else:
            sizes = mutated(rng, sizes, SIZES)
        (folder / "train.txt").write_bytes(text)
        (folder / "train.txt.group").write_bytes(sizes)
        try:
            opened = open_dataset(folder, cache=False)
        except RankStudioError as error:
            return refusal(error, folder)
        data = opened.folds[0].train
        hold(data)
        if opened.origin.read_as.qid == "train.txt.group":
            said = [int(word) for word in sizes.decode("utf-8-sig").split()]
            assert np.diff(data.query_ptr).tolist() == [size for size in said if size]
        return Outcome.READ

    fuzz("sizes of queries", attempt, 500)
