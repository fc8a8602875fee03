"""Invented values in the evidence of a study: it is refused, and what unpacks can be shown."""

from __future__ import annotations

import io
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rankstudio.plugins.evidence")  # its folder may be absent

from fuzzer import Fuzz, Outcome

from rankstudio.engine import (
    GreedyRankRLS,
    permutation_importance,
    ranking_validity,
    selection_evidence,
)
from rankstudio.engine.errors import StoreError
from rankstudio.plugins.evidence.evidence_codec import (
    pack_evidence,
    unpack_evidence,
    unpack_importance,
    unpack_validity,
)
from rankstudio.plugins.evidence.evidence_figures import validity_figure
from rankstudio.plugins.evidence.evidence_table import (
    evidence_sentences,
    evidence_text,
    importance_text,
    validity_text,
)
from rankstudio.plugins.evidence.model_importance import MeasuredImportance
from rankstudio.plugins.evidence.model_validity import MeasuredValidity

N = 6  # features
SELECTION, IMPORTANCE, VALIDITY = range(3)
INVENTED: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        -1,
        0,
        1,
        5,
        6,
        7,
        1e308,
        -0.5,
        2**70,
        10**5,
        "",
        "MAP",
        "x",
        "a" * 5000,
    ),
    *(
        [],
        {},
        [0],
        [[0, 0]],
        [1, 1],
        {"array": 0},
        {"array": 99},
        {"items": [[1, 2]]},
        {"measure": "x"},
    ),
)


@cache
def packed() -> tuple[bytes, bytes, bytes]:
    """Return evidence for a selection, and importance and validity of a model."""
    rng = np.random.default_rng(0)
    X, qid = rng.random((120, N)), np.repeat(np.arange(20), 6)
    y = np.round(2 * X[:, 3] + X[:, 1] + 0.5 * rng.random(120))
    options = {"n_halves": 5, "n_permutations": 9, "measure": "MAP"}
    found = selection_evidence(
        GreedyRankRLS(n_features_to_select=2), X, y, qid=qid, **options
    )
    measured = permutation_importance(
        lambda X: X[:, 1], X, y, qid=qid, measure="NDCG@3"
    )
    validity = ranking_validity(
        lambda X: X[:, 1] + X[:, 4], X, qid=qid, feature_sets=[(4,), (4, 1)]
    )
    return (
        pack_evidence(found),
        pack_evidence(MeasuredImportance(measured, "validation", "letor4", 3)),
        pack_evidence(MeasuredValidity(validity, "training", True)),
    )


def shown(content: bytes, kind: int) -> None:
    """Do with evidence what pages and reports do; ``kind`` is its position in `packed`."""
    if kind == VALIDITY:
        validity = unpack_validity(content, N)
        validity_text("", validity, str)
        assert not validity_figure(validity, "").empty or validity.found.n_undefined
        assert set(validity.columns) <= set(range(N))
        return
    if kind == IMPORTANCE:
        importance = unpack_importance(content, N)
        importance_text("", importance, str, 30)
        assert {column for group in importance.found.groups for column in group} <= set(
            range(N)
        )
        return
    found = unpack_evidence(content, N)
    evidence_text("", found, found.rows, str, str, {})
    list(evidence_sentences(found, str))
    found.best_sentences(str)
    _ = (found.stop, found.false_bound)
    assert {row.column for row in found.rows} <= set(range(N))


def places(tree: Any) -> list[tuple[Any, Any]]:
    """Return every place in a tree of JSON, as a container and a key."""
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        keys = (
            list(one)
            if isinstance(one, dict)
            else range(len(one))
            if isinstance(one, list)
            else ()
        )
        found += [(one, key) for key in keys]
        waiting += [one[key] for key in keys]
    return found


def changed_array(rng: random.Random, values: np.ndarray) -> np.ndarray:
    """Return an array of another shape, type or with other values."""
    match rng.randrange(6):
        case 0:
            return values.ravel()[: rng.randint(0, values.size)]
        case 1:
            with np.errstate(invalid="ignore"):
                return values.astype(rng.choice(["<f4", "<i4", "<U3", "<c16", "?"]))
        case 2:
            return values[..., None]
        case 3:
            return np.full(
                rng.choice([(0,), (N,), (2, N), (7, 7, 7)]), 1, dtype=values.dtype
            )
        case 4:
            return np.full_like(values, rng.choice([-1, 100]))
        case _:
            return np.concatenate([values, values])


def test_invented_values(fuzz: Fuzz) -> None:
    """Of 600 such payloads 478 were unpacked."""

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        kind = rng.choices((SELECTION, IMPORTANCE, VALIDITY), weights=(5, 3, 2))[0]
        content = packed()[kind]
        with np.load(io.BytesIO(content)) as stored:
            arrays = {name: stored[name] for name in stored.files}
        tree = json.loads(arrays.pop("tree").tobytes())
        if rng.random() < 0.3:
            name = rng.choice(sorted(arrays))
            arrays[name] = changed_array(rng, arrays[name])
        else:
            container, key = rng.choice(places(tree))
            container[key] = rng.choice(INVENTED)
        out = io.BytesIO()
        np.savez_compressed(
            out, tree=np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8), **arrays
        )
        try:
            shown(out.getvalue(), kind)
        except StoreError:
            return Outcome.REFUSED
        return Outcome.READ

    fuzz("invented evidence", attempt, 200)


@pytest.mark.parametrize(
    "unpack", [unpack_evidence, unpack_importance, unpack_validity]
)
def test_evidence_that_is_too_large_for_its_data_is_refused_unread(unpack: Any) -> None:
    """1.57 MB became 1.6 GB: what an archive says of its sizes comes first."""
    out = io.BytesIO()
    np.savez_compressed(
        out, tree=np.zeros(2, dtype=np.uint8), a0=np.zeros((1 << 30) // 8)
    )
    content = out.getvalue()
    assert len(content) < 2e6
    with pytest.raises(StoreError, match="cannot contain"):
        unpack(content, N)
