"""The one list of methods: the window's form, the terminal's help and the docs are made from it.

Adding a method is adding a module with an estimator and an entry here. Nothing in this module imports a
method, so reading the catalog costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import Any

from rankstudio.engine.errors import ParameterError, PlanError
from rankstudio.engine.grid import format_grid, parse_grid


class Kind(Enum):
    """What values a parameter takes, and so which field the form shows for it."""

    GRID = "grid"  # one or several numbers: each is a run of its own, "2^0..2^10"
    INTEGER = "integer"
    CHOICE = "choice"
    FEATURES = "features"  # 1-based feature ids


@dataclass(frozen=True)
class Parameter:
    """One parameter of a method, as data: form field, validation, tooltip and help derive from it.

    Attributes
    ----------
    name : str
        The estimator's argument.
    label : str
        Short, for the form: "λ".
    kind : Kind
        Which values it takes.
    default : object
        A tuple of numbers for a grid, an int or None, a choice's key, or a tuple of feature ids.
    help : str
        One or two sentences.
    symbol, source : str
        The paper's symbol, and where in the paper it stands.
    option : str
        The terminal's option.
    low, high : float
        Range of the numbers; ``low`` is excluded where ``open_low``.
    choices : tuple of (key, label)
        For ``Kind.CHOICE``.
    none_label : str
        For an integer that may be left out: what leaving it out means.
    """

    name: str
    label: str
    kind: Kind
    default: Any
    help: str
    symbol: str = ""
    source: str = ""
    option: str = ""
    low: float = float("-inf")
    high: float = float("inf")
    open_low: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    none_label: str = ""

    @property
    def expected(self) -> str:
        """The range in words, for errors and tooltips."""
        match self.kind:
            case Kind.GRID:
                return f"numbers {self._bounds()}, such as 2^0..2^10 or 0.1, 1, 10"
            case Kind.INTEGER:
                text = f"a whole number {self._bounds()}"
                return f"{text}, or nothing for {self.none_label}" if self.none_label else text
            case Kind.CHOICE:
                return "one of " + ", ".join(key for key, _ in self.choices)
            case Kind.FEATURES:
                return "feature ids, such as 25, 39"

    def _bounds(self) -> str:
        above = "greater than" if self.open_low else "from"
        if self.high == float("inf"):
            return f"{above} {self.low:g}" if self.open_low else f"{above} {self.low:g} up"
        return f"{above} {self.low:g} to {self.high:g}"

    def validate(self, value: Any) -> Any:
        """Return the value in its canonical form.

        Raises
        ------
        ParameterError
            Where it is out of range; the text names the parameter, the range and the value.
        """
        match self.kind:
            case Kind.GRID:
                return self._validate_grid(value)
            case Kind.INTEGER:
                return self._validate_integer(value)
            case Kind.CHOICE:
                if value not in [key for key, _ in self.choices]:
                    raise ParameterError(self.label, value, self.expected)
                return value
            case Kind.FEATURES:
                return self._validate_features(value)

    def _inside(self, number: float) -> bool:
        return (number > self.low if self.open_low else number >= self.low) and number <= self.high

    def _validate_grid(self, value: Any) -> tuple[float, ...]:
        if isinstance(value, str):
            values: tuple[float, ...] = parse_grid(value, name=self.label)
        else:
            try:
                values = tuple(float(v) for v in (value if isinstance(value, Iterable) else (value,)))
            except (TypeError, ValueError):
                raise ParameterError(self.label, value, self.expected) from None
        for number in values:
            if not self._inside(number) or number in (float("inf"), float("-inf")):
                raise ParameterError(self.label, number, self.expected)
        if not values:
            raise ParameterError(self.label, value, self.expected)
        return tuple(sorted(set(values)))

    def _validate_integer(self, value: Any) -> int | None:
        if value in (None, ""):
            if self.none_label:
                return None
            raise ParameterError(self.label, value, self.expected)
        try:
            number = int(str(value).strip())
        except ValueError:
            raise ParameterError(self.label, value, self.expected) from None
        if not self._inside(number):
            raise ParameterError(self.label, value, self.expected)
        return number

    def _validate_features(self, value: Any) -> tuple[int, ...]:
        items = value.replace(",", " ").split() if isinstance(value, str) else value
        try:
            ids = tuple(int(item) for item in items)
            whole = all(isinstance(item, str) or int(item) == item for item in items)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(self.label, value, self.expected) from None
        if not whole or any(i < 1 for i in ids) or len(set(ids)) != len(ids):
            raise ParameterError(self.label, value, self.expected + ", each once and from 1 up")
        return ids

    def format(self, value: Any) -> str:
        """Return the value as the user would type it."""
        match self.kind:
            case Kind.GRID:
                return format_grid(value)
            case Kind.FEATURES:
                return ", ".join(str(i) for i in value)
            case Kind.CHOICE:
                return dict(self.choices).get(value, str(value))
            case Kind.INTEGER:
                return "" if value is None else str(value)


@dataclass(frozen=True)
class Method:
    """One method: how it is called, where it comes from, what it asks for and what runs it.

    Attributes
    ----------
    key, label : str
        For plans and the terminal; for people.
    family : str
        "selector" for what chooses features, "ranker" for what ranks with the features it is given.
    citation, title : str
        "Pahikkala et al. 2010", and the paper's title.
    summary : str
        What it does, in a few sentences.
    criterion : str
        What its criterion is, as an axis title; "" where it has none.
    estimator : str
        "module:Class"; imported when it is first used.
    parameters : tuple of Parameter
        In the order of the form.
    """

    key: str
    label: str
    family: str
    citation: str
    title: str
    summary: str
    criterion: str
    estimator: str
    parameters: tuple[Parameter, ...]

    @property
    def defaults(self) -> dict[str, Any]:
        """The default of every parameter, by name."""
        return {p.name: p.default for p in self.parameters}

    @property
    def selects(self) -> bool:
        """Whether its steps are growing sets of features."""
        return self.family == "selector"

    def parameter(self, name: str) -> Parameter:
        """Return a parameter by name; PlanError names the ones there are."""
        for p in self.parameters:
            if p.name == name:
                return p
        known = ", ".join(p.name for p in self.parameters)
        raise PlanError(f"{self.label} has no parameter {name!r}; it has {known}.")

    def validate(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters in canonical form, defaults filled in, in the order of the catalog."""
        for name in values:
            self.parameter(name)
        return {p.name: p.validate(values.get(p.name, p.default)) for p in self.parameters}

    def load(self) -> type[Any]:
        """Import and return the estimator's class."""
        module, _, name = self.estimator.partition(":")
        return getattr(import_module(module), name)  # type: ignore[no-any-return]


_LAMBDA = Parameter(
    name="regularization",
    label="λ",
    kind=Kind.GRID,
    default=tuple(2.0**e for e in range(11)),
    help="Weight of the squared norm of the model against its training error. Every value is tried.",
    symbol="λ",
    source="Pahikkala et al. 2010, eq. (3)",
    option="--lambda",
    low=0.0,
    open_low=True,
)

_SIZE = Parameter(
    name="n_features_to_select",
    label="features k",
    kind=Kind.INTEGER,
    default=None,
    help="How many features to select at most; every size up to it is a candidate model.",
    symbol="k",
    source="Pahikkala et al. 2010, Algorithm 1",
    option="--features",
    low=1,
    none_label="all",
)

CATALOG: tuple[Method, ...] = (
    Method(
        key="greedy-rankrls",
        label="Greedy RankRLS",
        family="selector",
        citation="Pahikkala et al. 2010",
        title="Greedy RankRLS: a Linear Time Algorithm for Learning Sparse Ranking Models",
        summary=(
            "Adds one feature at a time: the one with which RankRLS, trained with each query left out in "
            "turn, predicts the left-out queries best. The shortcut makes this exact and fast."
        ),
        criterion="leave-query-out error per document",
        estimator="rankstudio.engine.selection.greedy_rankrls:GreedyRankRLS",
        parameters=(
            _LAMBDA,
            _SIZE,
            Parameter(
                name="pinned",
                label="pinned",
                kind=Kind.FEATURES,
                default=(),
                help="Features that are in every model: they are selected first, in this order.",
                option="--pin",
            ),
            Parameter(
                name="banned",
                label="banned",
                kind=Kind.FEATURES,
                default=(),
                help="Features that are never selected.",
                option="--ban",
            ),
            Parameter(
                name="algorithm",
                label="algorithm",
                kind=Kind.CHOICE,
                default="auto",
                help=(
                    "Both give the same path. Per-query statistics are much faster where queries have "
                    "more documents than there are features to select; Algorithm 1 is the paper's."
                ),
                source="Pahikkala et al. 2010, Algorithm 1",
                option="--algorithm",
                choices=(
                    ("auto", "automatic"),
                    ("statistics", "per-query statistics"),
                    ("algorithm1", "Algorithm 1"),
                ),
            ),
        ),
    ),
    Method(
        key="rankrls",
        label="RankRLS",
        family="ranker",
        citation="Pahikkala et al. 2009",
        title="An efficient algorithm for learning to rank from preference graphs",
        summary=(
            "Regularised least squares on the differences between the documents of a query, with all "
            "features: the model to compare a selection with."
        ),
        criterion="leave-query-out error per document",
        estimator="rankstudio.engine.learners.rankrls:RankRLS",
        parameters=(_LAMBDA,),
    ),
    Method(
        key="rfe",
        label="Recursive elimination",
        family="selector",
        citation="Guyon et al. 2002",
        title="Gene selection for cancer classification using support vector machines",
        summary=(
            "Learns RankRLS with all features, drops the one with the smallest weight, and learns again: the "
            "last one left is the first of the path."
        ),
        criterion="leave-query-out error per document",
        estimator="rankstudio.engine.selection.elimination:RecursiveElimination",
        parameters=(
            _LAMBDA,
            _SIZE,
            Parameter(
                name="importance",
                label="importance",
                kind=Kind.CHOICE,
                default="weight",
                help=(
                    "The smallest is dropped: the weight itself, for features on one scale, or the weight "
                    "times the feature's deviation inside queries, for features on scales of their own."
                ),
                source="Guyon et al. 2002, section 4",
                option="--importance",
                choices=(("weight", "weight"), ("scaled", "weight × deviation")),
            ),
        ),
    ),
    Method(
        key="l1-path",
        label="L1 path",
        family="selector",
        citation="Efron et al. 2004",
        title="Least angle regression",
        summary=(
            "Takes features in the order in which the lasso gives them a weight as its penalty falls; "
            "RankRLS ranks with them."
        ),
        criterion="leave-query-out error per document",
        estimator="rankstudio.engine.selection.l1_path:L1Path",
        parameters=(
            _LAMBDA,
            _SIZE,
            Parameter(
                name="scaling",
                label="scaling",
                kind=Kind.CHOICE,
                default="unit",
                help="Whether the lasso sees every feature at the same length, or features as they are.",
                option="--scaling",
                choices=(("unit", "unit length"), ("none", "as they are")),
            ),
        ),
    ),
    Method(
        key="mutual-information",
        label="Mutual information",
        family="selector",
        citation="Guyon and Elisseeff 2003",
        title="An introduction to variable and feature selection",
        summary=(
            "Takes features in the order of the information that their values, put into bins, have on the "
            "labels, each for itself; RankRLS ranks with them."
        ),
        criterion="leave-query-out error per document",
        estimator="rankstudio.engine.selection.univariate:MutualInformation",
        parameters=(
            _LAMBDA,
            _SIZE,
            Parameter(
                name="n_bins",
                label="bins",
                kind=Kind.INTEGER,
                default=10,
                help="Bins of about equally many documents that a feature's values are put into.",
                option="--bins",
                low=2,
                high=1000,
            ),
        ),
    ),
)


def method(key: str) -> Method:
    """Return a method of the catalog by its key.

    Raises
    ------
    PlanError
        For a key that is not there; the text names those that are.
    """
    for entry in CATALOG:
        if entry.key == key:
            return entry
    raise PlanError(f"There is no method {key!r}; the catalog has {', '.join(m.key for m in CATALOG)}.")
