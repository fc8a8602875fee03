"""What a benchmark found, as JSON beside the machine and the versions that it was found with."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rankstudio import __version__

FOLDER = Path(__file__).parent / "results"
PACKAGES = (
    *(
        "numpy",
        "scipy",
        "numba",
        "scikit-learn",
        "pandas",
        "PySide6-Essentials",
        "lightgbm",
    ),
    *(
        "polars",
        "pyarrow",
        "xgboost-cpu",
        "fastrank",
        "mlxtend",
        "ranx",
        "pytrec_eval-terrier",
        "dlib-bin",
    ),
)


class Record:
    """Rows of the tables that a benchmark prints.

    Parameters
    ----------
    file : Path
        Where :meth:`save` writes to.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self.machine = _machine()
        self.rows: list[dict[str, object]] = []

    def add(self, table: str, name: str, **values: float | str | None) -> None:
        """Add a row: of which table, whose it is, and its numbers, each with its unit in its name."""
        numbers = {
            key: float(f"{v:.4g}") if isinstance(v, float) else v
            for key, v in values.items()
        }
        self.rows.append({"table": table, "name": name, **numbers})

    def save(self) -> None:
        """Write the rows, the machine and the versions."""
        content = {
            "benchmark": Path(sys.argv[0]).stem,
            "arguments": [
                Path(w).name
                for w in sys.argv[1:]
                if w not in ("--json", str(self.file))
            ],
            "machine": self.machine,
            "versions": _versions(),
            "rows": self.rows,
        }
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(
            json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        print(f"\nrecorded in {self.file}")


def parser(doc: str) -> argparse.ArgumentParser:
    """Return a parser of a benchmark's arguments, with ``--json`` for the file of its record."""
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = FOLDER / f"{Path(sys.argv[0]).stem}.json"
    made.add_argument(
        "--json",
        type=Path,
        default=default,
        help="the record, as JSON (default %(default)s)",
    )
    return made


def _machine() -> dict[str, object]:
    """Return what the times depend on besides the program; the load is that of all who share the machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [
        line.partition(":")[2].strip()
        for line in lines
        if line.startswith("model name")
    ]
    return {
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "load average at the start": round(os.getloadavg()[0], 1)
        if hasattr(os, "getloadavg")
        else None,
    }


def _versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed."""
    found = {"rankstudio": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
