"""Measures of plug-ins in runs and studies, with their package and without it."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from experiment.small import dataset
from plugins.packages import install, rankstudio

from rankstudio.api import Measure, Plugin
from rankstudio.cli import known_commands
from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement
from rankstudio.engine.analysis.tried_models.tried_models import can_measure
from rankstudio.engine.errors import (
    MeasureError,
    ParameterError,
    PlanError,
    PluginWarning,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan, plan_as_dict, save_plan
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import check, run
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.metrics.conventions import rules_text
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.measure_description import (
    described_measure,
    description_of_measure,
)
from rankstudio.engine.metrics.measure_registry import MEASURES, MeasureRegistry
from rankstudio.engine.metrics.names import computable, measure, missing_requirement
from rankstudio.engine.plugins import entries as plugin_entries
from rankstudio.engine.plugins.loader import PluginSet
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.plugins.plugin import LoadedPlugin

LAB = """
from rankstudio.api import Measure, Plugin
from rankstudio.cli import known_commands
RBP = Measure(
    key="RBP2", label="<b>RBP&amp;", function="lab_numbers:rbp", cutoff="optional", low=0.0, high=1.0,
    summary="{first} of {x}", convention="Moffat and Zobel 2008",
)
PLUGIN = Plugin(name="rbp", measures=(
    RBP,
    Measure(key="Raises", label="Raises", function="lab_numbers:raises"),
    Measure(key="ndcg", label="Taken", function="lab_numbers:rbp"),
    Measure(key="rbp2", label="Taken", function="lab_numbers:rbp"),
    Measure(key="a b", label="Odd", function="lab_numbers:rbp"),
    7,
))
"""
NUMBERS = """
def rbp(labels, cutoff=None):
    return sum(0.5 * 0.5**i for i, label in enumerate(labels[:cutoff]) if label > 0)

def raises(labels):
    raise ValueError("no luck")
"""


def share(labels: object, cutoff: int | None, convention: object) -> float:
    """Return the share of positive labels among the first."""
    first = labels[:cutoff]  # type: ignore[index]
    return float(sum(first > 0) / len(first))


def failing(labels: object) -> float:
    raise ValueError("no luck")


ORIGIN = Origin(OriginKind.PACKAGE, "rankstudio-lab", "1.2")
SHARE = Measure(
    "Share",
    "Share",
    f"{__name__}:share",
    cutoff="optional",
    convention="Lab",
    origin=ORIGIN,
)
FAILS = Measure("Fails", "Fails", f"{__name__}:failing", origin=ORIGIN)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MEASURES, "_listed", {"share": SHARE, "fails": FAILS})
    monkeypatch.setattr(MEASURES, "_remembered", {})


def uninstall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MEASURES, "_listed", {})
    monkeypatch.setattr(MEASURES, "_remembered", {})


PLAN = Plan(
    "small",
    parameters={"regularization": [1.0, 4.0]},
    select_by="MAP",
    measures=("MAP",),
)


def test_a_run_records_the_package_and_chooses_by_the_measure(
    installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = PLAN.changed(select_by="share@3", measures=("MAP", "Share"))
    assert plan.select_by == "Share@3"
    data = dataset()
    with Study.create(tmp_path / "a.rankstudio") as study:
        *_, ended = run_stored(plan, data, study)
    assert isinstance(ended, RunFinished)
    assert ended.result.versions["rankstudio-lab"] == "1.2"
    fold = ended.result.folds[0]
    other = Evaluator(
        data.folds[0].test.y, data.folds[0].test.query_ptr, measures=["P@3"]
    )  # type: ignore[union-attr]
    assert (
        set(fold.test) == {"MAP", "Share", "Share@3"}
        and other.n_queries == fold.per_query["Share"].size
    )

    uninstall(monkeypatch)
    with pytest.raises(ParameterError):
        measure("Share")
    with Study.open(tmp_path / "a.rankstudio") as study:
        (summary,) = study.runs()
        result = study.result(summary.key)
    assert result.folds[0].test == fold.test
    assert missing_requirement("Share@3") and computable(["MAP", "Share"]) == ("MAP",)
    assert rules_text("letor4", ["MAP", "Share@3", "Share"]) == "LETOR 4.0 (Share: Lab)"
    assert not can_measure(result, data, "Share") and can_measure(result, data, "MAP")
    with pytest.raises(PlanError, match=r"rankstudio-lab 1\.2"):
        check(result.plan, data)
    more = Remeasurement().with_measures(result, data, ["ERR"])
    assert set(more.folds[0].test) == {"MAP", "Share", "Share@3", "ERR"}
    assert more.folds[0].per_query["Share"].tolist() == fold.per_query["Share"].tolist()
    with pytest.raises(PlanError, match=r"rankstudio-lab 1\.2"):
        Remeasurement().with_measures(result, data, ["Share@1"])


def test_a_worker_without_the_package_says_so(
    installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = pickle.dumps(PLAN.changed(measures=("Share",)))
    uninstall(monkeypatch)
    plan = pickle.loads(sent)
    with pytest.raises(PlanError, match=r"rankstudio-lab 1\.2"):
        Evaluator([1.0], [0, 1], measures=plan.measures)


def test_a_measure_that_fails_ends_its_run_with_a_sentence(installed: None) -> None:
    with pytest.raises(MeasureError, match="Fails failed: ValueError: no luck"):
        list(run(PLAN.changed(measures=("Fails",)), dataset()))
    assert list(run(PLAN, dataset()))


def test_descriptions_are_read_as_data() -> None:
    values = json.loads(json.dumps(description_of_measure(SHARE)))
    entry = described_measure(values)
    assert replace(entry, origin=ORIGIN) == SHARE and entry.lacking
    for change in (
        {"key": "../x"},
        {"label": 7},
        {"low": "a"},
        {"origin": {"kind": "shell", "name": "x", "version": "1"}},
        {"origin": {"kind": "package", "name": "a\x1b[2J", "version": "1"}},
        {"function": "os.system('x')"},
        {"higher_is_better": None},
    ):
        with pytest.raises((PlanError, ValueError)):
            described_measure({**values, **change})


@pytest.mark.thorough
def test_a_package_in_the_terminal(tmp_path: Path) -> None:
    install(tmp_path, "lab", LAB)
    (tmp_path / "lab_numbers.py").write_text(NUMBERS, encoding="utf-8")
    ended = rankstudio(tmp_path, "plugins", "--json")
    listed = {
        plugin["name"]: plugin["measures"]
        for plugin in json.loads(ended.stdout)["plugins"]
    }
    assert listed["rbp"] == ["RBP2", "Raises"]
    assert "ndcg" in ended.stderr and "Traceback" not in ended.stderr
    command = (
        "run",
        "--sample",
        "--folds",
        "1",
        "--method",
        "single-feature",
        "--measure",
        "rbp2@5",
    )
    command = (
        *command,
        "--lambda",
        "1,2",
        "--features",
        "2",
        "--select-by",
        "RBP2",
        "--measures",
        "RBP2@10",
    )
    texts = []
    for workers in ("1", "2"):
        out = tmp_path / workers
        ended = rankstudio(
            tmp_path, *command, "--out", str(out), "--workers", workers, "--json"
        )
        assert ended.returncode == 0, ended.stderr
        assert json.loads(ended.stdout)["versions"]["rankstudio-lab"] == "1.2"
        texts.append((out / "metrics.csv").read_bytes())
    assert texts[0] == texts[1] and b"RBP2@10" in texts[0]
    empty = tmp_path / "empty"
    empty.mkdir()
    study = str(tmp_path / "1" / "study.rankstudio")
    for words in (
        ("compare", study, "--measures", "RBP2@10,MAP"),
        ("report", study, "--out", str(empty / "r.html")),
    ):
        if words[0] not in known_commands():  # the folder of an ability may be absent
            continue
        ended = rankstudio(empty, *words)
        assert ended.returncode == 0, (words, ended.stderr)
        assert "cannot be read" not in ended.stderr + ended.stdout
    for words in (
        ("run", "--resume", study, "--out", str(empty / "o")),
        ("compare", study, "--measures", "RBP2@3"),
    ):
        ended = rankstudio(empty, *words)
        assert ended.returncode == 1
        assert "rankstudio-lab 1.2" in ended.stderr and "Traceback" not in ended.stderr


def test_a_plan_names_the_package_of_a_measure_that_is_absent(
    installed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plan.toml"
    plan = Plan(
        "somewhere", "rankrls", measures=("MAP", "Share@3"), select_by="Share@3"
    )
    save_plan(plan, path)
    assert load_plan(path) == plan
    assert "packages" not in plan_as_dict(plan)
    uninstall(monkeypatch)
    with pytest.raises(PlanError) as caught:
        load_plan(path)
    assert all(
        word in str(caught.value)
        for word in ("Share", "rankstudio-lab 1.2", "pip install")
    )


def test_a_plan_names_the_package_of_a_method_that_is_absent(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    lines = [
        'data = "somewhere"',
        'method = "their-method"',
        "[packages]",
        'their-method = "rankstudio-theirs==2.0"',
    ]
    path.write_text("\n".join(lines))
    with pytest.raises(PlanError, match="rankstudio-theirs"):
        load_plan(path)


@pytest.mark.parametrize(
    "value",
    [
        '"x"',
        "1",
        "[1]",
        "{a = 1}",
        '{a = "x"}',
        '{a = "x; rm -rf /==1"}',
        '{a = "--index-url==1"}',
        '{a = "x==1\\n2"}',
    ],
)
def test_packages_of_a_plan_that_are_none_are_refused(
    tmp_path: Path, value: str
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(f'data = "somewhere"\npackages = {value}\n')
    with pytest.raises(PlanError, match="packages"):
        load_plan(path)


def test_of_two_packages_with_one_measure_the_first_is_used_and_both_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded = [
        LoadedPlugin(
            Plugin(name=name, measures=(replace(SHARE, key=key, origin=None),)),
            package,
            "1.0",
        )
        for name, package, key in (
            ("a", "rankstudio-a", "Twice"),
            ("b", "rankstudio-b", "twice"),
        )
    ]
    monkeypatch.setattr(
        plugin_entries, "plugins_with", lambda _: PluginSet(tuple(loaded))
    )
    monkeypatch.setattr(plugin_entries, "_given_warnings", set())
    with pytest.warns(PluginWarning) as warned:
        (entry,) = MeasureRegistry().entries()
    assert entry.package == "rankstudio-a" and entry.key == "Twice"
    (warning,) = warned
    assert "rankstudio-a 1.0" in str(warning.message) and "rankstudio-b 1.0" in str(
        warning.message
    )
