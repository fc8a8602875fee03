"""What goes with the figures of the Lab page as text: all that was simulated, and with which version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import rankstudio
from rankstudio.engine.analysis.simulation.parameters import NO_KERNEL
from rankstudio.ui.lab.parameters import FIELDS
from rankstudio.ui.lab.sentences import QUANTITIES
from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import power

if TYPE_CHECKING:
    from rankstudio.ui.lab.request import SimulationRequest

_DRAWN = tr("Marker: mean. Bar: one standard deviation on either side.")


def auc_caption(request: SimulationRequest, done: int) -> str:
    """Return what the distributions of AUC estimates are of."""
    drawn = tr("{done:,} training sets").format(done=done)
    asked = request.simulation.parameters
    return f"{_DRAWN} {_classes(asked)}, {drawn}; {_origin(asked)}"


def variation_caption(request: SimulationRequest) -> str:
    """Return what the curves over a varied quantity are of."""
    simulation = request.simulation
    asked = simulation.parameters
    varied = tr("{quantity} varied, {n:,} training sets for each value").format(
        quantity=QUANTITIES[simulation.quantity], n=simulation.each
    )
    return f"{_on_data(request) or _classes(asked)}, {varied}; {_origin(asked)}"


def selection_caption(request: SimulationRequest, done: int) -> str:
    """Return what the distributions on real data are of."""
    drawn = tr("drawn {done:,} times").format(done=done)
    return f"{_DRAWN} {_on_data(request)}, {drawn}; {_origin(request.simulation.parameters)}"


def _on_data(request: SimulationRequest) -> str:
    """Return what learns from which data; "" where there are none."""
    asked, dataset = request.simulation.parameters, request.dataset
    if dataset is None:
        return ""
    if asked["kernel"] != NO_KERNEL:
        learner = tr("RankRLS, {kernel}, {n} basis vectors of each query").format(
            kernel=_kernel(asked), n=asked["per_query"]
        )
    elif asked["n_features"] is None:
        learner = tr("RankRLS, all features")
    else:
        learner = tr("greedy RankRLS, k = {k}").format(k=asked["n_features"])
    return tr(
        "{data}: {learner}, λ = {regularization}; the truth is {measure} on all queries other "
        "than the {n} training queries"
    ).format(
        data=dataset.name,
        learner=learner,
        regularization=power(asked["regularization"]),
        n=asked["n_queries"],
        measure=asked["measure"],
    )


def _kernel(asked: Mapping[str, Any]) -> str:
    """Return what the kernel is called, with its γ where it has one."""
    parameters = {p.name: p for p in FIELDS["selection"]}
    name = parameters["kernel"].name_of(asked["kernel"])
    return f"{name}, γ = {power(asked['gamma'])}" if parameters["gamma"].counts(asked) else name


def _classes(asked: Mapping[str, Any]) -> str:
    informative = asked["n_features"] if asked["n_informative"] is None else asked["n_informative"]
    return tr(
        "Regularised least squares with an intercept, λ = {regularization}, on two normal "
        "classes: {m} examples, share of positives {positive:g}, {informative} of {n} features "
        "shifted by {shift:g}"
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
