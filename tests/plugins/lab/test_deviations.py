"""Summaries of deviations against counting by hand, and simulations over a varied quantity."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankstudio.engine.errors import ParameterError
from rankstudio.plugins.lab.simulation.auc_simulation import simulate_auc
from rankstudio.plugins.lab.simulation.deviations import (
    Deviations,
    DeviationSummary,
    simulate_over,
)


def last(steps):
    *_, state = steps
    return state


def test_a_summary_says_what_the_deviations_say() -> None:
    state = last(simulate_auc(20, repetitions=300, seed=3))
    found = DeviationSummary.of(state)
    assert (found.done, found.n_repetitions, found.estimators) == (
        300,
        300,
        state.estimators,
    )
    assert found.truth == state.truth.mean() and found.truth_sd == state.truth.std()
    assert found.bias.tolist() == state.bias.tolist()
    assert found.standard_error.tolist() == state.standard_error.tolist()
    assert found.sd.tolist() == state.conditional_sd.tolist()
    assert found.unconditional_sd.tolist() == state.unconditional_sd.tolist()


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(st.floats(-1, 1), st.just(float("nan"))), min_size=1, max_size=40
    ),
    st.data(),
)
def test_bins_have_all_values_once_and_an_edge_at_zero(
    values: list[float], data: st.DataObject
) -> None:
    others = data.draw(
        st.lists(st.floats(-1, 1), min_size=len(values), max_size=len(values))
    )
    estimates = np.array([values, others]).T
    state = Deviations(("one", "other"), np.zeros(len(values)), estimates, len(values))
    found = DeviationSummary.of(state)
    edges = found.edges
    widths = np.diff(edges)
    assert widths.min() > 0 and np.allclose(widths, widths[0])
    assert np.abs(edges).min() < 1e-12
    for column, shares in zip(estimates.T, found.shares, strict=True):
        known = column[~np.isnan(column)]
        assert shares.sum() == pytest.approx(1.0 if known.size else 0.0)
        inside = [
            ((known >= low) & (known < high)).mean() if known.size else 0.0
            for low, high in itertools.pairwise(edges)
        ]
        assert shares == pytest.approx(inside)


def test_the_width_of_bins_is_round_and_becomes_finer_with_more_repetitions() -> None:
    widths = []
    for state in simulate_auc(30, repetitions=4000):
        width = float(np.diff(DeviationSummary.of(state).edges)[0])
        assert f"{width:.0e}"[0] in "125"
        widths.append(width)
    assert widths[-1] < widths[0]


def test_each_value_of_a_quantity_is_a_simulation_of_its_own() -> None:
    steps = list(
        simulate_over(
            "n_examples", (20, 30), simulate_auc, repetitions=300, shift=0.5, seed=1
        )
    )
    assert [len(step.summaries) for step in steps] == [1, 1, 2, 2]
    assert [step.summaries[-1].done for step in steps] == [250, 300, 250, 300]
    whole = steps[-1]
    assert whole.values == whole.all_values == (20.0, 30.0) and steps[0].values == (
        20.0,
    )
    for at, size in enumerate((20, 30)):
        alone = last(simulate_auc(size, repetitions=300, shift=0.5, seed=1))
        assert whole.bias[at].tolist() == alone.bias.tolist()
        assert whole.standard_error[at].tolist() == alone.standard_error.tolist()
        assert whole.sd[at].tolist() == alone.conditional_sd.tolist()


@pytest.mark.parametrize(
    ("quantity", "values"),
    [("positive", ()), ("positive", (1.5,)), ("n_examples", (2.5,))],
)
def test_what_cannot_be_varied_is_refused(
    quantity: str, values: tuple[float, ...]
) -> None:
    with pytest.raises(ParameterError):
        next(simulate_over(quantity, values, simulate_auc, repetitions=10))
