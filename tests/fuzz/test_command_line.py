"""Damaged files and mistaken command lines: a result is printed, or one sentence."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from fuzzer import LONGEST, Fuzz, Outcome, refusal
from mistakes import TRANSFER, Files, mistaken
from mutations import mutated
from samples import LETOR, damaged_letor

from rankstudio.cli import known_commands, main
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.errors import RankStudioError

SCORES = "".join(f"{number / 7}\n" for number in range(12)).encode()
NAMES = b"id,name\n1,TF of body\n2,'=x\n"


def test_command_line(fuzz: Fuzz, capsys: pytest.CaptureFixture[str]) -> None:
    def attempt(rng: random.Random, folder: Path) -> Outcome:
        data, scores, out = (
            folder / "test.txt",
            folder / "test.scores",
            folder / "out.txt",
        )
        chosen = rng.randrange(3)
        data.write_bytes(damaged_letor(rng) if chosen == 0 else rng.choice(LETOR[1:2]))
        scores.write_bytes(mutated(rng, SCORES) if chosen == 1 else SCORES)
        (folder / "features.csv").write_bytes(
            mutated(rng, NAMES) if chosen == 2 else NAMES
        )
        converted = rng.random() < 0.5
        command = (
            ["convert", str(data), str(out)]
            if converted
            else ["evaluate", str(data), str(scores)]
        )
        status = main([*command, "--json"])
        printed = capsys.readouterr()
        if status:
            assert status == 1 and not printed.out
            sentence = printed.err.splitlines()[-1].removeprefix("rankstudio: ")
            told = () if sentence.startswith("The largest label") else (folder,)
            return refusal(RankStudioError(sentence), *told)
        found = json.loads(printed.out)
        if converted:
            assert found[0]["documents"] == load_letor(out, cache=False).n_documents
        else:
            values = [
                value
                for key, value in found.items()
                if key not in ("convention", "greatest_grade")
            ]
            assert values and all(
                value is None or 0.0 <= value <= 1.0 for value in values
            )
        return Outcome.READ

    fuzz("command line", attempt, 150)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Data, scores of them, and a run with its study and its model."""
    folder = tmp_path_factory.mktemp("right")
    data, out = folder / "data", folder / "out"
    made = [
        "generate",
        data,
        "--documents",
        "120",
        "--queries",
        "12",
        "--features",
        "4",
    ]
    ran = ["run", "--data", data, "--lambda", "1", "--out", out]
    scored = [
        "predict",
        data / "test.txt",
        "--model",
        out / "models/fold1.json",
        "--out",
        folder / "test.scores",
    ]
    for command in (made, ran, scored):
        assert main([str(word) for word in command]) == 0
    return Files(folder)


def contents(folder: Path) -> dict[Path, bytes | None]:
    """Return what is in a folder, the bytes of each file."""
    return {
        path: path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.mark.filterwarnings("ignore:networks without TLS:UserWarning")
def test_mistakes(
    fuzz: Fuzz,
    files: Files,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A mistake is told by one sentence and the documented status, and nothing is written."""
    right = contents(files.folder)

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        monkeypatch.chdir(folder)
        (folder / "folder").mkdir()
        (folder / "empty.txt").touch()
        (folder / "binary").write_bytes(bytes(range(256)))
        (folder / "table.csv").write_text("feature,group\n1,a\n2,a\n")
        before = contents(folder)
        well = files.command(rng.choice((*known_commands(), TRANSFER)))
        command = mistaken(rng, well[0], well)
        try:
            status = main(command)
        except SystemExit as left:
            status = int(left.code or 0)
        printed = capsys.readouterr()
        assert contents(files.folder) == right, command
        if not status:
            return Outcome.READ
        assert status in (1, 2), command
        assert not printed.out, command
        assert contents(folder) == before, command
        sentence = printed.err.splitlines()[-1]
        assert sentence.startswith("rankstudio: " if status == 1 else "rankstudio "), (
            command,
            sentence,
        )
        if status == 1:
            return refusal(RankStudioError(sentence))
        assert sentence.isprintable() and len(sentence) < 3 * LONGEST, (
            command,
            sentence,
        )
        return Outcome.REFUSED

    fuzz("mistakes", attempt, 200)
