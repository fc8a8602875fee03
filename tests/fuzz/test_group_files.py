"""Damaged groups of features and names kept with the data: what stands there, or a sentence."""

from __future__ import annotations

import random
from pathlib import Path

from fuzzer import Fuzz, Outcome, refusal
from mutations import MUTATIONS, TOKENS, VALUES, mutated, mutated_value
from samples import letor_text

from rankstudio.engine.data.feature_groups import (
    Groups,
    among,
    checked_groups,
    format_groups,
    group_names,
    groups_in_words,
    parse_groups,
    read_groups,
)
from rankstudio.engine.data.feature_names import (
    FeatureNotes,
    load_notes,
    renamed,
    save_notes,
)
from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.errors import DatasetError, ParameterError

TABLES = (
    b'feature,group\n1,TF\n2,TF\n3,"IDF, of title"\n5,\'=x\n',
    b"id,name,note,group\r\n1,a,,one\r\n2,b,see there,\r\n3,c,,two\r\n",
    b"\xef\xbb\xbfGroup,Feature id\nTF,1\nTF,2\nBM25,0003\n",
    b'no.,group,name\n4,"a ""quoted"" one",x\n4,again,x\n',
)
TEXTS = (
    b"BM25: 21, 22; TF: 1, 2",
    b"a: b: 3 4;;c:5",
    "Häufigkeit: 1; x: 2,3;".encode(),
)
GROUPS = {"TF": (1, 2), "a: b": (3,), "=x": (5,)}


def insert_row(rng: random.Random, content: bytes) -> bytes:
    """Put in a line with a group."""
    lines = content.splitlines(keepends=True)
    number = rng.choice(
        (b"1", b"6", b"0", b"-1", b"1.0", b"\xd9\xa1", b"9" * 5000, b" 3 ", b'"4"')
    )
    cells = [number, rng.choice(TOKENS), rng.choice(TOKENS), b"y" * 198 + b" z"]
    lines.insert(
        rng.randint(0, len(lines)), b",".join(cells[: rng.randint(1, 4)]) + b"\n"
    )
    return b"".join(lines)


def letters(text: str) -> str:
    """Return what of a text no cleaning changes."""
    return "".join(filter(str.isalnum, text))


def hold(groups: Groups) -> None:
    """Hold groups against what every one is: names and ids of their own, the same when read again."""
    every = [i for ids in groups.values() for i in ids]
    assert len(set(every)) == len(every) and all(0 < i < 10**9 for i in every)
    for name, ids in groups.items():
        assert name == name.strip() and name.isprintable() and 0 < len(name) <= 200
        assert list(ids) == sorted(ids) and ids
    assert parse_groups(format_groups(groups)) == checked_groups(dict(groups)) == groups
    assert groups_in_words(groups).isprintable()
    assert among(groups, every) == groups


def test_tables_of_groups(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        content = mutated(rng, rng.choice(TABLES), TABLES, (*MUTATIONS, insert_row))
        path = folder / "some.csv"
        path.write_bytes(content)
        try:
            groups = read_groups(path)
        except DatasetError as error:
            return refusal(error, path)
        hold(groups)
        lines = [
            letters(line)
            for line in content.decode("utf-8", errors="replace").splitlines()
        ]
        for i, name in group_names(groups).items():
            assert any(str(i) in line and letters(name) in line for line in lines), (
                i,
                name,
            )
        return Outcome.READ

    fuzz("groups in tables", attempt, 700)


def test_groups_as_text_and_values(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        text = mutated(rng, rng.choice(TEXTS), TEXTS).decode("utf-8", errors="replace")
        values = (
            text
            if rng.random() < 0.6
            else mutated_value(rng, {n: list(ids) for n, ids in GROUPS.items()})
        )
        values = rng.choice(VALUES) if rng.random() < 0.1 else values
        try:
            groups = checked_groups(values)
        except ParameterError as error:
            return refusal(error)
        hold(groups)
        if isinstance(values, str):
            assert letters(text if values is text else values) == "" or groups
        else:
            assert len(groups) == len(values)
        return Outcome.READ

    fuzz("groups as text", attempt, 700)


def test_names_kept_with_the_data(fuzz: Fuzz, tmp_path: Path) -> None:
    """What is damaged of them is not there, or other text; the data open all the same."""
    (tmp_path / "train.txt").write_bytes(letor_text(1))
    dataset = open_dataset(tmp_path / "train.txt")
    notes = FeatureNotes(
        {1: "TF, of body", 2: "=x"}, {1: "a note"}, checked_groups(GROUPS)
    )
    save_notes(tmp_path / "kept", dataset, notes)
    (kept,) = (tmp_path / "kept").iterdir()
    whole = kept.read_bytes()
    assert load_notes(tmp_path / "kept", dataset) == notes

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        content = mutated(rng, whole, (), (*MUTATIONS, insert_row))
        (folder / kept.name).write_bytes(content)
        found = load_notes(folder, dataset)
        hold(found.groups)
        text = letters(content.decode("utf-8", errors="replace"))
        for shown in (*found.names.values(), *found.notes.values(), *found.groups):
            assert (
                shown.isprintable() and shown == shown.strip() and 0 < len(shown) <= 200
            ), shown
            assert letters(shown) in text
        assert len(renamed(dataset, found.names).feature_names) == dataset.n_features
        save_notes(folder, dataset, found)
        assert load_notes(folder, dataset) == found
        return Outcome.READ if found == notes else Outcome.REFUSED

    fuzz("names kept with the data", attempt, 400)
