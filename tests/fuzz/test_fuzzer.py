"""The harness itself: counts, replay, and what it takes for a sentence."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fuzz_report import table
from fuzzer import Budget, Outcome, Tally, refusal, run
from mutations import MUTATIONS, mutated, mutated_value

from rankstudio.engine.errors import DataError


def attempt(rng: random.Random, folder: Path) -> Outcome:
    content = rng.randbytes(4)
    (folder / "a.bin").write_bytes(content)
    assert content[0] > 20
    return Outcome.READ if content[0] % 2 else Outcome.REFUSED


def test_a_fault_names_its_input_and_keeps_the_files(tmp_path: Path) -> None:
    tally = Tally("a kind", 3)
    with pytest.raises(AssertionError) as failed:
        run(tally, attempt, Budget(3), 1000, tmp_path)
    [kept] = tmp_path.iterdir()
    number = int(kept.name.rpartition("-")[2])
    assert f"--fuzz-seed 3 --fuzz-input {number}" in failed.value.__notes__[0]
    assert tally.outcomes.total() == number + 1
    again = tmp_path / "again"
    again.mkdir()
    with pytest.raises(AssertionError):
        run(Tally("a kind", 3), attempt, Budget(3, only=number), 1, again)
    assert (again / kept.name / "a.bin").read_bytes() == (kept / "a.bin").read_bytes()


def test_a_long_run_collects_faults_and_says_each_once(tmp_path: Path) -> None:
    def faulty(rng: random.Random, folder: Path) -> Outcome:
        raise KeyError(folder.name)

    tally = Tally("a kind", 3)
    with pytest.raises(ExceptionGroup) as failed:
        run(tally, faulty, Budget(3, seconds=0.02), 1, tmp_path)
    assert len(failed.value.exceptions) == 1
    assert tally.faults == len(list(tmp_path.iterdir())) >= 1
    assert table([tally.values()])[-1].startswith("all")


@pytest.mark.parametrize(
    "text", ["a.txt", "a.txt: two\nlines.", "b.txt: no.", f"a.txt: {'x' * 600}."]
)
def test_what_is_no_sentence_is_a_fault(text: str) -> None:
    with pytest.raises(AssertionError):
        refusal(DataError(text), "a.txt")
    assert refusal(DataError("a.txt: found x, expected y."), "a.txt") is Outcome.REFUSED


def test_every_mutation_bears_every_file() -> None:
    rng = random.Random(0)
    for mutation in MUTATIONS:
        for content in (b"", b"\n", b"1 qid:1 1:0.5\n" * 3):
            for _ in range(20):
                assert isinstance(mutation(rng, content), bytes)
    assert mutated(random.Random(1), b"abc", [b"def"]) == mutated(
        random.Random(1), b"abc", [b"def"]
    )
    before = {"a": [1, {"b": 2}]}
    assert any(mutated_value(rng, before) != before for _ in range(50))
    assert before == {"a": [1, {"b": 2}]}
