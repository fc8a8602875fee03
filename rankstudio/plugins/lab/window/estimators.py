"""Names and descriptions of the estimators, in the terms of Airola 2011, chapter 5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rankstudio.plugins.lab.simulation.parameters import (
    BASIS_KEPT,
    NO_KERNEL,
    SELECTED_ONCE,
)
from rankstudio.ui.language import tr


@dataclass(frozen=True)
class EstimatorText:
    """Texts for the user on an estimator of performance.

    Attributes
    ----------
    label : str
        Name of the estimator.
    about : str
        Sentence on what the estimator does.
    low, high : str
        Sentence on why the estimate may be too low or too high; "" if
        it should not be.
    brief : str
        Shorter name of the estimator; "" for the label itself.
    """

    label: str
    about: str
    low: str = ""
    high: str = ""
    brief: str = ""

    @property
    def short(self) -> str:
        """Name for places with little room."""
        return self.brief or self.label


_POOLED_SCORES = tr(
    "Models are biased against held-out examples, and their scores are compared."
)
_SHARED_QUERIES = tr(
    "Training and test contain documents of the same queries, which resemble each other."
)
_SEEN_FEATURES = tr("The features were selected with the held-out queries.")
_SEVERAL_MODELS = tr("A query is ranked by scores of several models.")
_FEW_DOCUMENTS = tr(
    "A fifth of a query has few documents, often none of them relevant."
)
_FEWER_QUERIES = tr("Its models have fewer training queries.")
_KEPT_BASIS = tr(
    "Its models keep basis vectors of held-out queries, whose weights are not constrained."
)

AUC: Mapping[str, EstimatorText] = {
    "leave-pair-out": EstimatorText(
        tr("leave-pair-out"),
        tr(
            "Each pair of a positive and a negative example is held out and compared by the "
            "one model trained without both: all pairs count, and models are never mixed (T "
            "5.4)."
        ),
    ),
    "leave-one-out, pooled": EstimatorText(
        tr("leave-one-out, pooled"),
        tr(
            "Each example is scored by the model trained without it, and the scores of all "
            "these models are compared (T 5.4)."
        ),
        low=_POOLED_SCORES,
    ),
    "5-fold, pooled": EstimatorText(
        tr("5-fold, pooled"),
        tr(
            "Each fifth is scored by the model trained without it, and the scores of all five "
            "models are compared (T 5.4)."
        ),
        low=_POOLED_SCORES,
    ),
    "5-fold, averaged": EstimatorText(
        tr("5-fold, averaged"),
        tr(
            "Only examples of the same fifth are compared, by the model trained without it: "
            "models are never mixed, but most pairs do not count (T 5.4)."
        ),
        low=tr("Its models are trained on four fifths of the examples."),
    ),
    "10-fold, pooled": EstimatorText(
        tr("10-fold, pooled"),
        tr(
            "Each tenth is scored by the model trained without it, and the scores of all ten "
            "models are compared (T 5.4)."
        ),
        low=_POOLED_SCORES,
    ),
    "10-fold, averaged": EstimatorText(
        tr("10-fold, averaged"),
        tr(
            "Only examples of the same tenth are compared, by the model trained without it: "
            "models are never mixed, but few pairs count (T 5.4)."
        ),
    ),
}
"""Texts on the estimators of AUC by the engine's names, in their order."""

_BRIEF_NAMES = {
    "leave-query-out": tr("leave-query-out"),
    "5-fold by query": tr("5-fold by query"),
    "5-fold of documents, pooled": tr("documents, pooled"),
    "5-fold of documents, averaged": tr("documents, averaged"),
}

_SELECTION_TEXTS: Mapping[str, EstimatorText] = {
    "leave-query-out": EstimatorText(
        tr("leave-query-out"),
        tr(
            "Each query is ranked by the model selected and trained without it (T 5.5)."
        ),
    ),
    "leave-query-out, selected once": EstimatorText(
        tr("leave-query-out, selected once"),
        tr(
            "Each query is ranked by the model trained without it, but the features were "
            "selected with it: the selection is outside the cross-validation."
        ),
        high=_SEEN_FEATURES,
    ),
    "5-fold by query": EstimatorText(
        tr("5-fold by query"),
        tr(
            "Each fifth of the queries is ranked by the model selected and trained without it (T 5.5)."
        ),
        low=_FEWER_QUERIES,
    ),
    "5-fold by query, selected once": EstimatorText(
        tr("5-fold by query, selected once"),
        tr("Like 5-fold by query, but the features were selected with all queries."),
        high=_SEEN_FEATURES,
    ),
    "5-fold of documents, pooled": EstimatorText(
        tr("5-fold of documents, pooled"),
        tr(
            "Each fifth of the documents is scored by the model trained without it, but other "
            "documents of the same queries remain in training (T 5.5 warns of this). A query "
            "is ranked by scores of several models."
        ),
        low=_SEVERAL_MODELS,
        high=_SHARED_QUERIES,
    ),
    "5-fold of documents, pooled, selected once": EstimatorText(
        tr("5-fold of documents, pooled, selected once"),
        tr(
            "5-fold by document, pooled, but with the features selected on all documents."
        ),
        low=_SEVERAL_MODELS,
        high=_SHARED_QUERIES,
    ),
    "5-fold of documents, averaged": EstimatorText(
        tr("5-fold of documents, averaged"),
        tr(
            "Each fifth of the documents is scored by the model trained without it, but other "
            "documents of the same queries remain in training (T 5.5 warns of this). Only "
            "scores of the same model are compared."
        ),
        low=_FEW_DOCUMENTS,
        high=_SHARED_QUERIES,
    ),
    "5-fold of documents, averaged, selected once": EstimatorText(
        tr("5-fold of documents, averaged, selected once"),
        tr(
            "5-fold by document, averaged, but with the features selected on all documents."
        ),
        low=_FEW_DOCUMENTS,
        high=_SHARED_QUERIES,
    ),
}

SELECTION: Mapping[str, EstimatorText] = {
    name: replace(
        text,
        brief=_BRIEF_NAMES.get(name)
        or tr("{estimator} · once").format(
            estimator=_BRIEF_NAMES[name.removesuffix(f", {SELECTED_ONCE}")]
        ),
    )
    for name, text in _SELECTION_TEXTS.items()
}
"""Texts on the estimators of a selection by the engine's names, in their order."""


def _kernel_texts() -> Iterator[tuple[str, EstimatorText]]:
    """Yield names and texts of the estimators of kernel models, which select no features.

    Each estimator is followed by its variant in which basis vectors of
    held-out queries stay in the model.
    """
    leave_query_out = tr(
        "Each query is ranked by the model trained without it and its basis vectors (T 5.6)."
    )
    for name, brief in _BRIEF_NAMES.items():
        text = SELECTION[name]
        yield (
            name,
            replace(text, about=leave_query_out) if name == "leave-query-out" else text,
        )
        yield (
            f"{name}, {BASIS_KEPT}",
            EstimatorText(
                tr("{estimator}, basis vectors kept").format(estimator=text.label),
                tr(
                    "Like {estimator}, but basis vectors stay in the model even if their "
                    "queries or documents are held out (T 5.6)."
                ).format(estimator=text.label),
                low=_KEPT_BASIS,
                high=text.high,
                brief=tr("{estimator} · kept").format(estimator=brief),
            ),
        )


BASIS: Mapping[str, EstimatorText] = dict(_kernel_texts())
"""Texts on the estimators of kernel models by the engine's names, in their order."""


def of_learner(kernel: str) -> Mapping[str, EstimatorText]:
    """Return the texts on the estimators on data for a kernel, or for the selection without one."""
    return SELECTION if kernel == NO_KERNEL else BASIS


def text_of(texts: Mapping[str, EstimatorText], name: str) -> EstimatorText:
    """Return the texts on an estimator; an unknown estimator has only its name as label."""
    return texts.get(name) or EstimatorText(name, "")


def short_of(label: str) -> str:
    """Return the shorter name of an estimator, given by its label."""
    return _SHORT_LABELS.get(label, label)


_SHORT_LABELS = {
    text.label: text.short
    for texts in (AUC, SELECTION, BASIS)
    for text in texts.values()
}
