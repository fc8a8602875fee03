"""Evidence survives being packed, with every part of it; what is no evidence is refused."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from rankstudio.engine import GreedyRankRLS, permutation_importance, selection_evidence
from rankstudio.engine.errors import StoreError
from rankstudio.plugins.evidence.evidence_codec import (
    pack_evidence,
    unpack_evidence,
    unpack_importance,
)
from rankstudio.plugins.evidence.evidence_figures import importance_figure
from rankstudio.plugins.evidence.evidence_result import SelectionEvidence
from rankstudio.plugins.evidence.evidence_table import importance_text
from rankstudio.plugins.evidence.model_importance import MeasuredImportance
from rankstudio.plugins.evidence.selection_evidence import PARTS


@pytest.fixture(scope="module")
def found() -> SelectionEvidence:
    rng = np.random.default_rng(0)
    X, qid = rng.random((120, 6)), np.repeat(np.arange(20), 6)
    y = 2 * X[:, 3] + X[:, 1] + 0.5 * rng.random(120)
    options = {"n_halves": 5, "n_permutations": 9, "measure": "MAP"}
    return selection_evidence(
        GreedyRankRLS(n_features_to_select=2), X, np.round(y), qid=qid, **options
    )


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


@pytest.mark.parametrize(
    "damage", [b"", b"nothing", lambda whole: whole[:-40], lambda whole: whole[40:]]
)
def test_what_is_no_evidence_is_refused(
    found: SelectionEvidence, damage: object
) -> None:
    content = damage(pack_evidence(found)) if callable(damage) else damage
    with pytest.raises(StoreError):
        unpack_evidence(content)


def test_the_importance_of_a_model_comes_back_and_is_no_evidence_for_a_selection(
    found: SelectionEvidence,
) -> None:
    rng = np.random.default_rng(1)
    X, qid = rng.random((60, 3)), np.repeat(np.arange(10), 6)
    measured = permutation_importance(
        lambda X: X[:, 1], X, np.round(3 * X[:, 1]), qid=qid, measure="NDCG@3"
    )
    kept = MeasuredImportance(measured, "validation", "letor4", 3)
    content = pack_evidence(kept)
    again = unpack_importance(content)
    assert (again.part, again.convention, again.n_features) == (
        "validation",
        "letor4",
        3,
    )
    assert (
        again.found.measure == measured.measure
        and again.found.groups == measured.groups
    )
    np.testing.assert_array_equal(again.found.loss, measured.loss)
    np.testing.assert_array_equal(again.found.low, measured.low)
    assert again.columns == kept.columns and again.columns[0] == 1
    with pytest.raises(StoreError, match="SelectionEvidence"):
        unpack_evidence(content)
    with pytest.raises(StoreError, match="MeasuredImportance"):
        unpack_importance(pack_evidence(found))


def test_a_table_and_a_figure_of_many_features_show_the_greatest_losses() -> None:
    rng = np.random.default_rng(2)
    X, qid = rng.random((60, 40)), np.repeat(np.arange(10), 6)
    measured = permutation_importance(
        lambda X: X @ np.arange(40.0), X, np.round(X.sum(axis=1)), qid=qid
    )
    kept = MeasuredImportance(measured, "training", "letor4", 40)
    table, figure = (
        importance_text("", kept, str, 30),
        importance_figure(kept, "made", str),
    )
    assert (
        [row[0] for row in table.rows]
        == list(figure.rows)
        == [str(one) for one in kept.columns[:30]]
    )
    assert "30" in table.note and "40" in table.note and "30" in figure.caption
    assert len(importance_text("", kept, str).rows) == 40
