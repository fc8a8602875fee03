"""How much memory a run needs, and how it goes, known before any work."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.language import either, tr
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, Reading
from rankstudio.engine.support import memory
from rankstudio.engine.support.shard import DOCUMENTS

_LITTLE = float(1 << 25)  # bytes that are never refused: a program with its libraries takes more
_FILES = float(1 << 27)  # bytes on the disk that are worth a word
_NAMES = 4  # of methods that a sentence names


@dataclass(frozen=True)
class MemoryEstimate:
    """What a run needs of memory, and how it goes.

    Attributes
    ----------
    label : str
        The method.
    m, n : int
        Documents and features of the training part that needs most.
    on_disk : bool
        Whether its documents are read from the disk as they are needed.
    need : MemoryNeed
        Of all workers of this machine together, with what measures models.
    budget : float
        Bytes that it may take.
    limit : float
        Bytes that by shards it may take at most: the budget where somebody named it, else what is free.
    threads : int
        How many threads or processes work on shards at a time; of threads fewer where the budget is small.
    """

    label: str
    m: int
    n: int
    on_disk: bool
    need: MemoryNeed
    budget: float
    limit: float
    threads: int

    @property
    def least(self) -> float:
        """Bytes without which it does not run."""
        return self.need.least

    @property
    def resident(self) -> float:
        """Bytes that it takes at the most, about."""
        return self.need.resident(self.room)

    @property
    def in_files(self) -> float:
        """Bytes that it keeps on the disk meanwhile, about."""
        return self.need.in_files(self.room)

    @property
    def large(self) -> bool:
        """Whether it is worth a word: it is of several shards, or takes a good part of the budget."""
        return self.m > DOCUMENTS or self.resident > self.budget / 2 or not self.runs

    @property
    def runs(self) -> bool:
        """Whether there is memory enough."""
        enough = self.budget if self.need.reading is Reading.WHOLE else self.limit
        return self.least <= max(enough, _LITTLE) and self.need.kept <= max(self.budget, _LITTLE)

    @property
    def sentence(self) -> str:
        """How it goes, and how much memory it takes; the refusal where there is not enough."""
        if not self.runs:
            return self.refusal
        sizes = {"about": memory.size(self.resident), "budget": memory.size(self.budget)}
        figures = tr("about {about} of memory, limit {budget}").format(**sizes)
        if self.in_files > _FILES:
            text = tr("about {about} of memory and {files} of disk space, limit {budget}")
            figures = text.format(**sizes, files=memory.size(self.in_files))
        return f"{self.way}; {figures}."

    @property
    def way(self) -> str:
        """How it goes: "3,016,900 documents are read from the disk, shard by shard"."""
        if self.need.reading is not Reading.WHOLE:
            text = (
                tr("{m} documents read from disk, processed in blocks")
                if self.on_disk
                else tr("{m} documents in memory, processed in blocks")
            )
        elif self.on_disk:
            text = tr("{m} documents read from disk, processed all at once")
        else:
            text = tr("{m} documents in memory, processed all at once")
        algorithm = _algorithms().get(self.need.algorithm, "")
        return ", ".join(filter(None, (text.format(m=f"{self.m:,}"), algorithm)))

    @property
    def refusal(self) -> str:
        """Why it cannot run, and what would make it run."""
        text = tr(
            "{label} needs at least {needed} of memory for {m} documents with {n} features; "
            "the memory limit is {budget}. It runs with {advice}."
        )
        return text.format(
            label=self.label,
            needed=memory.size(self.least),
            m=f"{self.m:,}",
            n=f"{self.n:,}",
            budget=memory.size(self.budget),
            advice=either(self._advice()),
        )

    def refuse(self) -> None:
        """Refuse a run for which there is not memory enough.

        Raises
        ------
        OutOfMemoryError
        """
        if not self.runs:
            raise OutOfMemoryError(self.refusal)

    @property
    def room(self) -> float:
        """Bytes of states that are kept in memory, so that the run stays within its budget."""
        return self.need.room(self.budget)

    def _advice(self) -> list[str]:
        """Return what would make it run, one by one."""
        found = []
        if self.least <= memory.available():
            text = tr("a memory limit of {size} (--memory, or Run, Workers in the window)")
            found.append(text.format(size=memory.size(_rounded_up(self.least))))
        if self.need.fits:
            found.append(self.need.fits)
        found.append(tr("fewer documents or features"))
        if self.need.reading is Reading.WHOLE and self.m > DOCUMENTS:
            shape = DataShape(self.m, self.n, self.m, DOCUMENTS)
            present = [one for one in methods() if not (one.lacking or one.given)]
            needs = [(one.label, one.load()().memory_need(shape)) for one in present]
            able = [label for label, need in needs if need.reading is Reading.SHARED]
            able = [label for label in able if "," not in label and label != self.label]
            text = tr("a method that processes the data in blocks, such as {methods}")
            found.append(text.format(methods=", ".join(able[:_NAMES])))
        return found


def _algorithms() -> dict[str, str]:
    return {
        "statistics": tr("by the statistics of each query"),
        "rows": tr("by rows of the statistics of each query"),
        "algorithm1": tr("by Algorithm 1"),
        "columns": tr("column by column"),
    }


def _rounded_up(n_bytes: float) -> float:
    """Return no fewer bytes, of which `memory.size` tells all."""
    unit = 1e8 if n_bytes >= 1e9 else 1e6
    return ceil(n_bytes / unit) * unit
