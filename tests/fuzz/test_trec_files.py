"""Damaged files of TREC, and of scores for a dataset: what stands there, or a sentence."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
from fuzzer import Fuzz, Outcome, refusal
from mutations import mutated

from rankstudio.engine.data.formats.data_file import load_trec
from rankstudio.engine.data.given_scores import read_score_file
from rankstudio.engine.errors import RankStudioError

QRELS = (b"7 0 a 2\n7 0 b 0\n8 0 a 1\n8 0 c -2\n", b"\xef\xbb\xbf1 0 x 1\r\n1 0 y 0\r\n")
RUNS = (b"7 Q0 a 1 2.5 bm\n7 Q0 c 2 -1e3 bm\n8 Q0 c 1 0 bm\n", b"1 Q0 x 1 0.5\n1 Q0 y 2 0.25\n")


def test_judgements_and_runs(fuzz: Fuzz) -> None:
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
        assert np.isfinite(data.X).all() and (data.y >= 0).all() and data.feature_names == ("one",)
        return Outcome.READ

    fuzz("judgements and runs", one, 700)


def test_scores_of_either_kind(fuzz: Fuzz) -> None:
    def one(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "some.scores"
        path.write_bytes(mutated(rng, rng.choice((*RUNS, b"0.5\n-1\n2e3\n"))))
        try:
            found = read_score_file(path)
        except RankStudioError as error:
            return refusal(error)
        values = [s for documents in (found.run or {}).values() for s in documents.values()]
        assert not np.isnan([*values, *found.values.tolist()]).any() and (found.run or found.values.size)
        return Outcome.READ

    fuzz("scores of either kind", one, 700)
