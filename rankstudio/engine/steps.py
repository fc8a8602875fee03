"""What a method tells while it works: one immutable step per selected feature or iteration."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from rankstudio.engine.arrays import Floats
from rankstudio.engine.querywise.scoring import linear_scores
from rankstudio.engine.support.packed_rows import IndexTuples, PlainRows, Rows, packed_rows


@dataclass(frozen=True, eq=False)
class Step:
    """One thing a method has learned: one more feature selected, or one more iteration done.

    Attributes
    ----------
    number : int
        Counted from 1.
    selected : tuple of int
        0-based columns of the features in use, in the order in which they were selected.
    coef : ndarray of shape (n,)
        Weights of the model as it is after this step, 0 for the features not in use.
    criterion : float
        What the method minimises; NaN for a method without one.
    candidates : ndarray of shape (n,)
        What the method compared the features by in this step: the criterion that each would have given, or
        a score of the method's own; the catalog says which, as
        :class:`rankstudio.engine.methods.catalog.candidate_score.CandidateScore`. NaN for what was no
        candidate; of size 0 for a method that compares none, or by the weights in ``coef``.
    before : float
        The criterion before this step: that of the step before, in the first one that of the model that
        predicts nothing. NaN for a method that learns in one step, or has no criterion.
    linear : bool
        Class attribute: whether ``coef`` is the model. Where it is not, ``coef`` tells how much each feature
        is used.
    learned : bool
        Class attribute: whether it was learned from features, and so can score any documents.
    """

    linear: ClassVar[bool] = True
    learned: ClassVar[bool] = True

    number: int
    selected: tuple[int, ...]
    coef: Floats
    criterion: float
    candidates: Floats
    before: float = field(default=nan, kw_only=True)

    if not TYPE_CHECKING:  # to a checker of types the attributes are there

        def __getattr__(self, name: str) -> Any:
            """Make an attribute that is kept with those of other steps; see :func:`packed`."""
            kept = self.__dict__.get("_in_rows", {})
            if name not in kept:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return kept[name].row(self.__dict__["_at_row"])

    @property
    def n_selected(self) -> int:
        """How many features are in use."""
        rows = vars(self).get("_in_rows", {}).get("selected")
        return rows.length(vars(self)["_at_row"]) if isinstance(rows, IndexTuples) else len(self.selected)

    @property
    def kernel(self) -> bool:
        """Whether the model is a sum of kernel functions."""
        return False

    @property
    def whole(self) -> bool:
        """Whether it can score: of a path that is not linear a study keeps only one model whole."""
        return True

    def covers(self, X: Floats) -> bool:
        """Tell whether it can score the documents with these features, shape (m, n)."""
        return self.whole

    @property
    def source(self) -> str:
        """Where it was read, for sentences about it; "" for one that was learned here."""
        return ""

    def scores(self, columns: Floats, known: Floats | None = None) -> Floats:
        """Score documents.

        Parameters
        ----------
        columns : ndarray of shape (n, m), C order
            Features of the documents, one row a feature: ``np.ascontiguousarray(X.T)``.
        known : ndarray of shape (m,), optional
            What the step before gave for the same documents: a model that grows by addition goes on from
            there.

        Returns
        -------
        ndarray of shape (m,)
            The higher, the more relevant.
        """
        scores: Floats = linear_scores(columns, self.coef[None, :])[0]
        return scores

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return what a file needs of a model besides its weights; {} for a linear one.

        Parameters
        ----------
        ids : sequence of int of length n
            The 1-based id of each column.

        Returns
        -------
        dict
            "kind", and by a name of its own what the model is, in plain values.
        """
        return {}


def packed(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps of a path with what they have of each feature kept together, in less memory.

    ``selected``, ``coef`` and ``candidates`` of such a step are made when they are asked for, with the very
    same bits, and are nobody else's. Arrays that would not become smaller stay the objects that they are.

    Notes
    -----
    O(Kn) for K steps of n features. Along a path that selects all n features one by one half of the weights
    are 0 and half of the candidates are none: 8n² + n²/4 bytes instead of 16n², and the selections take n
    numbers instead of n²/2.
    """
    kept: dict[str, Rows] = {}
    for name, rows_of in _OF_FEATURES.items() if steps else ():
        values = [getattr(step, name) for step in steps]
        rows = _known(name, steps) or rows_of(values)
        if rows.n_bytes < PlainRows(tuple(values)).n_bytes:
            kept[name] = rows
    return tuple(placed(step, k, kept) for k, step in enumerate(steps)) if kept else tuple(steps)


def placed(step: Step, row: int, kept: Mapping[str, Rows]) -> Step:
    """Return a step of which some attributes are made, when they are asked for, from a row of what is kept.

    Parameters
    ----------
    step : Step
    row : int
    kept : Mapping of str to Rows
        By the attribute's name; one that many steps share.
    """
    made = object.__new__(type(step))
    names = {*vars(step), *vars(step).get("_in_rows", ())} - {"_in_rows", "_at_row", *kept}
    vars(made).update({name: getattr(step, name) for name in names}, _in_rows=kept, _at_row=row)
    return made


_OF_FEATURES: dict[str, Callable[[Sequence[Any]], Rows]] = {
    "selected": IndexTuples.of,
    "coef": partial(packed_rows, fill=0.0),
    "candidates": partial(packed_rows, fill=nan),
}


def _known(name: str, steps: Sequence[Step]) -> Rows | None:
    """Return where an attribute of all steps is kept already, each in its row."""
    found: Rows | None = vars(steps[0]).get("_in_rows", {}).get(name)
    if found is None or any(vars(step).get("_in_rows", {}).get(name) is not found for step in steps):
        return None
    return found if all(vars(step)["_at_row"] == k for k, step in enumerate(steps)) else None


Value = TypeVar("Value")
Told = TypeVar("Told")


Waiting = Generator["WorkProgress", None, Value]
"""What gives signs of life before it returns a value."""


def finish(work: Generator[object, None, Value]) -> Value:
    """Run a generator to its end, whatever it yields, and return its value."""
    return followed(work, lambda _: None)


def followed(work: Generator[Told, None, Value], follow: Callable[[Told], None]) -> Value:
    """Run a generator to its end, telling what it yields, and return its value."""
    while True:
        try:
            told = next(work)
        except StopIteration as end:
            value: Value = end.value
            return value
        follow(told)


@dataclass(frozen=True)
class WorkProgress:
    """A sign of life between two steps, from a method whose next step takes long.

    Attributes
    ----------
    what : str
        "comparing features".
    share : float
        How much of that is done, 0 to 1.
    """

    what: str
    share: float


@dataclass(frozen=True)
class Note(WorkProgress):
    """A sentence that a method says of what it learns, and that belongs to the results.

    Attributes
    ----------
    kind : type of Warning
        As which ``fit`` gives it; of several of one kind the first is shown.
    """

    share: float = 0.0
    kind: type[Warning] = UserWarning


def telling(
    work: Generator[object, None, Value], what: str, most: int
) -> Generator[WorkProgress, None, Value]:
    """Give a sign of life whenever a generator yields, of ``most`` times, and return its value.

    Signs of life of its own pass, and do not count.
    """
    done = 0
    while True:
        try:
            told = next(work)
        except StopIteration as end:
            value: Value = end.value
            return value
        if isinstance(told, WorkProgress):
            yield told
        else:
            yield WorkProgress(what, min(1.0, done / most))
            done += 1


@dataclass(frozen=True, eq=False)
class Iteration(Step):
    """One iteration of an optimiser that knows how far it is from the minimum at most.

    Attributes
    ----------
    gap : float
        Duality gap: the criterion is at most this much above its minimum.
    converged : bool
        Whether that is close enough for the optimiser to stop.
    """

    gap: float
    converged: bool
