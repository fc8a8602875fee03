"""The table of conventions."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from wording import naming

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.metrics.conventions import (
    CONVENTIONS,
    DEFAULT,
    USUAL,
    Short,
    convention,
    objective,
)

KEYS = [
    "standard",
    "letor4",
    "letor3",
    "mslr",
    "ranklib",
    "trec_eval",
    "lightgbm",
    "sklearn",
]


def test_all_conventions_are_there_and_that_of_most_programs_is_the_default() -> None:
    assert list(CONVENTIONS) == KEYS
    assert DEFAULT == "standard"
    assert convention(USUAL) is convention(DEFAULT)
    assert [convention(key).key for key in KEYS] == KEYS


def test_an_unknown_convention_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ParameterError, match=naming("letor4 letor3 letor5")):
        convention("letor5")


@pytest.mark.parametrize("key", KEYS)
def test_every_convention_explains_itself(key: str) -> None:
    entry = convention(key)
    assert entry.summary.endswith(".")
    assert len(dict(entry.rules)) == len(entry.rules) == 9
    assert all(what and how for what, how in entry.rules)
    assert entry.short_ndcg is not Short.FIXED  # NDCG@k has nothing to divide by k


@pytest.mark.parametrize("key", KEYS)
def test_the_objective_of_methods_counts_short_queries_and_follows_the_convention_elsewhere(
    key: str,
) -> None:
    rules = objective(key)
    assert Short.ZERO not in (rules.short_ndcg, rules.short_precision)
    assert replace(rules, short_ndcg=0, short_precision=0) == replace(
        convention(key), short_ndcg=0, short_precision=0
    )
    assert (rules == convention(key)) == (key not in ("letor4", "letor3", "mslr"))
    assert not rules.min_documents("NDCG@10") and not rules.min_documents("P@10")


def test_measures_in_which_short_queries_count_zero() -> None:
    zero = {
        key: [convention(key).min_documents(name) for name in ("NDCG@7", "P@5", "MAP")]
        for key in KEYS
    }
    assert zero.pop("letor4") == zero.pop("mslr") == [7, 0, 0]
    assert zero.pop("letor3") == [7, 5, 0]
    assert all(below == [0, 0, 0] for below in zero.values())


@pytest.mark.parametrize(
    ("key", "gains", "discounts"),
    [
        ("letor4", [0, 0, 1, 3, 15], [1, 1, np.log2(3), 2]),
        ("ranklib", [0, 0, 1, 3, 15], [1, np.log2(3), 2, np.log2(5)]),
        ("trec_eval", [0, 0, 1, 2, 4], [1, np.log2(3), 2, np.log2(5)]),
    ],
)
def test_gains_and_discounts(
    key: str, gains: list[float], discounts: list[float]
) -> None:
    entry = convention(key)
    assert entry.gains(np.array([-1.0, 0.0, 1.0, 2.0, 4.0])).tolist() == gains
    np.testing.assert_allclose(1 / entry.weights(4), discounts, rtol=1e-15)


def test_the_catalogues_are_read_without_compiled_code() -> None:
    code = (
        "import sys; from rankstudio.engine.metrics import conventions as c, names as m;"
        "c.convention('mslr'); m.measure('MAP');"
        "print([x for x in ('numba', 'scipy', 'sklearn', 'pandas') if x in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
