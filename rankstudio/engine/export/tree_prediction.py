"""Predictions of trees from texts that may be anybody's: LightGBM has them in a process of its own first."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import DataError
from rankstudio.engine.export.tree_text import Trees
from rankstudio.engine.language import tr
from rankstudio.engine.support.lightgbm_library import lightgbm_library

_SCRIPT = Path(__file__).with_name("tree_trial.py")
_SECONDS = 10  # of processor, for reading a text and one prediction
_WAITED = 60.0  # seconds on the clock, on a computer that others keep busy
_BYTES = 2 * 10**9  # of addresses, besides those for the text
_BYTES_PER_CHARACTER = 32  # of a model's text, as parsed objects
_SCORES, _CONTRIBUTIONS = 1, 3  # LightGBM's numbers of what is predicted


def tree_scores(trees: Trees, X: Floats, source: str = "") -> Floats:
    """Return the score of each document.

    Parameters
    ----------
    trees : Trees
    X : ndarray of shape (m, c)
        The columns that the trees ask for.
    source : str
        Where the trees come from, for a sentence: "model.json".

    Returns
    -------
    ndarray of shape (m,)

    Raises
    ------
    DataError
        Where LightGBM refuses the trees, or did not survive them in a process of its own.
    """
    booster, given = _booster(trees, X, _SCORES, source)
    return np.asarray(booster.predict(given, raw_score=True))


def tree_contributions(trees: Trees, X: Floats, source: str = "") -> tuple[Floats, float]:
    """Return what each column adds to each score, of shape (m, c), and the constant; see `tree_scores`."""
    booster, given = _booster(trees, X, _CONTRIBUTIONS, source)
    found = np.asarray(booster.predict(given, pred_contrib=True, num_threads=1))
    return np.ascontiguousarray(found[:, : X.shape[1]]), float(found[0, -1]) if len(found) else 0.0


def _booster(trees: Trees, X: Floats, kind: int, source: str) -> tuple[Any, Floats]:
    """Return LightGBM's model, which it survives, and the documents with the column that no tree asks for."""
    lightgbm = lightgbm_library(tr("A tree model"))
    given = np.column_stack([X, np.zeros(X.shape[0])])
    if end := _end_of_trial(trees.text, given.shape[1], kind, lightgbm.basic._LIB._name):
        whose = f"{source}: the" if source else "The"
        raise DataError(
            f"{whose} model's trees cannot be used: LightGBM, in a separate process, {end}; expected a score."
        )
    return lightgbm.Booster(model_str=trees.text), given


@lru_cache(maxsize=64)
def _end_of_trial(text: str, n_columns: int, kind: int, library: str) -> str:
    """Try a text in a process of its own, once; say how that ended, "" where it ended well."""
    content = text.encode()
    limits = _SECONDS, _BYTES + _BYTES_PER_CHARACTER * len(content)
    command = [sys.executable, "-I", "-S", str(_SCRIPT), library, *map(str, (n_columns, kind, *limits))]
    try:
        done = subprocess.run(
            command,
            input=content,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            timeout=_WAITED,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"took more than {_WAITED:g} seconds"
    except OSError as error:
        return f"could not be started ({error.strerror})"
    if done.returncode < 0:
        return f"was ended by signal {-done.returncode}"
    return f"failed with status {done.returncode}" if done.returncode else ""
