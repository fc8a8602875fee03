"""Plans drawn from the catalog: of any method, protocol, rule and measure, some refused."""

from __future__ import annotations

from math import prod
from random import Random
from typing import Any

from drawn_data import DrawnData

from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.methods.catalog import Kind, Method, Parameter, methods
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.names import OFFERED

PROTOCOLS = (
    *("given",) * 8,
    "nested 20",
    "nested 30",
    "nested 2-fold",
    "3-fold",
    "2-fold",
    "split 60/20/20",
    "split 70/0/30",
    "3-fold, nested 2-fold",
    "leave-query-out",
)
RULES = (
    *("best",) * 5,
    "smallest",
    "one-se",
    "one-se",
    "at most 1",
    "at most 2",
    "at most 3",
)
MEASURES = (
    *(
        "MAP",
        "MAP",
        "MAP@3",
        "P@1",
        "P@3",
        "P@10",
        "NDCG",
        "NDCG@1",
        "NDCG@3",
        "NDCG@10",
        "MeanNDCG",
    ),
    *(
        "Disagreement",
        "RR",
        "RR@2",
        "ERR",
        "ERR@3",
        "Recall@2",
        "AUC",
        "StrictDisagreement",
        "Tau",
    ),
    *("F@3", "MaxF", "RPrecision", "SquaredError"),
)
_DRAWN = {name.partition("@")[0] for name in MEASURES}
MEASURES += tuple(name for name in OFFERED if name.partition("@")[0] not in _DRAWN)
FEW: dict[str, tuple[Any, ...]] = {
    "max_iter": (1, 2, 5),
    "n_rounds": (1, 3, 6),
    "n_restarts": (1, 2),
    "subset_size": (1, 2),
    "patience": (1, 2),
    "min_data_in_leaf": (1, 3),
    "num_leaves": (2, 4),
    "n_bins": (2, 5),
    "n_basis": (5, 20),
    "degree": (1, 2),
    "ndcg_at": (1, 5),
    "kde": ("fast",),
}
"""What would take long on any data, or must be small on small data."""

MOST_COMBINATIONS = 4
LIKELY_REFUSED = 0.05
"""How often something is drawn that the rest of the plan does not go with."""


def drawn_plan(rng: Random, data: DrawnData) -> dict[str, Any]:
    """Draw the values of a plan, as TOML has them; about one in five is refused."""
    entry = rng.choice([m for m in methods() if not m.lacking])
    values: dict[str, Any] = {"data": str(data.place), "method": entry.key}
    measures = rng.sample(MEASURES, rng.randint(1, 3))
    values["measures"] = list(dict.fromkeys(measures))
    values["convention"] = rng.choice(list(CONVENTIONS))
    values["missing"] = rng.choice(("query_min", "query_min", "zero"))
    values["normalize"] = rng.choice(("none", "none", "query_minmax"))
    values["protocol"] = rng.choice(PROTOCOLS)
    values["select_by"] = _chooser(rng, data, entry, values["protocol"])
    values["rule"] = _rule(rng, entry, values["select_by"])
    values["seed"] = rng.randint(0, 99)
    if len(data.folds) > 1 and values["protocol"] == "given" and rng.random() < 0.3:
        values["folds"] = sorted(rng.sample(range(1, 4), rng.randint(1, 2)))
    values["parameters"] = drawn_parameters(rng, entry, data.n_features)
    if rng.random() < 0.2:
        times = [
            [i, rng.choice((0.0, 0.01)), rng.choice((0, 0.5, 2))]
            for i in range(1, data.n_features + 1)
        ]
        values["costs"] = {"documents": 8.5, "features": times}
        if "costs" in values["parameters"]:
            values["parameters"]["costs"] = "milliseconds"
    rankers = [m for m in methods() if not (m.selects or m.lacking)]
    if entry.selects and rng.random() < 0.35:
        ranker = rng.choice(rankers)
        values["ranker"] = ranker.key
        values["ranker_parameters"] = drawn_parameters(rng, ranker, data.n_features)
    if rng.random() < (0.4 if entry.groups else LIKELY_REFUSED):
        values["groups"] = _groups(rng, data.n_features)
    if rng.random() < 0.08:
        _spoil(rng, values)
    return values


def _chooser(rng: Random, data: DrawnData, entry: Method, protocol: str) -> str:
    """Return what chooses: mostly what the folds have queries for."""
    dealt = parse_protocol(protocol)
    given = dealt.kind == "given" and all(
        "vali" in parts for parts in data.folds.values()
    )
    name = rng.choice(MEASURES)
    if rng.random() < (0.4 if entry.left_out else LIKELY_REFUSED / 2):
        return f"leave-query-out {name}"
    if dealt.validates or given:
        return name if rng.random() < 0.9 else "criterion"
    return name if rng.random() < LIKELY_REFUSED else "criterion"


def _rule(rng: Random, entry: Method, select_by: str) -> str:
    """Return a rule: mostly one that some model meets."""
    rule = rng.choice(RULES)
    by_queries = rule in ("one-se", "smallest")
    unmet = (by_queries and select_by == "criterion") or (
        rule.startswith("at most") and entry.uses_all
    )
    return "best" if unmet and rng.random() > LIKELY_REFUSED else rule


def _groups(rng: Random, n_features: int) -> dict[str, list[int]]:
    ids = rng.sample(range(1, n_features + 1), n_features)
    return {"one": sorted(ids[:2]), **({"two": [ids[2]]} if rng.random() < 0.5 else {})}


def _spoil(rng: Random, values: dict[str, Any]) -> None:
    """Put in what no plan can have, or this one cannot."""
    match rng.randrange(7):
        case 0:
            values["folds"] = [9]
        case 1:
            values["measures"] = ["ERR@0"]
        case 2:
            values["parameters"] = {**values["parameters"], "no_such": 1}
        case 3:
            values["groups"] = {"far": [1, 99]}
        case 4:
            values["protocol"] = rng.choice(
                ("99-fold", "split 1/0/99", "nested 99-fold", "nested 1")
            )
        case 5:
            values["ranker"] = "gas"
        case _:
            values["convention"] = "trec"


def drawn_parameters(rng: Random, entry: Method, n_features: int) -> dict[str, Any]:
    """Draw values for the parameters of a method; what is left out has its default."""
    drawn: dict[str, Any] = {}
    for p in entry.parameters:
        if p.name in FEW or p.kind is Kind.GRID or rng.random() < 0.5:
            value = _value(rng, p, n_features)
            if value is not None:
                drawn[p.name] = value
    if (
        "n_features_to_select" in {p.name for p in entry.parameters}
        and rng.random() < 0.4
    ):
        drawn["n_features_to_select"] = rng.randint(1, n_features)
    several = [
        name
        for name, value in drawn.items()
        if isinstance(value, list) and len(value) > 1
    ]
    while several and prod(len(drawn[name]) for name in several) > MOST_COMBINATIONS:
        name = several.pop(rng.randrange(len(several)))
        if name not in ("pinned", "banned", "costs"):
            drawn[name] = drawn[name][:1]
    return drawn


def _value(rng: Random, p: Parameter, n_features: int) -> Any:
    """Return a value for a parameter; None where it is left out."""
    if p.name in FEW:
        return rng.choice(FEW[p.name])
    keys = [key for key, _ in p.choices]
    value: Any = None
    match p.kind:
        case Kind.GRID:
            powers = rng.sample(
                range(-4, 0) if p.high <= 1 else range(-4, 6), rng.randint(1, 2)
            )
            value = [2.0**power for power in sorted(powers)]
        case Kind.CHOICE:
            value = (
                rng.sample(keys, 2)
                if len(keys) > 1 and rng.random() < 0.15
                else rng.choice(keys)
            )
        case Kind.SWITCH:
            value = rng.random() < 0.5
        case Kind.MEASURE:
            value = rng.choice(("MAP", "NDCG@3", "ERR@3", "P@1"))
        case Kind.FEATURES if rng.random() < 0.3:
            value = [rng.randint(1, n_features)]
        case Kind.COSTS if rng.random() < 0.3:
            value = [[rng.randint(1, n_features), rng.choice((0.5, 2.0, 3.0))]]
        case Kind.NUMBER if rng.random() < 0.3 and p.name not in ("tol", "tolerance"):
            value = rng.choice((0.05, 0.5, 1.0))
    return value
