"""Where a method that is not RankStudio's own comes from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from rankstudio.engine.language import tr


class OriginKind(Enum):
    """Kind of the place where a method's code is."""

    PACKAGE = "package"  # a plug-in of an installed package
    FILE = "file"  # a Python file
    IMPORT = "import"  # a class of an installed package, by its import path
    COMMAND = "command"  # a program, by its command line
    ABILITY = "ability"  # a folder of rankstudio.plugins, which may be absent


@dataclass(frozen=True)
class Origin:
    """Where a method that is not RankStudio's own comes from.

    Attributes
    ----------
    kind : OriginKind
        Kind of place where the code is, such as a package or a file.
    name : str
        Name of the package, or of the file without its folder.
    version_or_checksum : str
        Version of the package, or SHA-256 of the file in hexadecimal digits.
    path : str
        Path of the file; "" for packages. A study does not store it.
    present : bool
        Whether the code is available. The code is not available if the
        method is only known from a study.
    """

    kind: OriginKind
    name: str
    version_or_checksum: str
    path: str = ""
    present: bool = True

    @property
    def text(self) -> str:
        """Package and version, or file and the beginning of its checksum."""
        if self.kind is OriginKind.FILE:
            return f"{self.name} (SHA-256 {self.version_or_checksum[:12]})"
        return f"{self.name} {self.version_or_checksum}".strip()

    @property
    def lacking(self) -> str:
        """Reason why the code of the method is absent, with a remedy; "" if it is present.

        The reason is a sentence without a subject: "needs the file ….
        Add it as a method."
        """
        if self.present:
            return ""
        if self.kind is OriginKind.FILE:
            return tr("needs the file {file}. Add it as a method.").format(
                file=self.text
            )
        if self.kind is OriginKind.COMMAND:
            return tr("needs the program {program}. Add it as a method.").format(
                program=self.name
            )
        if self.kind is OriginKind.ABILITY:
            text = tr("needs the plug-in {plugin}, which is absent or left out.")
            return text.format(plugin=self.name)
        return tr("needs {package}: pip install {name}.").format(
            package=self.text, name=self.name
        )


class CodeSource(Protocol):
    """Code that computes a run, such as the entry of a method."""

    @property
    def origin(self) -> Origin | None:
        """Where the code comes from; None for RankStudio's own code."""

    @property
    def lacking(self) -> str:
        """Reason why the code cannot be used, as a sentence; "" if it can."""
