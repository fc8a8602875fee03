"""Damaged files of scores, of names and of TREC: the numbers and names that stand there, or a sentence."""

from __future__ import annotations

import gzip
import random
import re
from pathlib import Path

import numpy as np
from fuzzer import Fuzz, Outcome, refusal
from mutations import MUTATIONS, TOKENS, mutated
from samples import letor_text

from rankstudio.engine.data.formats.data_file import load_letor, load_trec
from rankstudio.engine.data.given_scores import read_score_file
from rankstudio.engine.errors import DataError, FormatError, RankStudioError

SCORES = (
    b"0.5\n-1.25\n3e-7\n0\n1e300\n",
    b"  1.0 \r\n2\r\n-0.0\r\n\r\n",
    b"\xef\xbb\xbf7\n8\n9",
    b"inf\n-Infinity\n+4.\n.5\n",
    b"1\r2\r3\r",
)

_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE
)


def expected_scores(content: bytes) -> list[float] | int:
    """Return the scores that stand in a file, or the number of the line that is none."""
    text = (
        content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace").rstrip()
    )
    lines = text.splitlines() if "\r" in text else text.split("\n")
    scores = []
    for number, line in enumerate(lines, start=1):
        # no blanks for float()
        separated = any("\x1c" <= c <= "\x1f" for c in line) and line.isascii()
        if not _NUMBER.fullmatch(line.strip()) or separated:
            return number
        scores.append(float(line))
    return scores


def test_scores(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        content = mutated(rng, rng.choice(SCORES), SCORES)
        path = folder / "some.scores"
        path.write_bytes(gzip.compress(content) if rng.random() < 0.1 else content)
        expected = expected_scores(content)
        try:
            scores = read_score_file(path).values
        except FormatError as error:
            assert error.line == expected and f"line {expected}" in str(error)
            return refusal(error, path)
        except DataError as error:
            assert content[:2] == b"\x1f\x8b"
            return refusal(error, path)
        assert scores.tolist() == expected
        assert not np.isnan(scores).any()
        return Outcome.READ

    fuzz("scores", attempt, 1500)


NAMES_CSV = (
    b'id,name\n1,TF of body\n2,TF of anchor\n3,"IDF, of title"\n4,\'=x\n5,BM25\n',
    b"1,a\r\n2,b\r\n\r\n3,c\r\n",
    b"Feature;name\n1,x,y\n2,z\n",
    b'rank,id,name\n1,5,"a ""quoted"" one"\n',
)
NAMES_TEXT = (
    b"1 TF of body\n2\tTF of anchor\n3,IDF\n4;x y\n5: BM25\n",
    b"# names\n1 a\r\n02 b\r\n",
)
NAMES = {
    **dict.fromkeys(("features.csv", "feature_names.csv"), NAMES_CSV),
    **dict.fromkeys(("feature_names.txt", "features.txt"), NAMES_TEXT),
}


def insert_name(rng: random.Random, content: bytes) -> bytes:
    """Put in a line with a name."""
    lines = content.splitlines(keepends=True)
    name = rng.choice(TOKENS)
    number = rng.choice(
        (
            b"1",
            b"2",
            b"6",
            b"0",
            b"-1",
            b"1.0",
            b"\xd9\xa1",
            b"9" * 5000,
            b" 3 ",
            b'"4"',
        )
    )
    lines.insert(
        rng.randint(0, len(lines)),
        number + rng.choice((b",", b" ", b"\t", b";")) + name + b"\n",
    )
    return b"".join(lines)


def test_names_of_features(fuzz: Fuzz) -> None:
    """A file of names that is damaged names fewer features, or others; the data are what they are."""
    data = letor_text(1)
    whole: list[np.ndarray] = []

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "train.txt"
        path.write_bytes(data)
        if not whole:
            whole.append(load_letor(path, cache=False).X)
        name = rng.choice(list(NAMES))
        content = mutated(
            rng, rng.choice(NAMES[name]), NAMES[name], (*MUTATIONS, insert_name)
        )
        (folder / name).write_bytes(content)
        read = load_letor(path, cache=False)
        assert (whole[0] == read.X).all()
        assert len(read.feature_names) == read.n_features == 5
        text = content.decode("utf-8", errors="replace")
        for number, shown in enumerate(read.feature_names, start=1):
            assert shown.strip() == shown and shown
            assert shown == f"feature {number}" or _stands_in(shown, text), (
                shown,
                content,
            )
        for warning in read.warnings:
            refusal(DataError(warning), folder / name)
        return Outcome.REFUSED if read.warnings else Outcome.READ

    fuzz("names of features", attempt, 700)


def _stands_in(name: str, text: str) -> bool:
    """Return whether a name is in a file, but for quotes and the marks that keep it from being computed."""
    plain = str.maketrans("", "", "\"'\ufeff")
    return name.translate(plain) in text.translate(plain)


QRELS = (
    b"7 0 a 2\n7 0 b 0\n8 0 a 1\n8 0 c -2\n",
    b"\xef\xbb\xbf1 0 x 1\r\n1 0 y 0\r\n",
)
RUNS = (
    b"7 Q0 a 1 2.5 bm\n7 Q0 c 2 -1e3 bm\n8 Q0 c 1 0 bm\n",
    b"1 Q0 x 1 0.5\n1 Q0 y 2 0.25\n",
)


def test_judgments_and_runs(fuzz: Fuzz) -> None:
    def one(rng: random.Random, folder: Path) -> Outcome:
        which = rng.randrange(2)
        qrels, run = folder / "qrels.txt", folder / "one.run"
        damaged = rng.randrange(3)
        qrels.write_bytes(mutated(rng, QRELS[which]) if damaged != 1 else QRELS[which])
        run.write_bytes(mutated(rng, RUNS[which]) if damaged != 0 else RUNS[which])
        try:
            data = load_trec(qrels, {"one": run})
        except RankStudioError as error:
            return refusal(error)
        rows = zip(data.query_index.tolist(), data.document_ids, strict=True)
        assert len(set(rows)) == data.n_documents > 0
        assert (
            np.isfinite(data.X).all()
            and (data.y >= 0).all()
            and data.feature_names == ("one",)
        )
        return Outcome.READ

    fuzz("judgments and runs", one, 700)


def test_scores_of_either_kind(fuzz: Fuzz) -> None:
    def one(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "some.scores"
        path.write_bytes(mutated(rng, rng.choice((*RUNS, b"0.5\n-1\n2e3\n"))))
        try:
            found = read_score_file(path)
        except RankStudioError as error:
            return refusal(error)
        values = [
            s for documents in (found.run or {}).values() for s in documents.values()
        ]
        assert not np.isnan([*values, *found.values.tolist()]).any() and (
            found.run or found.values.size
        )
        return Outcome.READ

    fuzz("scores of either kind", one, 700)
