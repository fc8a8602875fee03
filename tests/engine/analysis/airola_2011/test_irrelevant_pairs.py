"""Figure 2 of Paper I against the sum over its pairs."""

from itertools import combinations

import pytest

from rankstudio.engine.analysis.airola_2011.irrelevant_pairs import (
    COSTS,
    OBJECTS,
    SCORES,
    X,
    irrelevant_pairs,
)


def weight(cost: str, everything: bool, regularization: float) -> float:
    """The minimum of Σ ω (z - w d)² + λ w² over the pairs, d the difference of the inputs."""
    along, squared = 0.0, regularization
    for i, j in combinations(range(4), 2):
        if everything or OBJECTS[i] == OBJECTS[j]:
            high, low = (i, j) if SCORES[i] > SCORES[j] else (j, i)
            magnitude, d = SCORES[high] - SCORES[low], float(X[high, 0] - X[low, 0])
            z = 1.0 if cost == "unit" else magnitude
            omega = magnitude**-2 if cost == "inverse" else 1.0
            along += omega * z * d
            squared += omega * d * d
    return along / squared


@pytest.mark.parametrize("regularization", [1.0, 2.0**-10])
def test_irrelevant_pairs_turn_the_sign_with_each_cost(regularization: float) -> None:
    found = irrelevant_pairs(regularization)
    assert [row[0] for row in found.rows] == ["RankRLS (20)", "RankRLS (21)", "RankRLS (22)"]
    for (_, relevant, every), cost in zip(found.rows, COSTS.values(), strict=True):
        assert relevant == pytest.approx(weight(cost, False, regularization), rel=1e-12)
        assert every == pytest.approx(weight(cost, True, regularization), rel=1e-12)
        assert relevant < 0 < every
    assert found.said[0].endswith("reverse its sign, as printed.")
    assert found.as_dict()["rows"][1]["cost"] == "RankRLS (21)"
