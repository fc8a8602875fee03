"""Clicks with positions: pairs, weights and the estimate of η, against plain loops over result lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine import RankingDataset, RankRLS
from rankstudio.engine.errors import DatasetError, FormatError, ParameterError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.preference_source import (
    learned_from,
    preferences_of,
)
from rankstudio.engine.experiment.plan.toml import load_plan, plan_as_toml
from rankstudio.plugins.preferences import clicks, preference_files
from rankstudio.plugins.preferences.clicks import (
    ClickRule,
    PositionBias,
    click_pairs,
    estimate_bias,
    is_click_header,
    read_clicks,
)
from rankstudio.plugins.preferences.plan_preferences import plan_entry
from rankstudio.plugins.preferences.preference_files import (
    holds_preferences,
    read_preference_file,
    read_preferences,
)

Shown = tuple[str, str, str, int, int]
"""Session, query, document, position, click."""


def shown_lists(
    seed: int, n_lists: int, eta: float = 1.0, scale: float = 1.0
) -> list[Shown]:
    """Return result lists whose documents change places, with clicks by the model."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n_lists):
        query = rng.integers(3)
        documents = rng.permutation(6)[: rng.integers(1, 7)]
        positions = np.sort(rng.permutation(9)[: documents.size] + 1)
        chance = scale * positions.astype(float) ** -eta * (documents + 1) / 7
        clicks = rng.random(documents.size) < chance
        rows += [
            (f"s{number}", f"q{query}", f"d{query}{d}", int(k), int(c))
            for d, k, c in zip(documents, positions, clicks, strict=True)
        ]
    return rows


def write(
    path: Path, rows: list[Shown], *, sessions: bool = True, propensity: bool = False
) -> Path:
    header = [*(["session"] if sessions else []), "qid", "docid", "position", "click"]
    lines = [",".join([*header, *(["propensity"] if propensity else [])])]
    for session, query, document, position, click in rows:
        cells = [
            *([session] if sessions else []),
            query,
            document,
            str(position),
            str(click),
        ]
        lines.append(
            ",".join([*cells, *([str(1 / (position + 1))] if propensity else [])])
        )
    path.write_text("\n".join(lines) + "\n")
    return path


def brute_pairs(
    rows: list[Shown], rule: str, weight: dict[int, float]
) -> dict[tuple[str, str, str], float]:
    found: dict[tuple[str, str, str], float] = {}
    for session, query, winner, above, clicked in rows:
        for other, _, loser, position, also in rows:
            if (
                clicked
                and not also
                and session == other
                and (rule == "unclicked" or position < above)
            ):
                key = query, winner, loser
                found[key] = found.get(key, 0.0) + weight[above]
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    seed=st.integers(0, 10_000),
    rule=st.sampled_from(["unclicked", "skipped"]),
    eta=st.floats(0, 3),
    mixed=st.booleans(),
    propensity=st.booleans(),
    block=st.sampled_from([1, 7, 1000]),
)
def test_pairs_and_weights_are_those_of_loops(
    seed: int,
    rule: str,
    eta: float,
    mixed: bool,
    propensity: bool,
    block: int,
    tmp_path: Path,
) -> None:
    rows = shown_lists(seed, 12)
    expected = brute_pairs(
        rows, rule, {k: k + 1.0 if propensity else k**eta for k in range(1, 10)}
    )
    if mixed:  # with sessions, the lines of a list need not stand together
        rows = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
    log_file = write(tmp_path / f"{seed}.csv", rows, propensity=propensity)
    if not expected:
        with pytest.raises(DatasetError):
            read_preference_file(
                log_file, ClickRule(rule, "" if propensity else str(eta))
            )
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clicks, "_DOCUMENTS_PER_BLOCK", block)
        patch.setattr(clicks, "_MAX_PARTS", 2)
        preference_files._preferences_of_clicks.cache_clear()
        file = read_preference_file(
            log_file, ClickRule(rule, "" if propensity else str(eta))
        )
    columns = file._columns
    found = {
        (columns.queries[q], columns.documents[w], columns.documents[o]): v
        for q, w, o, v in zip(
            columns.query, columns.winner, columns.loser, columns.weight, strict=True
        )
    }
    assert found.keys() == expected.keys() and len(found) == columns.weight.size
    for key, value in found.items():
        assert value == pytest.approx(expected[key], rel=1e-12)
    assert file.clicks is not None and file.clicks.n_pairs == len(expected)
    assert file.clicks.n_clicks == sum(row[4] for row in rows)
    assert file.clicks.rule == ClickRule(rule, "given" if propensity else str(eta))
    lines = log_file.read_text().splitlines()
    for line, query, winner in zip(
        columns.line, columns.query, columns.winner, strict=True
    ):
        assert (
            f"{columns.queries[query]},{columns.documents[winner]}," in lines[line - 1]
        )


def test_a_list_begins_with_a_query_or_where_the_position_does_not_increase(
    tmp_path: Path,
) -> None:
    rows = [
        (f"s{s}", q, f"d{p}", p, int(p == 2))
        for s, q in enumerate("aab")
        for p in (1, 2, 3)
    ]
    rule = ClickRule("skipped", "1")
    logs = [
        read_clicks(write(tmp_path / f"{s}.csv", rows, sessions=s), rule)
        for s in (True, False)
    ]
    for log in logs:
        assert log.n_lists == 3 and log.pairs.weight.tolist() == [2.0, 1.0]
    pairs = click_pairs(logs[1], PositionBias(1.0))
    assert pairs.weight.tolist() == [4.0, 2.0], "two lists of query a, one of b"


def brute_likelihood(rows: list[Shown], eta: float) -> float:
    """Return the log-likelihood of the positions of clicks, given their number for each document."""
    total = 0.0
    for query, document in {(row[1], row[2]) for row in rows}:
        own = [(row[3], row[4]) for row in rows if row[1:3] == (query, document)]
        mass = sum(position**-eta for position, _ in own)
        total += sum(np.log(position**-eta / mass) for position, click in own if click)
    return total


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(5, 30))
def test_eta_maximises_the_likelihood(seed: int, n: int, tmp_path: Path) -> None:
    rows = shown_lists(seed, n)
    if not any(row[4] for row in rows):
        return
    log = read_clicks(write(tmp_path / f"{seed}.csv", rows), ClickRule()).shown
    grid = np.linspace(0, 10, 201)
    values = [brute_likelihood(rows, eta) for eta in grid]
    if np.ptp(values) < 1e-9 or np.argmax(values) == grid.size - 1:
        with pytest.raises(DatasetError, match="η"):
            estimate_bias(log)
        return
    found = estimate_bias(log)
    assert brute_likelihood(rows, found.eta) >= max(values) - 1e-9
    # Minus the second derivative, by differences: steps of 1e-3 have errors of some 1e-6 of the values.
    step = 1e-3
    ends = brute_likelihood(rows, found.eta + step) + brute_likelihood(
        rows, found.eta - step
    )
    curvature = (2 * brute_likelihood(rows, found.eta) - ends) / step**2
    assert found.error == pytest.approx(curvature**-0.5, rel=1e-3)


@pytest.mark.parametrize("eta", [0.5, 1.0, 1.8])
def test_eta_is_found_again(eta: float, tmp_path: Path) -> None:
    # Rare clicks, as the likelihood assumes: four standard errors hold it but once in 16,000 times.
    rows = shown_lists(4, 6000, eta, scale=0.2)
    found = estimate_bias(
        read_clicks(write(tmp_path / "log.csv", rows), ClickRule()).shown
    )
    assert abs(found.eta - eta) < 4 * found.error < 0.4
    assert found.n_documents == 18


def test_learning_from_clicks_is_learning_from_weighted_preferences(
    tmp_path: Path,
) -> None:
    rows = shown_lists(1, 40)
    rng = np.random.default_rng(0)
    comments = [f"docid = d{q}{d}" for q in range(3) for d in range(6)]
    data = RankingDataset.from_arrays(
        rng.random((18, 3)),
        np.zeros(18),
        [f"q{q}" for q in range(3) for _ in range(6)],
        comments=comments,
    )
    log = write(tmp_path / "log.csv", rows)
    plain = [
        f"{q},{w},{o},1,{v!r}"
        for (q, w, o), v in brute_pairs(rows, "unclicked", _weights(log)).items()
    ]
    (tmp_path / "plain.csv").write_text("\n".join(plain))
    learned = [
        RankRLS(cost="unit", weighting="pairs").fit(
            data.X, qid=data.qid, preferences=read_preferences(tmp_path / name, data)
        )
        for name in ("log.csv", "plain.csv")
    ]
    np.testing.assert_allclose(learned[0].coef_, learned[1].coef_, rtol=1e-9)


def _weights(log: Path) -> dict[int, float]:
    bias = estimate_bias(read_clicks(log, ClickRule()).shown)
    return {k: k**bias.eta for k in range(1, 10)}


def test_a_plan_says_how_clicks_become_preferences(tmp_path: Path) -> None:
    log = write(tmp_path / "log.csv", shown_lists(1, 30))
    assert holds_preferences(log) and is_click_header(
        ["Query_ID", "doc", "Rank", "clicked"]
    )
    named = plan_entry(log, ClickRule("skipped", "0.7"))
    plan = Plan("a.txt", preferences=named)
    assert dict(preferences_of(plan)) == {**named, "pairs": "skipped", "eta": "0.7"}
    (tmp_path / "plan.toml").write_text(plan_as_toml(plan))
    assert load_plan(tmp_path / "plan.toml") == plan
    skipping = Plan(
        "a.txt", preferences={"path": "log.csv", "pairs": "skipped", "eta": 0.7}
    )
    assert preferences_of(skipping) == {
        "path": "log.csv",
        "pairs": "skipped",
        "eta": "0.7",
    }
    assert "clicks" in learned_from(
        preferences_of(plan)
    ) and "judg" not in learned_from(preferences_of(plan))
    facts = read_preference_file(log).clicks
    assert facts is not None and naming("not judgments η estimated").search(
        facts.sentence
    )
    for wrong in ({"pairs": "all"}, {"eta": "-1"}, {"eta": "x"}, {"eta": 11}):
        with pytest.raises(ParameterError):
            Plan("a.txt", preferences={"path": "log.csv", **wrong})


HEAD = "session,qid,docid,position,click,propensity\n"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (HEAD + "1,q,a,0,1,1\n", "position 0"),
        (HEAD + "1,q,a,1.5,1,1\n", "position 1.5"),
        (HEAD + "1,q,a,1,2,1\n", "click 2"),
        (HEAD + "1,q,a,1,1,0\n", "propensity 0"),
        (HEAD + "1,q,a,1,1,1.1\n", "propensity 1.1"),
        (HEAD + "1,q,,1,1,1\n", "docid"),
        (HEAD + "1,q,a\n", "docid"),
        (HEAD + '1,q,"a,1,1,1\n', "docid"),
        (HEAD + "1,q,a,1,1,1\n1,q,a,2,0,1\n", "document once"),
        (HEAD + "1,q,a,1,1,1\n1,q,b,1,0,1\n", "position once"),
    ],
)
def test_a_wrong_line_is_named(text: str, named: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(FormatError, match=naming(f"log.csv {named}")):
        read_preference_file(tmp_path / "log.csv")


@pytest.mark.parametrize(
    ("text", "rule", "named"),
    [
        (HEAD, None, "clicks"),
        (HEAD + "1,q,a,1,0,1\n", None, "clicks"),
        (HEAD + "1,q,a,1,1,1\n", None, "unclicked"),
        (HEAD + "1,q,a,1,1,1\n1,q,b,2,0,1\n", ClickRule("skipped"), "unclicked"),
        (HEAD + "1,q,a,1,1,1\n1,q,b,2,0,1\n", ClickRule(eta="estimated"), "η several"),
        ("qid,docid,position,click\nq,a,1,1\nq,b,2,0\n", None, "η several"),
        (
            "qid,docid,position,click\nq,a,1,1\nq,b,2,0\n",
            ClickRule(eta="given"),
            "propensity",
        ),
        (
            "qid,docid,position,click\nq,a,1,1\nq,b,2,0\nq,b,1,0\nq,a,2,0\n",
            ClickRule(),
            "η 10",
        ),
        ("qid,winner,loser\nq,a,b\n", ClickRule(), "clicks"),
    ],
)
def test_clicks_of_no_use_are_refused(
    text: str, rule: ClickRule | None, named: str, tmp_path: Path
) -> None:
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(DatasetError, match=naming(f"log.csv {named}")):
        read_preference_file(tmp_path / "log.csv", rule)
