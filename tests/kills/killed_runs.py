"""Runs that are killed at random moments, once or several times, and go on: what must hold after each."""

from __future__ import annotations

import shutil
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from fork_client import ForkServer, still_running
from fork_server import Ended, Moment, Request

from rankstudio.engine.data import store
from rankstudio.engine.experiment.reports import MODELS, RESULT_FILES
from rankstudio.engine.experiment.storage.study import SUFFIX, Study

_UNITS = "SELECT fold, position, setting, payload, seconds FROM unit ORDER BY run, fold, position"
_FOLDS = "SELECT fold, payload FROM fold ORDER BY run, fold"
_AGAIN = 0.35  # how often what goes on is killed again


@dataclass(frozen=True)
class Contents:
    """What a study holds: its runs, units with the seconds that they took, and folds."""

    n_runs: int = 0
    units: dict[tuple[int, int], tuple[Any, ...]] = field(default_factory=dict)
    folds: tuple[tuple[Any, ...], ...] = ()

    @property
    def numbers(self) -> tuple[Any, ...]:
        """What must be the same in every run: all but the seconds."""
        return [(place, *row[:-1]) for place, row in self.units.items()], self.folds


@dataclass(frozen=True)
class Undisturbed:
    """A run that nobody killed: what it wrote, and how much there was to kill it at."""

    files: dict[str, bytes]
    contents: Contents
    ended: Ended


class Way:
    """One way of execution.

    Parameters
    ----------
    server : ForkServer
    folder : Path
        A new one.
    program : str
        See `Request`.
    command : callable
        Returns the arguments for a folder of results and, where the run goes on, its study.
    calls : int, optional
        How many system calls a run has that write, where that is known from another way.
    """

    def __init__(
        self,
        server: ForkServer,
        folder: Path,
        program: str,
        command: Callable[[Path, Path | None], tuple[str, ...]],
        calls: int | None = None,
    ) -> None:
        self._server, self._folder, self._program, self._command = (
            server,
            folder,
            program,
            command,
        )
        (folder / "warm").mkdir(parents=True)
        self.calls = calls or 0
        if calls is None and server.can_follow:
            self._begin("counted", fresh=True)
            self.calls = self._start(count=True).calls
        self._begin("undisturbed", fresh=False)
        ended = self._start()
        assert ended.status == 0, self.printed()
        files, contents = self._files(), self._contents()
        assert set(files) >= {*RESULT_FILES, f"{MODELS}/fold1.json"}
        self.undisturbed = Undisturbed(files, contents, ended)

    def kill(
        self, random: Random, name: str, victims: tuple[int, ...] = (0,)
    ) -> list[str]:
        """Kill a run, perhaps several times, have it go on to its end, and return where the kills fell."""
        self._begin(name, fresh=random.random() < 0.5)
        landed, before, told = [], Contents(), set()
        while True:
            ended = self._start(
                going_on=before.n_runs > 0, random=random, victims=victims
            )
            told |= {line for line in ended.told if line.startswith("UnitFinished")}
            self._see_that_nothing_runs(ended)
            self._see_what_is_said(ended, before)
            before = self._see_that_nothing_is_lost(before, told)
            landed.append(where(ended, before, self._n_units))
            if landed[-1] == "too late" or random.random() > _AGAIN:
                break
        ended = self._start(going_on=before.n_runs > 0, random=random, unharmed=True)
        assert ended.status == 0, self.printed()
        self._see_that_nothing_runs(ended)
        self._see_what_is_said(ended, before)
        self._see_that_nothing_is_lost(before, told)
        self._see_the_end()
        shutil.rmtree(self._case)
        return landed

    def signal(self, number: int, random: Random, name: str) -> str:
        """Ask a run to end by a signal; see it end in a sentence, and go on."""
        self._begin(name, fresh=random.random() < 0.5)
        moment = self._moment(random, calls=False)
        request = self._request(
            False, moment=Moment(max(moment.line, 1), moment.seconds), signal=number
        )
        ended = self._server.start(request)
        printed = self.printed()
        assert "Traceback" not in printed, printed
        assert ended.status in (0, 130), (ended.status, printed)
        if ended.status == 130:
            assert "Stopped. " in printed or "Interrupted." in printed, printed
        self._see_that_nothing_runs(ended)
        told = {line for line in ended.told if line.startswith("UnitFinished")}
        contents = self._see_that_nothing_is_lost(Contents(), told, whole=False)
        # which may come between two steps of opening or of closing
        if "Interrupted." not in printed:
            assert "-owner" not in " ".join(path.name for path in self._out.iterdir())
        assert (
            self._start(
                going_on=contents.n_runs > 0, random=random, unharmed=True
            ).status
            == 0
        )
        self._see_the_end()
        shutil.rmtree(self._case)
        return where(ended, contents, self._n_units)

    def lose(self, victim: int, random: Random, name: str, other: Way) -> str:
        """Kill who gives the work out; see the run end in a sentence, and go on in another way."""
        self._begin(name, fresh=False)
        ended = self._server.start(
            self._request(
                False, moment=self._moment(random, calls=False), victim=victim
            )
        )
        printed = self.printed()
        assert "Traceback" not in printed, printed
        assert ended.status in (0, 1), printed
        if ended.status == 1:
            assert printed.splitlines()[-1].startswith("rankstudio: "), printed
        told = {line for line in ended.told if line.startswith("UnitFinished")}
        contents = self._see_that_nothing_is_lost(Contents(), told)
        self._command = other._command
        assert self._start().status == 0, self.printed()
        self._see_the_end()
        return where(ended, contents, self._n_units)

    def printed(self) -> str:
        """Return what the programs of the last case printed."""
        return (self._case / "printed").read_text()

    def _begin(self, name: str, fresh: bool) -> None:
        """Make the folders of a case; its cache is empty, or that of the cases before."""
        self._case = self._folder / name
        self._cache = self._case / "cache" if fresh else self._folder / "warm"
        for part in ("temporary", "user", "out"):
            (self._case / part).mkdir(parents=True)

    @property
    def _n_units(self) -> int:
        return len(self.undisturbed.contents.units)

    @property
    def _out(self) -> Path:
        return self._case / "out"

    def _start(
        self,
        going_on: bool = False,
        count: bool = False,
        random: Random | None = None,
        victims: tuple[int, ...] = (0,),
        unharmed: bool = False,
    ) -> Ended:
        moment, victim = None, 0
        if random is not None and not unharmed:
            victim = random.choice(victims)
            moment = self._moment(random, calls=victim == 0 and self.calls > 0)
        by_resume = going_on and random is not None and random.random() < 0.5
        return self._server.start(
            self._request(by_resume, moment=moment, victim=victim, count=count)
        )

    def _request(self, by_resume: bool, **changes: Any) -> Request:
        environment = {
            "RANKSTUDIO_CACHE_DIR": str(self._cache),
            "RANKSTUDIO_CONFIG_DIR": str(self._case / "user"),
            "RANKSTUDIO_DATA_DIR": str(self._case / "user"),
            "TMPDIR": str(self._case / "temporary"),
        }
        arguments = self._command(self._out, self._study() if by_resume else None)
        return Request(
            self._program,
            arguments,
            environment,
            str(self._case / "printed"),
            **changes,
        )

    def _moment(self, random: Random, calls: bool) -> Moment:
        """Draw a moment: a number of lines told and an instant more, some seconds, or a system call."""
        kind = random.choice(("line", "line", "seconds", "call", "call"))
        if kind == "call" and calls:
            return Moment(call=random.randint(1, self.calls))
        if kind == "seconds":
            return Moment(
                seconds=random.uniform(0.0, 1.1 * self.undisturbed.ended.seconds)
            )
        last = len(self.undisturbed.ended.told)
        return Moment(
            random.randint(0, last), random.choice((0.0, random.uniform(0.0, 0.004)))
        )

    def _study(self) -> Path | None:
        studies = [
            *self._out.glob(f"*{SUFFIX}"),
            *(self._case / "user").rglob(f"*{SUFFIX}"),
        ]
        if self._program == "window":  # what it was not told of yet, nobody has seen
            settings = self._case / "user" / "window.ini"
            lines = settings.read_text().splitlines() if settings.exists() else []
            noted = [line for line in lines if line.startswith("file=")]
            studies = [
                study for study in studies if any(study.name in line for line in noted)
            ]
        assert len(studies) <= 1, studies
        return studies[0] if studies else None

    def _contents(self) -> Contents:
        """Read a copy of the study, so that the next program finds it as the last one left it."""
        study = self._study()
        if study is None:
            return Contents()
        copy = self._case / "copy"
        copy.mkdir()
        for path in study.parent.glob(f"{study.name}*"):
            shutil.copy(path, copy)
        with Study.open(copy / study.name) as opened:
            assert opened.damage() == ()
            runs = opened.runs()
            assert not any(run.damage for run in runs)
        assert [path.name for path in copy.iterdir()] == [study.name]
        with closing(sqlite3.connect(copy / study.name)) as db:
            units = {(row[0], row[1]): tuple(row[2:]) for row in db.execute(_UNITS)}
            folds = tuple(db.execute(_FOLDS))
        shutil.rmtree(copy)
        return Contents(len(runs), units, folds)

    def _files(self) -> dict[str, bytes]:
        names = [
            *RESULT_FILES,
            *(
                f"{MODELS}/{path.name}"
                for path in sorted((self._out / MODELS).glob("*.json"))
            ),
        ]
        return {
            name: (self._out / name).read_bytes()
            for name in names
            if (self._out / name).exists()
        }

    def _see_that_nothing_runs(self, ended: Ended) -> None:
        assert not still_running(ended.workers)

    def _see_what_is_said(self, ended: Ended, before: Contents) -> None:
        """See workers that were killed named, and the window list what the study has."""
        assert ended.status in (0, 1, -signal.SIGKILL), self.printed()
        said = [line for line in ended.told if line.startswith("Failed")]
        if ended.status == 1 or said:
            assert "The workers ended before" in (*said, self.printed())[0]
        listed = [line.split() for line in ended.told if line.startswith("Listed")]
        if (
            any(line not in ("Begun", *said) for line in ended.told)
            and self._program == "window"
        ):
            assert len(listed) == before.n_runs, ended.told
            for _, count, state in listed:
                assert int(count) == len(before.units)
                assert state in ("UNFINISHED", "DONE")

    def _see_that_nothing_is_lost(
        self, before: Contents, told: set[str], whole: bool = True
    ) -> Contents:
        now = self._contents()
        assert now.n_runs <= 1
        kept = {f"UnitFinished {fold} {position}" for fold, position in now.units}
        assert told <= kept, f"told of and not kept: {told - kept}"
        for place, row in before.units.items():
            assert now.units[place] == row, f"{place} was computed again"
        for name, content in self._files().items() if whole else ():
            assert content == self.undisturbed.files[name], name
        return now

    def _see_the_end(self) -> None:
        """See that everything is as in the run that nobody disturbed, and nothing else is there."""
        assert self._files() == self.undisturbed.files
        assert self._contents().numbers == self.undisturbed.contents.numbers
        study = self._study()
        assert study is not None
        expected = {
            *RESULT_FILES,
            MODELS,
            *({study.name} if study.parent == self._out else ()),
        }
        # What was being written aside at a kill is in nobody's way, and goes when it is a day old.
        found = {
            path.name
            for path in self._out.iterdir()
            if not path.match(".rankstudio-*.part")
        }
        assert found == expected
        beside = [
            path.name
            for path in study.parent.iterdir()
            if path.name.startswith(study.name)
        ]
        assert beside == [study.name], self.printed()
        left = [
            path
            for path in (self._case / "temporary").iterdir()
            if not path.match("RankStudio-*")
        ]
        assert left == []  # but for the pictures of the window's buttons
        for part in (self._cache / "mapped").glob("*"):
            assert part.match("new-*") or store.is_whole(part), part


def where(ended: Ended, contents: Contents, n_units: int) -> str:
    """Return where a kill fell, in a run of so many units."""
    if ended.status == 0 and not any(line.startswith("Failed") for line in ended.told):
        return "too late"
    n = len(contents.units)
    return (
        "before the first unit"
        if n == 0
        else "after the last"
        if n == n_units
        else "between"
    )


def table(landed: dict[str, Counter[str]]) -> str:
    """Return how many kills fell where, by way, as lines."""
    places = ("before the first unit", "between", "after the last", "too late")
    return "".join(
        f"{way}: {sum(counts.values())} kills; "
        + ", ".join(f"{counts[place]} {place}" for place in places)
        + "\n"
        for way, counts in landed.items()
    )
