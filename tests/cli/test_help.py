"""``--help`` reads like documentation: its examples work, and exit statuses are told."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import lightgbm
import numpy as np
import pytest
from letor_folder import save_folds

from rankstudio.cli import command_line, known_commands, main
from rankstudio.engine import open_dataset
from rankstudio.engine.data import synthetic
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.preferences import sample_preferences
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.methods.catalog import methods

_EXAMPLE = re.compile(r"  rankstudio (.+?)(?:   .*)?")

METHOD = '''
class MRMR:
    """Orders features by their variance."""

    def fit(self, X, y):
        self.scores_ = X.var(axis=0)
        return self
'''


def examples(command: str) -> list[str]:
    """Return the command lines that the help of a command shows, without what is said of them."""
    parser = command_line((command,))
    (commands,) = (
        action.choices for action in parser._actions if isinstance(action.choices, dict)
    )
    found = (
        _EXAMPLE.fullmatch(line) for line in commands[command].description.splitlines()
    )
    return [match[1] for match in found if match]


ALL = [example for command in known_commands() for example in examples(command)]
SLOW = {
    "generate made-up",  # gigabytes
    "generate made-up --documents 12e6 --queries 1e5",
    "run selectors --sample",  # thirty methods
    "reproduce fs-ed --data MQ2008 --study fs-ed.rankstudio --json",
    "reproduce fsmrank --data MQ2008 --study fsmrank.rankstudio",
    "reproduce airola-2011 --data MQ2008 --out airola.txt",
}
ON_PAGES = {
    "run --sample",
    "reproduce greedy-rankrls --data MQ2008",
    "figures results/study.rankstudio --width 85mm --to pdf --out figures",
    "report results/study.rankstudio --out report.html",
    "report results/study.rankstudio --out short.html --sections question,results,features",
    "evidence results/study.rankstudio --run 1 --fold 1",
}
"""Long ones that stand on a page of the guide as well, whose blocks are carried out."""
SHORT = {
    "lab": ("--repetitions", "2"),
    "--vary": ("--of-each", "2"),
    "permute": ("--permutations", "99"),
    "judges": ("--lambda", "1"),
    "--flips": ("--features", "3"),
    # the run has more features, of which the best set is searched for 20 seconds
    "evidence": ("--k", "3"),
}
"""Options that examples get, by a word in them, where by default they take long."""

_JUDGED = namedtuple("_JUDGED", "query_id doc_id relevance iteration")("7", "a", 1, "0")
COLLECTIONS = SimpleNamespace(
    load=lambda name: SimpleNamespace(qrels_iter=lambda: iter([_JUDGED]))
)
"""Stands for the library ir_datasets, which would fetch data."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with what the examples name: data, studies and scores; the sample is a small one."""
    root = tmp_path_factory.mktemp("place")
    save_folds(root / "MQ2008", n_queries=30, n_noise=36, documents=(5, 12), seed=5)
    shutil.copytree(root / "MQ2008", root / "folds")
    files = [root / "folds" / f"Fold{fold}" / "test.txt" for fold in (2, 3, 4, 5, 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synthetic, "sample_files", lambda: files)
        yield _filled(root)


def _filled(root: Path) -> Path:
    save_letor(
        make_ranking(n_queries=30, documents=(5, 12), seed=6).folds[0].train,
        root / "all.txt",
    )
    clicks = (
        make_ranking(n_queries=30, documents=(5, 12), seed=7).folds[0].train.to_frame()
    )
    clicks = clicks.rename(columns={"qid": "session", "label": "clicked"}).assign(
        url="a page"
    )
    clicks.to_csv(root / "clicks.csv", index=False)
    first = root / "MQ2008" / "Fold1"
    train = open_dataset(first / "train.txt").folds[0].train
    drawn = sample_preferences(train, 0.2, seed=8)
    rank_in_query = (
        np.arange(train.n_documents) - train.query_ptr[train.query_index] + 1
    )
    lines = [
        f"{train.qid[winner]},{rank_in_query[winner]},{rank_in_query[loser]}"
        for winner, loser in zip(drawn.winner, drawn.loser, strict=True)
    ]
    (root / "preferences.csv").write_text(
        "\n".join(["qid,winner,loser", *lines]) + "\n"
    )
    for name in ("train.txt", "test.txt"):
        (root / name).write_bytes((first / name).read_bytes())
    test = open_dataset(root / "test.txt").folds[0].train
    kind = "org.apache.solr.ltr.feature.FieldValueFeature"
    store = [
        {"name": f"f{i}", "class": kind, "params": {"field": f"f{i}"}}
        for i in range(1, 60)
    ]
    (root / "store.json").write_text(json.dumps(store))
    (root / "my_method.py").write_text(METHOD)
    costs = "".join(f"{i},0.01,{i % 3}\n" for i in range(1, 60))
    for place in (root / "costs.csv", root / "MQ2008" / "costs.csv"):
        place.write_text(f"feature,per_document,per_query\n{costs}")
    scores = "".join(f"{score}\n" for score in test.X[:, 0])
    for name in ("Fold1.test.score", "my.scores"):
        (root / name).write_text(scores)
    for number in range(1, 6):
        part = (
            open_dataset(root / "MQ2008" / f"Fold{number}" / "test.txt").folds[0].train
        )
        (root / "scores" / f"Fold{number}").mkdir(parents=True)
        scores = "".join(f"{score}\n" for score in part.X[:, 1])
        (root / "scores" / f"Fold{number}" / "test.scores").write_text(scores)
    few = {"objective": "regression", "num_leaves": 4, "verbose": -1}
    trees = lightgbm.train(few, lightgbm.Dataset(test.X, test.y), num_boost_round=3)
    trees.save_model(root / "lightgbm.txt")
    logged = [{"log": [{"name": "title", "value": value}]} for value in (0.5, 1.5)]
    hits = [
        {"_id": str(i), "fields": {"_ltrlog": [log]}} for i, log in enumerate(logged)
    ]
    responses = [
        json.dumps({"qid": query, "hits": {"hits": hits}}) for query in ("7", "8")
    ]
    (root / "logs.ndjson").write_text("\n".join(responses))
    for name in ("ratings.csv", "ann.csv", "model.csv"):
        (root / name).write_text("query,docid,rating\n7,0,2\n7,1,0\n8,0,1\n8,1,2\n")
    people = train.to_frame().rename(columns={"label": "ann"})
    people.assign(bob=people["ann"].to_numpy()[::-1], clicks=people["ann"] > 0).to_csv(
        root / "people.csv", index=False
    )
    (root / "qrels.txt").write_text("7 0 a 1\n7 0 b 0\n")
    for name in ("run1.txt", "run2.txt"):
        (root / name).write_text("7 Q0 a 1 0.5 t\n")
    sample_run = [
        "--out",
        str(root / "results"),
        "--lambda",
        "2^0..2^10",
        "--select-by",
        "MAP",
    ]
    assert main(["run", "--sample", *sample_run]) == 0
    for name in ("results/study.rankstudio", "a.rankstudio", "b.rankstudio"):
        for options in (["rankrls"], ["greedy-rankrls", "--features", "3"]):
            kept = ["--study", str(root / name), "--lambda", "2^0"]
            assert main(["run", "--sample", "--method", *options, *kept]) == 0
    return root


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with studies of three methods on three datasets, as examples name them."""
    root = tmp_path_factory.mktemp("several")
    study = root / "results" / "study.rankstudio"
    study.parent.mkdir()
    for seed, name in enumerate(("MQ2007", "MQ2008", "OHSUMED")):
        save_folds(root / name, n_folds=1, n_queries=20, seed=seed)
        for method in ("gas", "rankrls", "chi-squared"):
            few = ["--method", method, "--lambda", "1", "--study", str(study)]
            assert main(["run", "--data", str(root / name), *few]) == 0
    for name in ("letor", "more"):  # folders of datasets
        (root / name).mkdir()
        shutil.copytree(root / "MQ2007", root / name / f"{name}-MQ2007")
    (root / "methods.toml").write_text(
        '[[runs]]\nmethod = ["gas", "rankrls"]\n', encoding="utf-8"
    )
    for copy in ("a", "b"):
        shutil.copy(study, root / f"{copy}.rankstudio")
    (root / "plan.toml").write_text('method = "gas"\ndata = "x"\n', encoding="utf-8")
    for name, table in (("MQ2007", "spring.csv"), ("MQ2008", "summer.csv")):
        part = root / name / "Fold1" / "train.txt"
        assert main(["convert", str(part), str(root / table)]) == 0
    return root


def test_every_command_has_examples() -> None:
    assert all(examples(command) for command in known_commands())
    assert set(ALL) >= SLOW | ON_PAGES
    pages = (Path(__file__).resolve().parents[2] / "docs" / "terminal.md").read_text(
        encoding="utf-8"
    )
    assert all(f"\nrankstudio {example}" in pages for example in ON_PAGES)


@pytest.mark.parametrize(
    "example", [example for example in ALL if example not in SLOW | ON_PAGES]
)
def test_examples_work(request, monkeypatch, capsys, example: str) -> None:
    words = shlex.split(example)
    is_on_several = words[0] in ("rank-methods", "benchmark", "transfer")
    name = "several" if is_on_several else "place"
    monkeypatch.chdir(request.getfixturevalue(name))
    monkeypatch.setitem(sys.modules, "ir_datasets", COLLECTIONS)
    for word, (option, value) in SHORT.items():
        if word in words and option not in words:
            words += [option, value]
    if "--draws" in words:
        words[words.index("--draws") + 1] = "2"
    assert main(words) == 0, capsys.readouterr().err
    printed = capsys.readouterr().out
    if "--json" in words:
        json.loads(printed)


@pytest.mark.parametrize("example", sorted(SLOW | ON_PAGES))
def test_long_examples_can_be_parsed(example: str) -> None:
    words = shlex.split(example)
    assert command_line((words[0],)).parse_args(words).run


def test_exit_statuses_are_told_and_json_is_everywhere(capsys) -> None:
    for command in known_commands():
        with pytest.raises(SystemExit, match="0"):
            main([command, "--help"])
        text = capsys.readouterr().out
        assert "exit status:\n  0    " in text, command
        assert "--json" in text or command == "completion"  # which prints a program
        assert max(len(line) for line in text.splitlines()) <= 120, command


def helped(monkeypatch, capsys, *words: str) -> str:
    """Return the help that a command prints on a terminal of usual width."""
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit, match="0"):
        main([*words, "--help"])
    return capsys.readouterr().out


def test_the_help_of_a_run_is_short_and_that_of_a_method_its_own(
    monkeypatch, capsys
) -> None:
    text = helped(monkeypatch, capsys, "run")
    assert len(text.splitlines()) <= 80
    assert "--pin" not in text
    gas, greedy = (
        helped(monkeypatch, capsys, "run", "--method", name)
        for name in ("gas", "greedy-rankrls")
    )
    assert "--pin" not in gas
    places = [
        greedy.index(part)
        for part in ("--pin FEATURES", "\nmore parameters of the method", "--ties")
    ]
    assert places == sorted(places)
    for entry in methods():
        option = "--method" if entry.selects else "--ranker"
        own = helped(monkeypatch, capsys, "run", f"{option}={entry.key}")
        prefix = "--" if entry.selects else "--ranker-"
        for p in entry.parameters:
            assert re.search(
                rf"^ +{prefix}{p.option.removeprefix('--')}\b", own, re.MULTILINE
            ), p.option


def test_no_help_breaks_a_name_at_its_hyphen(monkeypatch, capsys) -> None:
    for command in known_commands():
        lines = helped(monkeypatch, capsys, command).splitlines()
        assert not [line for line in lines if re.search(r"\w-$", line)], command
    for name in ("greedy-rankrls", "lambdamart-top"):
        lines = helped(monkeypatch, capsys, "run", "--method", name).splitlines()
        assert not [line for line in lines if re.search(r"\w-$", line)], name
