"""Damaged results of a run: the features that a fold's entry lists, or a sentence."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from fuzzer import Fuzz, Outcome, refusal
from mutations import mutated, mutated_value

from rankstudio.cli.commands.convert import selected_features
from rankstudio.engine.errors import RankStudioError


def results(numbers: tuple[int, ...]) -> dict[str, Any]:
    """Return what the terminal writes of a run with folds, cut down."""
    return {
        "version": "1.0",
        "plan": {"data": "MQ2008", "method": "greedy-rankrls"},
        "folds": [
            {
                "fold": number,
                "values": {"regularization": 2.0},
                "n_features": 3,
                "selected": [39, 23 + number, 7],
                "weights": [0.5, -0.25, 0.125],
                "test": {"MAP": 0.47},
            }
            for number in numbers
        ],
        "mean": {"MAP": 0.47},
    }


RESULTS = (results((1,)), results((1, 2, 3)), results((7, 2)))


def test_features_of_a_fold(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / "results.json"
        values = rng.choice(RESULTS)
        if rng.random() < 0.5:
            text = json.dumps(mutated_value(rng, values), ensure_ascii=rng.random() < 0.5)
            path.write_bytes(text.encode(errors="surrogatepass"))
        else:
            others = [json.dumps(other).encode() for other in RESULTS]
            path.write_bytes(mutated(rng, json.dumps(values, indent=2).encode(), others))
        fold = rng.choice((None, 1, 2, 7))
        try:
            found = selected_features(path, None, fold)
        except RankStudioError as error:
            return refusal(error, path)
        entries = json.loads(path.read_bytes().decode("utf-8", "replace"))["folds"]
        (own,) = (entry["selected"] for entry in entries if fold is None or entry["fold"] == fold)
        assert list(found) == own and found
        assert all(type(i) is int and i > 0 for i in own) and len(set(own)) == len(own)
        return Outcome.READ

    fuzz("results of runs", attempt, 700)
