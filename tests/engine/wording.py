"""What a sentence has to name, however it is put: tests hold facts, not wording."""

from __future__ import annotations

import re


def naming(names: str) -> re.Pattern[str]:
    """Return a pattern of texts with each of some names, which blanks separate, in any order.

    For ``pytest.raises(..., match=naming("lambda 3"))`` and ``naming("lambda 3").search(text)``. A name of
    letters and digits stands on its own: 3 is not in 13.
    """
    found = []
    for name in names.split():
        before, after = (r"(?<!\w)" * name[0].isalnum(), r"(?!\w)" * name[-1].isalnum())
        found.append(f"(?=.*{before}{re.escape(name)}{after})")
    return re.compile("(?s)^" + "".join(found))
