"""Damaged models as rankers of a dataset: what they measure is a number, or a sentence says why not."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path

from experiment.small import dataset, ended
from fuzzer import Fuzz, Outcome, refusal
from mutations import mutated_value
from test_model_files import LINEAR, THRESHOLDS, WHOLE, damaged, trees

from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.units.given_fold import plan_of_given
from rankstudio.engine.export.models import Model, Weight, model_json
from rankstudio.engine.methods.catalog import GIVEN_MODEL

DATA = replace(dataset(2), name="Sample")
NAMES = (
    "fold1.json",
    "fold2.json",
    "Fold_1.json",
    "fold99999.json",
    "fold.json",
    "models",
    "all.json",
    ".json",
)


def measured(place: Path) -> Outcome:
    """Rank by models, whose run has numbers only."""
    try:
        plan, _ = plan_of_given(
            GIVEN_MODEL.key, Plan("sample", missing="zero"), "some", place, DATA
        )
        result = ended(run(plan, DATA))
    except RankStudioError as error:
        return refusal(error, place)
    assert all(
        math.isfinite(value) for fold in result.folds for value in fold.test.values()
    )
    assert all(isinstance(note.what, str) for note in result.notes)
    return Outcome.READ


def told(rng: random.Random) -> bytes:
    """Return a sound model that tells odd things of where it was learned."""
    origin = mutated_value(
        rng, {"data": "Sample", "fold": 1, "normalize": "none", "missing": "zero"}
    )
    plan = mutated_value(rng, {"data": "sample", "protocol": "given", "seed": 0})
    features = tuple(Weight(f["id"], f["name"], f["weight"]) for f in WHOLE["features"])
    either = [values if isinstance(values, dict) else {} for values in (origin, plan)]
    model = Model(features, "gas", {}, either[0], plan=either[1])
    return model_json(model).encode(errors="surrogatepass")


def test_models_as_rankers(fuzz: Fuzz) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = folder / rng.choice(("fold1.json", "m.json"))
        values = rng.choice((LINEAR, THRESHOLDS)) | {
            "origin": {"data": "Sample", "missing": "zero"}
        }
        path.write_bytes(told(rng) if rng.random() < 0.5 else damaged(rng, values))
        return measured(rng.choice((path, folder)))

    fuzz("models as rankers", attempt, 150)


def test_models_of_trees_as_rankers(fuzz: Fuzz) -> None:
    values = trees() | {"origin": {"missing": "zero"}}

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        (folder / "m.json").write_bytes(damaged(rng, values))
        return measured(folder)

    fuzz("models of trees as rankers", attempt, 30)


def test_folders_of_models(fuzz: Fuzz) -> None:
    sound = json.dumps(LINEAR | {"origin": {"missing": "zero"}}).encode()

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        for name in rng.sample(NAMES, rng.randrange(4)):
            if rng.random() < 0.2:
                (folder / name).mkdir()
            else:
                (folder / name).write_bytes(sound if rng.random() < 0.8 else b"{")
        return measured(folder)

    fuzz("folders of models", attempt, 200)
