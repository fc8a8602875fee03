"""Graphs of ONNX, drawn of all operators that are read: their scores are those of ONNX Runtime."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from fuzzer import Fuzz, Outcome, refusal
from onnx_graphs import DTYPES, Drawn, documents

from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.export.foreign.model_readers import foreign_model, parsed_file

onnxruntime = pytest.importorskip(
    "onnxruntime", reason="the extra onnx is not installed"
)
pytestmark = pytest.mark.ability("foreign_models")
onnxruntime.set_default_logger_severity(4)


def program_scores(path: Path, drawn: Drawn, X: np.ndarray) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(path), options, providers=["CPUExecutionProvider"]
    )
    with np.errstate(over="ignore"):
        (scores,) = session.run(None, {"X": X.astype(DTYPES[drawn.input_type])})
    return np.asarray(scores, dtype=np.float64).ravel()


def held_against_the_program(
    rng: random.Random, folder: Path, *, is_odd: bool
) -> Outcome:
    drawn = Drawn(rng, is_odd=is_odd)
    path = folder / "model.onnx"
    path.write_bytes(drawn.model().SerializeToString())
    X = documents(rng, drawn.k)
    data = FoldedDataset.of(
        RankingDataset.from_arrays(X, np.zeros(24), np.arange(24) // 6)
    )
    try:
        parsed = parsed_file(path)
    except DatasetError as error:
        assert is_odd, error
        return refusal(error, path)
    assert parsed is not None
    expected = program_scores(path, drawn, X)
    assert expected.shape == (24,)
    if not any(tree.splits for tree in parsed.trees) and not parsed.weights:
        assert np.ptp(expected) == 0
        return Outcome.READ
    model = foreign_model(path, data)
    assert model is not None
    scores = model.predict(X, data.feature_ids)
    # Leaves are eighths, so that sums of floats are exact; a constant, and an average, changes no ranking.
    # Of a weighted sum each term is rounded, also where terms cancel.
    terms = np.abs(X) @ [
        abs(parsed.weights.get(column, 0.0)) for column in range(drawn.k)
    ]
    tolerance = 1e-6 * max(1.0, np.abs(expected).max(), terms.max())
    difference = scores - expected
    assert np.ptp(difference) <= tolerance, (drawn.operators, difference)
    return Outcome.READ


def test_graphs_of_operators_that_are_read(fuzz: Fuzz) -> None:
    fuzz(
        "ONNX graphs",
        lambda rng, folder: held_against_the_program(rng, folder, is_odd=False),
        200,
    )


def test_graphs_with_something_else(fuzz: Fuzz) -> None:
    """They are refused, or what is odd in them changes nothing."""
    fuzz(
        "odd ONNX graphs",
        lambda rng, folder: held_against_the_program(rng, folder, is_odd=True),
        200,
    )
