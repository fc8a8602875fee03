"""Evidence survives being packed, with every part of it; what is no evidence is refused."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from rankstudio.engine import GreedyRankRLS, selection_evidence
from rankstudio.engine.analysis.evidence.evidence_codec import pack_evidence, unpack_evidence
from rankstudio.engine.analysis.evidence.evidence_result import SelectionEvidence
from rankstudio.engine.analysis.evidence.selection_evidence import PARTS
from rankstudio.engine.errors import StoreError


@pytest.fixture(scope="module")
def found() -> SelectionEvidence:
    rng = np.random.default_rng(0)
    X, qid = rng.random((120, 6)), np.repeat(np.arange(20), 6)
    y = 2 * X[:, 3] + X[:, 1] + 0.5 * rng.random(120)
    options = {"n_halves": 5, "n_permutations": 9, "measure": "MAP"}
    return selection_evidence(GreedyRankRLS(n_features_to_select=2), X, np.round(y), qid=qid, **options)


def test_every_part_comes_back(found: SelectionEvidence) -> None:
    again = unpack_evidence(pack_evidence(found))
    assert set(found.done) == set(PARTS) and again.done == found.done
    assert again.rows == found.rows and again.stop == found.stop
    assert again.best_sentences(str) == found.best_sentences(str)
    for field in fields(found):
        value, back = getattr(found, field.name), getattr(again, field.name)
        assert type(value) is type(back), field.name
    np.testing.assert_array_equal(again.stability.places, found.stability.places)
    np.testing.assert_array_equal(again.repeated.repeated, found.repeated.repeated)
    assert pack_evidence(again) == pack_evidence(found)


@pytest.mark.parametrize("damage", [b"", b"nothing", lambda whole: whole[:-40], lambda whole: whole[40:]])
def test_what_is_no_evidence_is_refused(found: SelectionEvidence, damage: object) -> None:
    content = damage(pack_evidence(found)) if callable(damage) else damage
    with pytest.raises(StoreError):
        unpack_evidence(content)
