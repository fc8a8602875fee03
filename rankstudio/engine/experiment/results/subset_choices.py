"""The models of a path that are chosen on subsets of the validation queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rankstudio.engine.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class SubsetChoices:
    """Models of a path that the plan's rule chooses on S subsets of the validation queries.

    Attributes
    ----------
    positions : ndarray of shape (S,)
        Position on the path of the step that each subset chooses;
        -1 if the rule allows no model of the path.
    gains : ndarray of shape (S,)
        Selection measure of the path's best model on each subset,
        larger being better; -inf if undefined. Several paths are
        compared by these values.
    per_query : Mapping of str to ndarray of shape (D, Q)
        Values of each measure, by its name: a row for each of the D
        different chosen models, in ascending order of their positions
        (`distinct`), and a column for each of the Q validation queries.
        Empty if the values can be computed again: a study then has the
        models themselves, and the data have a validation part.
    """

    positions: Ints
    gains: Floats
    per_query: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def distinct(self) -> Ints:
        """Positions of the different chosen steps, ascending, shape (D,)."""
        return np.unique(self.positions[self.positions >= 0])

    def measures_at(self, positions: Sequence[int]) -> dict[str, Floats]:
        """Return the stored measures of D chosen steps of a path, by name, shape (D, Q) each.

        Q is the number of validation queries.

        `positions` has the positions of the D steps on the path, all of
        them chosen by a subset of the queries. The result is {} if no
        measures are stored.
        """
        rows = np.searchsorted(self.distinct, positions)
        return {name: values[rows] for name, values in self.per_query.items()}
