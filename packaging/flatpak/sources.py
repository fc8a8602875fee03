"""Write the wheels that the Flatpak installs without a network, from constraints/locked.txt and the package index.

    uv run --no-project --python 3.13 --with pip,packaging packaging/flatpak/sources.py

Run it after .ci/lock. pip chooses the wheels for both processors, as on the runtime of the manifest, and installs
nothing. The files have the format of flatpak-pip-generator, which resolves only for the processor that it runs on.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROCESSORS = ("x86_64", "aarch64")
# Python of the runtime. pip evaluates markers for the Python that runs it.
PYTHON = (3, 13)
# Minor versions of glibc that wheels may need: the runtime 25.08 has 2.42.
GLIBC = range(42, 16, -1)
INSTALL = (
    'pip3 install --verbose --exists-action=i --no-index --find-links="file://${PWD}" '
    "--prefix=${FLATPAK_DEST} --no-build-isolation"
)
INDEX_FILES = "https://files.pythonhosted.org/"


def main() -> None:
    """Write the modules of the build tools and of the dependencies."""
    if sys.platform != "linux" or sys.version_info[:2] != PYTHON:
        sys.exit("run this on Linux, with Python {}.{}".format(*PYTHON))
    settings = ROOT / "pyproject.toml"
    project = tomllib.loads(settings.read_text(encoding="utf-8"))
    build_tools = project["build-system"]["requires"]
    write_module("python3-build", build_tools, cleanup=["*"])
    write_module("python3-dependencies", dependencies(project["project"]))


def write_module(name: str, requirements: list[str], **cleanup: list[str]) -> None:
    """Write a module of the manifest that installs the requirements."""
    packages = " ".join(Requirement(text).name for text in requirements)
    module = {
        "name": name,
        "buildsystem": "simple",
        "build-commands": [f"{INSTALL} {packages}"],
        "sources": wheel_sources(requirements),
        **cleanup,
    }
    text = json.dumps(module, indent=2)
    file = HERE / f"{name}.json"
    file.write_text(text + "\n", encoding="utf-8")


def dependencies(project: dict[str, Any]) -> list[str]:
    """List the requirements of the program and of its small extras."""
    extras = project["optional-dependencies"]
    texts = [
        *project["dependencies"],
        *extras["excel"],
        *extras["zstd"],
    ]
    requirements = [Requirement(text) for text in texts]
    return [
        f"{requirement.name}{requirement.specifier}"
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate()
    ]


def wheel_sources(requirements: list[str]) -> list[dict[str, Any]]:
    """List the wheels by file name, with the processor where it matters."""
    digests: dict[str, str] = {}
    processors = defaultdict(list)
    for processor in PROCESSORS:
        for wheel in resolve(requirements, processor):
            url = wheel["url"]
            if not url.startswith(INDEX_FILES):
                sys.exit(f"{url} is not on {INDEX_FILES}")
            digests[url] = wheel["archive_info"]["hashes"]["sha256"]
            processors[url].append(processor)
    sources = []
    for url in sorted(digests, key=lambda url: url.split("/")[-1]):
        source = {"type": "file", "url": url, "sha256": digests[url]}
        if len(processors[url]) < len(PROCESSORS):
            source["only-arches"] = processors[url]
        sources.append(source)
    return sources


def resolve(requirements: list[str], processor: str) -> list[dict[str, Any]]:
    """List address and checksum of each wheel that pip chooses."""
    constraints = ROOT / "constraints" / "locked.txt"
    command = [
        sys.executable,
        "-m",
        "pip",
        "--isolated",
        "install",
        "--dry-run",
        "--quiet",
        "--ignore-installed",
        "--only-binary=:all:",
        "--report=-",
        "--target=nowhere",
        f"--constraint={constraints}",
        f"--platform=manylinux2014_{processor}",
        *[f"--platform=manylinux_2_{minor}_{processor}" for minor in GLIBC],
        *requirements,
    ]
    report = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
    )
    if report.returncode != 0:
        sys.exit(report.stderr)
    installed = json.loads(report.stdout)["install"]
    return [wheel["download_info"] for wheel in installed]


if __name__ == "__main__":
    main()
