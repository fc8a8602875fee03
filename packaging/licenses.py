"""Writes the licences of everything that a bundle contains, with the texts, into one file.

The licences come from the metadata of the installed distributions (what `pip` installed), from Python itself, and, for
libraries of a Debian or Ubuntu system, from the copyright files of their packages. A bundle with a distribution that
states no licence, or of which no text is known, is not built.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXTS = Path(__file__).with_name("licenses")
"""Texts of licences that some wheels only name, ``SPDX-IDENTIFIER.txt``."""
_LICENSE_FILE = re.compile(
    r"(LICEN[CS]E|COPYING|NOTICE|AUTHORS|ThirdPartyNotices)", re.IGNORECASE
)
_RULE = "=" * 80


class UnknownLicenseError(Exception):
    """A distribution in the bundle states no licence, or the text of its licence is unknown."""


@dataclass(frozen=True)
class Component:
    """A distribution, Python, or a package of the system that has files in the bundle.

    Attributes
    ----------
    name, version : str
    license : str
        An SPDX expression, a licence's name, or "see below".
    texts : tuple of str
        The texts of the licences and notices.
    """

    name: str
    version: str
    license: str
    texts: tuple[str, ...]


def license_of(distribution: Distribution) -> str:
    """Find the licence that a distribution states.

    Parameters
    ----------
    distribution : Distribution

    Returns
    -------
    str
        The expression or name, of one line; from the classifiers where the
        field ``License`` has the whole text. "" if none is stated.
    """
    metadata = distribution.metadata
    classified = [
        classifier.rpartition(" :: ")[2]
        for classifier in metadata.get_all("Classifier") or []
        if classifier.startswith("License :: ") and classifier.count(" :: ") > 1
    ]
    stated: list[str] = [
        *(metadata.get_all("License-Expression") or []),
        *(metadata.get_all("License") or []),
    ]
    names = [
        text.strip()
        for text in stated
        if len(text.splitlines()) == 1 and text != "UNKNOWN"
    ]
    return (names or [" OR ".join(classified)])[0]


def texts_of(distribution: Distribution, expression: str) -> tuple[str, ...]:
    """Read the texts of a distribution's licences and notices.

    Parameters
    ----------
    distribution : Distribution
    expression : str
        The licence that it states, of which :data:`TEXTS` may have the text.

    Returns
    -------
    tuple of str
        The files beside the metadata and at the top of a package; if there are
        none, those of the licences that the expression names.
    """
    files = [
        file
        for file in distribution.files or []
        if _LICENSE_FILE.match(file.name)
        and file.suffix not in {".py", ".pyc"}
        and (file.parts[0].endswith(".dist-info") or len(file.parts) <= 2)
    ]
    texts = [file.locate().read_text("utf-8", "replace") for file in files]  # type: ignore[attr-defined]
    if not texts:
        # Apache's licence has several names in metadata.
        names = ["Apache-2.0"] if "apache" in expression.lower() else expression.split()
        shipped = [TEXTS / f"{name}.txt" for name in names]
        texts = [path.read_text("utf-8") for path in shipped if path.is_file()]
    return tuple(dict.fromkeys(texts))


def component_of(distribution: Distribution) -> Component:
    """Collect the licence of a distribution.

    Raises
    ------
    UnknownLicenseError
        It states none, or no text is known.
    """
    name = distribution.metadata["Name"]
    expression = license_of(distribution)
    texts = texts_of(distribution, expression)
    if not expression or not texts:
        missing = "text of the licence" if expression else "licence"
        raise UnknownLicenseError(
            f"{name} {distribution.version} has no {missing} in its metadata. Add the text to {TEXTS}, or leave the "
            "distribution out of the bundle."
        )
    return Component(name, distribution.version, expression, texts)


def system_package(source: Path) -> Component | None:
    """Find the system's package of a library, by `dpkg`.

    Parameters
    ----------
    source : Path
        The library's file.

    Returns
    -------
    Component or None
        None without `dpkg`, or if no package has the file.
    """
    dpkg = shutil.which("dpkg-query")
    # Packages list a file under /lib or under /usr/lib, which are the same folder.
    resolved = source.resolve()
    paths = [resolved, Path("/", *resolved.parts[2:])]
    for path in paths if dpkg else ():
        query = subprocess.run(
            [str(dpkg), "--search", str(path)],
            check=False,
            capture_output=True,
            text=True,
        )
        name = query.stdout.partition(":")[0]
        copyright_file = Path("/usr/share/doc", name, "copyright")
        if query.returncode == 0 and copyright_file.is_file():
            text = copyright_file.read_text("utf-8", "replace")
            return Component(name, "", "see below", (text,))
    return None


def python_component() -> Component:
    """Give Python's own licence."""
    library = Path(sysconfig.get_path("stdlib"))
    candidates = [library / "LICENSE.txt", Path(sys.base_prefix, "LICENSE.txt")]
    texts = [path.read_text("utf-8") for path in candidates if path.is_file()]
    version = sys.version.partition(" ")[0]
    return Component("Python", version, "PSF-2.0", tuple(texts[:1]))


@cache
def _owners() -> dict[str, Distribution]:
    """Map each installed file to its distribution."""
    return {
        os.path.normpath(str(distribution.locate_file(file))): distribution
        for distribution in distributions()
        for file in distribution.files or ()
    }


def components(sources: Iterable[str]) -> tuple[list[Component], list[str]]:
    """Find what the files of a bundle belong to.

    Parameters
    ----------
    sources : iterable of str
        The files that were copied into the bundle.

    Returns
    -------
    list of Component
        Python first, then the distributions and packages by name.
    list of str
        Names of libraries of the system whose package is unknown.

    Raises
    ------
    UnknownLicenseError
        A distribution states no licence, or its text is unknown.
    """
    standard_library = os.path.normpath(sysconfig.get_path("stdlib"))
    bundled: dict[str, Component] = {}
    unknown = set()
    for source in {os.path.normpath(path) for path in sources if path}:
        distribution = _owners().get(source)
        if distribution is not None:
            name = distribution.metadata["Name"]
            bundled[name] = bundled.get(name) or component_of(distribution)
        elif source.startswith((str(ROOT), standard_library)):
            continue
        elif ".so" in Path(source).name:
            package = system_package(Path(source))
            if package is None:
                unknown.add(Path(source).name)
            else:
                bundled[package.name] = package
    by_name = sorted(bundled.values(), key=lambda component: component.name.lower())
    return [python_component(), *by_name], sorted(unknown)


def document(sources: Iterable[str]) -> str:
    """Write the list of licences and their texts.

    Parameters
    ----------
    sources : iterable of str
        The files that were copied into the bundle.

    Returns
    -------
    str
        RankStudio's own licences, a table of what else the bundle contains,
        then the texts.

    Raises
    ------
    UnknownLicenseError
        A distribution states no licence, or its text is unknown.
    """
    listed, unknown = components(sources)
    width = max(len(component.name) for component in listed)
    own = [ROOT / "LICENSE", ROOT / "resources" / "fonts" / "Inter-LICENSE.txt"]
    lines = [
        "RankStudio is under the MIT licence, its typeface Inter under the SIL Open Font License 1.1.",
        "This bundle also contains the following software under licences of its own. Libraries under the",
        "LGPL, as Qt and PySide6, are files of their own here, which you may replace.",
        "",
        *(
            f"{component.name:{width}}  {component.version:12}  {component.license}".rstrip()
            for component in listed
        ),
    ]
    if unknown:
        lines += [
            "",
            "Also libraries of the system it was built on: " + ", ".join(unknown) + ".",
        ]
    texts = [("RankStudio", path.read_text("utf-8")) for path in own]
    texts += [
        (component.name, text) for component in listed for text in component.texts
    ]
    for name, text in texts:
        lines += ["", _RULE, name, _RULE, "", text.strip()]
    return "\n".join(lines) + "\n"
