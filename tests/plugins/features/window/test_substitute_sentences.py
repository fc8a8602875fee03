"""What is said of substitutes."""

from __future__ import annotations

import numpy as np
import pytest

from rankstudio.plugins.features.substitutes import (
    NO_SWAPS,
    GroupSwap,
    SubstituteGroup,
    Substitutes,
    Swap,
)
from rankstudio.plugins.features.window.substitutes_panel import (
    substitute_sentences,
    swap_sentence,
)

IDS = np.arange(10, 90, 10)
NAMES = tuple("abcdefgh")
NAN = float("nan")


def sentences(
    *groups: SubstituteGroup, better: tuple[Swap, ...] = (), why: str = ""
) -> list[tuple[str, str]]:
    found = Substitutes((), np.empty((0, 0)), (), groups, better, why, 8)
    return [(s.title, s.text) for s in substitute_sentences(found, IDS, NAMES)]


@pytest.mark.parametrize(
    ("group", "title", "text"),
    [
        pytest.param(
            SubstituteGroup((0,), (2, 3), 0.9567, (Swap(0, 2, 0.97, 0.00042),)),
            "a (10), 30 or 40",
            "These features correlate with |r| ≥ 0.95. "
            "c (30) instead of 10 raises the leave-query-out error by 0.0004 per document.",
            id="what could stand for a feature, and what it costs",
        ),
        pytest.param(
            SubstituteGroup((0,), (1, 2, 3, 4, 5, 6, 7), 0.9, (Swap(0, 1, 0.97, 0.0),)),
            "a (10), 20, 30, 40, 50 or 60 and 2 more",
            "These features correlate with |r| ≥ 0.90. "
            "b (20) instead of 10 does not change the leave-query-out error.",
            id="a large cluster is cut",
        ),
        pytest.param(
            SubstituteGroup(
                (0, 1), (2,), 0.92, (Swap(0, 2, 0.97, 0.001), Swap(1, 2, 0.95, -0.0002))
            ),
            "a (10) and b (20) or 30",
            "These features correlate with |r| ≥ 0.92. "
            "c (30) instead of 10 raises the leave-query-out error by 0.0010 per document. "
            "c (30) instead of 20 lowers the leave-query-out error by 0.0002 per document.",
            id="two selected features are named together",
        ),
        pytest.param(
            SubstituteGroup((5,), (), NAN, (Swap(5, 2, -0.314, 0.0121),)),
            "f (60)",
            "c (30) instead of 60 raises the leave-query-out error by 0.0121 per document. "
            "Their correlation is r = −0.31.",
            id="a feature alone has its nearest",
        ),
        pytest.param(
            SubstituteGroup(
                *((0, 1, 3), (2, 4), 0.9),
                (Swap(0, 2, 0.95, NAN), Swap(1, 2, 0.91, NAN), Swap(3, 4, -0.9, NAN)),
            ),
            "a (10), b (20) and d (40), 30 or 50",
            "These features correlate with |r| ≥ 0.90. "
            "c (30) is the unselected feature most similar to 10 (r = 0.95) and 20 (r = 0.91). "
            "e (50) is the unselected feature most similar to 40 (r = −0.90).",
            id="what is nearest to several is named once",
        ),
    ],
)
def test_a_cluster_is_a_sentence(group: SubstituteGroup, title: str, text: str) -> None:
    assert sentences(group) == [(title, text)]


def test_without_a_criterion_there_is_only_likeness_and_the_reason():
    group = SubstituteGroup((0,), (2,), 0.95, (Swap(0, 2, 0.95, NAN),))
    alone = SubstituteGroup((5,), (), NAN, (Swap(5, 2, 0.001, NAN),))
    assert sentences(group, alone, why=NO_SWAPS) == [
        (
            "a (10) or 30",
            "These features correlate with |r| ≥ 0.95. "
            "c (30) is the unselected feature most similar to 10 (r = 0.95).",
        ),
        ("f (60)", "No unselected feature is similar."),
        ("", NO_SWAPS),
    ]


def test_a_swap_that_would_be_better_comes_first():
    group = SubstituteGroup((0,), (2,), 0.95, (Swap(0, 2, 0.95, 0.1),))
    better = Swap(0, 4, 0.2, -0.00021), Swap(5, 4, 0.2, -0.0001)
    told = sentences(group, better=better)
    assert told[0] == (
        "2 changes lower the error",
        "e (50) instead of 10 lowers the leave-query-out error by 0.0002 per document.",
    )


def test_a_feature_that_is_better_left_out_is_named_and_looked_at():
    found = Substitutes(
        (), np.empty((0, 0)), (), (), (Swap(3, None, NAN, -0.0005),), "", 8
    )
    (told,) = substitute_sentences(found, IDS, NAMES)
    assert (told.title, told.feature) == ("1 change lowers the error", 40)
    assert "d (40)" in told.text and "0.0005" in told.text


def test_what_is_better_by_rounding_alone_is_not_told():
    group = SubstituteGroup((0,), (2,), 0.95, (Swap(0, 2, 0.95, 0.1),))
    assert sentences(group, better=(Swap(3, None, NAN, -1e-13),)) == sentences(group)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (0.0, "not change"),
        (0.0004, "raises the leave-query-out error by 0.0004 "),
        (-0.0000034, "lowers the leave-query-out error by 0.000003 "),
        (0.25, " 0.2500 "),
        (1e-14, "not change"),
    ],
)
def test_a_change_has_as_many_decimals_as_it_needs(change, text):
    assert text in swap_sentence(change, "a", "b")


def test_features_that_nothing_is_like_share_a_sentence():
    lonely = [SubstituteGroup((c,), (), NAN, (Swap(c, 2, 0.0, NAN),)) for c in (5, 6)]
    group = SubstituteGroup(
        (0, 1), (), 0.92, (Swap(0, 2, 0.0, NAN), Swap(1, 2, 0.0, NAN))
    )
    assert sentences(lonely[0], group, lonely[1]) == [
        (
            "a (10) and b (20)",
            "These features correlate with |r| ≥ 0.92. No unselected feature is similar.",
        ),
        (
            "2 features without substitutes",
            "No unselected feature is similar to 60 or 70.",
        ),
    ]


def test_where_every_feature_is_selected_none_is_left():
    groups = [SubstituteGroup((c,), (), NAN, ()) for c in (5, 6)]
    assert sentences(*groups) == [
        (
            "2 features without substitutes",
            "60 and 70 have no substitutes because all features are selected.",
        )
    ]


def test_groups_are_named_and_swapped_as_a_whole():
    swaps = (GroupSwap((0, 1), (4,), -0.0007), GroupSwap((2,), (5, 6), 0.0))
    found = Substitutes((), np.empty((0, 0)), (), (), (), "", 8, swaps)
    groups = {"BM25": (10, 20), "TF": (60, 70)}
    assert [
        (s.title, s.text) for s in substitute_sentences(found, IDS, NAMES, groups)
    ] == [
        (
            "BM25 (10, 20) as a whole",
            "e (50) instead of BM25 (10, 20) lowers the leave-query-out error by 0.0007 per document.",
        ),
        (
            "c (30)",
            "TF (60, 70) instead of c (30) does not change the leave-query-out error.",
        ),
    ]


def test_whatever_would_be_better_comes_first_and_all_else_stays_where_it_is():
    alike = [
        SubstituteGroup((0,), (2,), 0.95, (Swap(0, 2, 0.95, 0.1),)),
        SubstituteGroup((3,), (4,), 0.95, (Swap(3, 4, 0.95, -0.0002),)),
        SubstituteGroup((7,), (1,), 0.95, (Swap(7, 1, 0.95, 0.05),)),
    ]
    swaps = (GroupSwap((5, 6), (1,), 0.001), GroupSwap((1, 2), (4,), -0.0007))
    found = Substitutes((), np.empty((0, 0)), (), tuple(alike), (), "", 8, swaps)
    titles = [
        s.title
        for s in substitute_sentences(
            found, IDS, NAMES, {"BM25": (20, 30), "TF": (60, 70)}
        )
    ]
    assert titles == [
        "BM25 (20, 30) as a whole",
        "d (40) or 50",
        "a (10) or 30",
        "h (80) or 20",
        "TF (60, 70) as a whole",
    ]
