"""Sentences on simulated estimates, and the captions of their figures."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

import rankstudio
from rankstudio.engine.support.number_format import fixed, signed
from rankstudio.plugins.lab.simulation.parameters import NO_KERNEL
from rankstudio.plugins.lab.window.estimators import EstimatorText, text_of
from rankstudio.plugins.lab.window.request import FIELDS
from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import power

if TYPE_CHECKING:
    from rankstudio.plugins.lab.simulation.deviations import (
        DeviationSummary,
        VariedDeviations,
    )
    from rankstudio.plugins.lab.window.request import SimulationRequest

_N_ERRORS = 2.0  # standard errors that a mean deviation must exceed to be mentioned
_MIN_BIAS = 0.005  # smaller mean deviations are not mentioned
_MIN_RATIO = 1.1  # ratio of standard deviations below which they are called similar

QUANTITIES = {
    "n_examples": tr("examples"),
    "positive": tr("share of positives"),
    "regularization": tr("λ"),
    "n_queries": tr("training queries"),
    "n_features": tr("features selected, k"),
    "per_query": tr("basis vectors per query"),
}
"""Names of the quantities to vary, by the engine's names."""

_SETTING_TEXTS = {
    "n_examples": tr("{bias} with {value} examples"),
    "positive": tr("{bias} with a share of {value} positives"),
    "regularization": tr("{bias} with λ = {value}"),
    "n_queries": tr("{bias} with {value} queries"),
    "n_features": tr("{bias} with k = {value}"),
    "per_query": tr("{bias} with {value} basis vectors per query"),
}
_MARKER_HELP = tr("Marker: mean. Bar: one standard deviation on either side.")


def bias_text(bias: float) -> str:
    """Return the text of a mean deviation: "−0.06", "+0.007".

    The text is "0" if the absolute deviation is smaller than 0.005.
    """
    if abs(bias) < _MIN_BIAS:
        return "0"
    return signed(bias, 2 if abs(bias) >= 0.01 else 3)


def deviations_sentence(
    summary: DeviationSummary, texts: Mapping[str, EstimatorText]
) -> str:
    """Return sentences on the estimator that is furthest from the truth, and on the standard deviations.

    Only a bias that is clearly larger than its standard error counts.
    ``texts`` has the label and the explanations of each estimator by
    its name.
    """
    estimator_texts = [text_of(texts, name) for name in summary.estimators]
    is_clear = np.abs(summary.bias) > np.maximum(
        _N_ERRORS * summary.standard_error, _MIN_BIAS
    )
    clear_deviations = np.where(is_clear, np.abs(summary.bias), -1.0)  # -1: not clear
    worst = int(np.argmax(clear_deviations))
    reason = ""
    if clear_deviations[worst] < 0:
        sentence = tr(
            "No mean deviation is both larger than {least} and more than twice its standard error."
        ).format(least=_MIN_BIAS)
    else:
        # `low` and `high` explain why the estimator may be too low or too high.
        text = estimator_texts[worst]
        bias = float(summary.bias[worst])
        if bias < 0:
            reason = text.low
            template = tr("{label} is {size} too low on average.")
        else:
            reason = text.high
            template = tr("{label} is {size} too high on average.")
        sentence = template.format(
            label=_capitalized(text.label),
            size=bias_text(abs(bias)).lstrip("+"),
        )
    return " ".join(filter(None, (sentence, reason, scatter_sentence(summary, texts))))


def scatter_sentence(
    summary: DeviationSummary, texts: Mapping[str, EstimatorText]
) -> str:
    """Return the sentence on the estimators with the smallest and the largest standard deviation.

    ``texts`` has the label of each estimator by its name. The sentence
    is "" with fewer than two known standard deviations, or fewer than
    two repetitions.
    """
    finite = [index for index, sd in enumerate(summary.sd) if isfinite(sd)]
    if len(finite) < 2 or summary.done < 2:
        return ""
    least = min(finite, key=lambda index: summary.sd[index])
    largest = max(finite, key=lambda index: summary.sd[index])
    if summary.sd[largest] < _MIN_RATIO * summary.sd[least]:
        return tr("All have a similar standard deviation ({low} to {high}).").format(
            low=fixed(float(summary.sd[least]), 3),
            high=fixed(float(summary.sd[largest]), 3),
        )
    most_label, least_label = (
        text_of(texts, summary.estimators[index]).label for index in (largest, least)
    )
    return tr("{most} varies most (sd {high}), {least} least (sd {low}).").format(
        most=_capitalized(most_label),
        least=least_label,
        high=fixed(float(summary.sd[largest]), 3),
        low=fixed(float(summary.sd[least]), 3),
    )


def summary_of(summary: DeviationSummary, texts: Mapping[str, EstimatorText]) -> str:
    """Return mean and standard deviation of every estimator, for a screen reader."""
    parts = [
        tr("{label} mean {bias}, sd {sd}").format(
            label=text_of(texts, name).label,
            bias=signed(float(summary.bias[index]), 3),
            sd=fixed(float(summary.sd[index]), 3),
        )
        for index, name in enumerate(summary.estimators)
    ]
    return "; ".join(parts)


def variation_sentence(
    varied: VariedDeviations, texts: Mapping[str, EstimatorText]
) -> str:
    """Return the sentence on how the largest mean deviation depends on the varied quantity.

    ``texts`` has the label of each estimator by its name. The sentence
    has the mean deviation of one estimator at the first value, at the
    value with the largest mean deviation, and at the last value.
    """
    if not varied.summaries:
        return ""
    bias = np.abs(np.nan_to_num(varied.bias))

    # (values, estimators); what may be chance counts as 0
    bias[~(bias > _N_ERRORS * np.nan_to_num(varied.standard_error))] = 0.0
    if not bias.any():
        return tr("No mean deviation is more than twice its standard error.")
    row, estimator = (
        int(i) for i in np.unravel_index(int(np.argmax(bias)), bias.shape)
    )
    label = text_of(texts, varied.summaries[0].estimators[estimator]).label

    # a dict drops repetitions, for instance if the largest one is the last
    indices = list(dict.fromkeys([0, row, len(varied.values) - 1]))
    phrases = [
        _SETTING_TEXTS[varied.quantity].format(
            bias=bias_text(float(varied.bias[index, estimator])),
            value=value_text(varied.quantity, varied.values[index]),
        )
        for index in indices
    ]
    return tr("Mean deviation of {label}: {values}.").format(
        label=label,
        values=", ".join(phrases),
    )


def value_text(quantity: str, value: float) -> str:
    """Return the text of a quantity's value on an axis: "30", "0.1", "2⁻⁵"."""
    return power(value) if quantity == "regularization" else f"{value:g}"


def _capitalized(text: str) -> str:
    """Return a text with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def auc_caption(request: SimulationRequest, n_drawn: int) -> str:
    """Return the caption of the distributions of AUC estimates."""
    drawn = tr("{done:,} training sets").format(done=n_drawn)
    parameters = request.simulation.parameters
    return f"{_MARKER_HELP} {_classes_text(parameters)}, {drawn}; {_origin_text(parameters)}"


def variation_caption(request: SimulationRequest) -> str:
    """Return the caption of the curves over a varied quantity."""
    simulation = request.simulation
    parameters = simulation.parameters
    varied = tr("{quantity} varied, {n:,} training sets for each value").format(
        quantity=QUANTITIES[simulation.quantity], n=simulation.each
    )
    return f"{_data_text(request) or _classes_text(parameters)}, {varied}; {_origin_text(parameters)}"


def selection_caption(request: SimulationRequest, n_drawn: int) -> str:
    """Return the caption of the distributions on real data."""
    drawn = tr("drawn {done:,} times").format(done=n_drawn)
    return f"{_MARKER_HELP} {_data_text(request)}, {drawn}; {_origin_text(request.simulation.parameters)}"


def _data_text(request: SimulationRequest) -> str:
    """Describe the learner, the data and the truth in a caption; "" without data."""
    parameters = request.simulation.parameters
    dataset = request.dataset
    if dataset is None:
        return ""
    if parameters["kernel"] != NO_KERNEL:
        learner = tr("RankRLS, {kernel}, {n} basis vectors per query").format(
            kernel=_kernel_text(parameters), n=parameters["per_query"]
        )
    elif parameters["n_features"] is None:
        learner = tr("RankRLS, all features")
    else:
        learner = tr("greedy RankRLS, k = {k}").format(k=parameters["n_features"])
    return tr(
        "{data}: {learner}, λ = {regularization}; the truth is {measure} on all queries other "
        "than the {n} training queries"
    ).format(
        data=dataset.name,
        learner=learner,
        regularization=power(parameters["regularization"]),
        n=parameters["n_queries"],
        measure=parameters["measure"],
    )


def _kernel_text(settings: Mapping[str, Any]) -> str:
    """Return the name of the kernel, with its γ if it has one."""
    parameters = {p.name: p for p in FIELDS["selection"]}

    # `counts`: whether γ has an effect with this kernel
    name = parameters["kernel"].name_of(settings["kernel"])
    return (
        f"{name}, γ = {power(settings['gamma'])}"
        if parameters["gamma"].counts(settings)
        else name
    )


def _classes_text(settings: Mapping[str, Any]) -> str:
    """Describe the learner and the two simulated classes."""
    informative = (
        settings["n_features"]
        if settings["n_informative"] is None
        else settings["n_informative"]
    )
    template = (
        tr(
            "Support vector machine with an intercept, λ = {regularization}, on two normal "
            "classes: {m} examples, share of positives {positive:g}, {informative} of {n} "
            "features shifted by {shift:g}"
        )
        if settings["learner"] == "svm"
        else tr(
            "Regularised least squares with an intercept, λ = {regularization}, on two normal "
            "classes: {m} examples, share of positives {positive:g}, {informative} of {n} features "
            "shifted by {shift:g}"
        )
    )
    return template.format(
        regularization=power(settings["regularization"]),
        m=settings["n_examples"],
        positive=settings["positive"],
        informative=informative,
        n=settings["n_features"],
        shift=settings["shift"],
    )


def _origin_text(settings: Mapping[str, Any]) -> str:
    """Return the seed and the version with which the results can be repeated."""
    return tr("seed {seed}, RankStudio {version}.").format(
        seed=settings["seed"], version=rankstudio.__version__
    )
