"""Files of scores, or of models, that a plan ranks by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from rankstudio.engine.experiment.plan.checks import check_field
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import FROM_FILES
from rankstudio.engine.support.frozen_mapping import FrozenMapping


@dataclass(frozen=True)
class GivenRanking:
    """Files with a user's scores or models, by which a plan ranks instead of training.

    The plan has the method "given-scores" or "given-model".

    Attributes
    ----------
    name : str
        Name for tables.
    path : str
        A file, or a folder with a file for each fold.
    files : Mapping of str to str
        SHA-256 of each file by its path in the folder; files with other
        contents are rejected.
    """

    name: str
    path: str
    files: Mapping[str, str]

    @classmethod
    def parsed(cls, values: Any, method: str) -> Self | None:
        """Return the files that the plain values of a plan describe; None for empty values.

        `method` is the key of the plan's method.

        Raises
        ------
        PlanError
            If the values do not describe such files, or the method reads no files.
        """
        # `check_field` raises the PlanError if its last argument is
        # False. First: the values are a table, and not one of a method
        # that reads no files.
        expected = tr(
            "a table with the strings name and path, and a table files with the SHA-256 of each file by its "
            "name"
        )
        check_field("scores", values, expected, isinstance(values, Mapping))
        table = dict(values)
        if method not in FROM_FILES:
            check_field(
                "scores",
                table,
                tr("none with the method {method}").format(method=method),
                not table,
            )
        if not table:  # a method that needs files raises the error when it is run
            return None

        # Then: a name, a path, and a checksum for each file by the file's name.
        files = table.get("files", {})
        has_names = all(
            isinstance(table.get(name), str) and table[name].strip()
            for name in ("name", "path")
        )
        has_known_keys = set(table) <= {"name", "path", "files"}
        check_field(
            "scores",
            table,
            expected,
            has_names and has_known_keys and isinstance(files, Mapping),
        )
        are_texts = all(
            isinstance(name, str) and isinstance(sha256, str)
            for name, sha256 in files.items()
        )
        check_field("scores", table, expected, are_texts)
        return cls(
            " ".join(table["name"].split()), table["path"], FrozenMapping(dict(files))
        )

    def plain(self) -> dict[str, Any]:
        """Return the values as a plan's file has them."""
        return {"name": self.name, "path": self.path, "files": dict(self.files)}
