"""What goes with the figures of the Lab page as text: all that was simulated, and with which version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import rankstudio
from rankstudio.ui.lab.sentences import QUANTITIES
from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import power

if TYPE_CHECKING:
    from rankstudio.ui.lab.lab_tasks import AucRequest, SelectionRequest

_DRAWN = tr("The marker is the mean, the bar one standard deviation to both sides.")


def auc_caption(request: AucRequest, done: int) -> str:
    """Return what the distributions of AUC estimates are of."""
    drawn = tr("{done:,} training sets").format(done=done)
    return f"{_DRAWN} {_classes(request.parameters)}, {drawn}; {_origin(request.parameters)}"


def variation_caption(request: AucRequest) -> str:
    """Return what the curves over a varied quantity are of."""
    varied = tr("{quantity} varied, {n:,} training sets for each value").format(
        quantity=QUANTITIES[request.quantity], n=request.repetitions
    )
    return f"{_classes(request.parameters)}, {varied}; {_origin(request.parameters)}"


def selection_caption(request: SelectionRequest, done: int) -> str:
    """Return what the distributions on real data are of."""
    asked = request.parameters
    selected = tr("all features") if asked["n_features"] is None else f"k = {asked['n_features']}"
    said = tr(
        "{data}: greedy RankRLS, {selected}, λ = {regularization}, on {n} queries, drawn {done:,} times; the "
        "truth is {measure} on all other queries"
    ).format(
        data=request.dataset.name,
        selected=selected,
        regularization=power(asked["regularization"]),
        n=asked["n_queries"],
        done=done,
        measure=asked["measure"],
    )
    return f"{_DRAWN} {said}; {_origin(asked)}"


def _classes(asked: Mapping[str, Any]) -> str:
    informative = asked["n_features"] if asked["n_informative"] is None else asked["n_informative"]
    return tr(
        "Regularised least squares with a bias, λ = {regularization}, on two normal classes: {m} examples, a "
        "share of {positive:g} positive, {informative} of {n} features shifted by {shift:g}"
    ).format(
        regularization=power(asked["regularization"]),
        m=asked["n_examples"],
        positive=asked["positive"],
        informative=informative,
        n=asked["n_features"],
        shift=asked["shift"],
    )


def _origin(asked: Mapping[str, Any]) -> str:
    return tr("seed {seed}, RankStudio {version}.").format(seed=asked["seed"], version=rankstudio.__version__)
