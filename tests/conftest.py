"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# Compiling a kernel takes longer than any deadline, and timings are no test.
settings.register_profile("rankstudio", deadline=None)
settings.load_profile("rankstudio")
