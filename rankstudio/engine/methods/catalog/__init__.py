"""The catalog of all methods, from which the window's form, the terminal's help and the docs are made.

A method is a module with an estimator, and an entry in this package.
The estimator refers to the entry, which checks its parameters. Nothing
in this package imports an estimator, so reading the catalog is fast.
"""

from __future__ import annotations

from rankstudio.engine.errors import PlanError, did_you_mean, nearest, shown
from rankstudio.engine.language import tr, trn
from rankstudio.engine.methods.catalog.method import Criterion, Description, Method
from rankstudio.engine.methods.catalog.parameter import Kind, Parameter
from rankstudio.engine.methods.catalog.registry import MethodRegistry
from rankstudio.engine.plugins.origin import OriginKind

__all__ = [
    "FROM_FILES",
    "GIVEN",
    "GIVEN_MODEL",
    "GIVEN_ORDER",
    "GIVEN_SCORES",
    "METHODS",
    "Criterion",
    "Description",
    "Kind",
    "Method",
    "MethodRegistry",
    "Parameter",
    "is_added",
    "method",
    "methods",
    "refusal_of_groups",
    "remember_entry",
]

GIVEN_SCORES = Method(
    key="given-scores",
    label="Given scores",
    family="given",
    description=Description(
        citation="any program",
        title="Scores from files",
        summary=(
            "Ranks the documents by the scores of another program, and measures and compares them like any "
            "other run. Nothing is learned, so there are no weights, and no other documents can be ranked."
        ),
    ),
    estimator="",
    parameters=(),
)

GIVEN_MODEL = Method(
    key="given-model",
    label="Given model",
    family="model",
    description=Description(
        citation="any run",
        title="Models from files",
        summary=(
            "Ranks the documents by an existing model (one for all folds, or one per fold), and measures "
            "and compares it like the model of any other run. Nothing is learned."
        ),
    ),
    estimator="",
    parameters=(),
)

GIVEN_ORDER = Method(
    key="given-order",
    label="Given order",
    family="given",
    description=Description(
        citation="the data",
        title="The order of the documents in the file",
        summary=(
            "Ranks the documents of a query in the order of the file, which is often the order of a search "
            "engine, or random. Nothing is learned."
        ),
    ),
    estimator="",
    parameters=(),
)

GIVEN: tuple[Method, ...] = (GIVEN_SCORES, GIVEN_MODEL, GIVEN_ORDER)

_GIVEN = {entry.key: entry for entry in GIVEN}

FROM_FILES: tuple[str, ...] = (GIVEN_SCORES.key, GIVEN_MODEL.key)
"""Keys of the given methods whose plans name files."""

METHODS = MethodRegistry()
"""The registry of this process."""


def methods() -> tuple[Method, ...]:
    """Return all methods that learn, selectors first: not rankings, models and orders that are read from files."""
    return METHODS.entries()


def method(key: str) -> Method:
    """Return a method of the catalog by its key.

    Raises
    ------
    PlanError
        For an unknown key; the message has the nearest known key.
    """
    # Rankings, models and orders of features that are read from files
    # are methods, too, but no list of methods offers them.
    entry = find_method(key) or _GIVEN.get(key)
    if entry is not None:
        return entry
    close = nearest(key, (entry.key for entry in methods()))  # "" if none is near
    remedy = did_you_mean(close) or tr("rankstudio methods lists the catalog.")
    raise PlanError(
        tr("There is no method {key}. {remedy}").format(key=shown(key), remedy=remedy)
    )


def find_method(key: str) -> Method | None:
    """Return a learning method by its key; None for an unknown key.

    Methods that are only known from a study are found, too, as are the
    methods of an ability whose folder is absent. Both kinds of methods
    cannot be run.
    """
    return METHODS.find(key) or _absent_method(key)


def _absent_method(key: str) -> Method | None:
    from rankstudio.engine.methods.catalog.absent import recorded_methods  # noqa: PLC0415 - rarely needed

    return recorded_methods().get(key)


def add_entry(entry: Method) -> Method:
    """Add a method for this process, and return it; PlanError if it is invalid or its key is taken."""
    return METHODS.add(entry)


def remember_entry(entry: Method) -> None:
    """Register a method that a study describes.

    ``entry`` describes the method. The study's results are shown with
    the entry; the method cannot be run.
    """
    METHODS.remember(entry)


def is_added(entry: Method) -> bool:
    """Return whether a method is only known to this process.

    Such a method was added by a program, or is described by a study.
    """
    return entry.origin is not None and entry.origin.kind not in (
        OriginKind.PACKAGE,
        OriginKind.ABILITY,
    )


def refusal_of_groups(entry: Method, n_groups: int) -> str:
    """Return the message that a method cannot select ``n_groups`` groups of features, and which methods can."""
    # The labels of the selectors that support groups.
    labels_text = ", ".join(
        other.label for other in methods() if other.selects and other.groups
    )
    many = trn("the group of features", "the {n} groups of features", n_groups).format(
        n=n_groups
    )
    return tr(
        "{label} selects single features and cannot select {many} as a whole. Choose {able}, "
        "or remove the groups."
    ).format(label=entry.label, many=many, able=labels_text)
