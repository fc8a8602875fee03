import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics.pareto import one_standard_error, pareto_front

NAN = float("nan")

# Few values, so that there are ties in size, in value and in both; halves and quarters are exact.
models = st.lists(
    st.tuples(
        st.integers(1, 5),
        st.one_of(st.integers(0, 6).map(lambda v: v / 4), st.just(NAN)),
    ),
    min_size=1,
    max_size=9,
)


def beats(one, other, sign):
    """Whether the first model is no larger and no worse than the second, and better in one of the two."""
    size, value = one[0] - other[0], sign * (one[1] - other[1])
    return size <= 0 and value >= 0 and (size < 0 or value > 0)


@given(models, st.booleans())
def test_the_front_is_what_no_model_beats(found, higher):
    sign = 1 if higher else -1
    front = pareto_front(*zip(*found, strict=True), higher_is_better=higher).tolist()
    there = [i for i, (_, value) in enumerate(found) if not np.isnan(value)]
    unbeaten = [
        i for i in there if not any(beats(found[j], found[i], sign) for j in there)
    ]
    firsts = [i for i in unbeaten if found.index(found[i]) == i]
    assert sorted(front) == firsts
    assert [found[i][0] for i in front] == sorted(found[i][0] for i in front)


@given(models, st.integers(1, 8).map(lambda e: e / 8), st.booleans())
def test_one_standard_error_by_its_definition(found, error, higher):
    sign = 1 if higher else -1
    sizes, means = zip(*found, strict=True)
    there = [i for i in range(len(found)) if not np.isnan(means[i])]
    if not there:
        return
    best = max(sign * means[i] for i in there)
    within = [i for i in there if sign * means[i] >= best - error]
    expected = min(within, key=lambda i: (sizes[i], -sign * means[i], i))
    assert one_standard_error(means, [error] * len(found), sizes, higher) == expected


def test_the_error_is_that_of_the_smallest_of_the_best():
    means, sizes = [0.40, 0.45, 0.50, 0.50], [1, 2, 4, 3]
    assert one_standard_error(means, [9, 9, 9, 0.06], sizes) == 1
    assert one_standard_error(means, [9, 9, 9, 0.01], sizes) == 3


def test_a_mean_exactly_one_error_below_will_do():
    # In binary 0.8 - 0.1 is more than 0.7.
    assert 0.8 - 0.1 > 0.7
    assert one_standard_error([0.7, 0.8], [0.0, 0.1], [1, 2]) == 0
    assert one_standard_error([0.7 - 1e-12, 0.8], [0.0, 0.1], [1, 2]) == 1


def test_one_fold_has_no_error_and_leaves_the_best():
    assert one_standard_error([0.3, 0.5, 0.5], [NAN, NAN, NAN], [1, 3, 2]) == 2


def test_no_models_have_an_empty_front():
    assert pareto_front([], []).tolist() == []
    assert pareto_front([1], [NAN]).tolist() == []


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: pareto_front([1, 2], [0.1]), "sizes"),
        (lambda: pareto_front([NAN], [0.1]), "sizes"),
        (lambda: pareto_front([1], [np.inf]), "values"),
        (lambda: one_standard_error([NAN], [0.1], [1]), "means"),
        (lambda: one_standard_error([0.1], [0.1, 0.2], [1]), "errors"),
        (lambda: one_standard_error([0.1], [-0.1], [1]), "errors"),
        (lambda: one_standard_error([np.inf], [0.1], [1]), "means"),
        (lambda: one_standard_error([], [], []), "means"),
    ],
)
def test_errors_name_the_parameter(call, name):
    with pytest.raises(ParameterError) as caught:
        call()
    assert caught.value.name == name
