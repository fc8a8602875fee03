"""Damaged caches: what is in them is what was put there, or it is made anew."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from fuzzer import Attempt, Outcome, refusal
from mutations import MUTATIONS, mutated
from numba.core import config
from study_files import write_data

from rankstudio.engine.data import shared_parts, store
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.data_file import load_letor
from rankstudio.engine.data.store import StoredEntry
from rankstudio.engine.errors import FileAccessError
from rankstudio.engine.support.compilation import announced
from rankstudio.engine.support.jit import kernel

Fuzz = Callable[[str, Attempt, int], None]

BYTES = MUTATIONS[:7]  # those that are not of lines


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test alone."""
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "train.txt"
    path.write_bytes(
        b"2 qid:b 1:0.1 3:-0 # first\n0 qid:a 2:NULL 3:3\n1 qid:b 1:1e-9 2:4 # \xe9\n"
        * 3
    )
    return path


def shown(data: RankingDataset) -> tuple[object, ...]:
    """All that a dataset says, to the last bit."""
    arrays = tuple(
        getattr(data, name).tobytes()
        for name in ("X", "y", "query_ptr", "feature_ids")
        if hasattr(data, name)
    )
    return (
        *arrays,
        data.X.shape,
        data.query_ids,
        data.feature_names,
        data.warnings,
        list(data.comments or ()),
    )


def damage(rng: random.Random, path: Path, others: list[Path]) -> None:
    """Damage a file, put another one in its place, or something that is no file, or nothing."""
    content, foreign = (
        path.read_bytes(),
        [other.read_bytes() for other in others] or [b""],
    )
    # a file that is written anew tells so by its time, however coarse the clock
    path.unlink()
    match rng.randrange(12):
        case 0:
            pass
        case 1:
            path.mkdir()
        case 2:
            path.symlink_to(path.name)
        case 3 | 4:
            path.write_bytes(rng.choice(foreign))
        case _:
            path.write_bytes(mutated(rng, content, mutations=BYTES))


def renewed(rng: random.Random, kept: dict[Path, bytes]) -> Path:
    """Write files as they were, and return one of them."""
    for path, content in kept.items():
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        path.write_bytes(content)
    return rng.choice(sorted(kept))


def test_parsed_files(fuzz: Fuzz, cache: Path, text: Path, tmp_path: Path) -> None:
    other = write_data(tmp_path / "data", 1) / "Fold1" / "train.txt"
    expected, others = shown(load_letor(text)), shown(load_letor(other))
    kept = {
        path: path.read_bytes()
        for path in (cache / "tables").rglob("*")
        if path.is_file()
    }
    assert len({path.parent for path in kept}) == 2 < len(kept)
    assert others != expected

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = renewed(rng, kept)
        damage(rng, path, sorted(set(kept) - {path}))
        found = path.is_file() and path.read_bytes() == kept[path]
        for place, value in ((text, expected), (other, others)):
            assert shown(load_letor(place)) == value
        assert path.read_bytes() == kept[path]
        return Outcome.READ if found else Outcome.REFUSED

    fuzz("parsed cache", attempt, 40)


def test_array_ofs(fuzz: Fuzz, cache: Path, text: Path, tmp_path: Path) -> None:
    parts = [
        load_letor(text),
        load_letor(write_data(tmp_path / "data", 1) / "Fold1" / "train.txt"),
    ]
    names = shared_parts.keep(parts)
    sent = {
        name: StoredEntry.open(store.scratch_folder() / name).files() for name in names
    }

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        at = rng.randrange(2)
        part, name = parts[at], names[at]
        place = store.scratch_folder() / name
        others = [store.scratch_folder() / names[1 - at] / file for file in sent[name]]
        damage(
            rng,
            place / rng.choice(sorted(sent[name])),
            [*others, *(f for f in place.iterdir())],
        )
        outcome = Outcome.READ
        try:
            assert arrays(shared_parts.open_kept(place)) == arrays(part)
        except FileAccessError as error:
            outcome = refusal(error, place)
        if rng.random() < 0.5:
            assert shared_parts.keep([part]) == [name]
        else:
            shared_parts.unpack(name, sent[name])
        assert StoredEntry.open(place).files() == sent[name]
        assert arrays(shared_parts.open_kept(place)) == arrays(part)
        assert sorted(p.name for p in store.scratch_folder().iterdir()) == sorted(names)
        return outcome

    fuzz("mapped cache", attempt, 60)


def arrays(part: RankingDataset) -> tuple[object, ...]:
    """What worker processes learn from."""
    found = [
        np.asarray(getattr(part, name))
        for name in ("X", "y", "query_ptr", "feature_ids")
    ]
    return (
        *((a.dtype, a.shape, a.tobytes()) for a in found),
        part.query_ids,
        part.feature_names,
    )


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of compiled kernels of this test alone."""
    # numba reads the environment anew when it compiles, where that has changed.
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "numba"))
    yield tmp_path / "numba"
    shutil.rmtree(tmp_path / "numba", ignore_errors=True)


def compiled() -> bool:
    """Return whether a kernel had to be compiled; its result is checked."""

    def thrice(value: int) -> int:
        return 3 * value

    thrice.__module__ = "rankstudio.engine.support.compilation"
    told: list[str] = []
    with announced(told.append):
        assert kernel(thrice)(14) == 42
    return bool(told)


def test_compiled_kernels(fuzz: Fuzz, kernels: Path) -> None:
    assert compiled()
    kept = {path: path.read_bytes() for path in kernels.rglob("*.nb?")}
    assert len(kept) == 2

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        path = renewed(rng, kept)
        damage(rng, path, sorted(set(kept) - {path}))
        anew = compiled()
        assert anew or path.read_bytes() == kept[path]
        assert compiled() is path.is_dir()
        return Outcome.REFUSED if anew else Outcome.READ

    # code that was loaded stays in the process
    fuzz("compiled kernels", attempt, 10, most=400)
