"""What there is to say where a convention of measures was made for other labels than the data have."""

from __future__ import annotations

from rankstudio.engine.language import tr
from rankstudio.engine.metrics.conventions import convention

_THREE_GRADES = ("letor4", "letor3")
_MOST = 2.0


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
        "The labels go up to {greatest:g}, and {used} was made for 0 to 2: here the gain is 2^l − 1, and "
        "every label from 1 up counts as relevant for MAP and P@k. {other} counts labels from 2 up; which it "
        "is to be is up to you."
    ).format(greatest=greatest, used=convention(key).label, other=convention("mslr").label)
