"""Damaged files given to the terminal: a result is printed, or one sentence."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from fuzzer import Fuzz, Outcome, refusal
from mutations import mutated
from samples import LETOR, damaged_letor

from rankstudio.cli import main
from rankstudio.engine.data.letor.reader import load_letor
from rankstudio.engine.errors import RankStudioError

SCORES = "".join(f"{number / 7}\n" for number in range(12)).encode()
NAMES = b"id,name\n1,TF of body\n2,'=x\n"


def test_command_line(fuzz: Fuzz, capsys: pytest.CaptureFixture[str]) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        data, scores, out = folder / "test.txt", folder / "test.scores", folder / "out.txt"
        chosen = rng.randrange(3)
        data.write_bytes(damaged_letor(rng) if chosen == 0 else rng.choice(LETOR[1:2]))
        scores.write_bytes(mutated(rng, SCORES) if chosen == 1 else SCORES)
        (folder / "features.csv").write_bytes(mutated(rng, NAMES) if chosen == 2 else NAMES)
        converted = rng.random() < 0.5
        command = ["convert", str(data), str(out)] if converted else ["evaluate", str(data), str(scores)]
        status = main([*command, "--json"])
        printed = capsys.readouterr()
        if status:
            assert status == 1 and not printed.out
            sentence = printed.err.splitlines()[-1].removeprefix("rankstudio: ")
            return refusal(RankStudioError(sentence), folder)
        found = json.loads(printed.out)
        if converted:
            assert found[0]["documents"] == load_letor(out, cache=False).n_documents
        else:
            assert found and all(value is None or 0.0 <= value <= 1.0 for value in found.values())
        return Outcome.READ

    fuzz("command line", attempt, 150)
