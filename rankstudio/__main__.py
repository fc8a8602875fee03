"""``python -m rankstudio`` is the same as the command ``rankstudio``."""

from rankstudio.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
