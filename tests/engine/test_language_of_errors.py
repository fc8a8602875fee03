"""Errors are sentences in the language of the process, and English where none was installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, sys
from pathlib import Path

if sys.argv[1] != "en":
    from rankstudio.engine import language
    language.install(sys.argv[1], Path(sys.argv[2]))

from rankstudio.engine.data.folders import open_dataset
from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import load_plan
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.storage.study import Study

folder = Path(sys.argv[3])
(folder / "bad.txt").write_text("2 qid:10 1:0.5\\n2 1:0.5 2:0.25\\n")
(folder / "train.txt").write_text("2 qid:1 1:0.5 2:0.1\\n0 qid:1 1:0.1 2:0.3\\n1 qid:2 1:0.5 2:0.25\\n")
(folder / "plan.toml").write_text('data = "sample"\\nlambda = 3\\n')
(folder / "broken.rankstudio").write_bytes(b"SQLite format 3\\0" + bytes(4000))
(folder / "empty").mkdir()
whole = folder / "train.txt"
attempts = {
    "no file": lambda: open_dataset(folder / "none.txt"),
    "nothing there": lambda: open_dataset(folder / "empty"),
    "no LETOR": lambda: open_dataset(folder / "bad.txt"),
    "no validation": lambda: list(run(Plan(str(whole), "greedy-rankrls"), open_dataset(whole))),
    "range": lambda: Plan("sample", "greedy-rankrls", {"n_features_to_select": 0}),
    "combinations": lambda: Plan("sample", "greedy-rankrls", {"regularization": "0..100000"}),
    "key": lambda: load_plan(folder / "plan.toml"),
    "protocol": lambda: Plan("sample", "greedy-rankrls", protocol="7-folds-of-nothing"),
    "study": lambda: Study.open(folder / "broken.rankstudio"),
    "no study": lambda: Study.open(folder / "none.rankstudio"),
}
said = {}
for name, attempt in attempts.items():
    try:
        attempt()
    except RankStudioError as error:
        said[name] = str(error).replace(str(folder), "…")
print(json.dumps(said))
"""


def _said(key: str, folder: Path) -> dict[str, str]:
    root = Path(__file__).resolve().parents[2]
    catalog = root / "resources" / "languages" / f"{key}.mo"
    folder.mkdir()
    command = [sys.executable, "-c", PROGRAM, key, str(catalog), str(folder)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


WORDS = re.compile(
    r"\b(expected|found|the|there|has|no(?!-queries)|line|column|study|got|from|whole|number)\b"
)


def test_what_users_meet_most_is_said_in_the_language_of_the_window(
    tmp_path: Path,
) -> None:
    english, german = (
        _said("en", tmp_path / "english"),
        _said("de", tmp_path / "german"),
    )
    assert len(english) == len(german) == 10
    assert english["no file"] == "…/none.txt: file not found."
    assert german["no file"] == "…/none.txt: Datei nicht gefunden."
    assert english["no LETOR"] == (
        '…/bad.txt, line 2, column 3: found "1:0.5", expected the query as "qid:" and its id, such as qid:10 '
        "(data without queries: option no-queries)."
    )
    assert german["no LETOR"] == (
        '…/bad.txt, Zeile 2, Spalte 3: gefunden "1:0.5", erwartet die Anfrage als „qid:“ und ihre Nummer, '
        "etwa qid:10 (Daten ohne Anfragen: Option no-queries)."
    )
    assert (
        german["study"]
        == "…/broken.rankstudio: Das ist keine von RankStudio geschriebene Studie."
    )
    assert all(WORDS.search(text) for text in english.values())
    assert {
        name: found for name, text in german.items() if (found := WORDS.findall(text))
    } == {}
