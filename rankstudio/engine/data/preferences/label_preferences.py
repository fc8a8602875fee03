"""Preferences drawn from relevance labels, as an experiment asks for them."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.preferences.preferences import Preferences
from rankstudio.engine.errors import DatasetError, ParameterError

_MOST_PAIRS = 2**53  # that numpy draws from


def sample_preferences(
    data: RankingDataset, share: float = 1.0, noise: float = 0.0, seed: int = 0
) -> Preferences:
    """Draw preferences between documents of one query with different labels.

    Parameters
    ----------
    data : RankingDataset
    share : float, default 1.0
        Of all such pairs, greater than 0 and up to 1; at least one is drawn, none twice.
    noise : float, default 0.0
        Probability from 0 to 1 with which a preference is turned round.
    seed : int, default 0
        Equal seeds give equal preferences.

    Returns
    -------
    Preferences
        Of rows of the data, in their order, with differences of labels for magnitudes.

    Raises
    ------
    ParameterError
        For a number out of its range.
    DatasetError
        Where all documents of each query have one label.

    Notes
    -----
    O(m log m + l log l) for m documents and l preferences; the other pairs are never listed.
    """
    for name, value, low in (("share", share, False), ("noise", noise, True)):
        if not ((value >= 0 if low else value > 0) and value <= 1):
            raise ParameterError(name, value, f"a number {'from 0' if low else 'greater than 0'} up to 1")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError("seed", seed, "a whole number from 0 up")
    order = np.lexsort((data.y, data.query_index))
    labels, first = data.y[order], data.query_ptr[data.query_index]
    places = np.arange(order.size)
    # How many documents of its query have a lower label: where its label begins there.
    begins = (np.diff(labels, prepend=np.nan) != 0) | (places == first)
    lower = np.maximum.accumulate(np.where(begins, places, 0)) - first
    upto = np.cumsum(lower)
    n_pairs = int(upto[-1])
    if n_pairs == 0:
        raise DatasetError(
            "Preferences are drawn from documents of one query with different labels: none are."
        )
    if n_pairs > _MOST_PAIRS:
        raise DatasetError(f"Preferences are drawn from at most {_MOST_PAIRS:,} pairs, found {n_pairs:,}.")
    rng = np.random.default_rng(seed)
    drawn = rng.choice(n_pairs, max(1, round(share * n_pairs)), replace=False, shuffle=False)
    drawn.sort()
    above = np.searchsorted(upto, drawn, side="right")
    below = first[above] + drawn - (upto[above] - lower[above])
    winner, loser = order[above], order[below]
    turned = rng.random(drawn.size) < noise
    magnitude = data.y[winner] - data.y[loser]
    return Preferences(np.where(turned, loser, winner), np.where(turned, winner, loser), magnitude)
