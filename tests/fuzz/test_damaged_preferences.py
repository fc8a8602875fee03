"""Damaged files of preferences and of clicks: what stands there, or a sentence."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from fuzzer import Fuzz, Outcome, refusal
from mutations import MUTATIONS, TOKENS, mutated

from rankstudio.engine import RankRLS
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import DataError

pytest.importorskip("rankstudio.plugins.preferences")  # its folder may be absent

from rankstudio.plugins.preferences.preference_files import (
    read_preference_file,
    read_preferences,
)
from rankstudio.plugins.preferences.preference_summary import summarise_preferences

FILES = (
    b"qid,winner,loser,magnitude,weight\n7,1,3\n8,2,1,0.5\n7,2,1,,3\n7,A,B\n",
    b"7;1;3\r\n8;2;1\r\n\r\n7;2;1;2.5;0.25\r\n",
    b"\xef\xbb\xbfqid\twinner\tloser\n7\tA\tC\n8\t1\tE\n",
    b'"7","B","A"\n7,3,1,1e-3\n',
)
DATA = RankingDataset.from_arrays(
    np.arange(10.0).reshape(5, 2) ** 2,
    np.arange(5),
    [7, 7, 7, 8, 8],
    comments=[f"docid = {name}" for name in "ABCDE"],
)


def insert_line(rng: random.Random, content: bytes) -> bytes:
    """Put in a line with a preference."""
    cells = [
        rng.choice((b"7", b"8", b"9", b"")),
        b"1",
        rng.choice((b"2", b"1", b"03", b"-1", b"B", b"1.0")),
    ]
    cells += [
        rng.choice((b"1", b"0.5", b"", rng.choice(TOKENS)))
        for _ in range(rng.randint(0, 3))
    ]
    lines = content.splitlines(keepends=True)
    lines.insert(
        rng.randint(0, len(lines)), rng.choice((b",", b";")).join(cells) + b"\n"
    )
    return b"".join(lines)


LOGS = (
    b"session,qid,docid,position,click\n1,7,A,1,1\n1,7,B,2,0\n2,7,B,1,0\n2,7,A,2,1\n3,8,D,1,0\n3,8,E,4,1\n",
    b"query_id;doc;rank;clicked;propensity\r\n7;1;1;0;1\r\n7;2;2;1;0.5\r\n8;1;1;1;1\r\n8;2;2;0;.5\r\n",
    b"\xef\xbb\xbfqid\tdocid\tposition\tclick\n7\tA\t1\t0\n7\tC\t2\t1\n7\tC\t1\t1\n7\tA\t2\t0\n",
)


def insert_shown(rng: random.Random, content: bytes) -> bytes:
    """Put in a line with a shown document."""
    cells = [
        b"1",
        rng.choice((b"7", b"8")),
        rng.choice((b"A", b"E", b"2")),
        rng.choice((b"3", b"0", b"1e6")),
    ]
    cells += [rng.choice((b"1", b"0", b"2")), rng.choice((b"0.5", b"0", b"1", b""))]
    lines = content.splitlines(keepends=True)
    begin = rng.randint(0, 1)
    lines.insert(
        rng.randint(0, len(lines)),
        rng.choice((b",", b";", b"\t")).join(cells[begin:]) + b"\n",
    )
    return b"".join(lines)


def test_clicks(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "log.csv"
        path.write_bytes(
            mutated(rng, rng.choice(LOGS), LOGS, (*MUTATIONS, insert_shown))
        )
        try:
            found = read_preferences(path, DATA)
            facts = read_preference_file(path).clicks
        except DataError as error:
            return refusal(error, path)
        if facts is not None:
            assert len(found) == facts.n_pairs and facts.n_clicks >= 1
            assert facts.bias is None or 0 <= facts.bias.eta <= 10
            assert (found.weight >= 1).all() and np.isfinite(found.weight).all()
        assert (DATA.query_index[found.winner] == DATA.query_index[found.loser]).all()
        return Outcome.READ

    fuzz("clicks", attempt, 600)


def test_preferences(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        content = mutated(rng, rng.choice(FILES), FILES, (*MUTATIONS, insert_line))
        path = folder / "some.csv"
        path.write_bytes(content)
        try:
            found = read_preferences(path, DATA)
        except DataError as error:
            return refusal(error, path)
        text = (
            content.removeprefix(b"\xef\xbb\xbf")
            .decode("utf-8", errors="replace")
            .rstrip()
        )
        lines = [
            line
            for line in (text.splitlines() if "\r" in text else text.split("\n"))
            if line.strip()
        ]
        assert len(lines) - 1 <= len(found) <= len(lines)
        query = DATA.query_index
        assert (query[found.winner] == query[found.loser]).all()
        assert (found.magnitude > 0).all() and (found.weight > 0).all()
        assert np.isfinite(found.magnitude).all() and np.isfinite(found.weight).all()
        assert summarise_preferences(found, query).n_preferences == len(found)
        if found.magnitude.max() < 1e6 and found.weight.max() < 1e6:
            fitted = RankRLS().fit(DATA.X, qid=DATA.qid, preferences=found)
            assert np.isfinite(fitted.coef_).all()
        return Outcome.READ

    fuzz("preferences", attempt, 900)
