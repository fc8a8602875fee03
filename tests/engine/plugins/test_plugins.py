"""Plug-ins of other packages: found, listed, used, left out, and harmless where they are broken."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from experiment.local_cluster import LocalCluster
from experiment.small import dataset
from plugins.packages import install, rankstudio

from rankstudio.cli import known_commands, main
from rankstudio.cli.code_options import add_named_code
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.methods import catalog
from rankstudio.engine.methods.catalog import MethodRegistry
from rankstudio.engine.methods.catalog.description import (
    described_method,
    description_of,
)
from rankstudio.engine.methods.foreign.permission import add_by_user
from rankstudio.engine.plugins.loader import plugins

OWN = tuple(loaded.plugin.name for loaded in plugins().loaded if loaded.built_in)
GOOD = """
from rankstudio.api import Description, Method, Plugin, RANKING_LAMBDA, SIZE, LEAVE_QUERY_OUT
ENTRY = Method(
    key="spread", label="Spread <b>&amp;", family="selector",
    description=Description("Nobody 2031", "Spread", "Orders features by their variance."),
    criterion=LEAVE_QUERY_OUT,
    estimator="good_plugin:Spread", parameters=(RANKING_LAMBDA, SIZE),
)
PLUGIN = Plugin(name="good", methods=(ENTRY,), summary="For a test.")

def __getattr__(name):
    if name != "Spread":
        raise AttributeError(name)
    import numpy as np
    from rankstudio.api import Ordering, PathSelector, best_first

    class Spread(PathSelector):
        entry = ENTRY

        def __init__(self, n_features_to_select=None, regularization=1.0):
            self.n_features_to_select = n_features_to_select
            self.regularization = regularization

        def order_features(self, data, k):
            scores = data.whole("Spread").X.var(axis=0)
            return Ordering(best_first(scores, k), scores)
            yield

    return Spread
"""
BROKEN = {
    "raises": "raise RuntimeError('no luck')",
    "exits": "import sys; sys.exit(3)",
    "nothing": "",
    "no_plugin": "PLUGIN = 5",
    "later": "from rankstudio.api import Plugin\nPLUGIN = Plugin(name='later', api=99)",
    "twice": "from rankstudio.api import Plugin\nPLUGIN = Plugin(name='rankstudio')",
    "syntax": "def f(:",
}
ODD_METHODS = """
    from dataclasses import replace
    from rankstudio.api import Plugin
    from rankstudio.engine.methods.catalog.selectors import GAS
    PLUGIN = Plugin(name="odd", methods=(
        GAS, replace(GAS, key="Not A Key"), replace(GAS, key="nolabel", label=" "), 7,
        replace(GAS, key="controls", description=replace(GAS.description, summary="a\\x1b[2Jb")),
        replace(GAS, key="text", description="a method"), replace(GAS, key="named", criterion="error"),
        replace(GAS, key="alive", traits=("alive",)), replace(GAS, key="fine-gas", label="Fine GAS"),
    ))
"""


def test_a_plugin_is_listed_and_can_be_left_out(tmp_path: Path) -> None:
    install(tmp_path, "good", GOOD)
    for name, text in BROKEN.items():
        install(tmp_path, name, text)
    install(tmp_path, "odd", ODD_METHODS)
    ended = rankstudio(tmp_path, "plugins", "--json")
    assert ended.returncode == 0, ended.stderr
    listed = json.loads(ended.stdout)
    assert [p["name"] for p in listed["plugins"]] == [*OWN, "good", "odd"]
    added = {plugin["name"]: plugin for plugin in listed["plugins"]}
    assert (
        "letor" in added["data-formats"]["data_formats"]
        and added["data-formats"]["methods"] == []
    )
    assert added["good"]["methods"] == ["spread"]
    assert added["odd"]["methods"] == ["fine-gas"]
    # the folder of an ability may be absent
    without_needs = {failed.name for failed in plugins().failed}
    assert {failure["name"] for failure in listed["failed"]} == set(
        BROKEN
    ) | without_needs
    assert "Traceback" not in ended.stderr and "\x1b" not in ended.stderr
    ended = rankstudio(tmp_path, "plugins", "--json", "--without", "good")
    listed = json.loads(ended.stdout)
    assert listed["left out"] == ["good"]
    assert [plugin["name"] for plugin in listed["plugins"]] == [*OWN, "odd"]


@pytest.mark.thorough
def test_a_file_can_be_checked_and_named_twice_in_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))
    path = tmp_path / "mine.py"
    path.write_text("def spread(X, y): return X.var(axis=0)\n", encoding="utf-8")
    assert main(["plugins", "--json", "--check", f"{path}:spread"]) == 0
    checks = json.loads(capsys.readouterr().out)
    assert len(checks) > 5 and not any(check["problem"] for check in checks)
    assert add_named_code(["--method", f"{path}:spread"]) == [
        "--method",
        checks[0]["method"],
    ]


def test_a_study_without_its_plugin_is_read_and_not_resumed(tmp_path: Path) -> None:
    install(tmp_path, "good", GOOD)
    out = str(tmp_path / "out")
    command = (
        "run",
        "--sample",
        "--folds",
        "1",
        "--lambda",
        "1",
        "--out",
        out,
        "--json",
    )
    ended = rankstudio(tmp_path, *command, "--method", "spread", "--workers", "1")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["versions"]["rankstudio-good"] == "1.2"
    study = f"{out}/study.rankstudio"
    empty = tmp_path / "empty"
    empty.mkdir()
    for words in (
        ("studies", study),
        ("compare", study),
        ("report", study, "--out", f"{out}/r.html"),
    ):
        if words[0] not in known_commands():  # the folder of an ability may be absent
            continue
        ended = rankstudio(empty, *words)
        assert ended.returncode == 0, (words, ended.stderr)
        assert "cannot be read" not in ended.stderr + ended.stdout
    ended = rankstudio(empty, "run", "--resume", study, "--out", f"{out}2")
    assert ended.returncode == 1
    assert "rankstudio-good 1.2" in ended.stderr and "Traceback" not in ended.stderr


def test_a_file_of_a_study_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def spread(X, y): return X.var(axis=0)\n", encoding="utf-8"
    )
    out = str(tmp_path / "out")
    users = (
        {"RANKSTUDIO_DATA_DIR": str(tmp_path / "a")},
        {"RANKSTUDIO_DATA_DIR": str(tmp_path / "b")},
    )
    command = ("run", "--sample", "--folds", "1", "--lambda", "1", "--out", out)
    ended = rankstudio(
        tmp_path, *command, "--method", f"{tmp_path}/mine.py:spread", **users[0]
    )
    assert ended.returncode == 0, ended.stderr
    first = (tmp_path / "out" / "metrics.csv").read_bytes()
    again = ("run", f"{out}/plan.toml", "--out", f"{out}2", "--force")
    # made here: not asked again
    assert rankstudio(tmp_path, *again, **users[0]).returncode == 0
    (tmp_path / "mine.py").rename(tmp_path / "out" / "mine.py")
    ended = rankstudio(tmp_path, *again, **users[1])
    assert ended.returncode == 1 and "--allow-code" in ended.stderr
    assert rankstudio(tmp_path, *again, "--allow-code", **users[1]).returncode == 0
    assert (tmp_path / "out2" / "metrics.csv").read_bytes() == first


def test_results_are_shown_without_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))
    path = tmp_path / "mine.py"
    path.write_text("def spread(X, y): return X.var(axis=0)\n", encoding="utf-8")
    entry = add_by_user(f"{path}:spread")
    plan = Plan("here", entry.key, {"regularization": [1.0, 2.0]}, folds=(1,))
    with Study.create(tmp_path / "s.rankstudio") as study:
        *_, finished = run_stored(plan, dataset(), study)
    monkeypatch.setattr(catalog, "METHODS", MethodRegistry([]))
    with Study.open(tmp_path / "s.rankstudio") as study:
        (summary,) = study.runs()
        assert study.result(summary.key).average == finished.result.average
        known = summary.key.plan.entry
        assert known.label == "spread" and "mine.py" in known.lacking
        assert description_of(known) == description_of(entry)
    with pytest.raises(PlanError):
        described_method({**description_of(entry), "family": "given"})


@pytest.mark.ability("report")
def test_a_report_of_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Study.create(tmp_path / "s.rankstudio").close()
    assert (
        main(
            [
                "report",
                str(tmp_path / "s.rankstudio"),
                "--out",
                str(tmp_path / "r.html"),
            ]
        )
        == 1
    )
    assert not (tmp_path / "r.html").exists()
    assert "no finished run" in capsys.readouterr().err


@pytest.mark.thorough
def test_workers_of_a_cluster_have_the_plugin_or_say_what_they_lack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    site = tmp_path / "site"
    site.mkdir()
    install(site, "good", GOOD)
    monkeypatch.syspath_prepend(site)
    words = [
        "run",
        "--sample",
        "--folds",
        "1",
        "--method",
        "spread",
        "--lambda",
        "1",
        "--scheduler",
    ]
    results = []
    for without in ("", "good"):
        monkeypatch.setenv("RANKSTUDIO_WITHOUT", without)
        folder = tmp_path / f"cluster-{without}"
        folder.mkdir()
        out = str(tmp_path / f"out-{without}")
        with closing(LocalCluster(folder)) as cluster:
            cluster.add_worker()
            ended = rankstudio(
                site, *words, cluster.address, "--out", out, RANKSTUDIO_WITHOUT=""
            )
        assert "Traceback" not in ended.stderr
        results.append(ended)
    assert results[0].returncode == 0, results[0].stderr
    assert results[1].returncode == 1
    assert "spread" in results[1].stderr and "rankstudio-good" in results[1].stderr
