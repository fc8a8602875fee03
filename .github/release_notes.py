"""Print the part of the changelog that belongs to a version.

python .github/release_notes.py 0.1.0
"""

from __future__ import annotations

import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parents[1] / "CHANGELOG.md"


def notes_of(version: str, changelog: str) -> str:
    """Return the text below the heading of a version, up to the next heading of a version."""
    for section in changelog.split("\n## ")[1:]:
        heading, _, text = section.partition("\n")
        if heading.split(",")[0].strip() == version:
            return text.strip() + "\n"
    raise SystemExit(f"{CHANGELOG.name}: no heading for version {version}.")


if __name__ == "__main__":
    sys.stdout.write(notes_of(sys.argv[1], CHANGELOG.read_text(encoding="utf-8")))
