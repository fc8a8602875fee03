"""Plans drawn at random: what they find is computed anew, and every way to run them leaves the same bytes.

A plan names any data, method, ranker, protocol, rule, measure and convention. It is run as TOML, and as the
command, the program or notebook that ``rankstudio plan`` makes of it; or each way refuses it by the same
sentence.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import tomli_w
from drawn_data import DrawnData, drawn_data
from drawn_plans import drawn_plan
from fuzzer import refusal
from scipy.stats import ttest_rel
from slow_runs import Scores, choice, error_of_mean, mean, measured, per_query, same

from rankstudio.cli import main
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_groups import feature_groups_of
from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.plan.toml import load_plan
from rankstudio.engine.experiment.results.results import (
    FoldResult,
    PathResult,
    RunResult,
)
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.metrics.names import measure

STEPS_MEASURED = 3  # of a path, by plain code

pytestmark = [
    pytest.mark.cli,
    pytest.mark.filterwarnings(
        "default::rankstudio.engine.methods.kernels.nystrom.DependentBasisWarning"
    ),
    pytest.mark.filterwarnings(
        "default::rankstudio.engine.methods.selection.fsmrank.IndefiniteSimilarityWarning"
    ),
]


@dataclass(frozen=True)
class Answer:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """What a refusal says."""
        return self.err.splitlines()[-1].removeprefix("rankstudio: ")


def command(*arguments: object) -> Answer:
    """Carry a command out in this process."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as left:  # a wrong command line
            status = int(left.code or 0)
    return Answer(status, out.getvalue(), err.getvalue())


@contextmanager
def explained(folder: Path, values: dict[str, Any], again: str) -> Iterator[None]:
    """Say of a failure which plan it is of, and how to try it again."""
    try:
        yield
    except BaseException as error:
        error.add_note(
            f"The plan, of data in {folder}:\n{tomli_w.dumps(values)}\nTry it again: {again}"
        )
        raise


def test_a_random_plan_is_what_plain_code_finds_in_every_way_it_is_run(
    plan_number: int,
    plans_seed: int,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    rng = Random(f"{plans_seed}:plan:{plan_number}")
    data = drawn_data(rng, tmp_path)
    values = drawn_plan(rng, data)
    again = f"pytest tests/plans --plans-seed {plans_seed} --plan-number {plan_number}"
    with explained(tmp_path, values, again):
        record_property("refused", check(rng, data, values, tmp_path))


def check(rng: Random, data: DrawnData, values: dict[str, Any], folder: Path) -> str:
    """Hold all that a run leaves against plain code; return by what it was refused, if it was."""
    source, out = folder / "drawn.toml", folder / "out"
    source.write_text(tomli_w.dumps(values), encoding="utf-8")
    refitted = ["--refit"] if rng.random() < 0.3 else []
    ran = command("run", source, "--out", out, *refitted)
    if ran.status and refitted and (out / "results.json").exists():
        assert (
            "all queries" in ran.sentence and not (out / "models" / "all.json").exists()
        )
        # trained on all queries, the model has more features than its rule allows
        return ran.sentence
    if ran.status:
        check_refusal(ran, source, out, refitted)
        return ran.sentence
    plan = load_plan(source)
    result = check_ways(rng, out, folder, refitted)
    dataset = open_data(load_plan(out / "plan.toml"))
    check_folds(plan, dataset, data)
    found = json.loads((out / "results.json").read_text())
    for fold, said in zip(result.folds, found["folds"], strict=True):
        parts = {
            name: list(part.query_ids)
            for name, part in dataset.folds[_place(dataset, fold.fold)].parts.items()
        }
        check_measures(
            plan, data, fold, said, parts, out / "models" / f"fold{fold.fold}.json"
        )
        check_paths(rng, plan, data, dataset, fold)
        check_choice(plan, data, dataset, fold)
        check_groups(plan, fold)
    check_averages(plan, found)
    if refitted:
        scores_of(data, out / "models" / "all.json")
    return ""


def _place(dataset: FoldedDataset, number: int) -> int:
    return [fold.number for fold in dataset.folds].index(number)


def check_refusal(ran: Answer, source: Path, out: Path, refitted: list[str]) -> None:
    """One sentence, the same as a command, and nothing written."""
    assert ran.status == 1 and not ran.out
    assert "Traceback" not in ran.err
    refusal(RankStudioError(ran.sentence))
    assert not (out / "results.json").exists()
    told = command("plan", source, "--to", "command")
    if told.status:  # it is none that could be run
        assert told.sentence == ran.sentence
        return
    again = command(*shlex.split(told.out)[1:], "--out", out, *refitted)
    assert again.status == 1 and again.sentence == ran.sentence


def files(folder: Path) -> dict[str, bytes]:
    """Return the results in a folder, but for the study, which has times."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith("study.")
    }


def check_ways(rng: Random, out: Path, folder: Path, refitted: list[str]) -> RunResult:
    """Run a plan again in every way; return what the program found."""
    expected = files(out)
    assert (
        command("run", out / "plan.toml", "--out", folder / "toml", *refitted).status
        == 0
    )
    assert files(folder / "toml") == expected
    told = command("plan", out / "plan.toml", "--to", "command")
    assert command("plan", out / "study.rankstudio", "--to", "command").out == told.out
    again = command(
        *shlex.split(told.out)[1:],
        "--out",
        folder / "command",
        "--study",
        out / "study.rankstudio",
        *refitted,
    )
    assert again.status == 0
    assert files(folder / "command") == expected
    runs = json.loads(command("studies", out / "study.rankstudio", "--json").out)
    assert len(runs) == 1, "a run that is in a study already is no other one"
    form = rng.choice(("python", "notebook"))
    place = folder / form
    program = command("plan", out / "plan.toml", "--to", form, "--results", place).out
    said: dict[str, Any] = {"__name__": "__main__"}
    with redirect_stdout(StringIO()):
        exec(code_of(program) if form == "notebook" else program, said)
    assert files(place) == {
        name: text for name, text in expected.items() if name != "models/all.json"
    }
    result: RunResult = said["result"]
    return result


def code_of(notebook: str) -> str:
    """Return the code of a notebook, without what only draws."""
    cells = [
        cell for cell in json.loads(notebook)["cells"] if cell["cell_type"] == "code"
    ]
    return "\n".join(
        "".join(cell["source"])
        for cell in cells
        if cell["source"] != ["result.plot();"]
    )


def check_folds(plan: Plan, dataset: FoldedDataset, data: DrawnData) -> None:
    """The folds are those of the files, or divide all queries."""
    dealt = {
        fold.number: {name: list(p.query_ids) for name, p in fold.parts.items()}
        for fold in dataset.folds
    }
    if plan.protocol == "given":
        assert dealt == data.folds
    for parts in dealt.values():
        together = [query for own in parts.values() for query in own]
        assert len(set(together)) == len(together)
        assert (
            set(together) == set(data.queries)
            or parse_protocol(plan.protocol).kind == "nested"
        )


def scores_of(data: DrawnData, model: Path) -> Scores:
    """Return what a model of a file gives to all documents, by ``rankstudio predict``."""
    printed = command("predict", data.whole, "--model", model, "--json")
    assert printed.status == 0, printed.err
    return by_query(data, json.loads(printed.out))


def by_query(data: DrawnData, scores: list[float]) -> Scores:
    left = iter(scores)
    found = {
        name: [next(left) for _ in query.documents]
        for name, query in data.queries.items()
    }
    assert next(left, None) is None
    return found


def check_measures(
    plan: Plan,
    data: DrawnData,
    fold: FoldResult,
    said: dict[str, Any],
    parts: dict[str, list[str]],
    model: Path,
) -> None:
    """The chosen model's measures are those of what it predicts."""
    scores = scores_of(data, model)
    wanted = [("test", said["test"])]
    wanted += [] if plan.inner else [("vali", said["validation"])]
    for part, values in wanted:
        queries = parts.get(part, [])
        assert list(values) == (list(plan.evaluated) if queries else [])
        for name, value in values.items():
            slowly = measured(data, plan.convention, name, queries, scores)
            assert same(value, mean(slowly)), (
                fold.fold,
                part,
                name,
                value,
                mean(slowly),
            )
            if part == "test":
                quick = fold.per_query[name].tolist()
                assert all(map(same, quick, slowly)), (fold.fold, name, quick, slowly)


def check_paths(
    rng: Random, plan: Plan, data: DrawnData, dataset: FoldedDataset, fold: FoldResult
) -> None:
    """What a path measured on a validation part is what its models measure there."""
    vali = dataset.folds[_place(dataset, fold.fold)].vali
    if vali is None or plan.inner:
        return
    columns = np.ascontiguousarray(vali.X.T)
    for path in fold.paths:
        for place in rng.sample(
            range(len(path.steps)), min(STEPS_MEASURED, len(path.steps))
        ):
            scores = path.steps[place].scores(columns)
            for name in plan.evaluated:
                slowly = [
                    per_query(data, plan.convention, name, query, scores[a:b].tolist())
                    for query, a, b in zip(
                        vali.query_ids,
                        vali.query_ptr[:-1],
                        vali.query_ptr[1:],
                        strict=True,
                    )
                ]
                quick = float(path.validation[name][place])
                assert same(quick, mean(slowly)), (
                    fold.fold,
                    path.unit,
                    place,
                    name,
                    quick,
                    mean(slowly),
                )


def check_choice(
    plan: Plan, data: DrawnData, dataset: FoldedDataset, fold: FoldResult
) -> None:
    """The model is the one that the rule chooses of what was measured."""
    vali = dataset.folds[_place(dataset, fold.fold)].vali

    def in_queries(path: PathResult, place: int) -> list[float]:
        assert vali is not None
        scores = path.steps[place].scores(np.ascontiguousarray(vali.X.T))
        pieces = zip(
            vali.query_ids, vali.query_ptr[:-1], vali.query_ptr[1:], strict=True
        )
        return [
            per_query(data, plan.convention, plan.chosen_by, q, scores[a:b].tolist())
            for q, a, b in pieces
        ]

    def error(path: PathResult, place: int) -> float:
        if plan.select_by in path.standard_errors:
            return float(path.standard_errors[plan.select_by][place])
        return 0.0 if vali is None else error_of_mean(in_queries(path, place))

    def worse(path: PathResult, place: int, best: int) -> bool:
        if vali is None or plan.inner or plan.leaves_out:
            tested = path.p_values.get(plan.select_by)
            # none of fewer than six queries
            return tested is None or bool(tested[place] < 0.05)
        pairs = np.array([in_queries(path, place), in_queries(path, best)])
        pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
        difference = pairs[0] - pairs[1]
        if difference.size < 6:
            return True
        same_everywhere = bool(np.ptp(difference) < 1e-12)
        return (
            bool(abs(difference[0]) > 1e-12)
            if same_everywhere
            else ttest_rel(*pairs).pvalue < 0.05
        )

    number, place = choice(plan, fold.paths, error, worse)
    assert fold.chosen.unit == fold.paths[number].unit
    assert fold.chosen.step.number == fold.paths[number].steps[place].number


def check_groups(plan: Plan, fold: FoldResult) -> None:
    """Every group is in the model as a whole, or not at all."""
    ids = set(fold.selected)
    for group in feature_groups_of(plan).values():
        assert set(group) <= ids or not set(group) & ids, (fold.fold, fold.selected)


def check_averages(plan: Plan, found: dict[str, Any]) -> None:
    """The average is that of the folds' values."""
    tested = [fold["test"] or fold["validation"] for fold in found["folds"]]
    for name, value in found["average"].items():
        assert measure(name).name in plan.evaluated
        values = [np.nan if fold[name] is None else fold[name] for fold in tested]
        assert same(value, mean(values)), (name, value, values)
