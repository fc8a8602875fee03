"""Written code that never ends, fails or lies is refused; nothing of it stays behind."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.formats import trial
from rankstudio.engine.export.formats.trial import Trial


def test_what_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "SECONDS", 0.5)
    with (
        Trial({"loop.py": b"while True: pass"}) as tried,
        pytest.raises(OutputError, match="took more than"),
    ):
        tried.run([sys.executable, "loop.py"])


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (b"raise SystemExit('no\x1b[2J such thing')", "status 1"),
        (b"import sys; open(sys.argv[2], 'wb')", "0 scores"),
    ],
)
def test_what_fails_is_told_in_one_line(code: bytes, what: str) -> None:
    with Trial({"code.py": code}) as tried:
        with pytest.raises(OutputError, match=what) as raised:
            tried.scores([sys.executable, tried.path("code.py")], np.zeros((3, 2)))
        assert str(raised.value).isprintable()
        place = Path(tried.path("code.py")).parent
    assert not place.exists()
