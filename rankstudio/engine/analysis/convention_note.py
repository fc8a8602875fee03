"""What there is to say where a convention of measures was made for other labels than the data have."""

from __future__ import annotations

from rankstudio.engine.language import tr
from rankstudio.engine.metrics.conventions import convention

_THREE_GRADES = ("letor4", "letor3")
_MOST = 2.0  # the greatest label that LETOR 3.0 and 4.0 know


def convention_note(known: str | None, greatest: float, key: str) -> str:
    """Return in sentences that a convention takes more labels for relevant than another usual one; "" if not.

    Parameters
    ----------
    known : str or None
        Key of the known dataset that the data are; then their convention is that of its field.
    greatest : float
        The greatest relevance label.
    key : str
        Of the convention.
    """
    if known is not None or key not in _THREE_GRADES or greatest <= _MOST:
        return ""
    return tr(
        "Labels go up to {greatest:g}, but {used} assumes 0–2 (gain 2^l − 1, labels from 1 up "
        "are relevant). {other} treats labels from 2 up as relevant: choose the convention "
        "that fits your data."
    ).format(greatest=greatest, used=convention(key).label, other=convention("mslr").label)
