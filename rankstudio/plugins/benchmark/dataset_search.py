"""Search of the datasets below a folder, by the names of folders and files alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rankstudio.engine.data.file_access import (
    children,
    regular_file_size,
    without_ending,
)
from rankstudio.engine.data.fold_files import FOLD, PARTS, folds_in
from rankstudio.engine.data.formats.format_catalog import data_endings
from rankstudio.engine.errors import DataError, PlanError
from rankstudio.engine.support.item_groups import grouped

MAX_FOLDERS = 5_000
MAX_CANDIDATES = 500
"""Numbers of folders and of possible datasets up to which a search makes sense."""

# Scalings of one collection of LETOR, the one that papers use first.
_SCALINGS = (
    re.compile(r"query[-_ ]?level[-_ ]?norm", re.IGNORECASE),
    re.compile(r"(feature[-_ ]?)?min", re.IGNORECASE),
    re.compile(r"(feature[-_ ]?)?null", re.IGNORECASE),
)
_RESULT_FILES = ("results.json", "plan.toml")  # of a folder that a run wrote


@dataclass(frozen=True)
class SkippedPath:
    """A file or folder that takes no part in a benchmark.

    Attributes
    ----------
    path : Path
    reason : str
        Reason, as a sentence or as the message of an error.
    """

    path: Path
    reason: str

    @property
    def own_reason(self) -> str:
        """The reason without the path, with which messages of errors begin."""
        names = "|".join(
            re.escape(str(path)) for path in (self.path, self.path.absolute())
        )
        return re.sub(rf"^({names})[:,] ", "", self.reason)


@dataclass
class DatasetSearch:
    """The datasets below folders.

    Attributes
    ----------
    excluded : collection of Path
        Resolved folders that are not entered, such as that of the results.
    candidates : list of Path
        Folders with folds or parts, and files that may be datasets, in
        the order of their names. Nothing is opened yet.
    skipped : list of SkippedPath
    """

    excluded: Collection[Path] = ()
    candidates: list[Path] = field(default_factory=list)
    skipped: list[SkippedPath] = field(default_factory=list)
    _entered: set[Path] = field(default_factory=set)

    def search(self, path: Path) -> None:
        """Add the datasets in a folder and in all folders below it to the candidates, or add a file.

        Raises
        ------
        FileAccessError
            If there is no such folder or file.
        PlanError
            If there are more folders or files than a collection of datasets has.
        """
        if not path.is_dir():
            regular_file_size(path)  # raises an error if there is no such file
            self.candidates.append(path)
            return

        # Depth first, in the order of names.
        waiting = [path]
        while waiting:
            subfolders = self._enter(waiting.pop())
            waiting += reversed(subfolders)
        self._prefer_scalings()

    def _enter(self, folder: Path) -> list[Path]:
        """Add the datasets of a folder to the candidates, and return the folders in it to search next.

        There are none for a folder that was entered before, is
        excluded, or is added to the skipped ones with a reason.

        Raises
        ------
        PlanError
            If the search has entered too many folders.
        """
        # Links may lead to a folder twice, or in a circle.
        resolved = folder.resolve()
        if resolved in self._entered or resolved in self.excluded:
            return []
        self._entered.add(resolved)
        self._refuse_endless_search(folder)

        # A folder that cannot be read has no subfolders either.
        try:
            paths = children(folder)
        except DataError as error:
            self.skipped.append(SkippedPath(folder, str(error)))
            return []
        if _holds_results(paths):
            self.skipped.append(SkippedPath(folder, "results of a run"))
            return []
        return self._searched_subfolders(folder, paths)

    def _searched_subfolders(self, folder: Path, paths: Sequence[Path]) -> list[Path]:
        """Add the datasets of a folder, ``paths`` being its contents; return the folders to search next.

        A candidate is a path that may be a dataset. Folders that are
        folds or parts of a dataset are not searched.
        """
        subfolders = [path for path in paths if _is_folder(path)]
        try:
            has_folds = bool(folds_in(folder))
        except DataError as error:
            self.skipped.append(SkippedPath(folder, str(error)))
            return [path for path in subfolders if not FOLD.fullmatch(path.name)]

        # A folder with folds or parts is a dataset; in other folders each file may be one.
        files = [folder] if has_folds else _data_files(paths)
        self.candidates += files
        if not files and not subfolders:
            self.skipped.append(SkippedPath(folder, "no data files"))
        return [path for path in subfolders if not (has_folds and _is_part(path))]

    def _refuse_endless_search(self, folder: Path) -> None:
        """Raise a PlanError if the search reaches more than a collection of datasets has."""
        if len(self._entered) > MAX_FOLDERS or len(self.candidates) > MAX_CANDIDATES:
            raise PlanError(
                f"--data: found more than {MAX_FOLDERS:,} folders or {MAX_CANDIDATES} data files up to "
                f"{folder}. Choose a folder that contains the datasets only."
            )

    def _prefer_scalings(self) -> None:
        """Keep one scaling of each collection among the candidates, and skip the others.

        A scaling is a version of the collection with features scaled in
        one way. The scalings are in folders named after them, and have
        the same queries and documents.
        """
        collections = grouped(self.candidates, _without_scaling)
        for versions in collections.values():
            preferred = min(versions, key=_scaling_rank)
            for path in versions:
                if path != preferred:
                    reason = f"another scaling of the documents in {preferred}"
                    self.candidates.remove(path)
                    self.skipped.append(SkippedPath(path, reason))


def _is_folder(path: Path) -> bool:
    """Return whether a path is a folder that is not hidden."""
    return not path.name.startswith(".") and path.is_dir()


def _is_part(folder: Path) -> bool:
    """Return whether a folder has the name of a fold or of a part."""
    return any(pattern.fullmatch(folder.name) for pattern in (FOLD, *PARTS.values()))


def _holds_results(paths: Sequence[Path]) -> bool:
    """Return whether a folder has the files that a run writes."""
    names = {path.name for path in paths}
    return names.issuperset(_RESULT_FILES)


def _data_files(paths: Sequence[Path]) -> list[Path]:
    """Return the paths that are named like data files, without hidden ones."""
    return [
        path
        for path in paths
        if not path.name.startswith(".")
        and Path(without_ending(path.name.lower())).suffix in data_endings()
        and not path.is_dir()
    ]


def _without_scaling(path: Path) -> Path:
    """Return a path without the folder that names the scaling of its features."""
    parts = [part for part in path.parts if _scaling_of(part) is None]
    return Path(*parts) if len(parts) < len(path.parts) else path


def _scaling_rank(path: Path) -> int:
    """Return the position of a path's scaling among all scalings; of an unscaled path, the first one."""
    ranks = [rank for part in path.parts if (rank := _scaling_of(part)) is not None]
    return min(ranks, default=-1)


def _scaling_of(name: str) -> int | None:
    """Return the position of the scaling that a folder is named after, or None."""
    matches = (
        rank for rank, pattern in enumerate(_SCALINGS) if pattern.fullmatch(name)
    )
    return next(matches, None)
