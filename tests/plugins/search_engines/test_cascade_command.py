"""``rankstudio cascade``, as a user calls it, and costs in the other commands."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path

import pytest
from letor_folder import save_folds
from wording import naming

from rankstudio.api import analyse
from rankstudio.cli import main
from rankstudio.engine import open_dataset
from rankstudio.engine.analysis.catalog_analyses.analysis_code import (
    analysis_as_command,
)
from rankstudio.engine.data.cost_files import read_costs
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import SealMark
from rankstudio.engine.experiment.stored_run import run_with_data
from rankstudio.engine.methods.catalog.analysis import analysis
from rankstudio.engine.support.work import finish
from rankstudio.plugins.search_engines.cascades import find_cascades


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data with costs beside them, and a study of three runs."""
    root = tmp_path_factory.mktemp("cascade")
    data = save_folds(root / "Made", 2, n_queries=30, seed=3)
    ids = open_dataset(data).feature_ids.tolist()
    lines = [f"{i},{0.01 * (i % 4)},{i % 3}\n" for i in ids]
    (root / "costs.csv").write_text("feature,per_document,per_query\n" + "".join(lines))
    (data / "costs.csv").write_text((root / "costs.csv").read_text())
    run = [
        "run",
        "--data",
        str(data),
        "--lambda",
        "1",
        "--measures",
        "MAP",
        "--study",
        str(root / "s.rankstudio"),
    ]
    for more in (
        ["--features", "4"],
        ["--by-cost", "milliseconds", "--budget", "3"],
        ["--method", "single-feature"],
    ):
        assert main([*run, *more]) == 0
    return root


def test_the_table_is_that_of_the_function(made: Path, answer, done) -> None:
    words = [
        "cascade",
        str(made / "s.rankstudio"),
        "--run",
        "1",
        "--depths",
        "2,5",
        "--budget",
        "2",
    ]
    values = answer([*words, "--json"])
    with Study.open(made / "s.rankstudio") as study:
        result = study.result(study.runs()[0].key)
    data = open_dataset(made / "Made")
    found = finish(
        find_cascades(result, data, read_costs(made / "costs.csv", data), "MAP", [2, 5])
    )
    assert len(values["cascades"]) == len(found.cascades)
    for row, one in zip(values["cascades"], found.cascades, strict=True):
        assert row["milliseconds"] == one.milliseconds
        assert (row["validation"], row["test"]) == (one.validation, one.test)
        assert row["chosen"] == (one is found.within(2.0))
        assert [len(sets["first"]) for sets in row["features"]] == [one.first] * 2
    assert "chosen" in done(words).out


def test_a_sealed_test_part_is_not_measured(
    made: Path, tmp_path: Path, answer, done
) -> None:
    copy = tmp_path / "sealed.rankstudio"
    copy.write_bytes((made / "s.rankstudio").read_bytes())
    words = ["cascade", str(copy), "--run", "1"]
    assert "test MAP" in done(words).out
    with Study.open(copy) as opened:
        opened.note_seal(SealMark.now(sealed=True))
    told = done(words).out
    assert "validation MAP" in told and "test" not in told
    assert all("test" not in row for row in answer([*words, "--json"])["cascades"])


def test_a_budget_that_is_too_small_is_a_note(made: Path, done) -> None:
    told = done(
        ["cascade", str(made / "s.rankstudio"), "--run", "1", "--budget", "1e-9"]
    )
    assert "chosen" not in told.out and naming("ms cheapest").search(told.err)


def test_costs_beside_the_data_are_in_every_plan_and_select_when_asked(
    made: Path, answer, done
) -> None:
    with Study.open(made / "s.rankstudio") as study:
        plain, priced, _ = (study.result(one.key) for one in study.runs())
    costs = priced.plan.extension(FeatureCosts)
    assert (
        plain.plan.extension(FeatureCosts) == costs
        and plain.plan.parameters["costs"] == ()
    )
    assert costs is not None
    for fold in priced.folds:
        assert costs.milliseconds(fold.selected) <= 3.0 + 1e-9
    values = answer(["compare", str(made / "s.rankstudio"), "--json"])
    front = values["front_by_cost"]
    assert [row["milliseconds"] for row in front] == sorted(
        row["milliseconds"] for row in front
    )
    assert "ms per query" in done(["compare", str(made / "s.rankstudio")]).out


@pytest.mark.ability("evidence")
def test_evidence_has_the_loss_per_millisecond(
    made: Path, answer, done, tmp_path: Path
) -> None:
    words = [
        "evidence",
        str(made / "s.rankstudio"),
        "--run",
        "1",
        "--loss",
        "MAP",
        "--halves",
        "4",
    ]
    rows = answer([*words, "--json"])["features"]
    data = open_dataset(made / "Made")
    costs = read_costs(made / "costs.csv", data)
    lost = [row for row in rows if row["loss"] is not None]
    assert lost
    for row in lost:
        cost = costs.milliseconds([row["feature"]])
        expected = row["loss"] / cost if cost else None
        assert row["loss_per_millisecond"] == (
            pytest.approx(expected) if expected is not None else None
        )
    assert "per ms" in done([*words, "--out", str(tmp_path)]).out
    with (tmp_path / "evidence.csv").open() as file:
        assert "loss_per_millisecond" in next(csv.reader(file))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--budget", "-1"], "--budget -1"),
        (["--depths", "0"], "depths 0"),
        (["--depths", "a"], "--depths a"),
        (["--run", "9"], "--run 9"),
        (["--costs", "nowhere.csv"], "nowhere.csv"),
        (["--measure", "P@7"], "P@7"),
    ],
)
def test_what_cannot_be_done_is_said(
    made: Path, refused, more: list[str], said: str
) -> None:
    base = ["cascade", str(made / "s.rankstudio")]
    refused([*base, *([] if more[0] == "--run" else ["--run", "1"]), *more], said)


def test_without_costs_a_file_is_asked_for(made: Path, refused, tmp_path: Path) -> None:
    data = save_folds(tmp_path / "Made", 2, n_queries=30, seed=3)
    study = tmp_path / "s.rankstudio"
    assert (
        main(
            [
                "run",
                "--data",
                str(data),
                "--lambda",
                "1",
                "--features",
                "2",
                "--study",
                str(study),
            ]
        )
        == 0
    )
    refused(["cascade", str(study)], "--costs")


def test_python_and_the_copied_command_have_the_same_cascades(
    made: Path, answer
) -> None:
    study = made / "s.rankstudio"
    with Study.open(study) as kept:
        key = kept.runs()[0].key
        run, _, data = run_with_data(kept, key)
    chosen = {"budget": 2.5, "depths": (5, 10)}
    (table,) = analyse("cascade", run, data, **chosen)
    command = shlex.split(
        analysis_as_command(analysis("cascade"), run.plan, chosen, study, key.id)
    )
    cascades = answer([*command[1:], "--json"])["cascades"]
    assert [row[0] for row in table.rows] == [one["milliseconds"] for one in cascades]
    assert [row[-1] == "chosen" for row in table.rows] == [
        one["chosen"] for one in cascades
    ]
