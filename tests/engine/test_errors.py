"""Every error travels between processes with its text and its attributes."""

from __future__ import annotations

import pickle

import pytest

from rankstudio.engine.errors import (
    Cancelled,
    FileAccessError,
    FormatError,
    MissingExtraError,
    MissingValueError,
    OutOfMemoryError,
    ParameterError,
    PlanError,
    RankStudioError,
)


@pytest.mark.parametrize(
    "error",
    [
        FileAccessError("a.txt", "file not found"),
        FormatError("a.txt", 3, 4, '"x"', "a number"),
        MissingValueError("a.txt", 3, 0, "nan", "a number"),
        ParameterError("k", 0, "a whole number from 1 up"),
        MissingExtraError("LambdaMART", "LightGBM", "boosting"),
        PlanError("rule: expected something else."),
        OutOfMemoryError("RankRLS: too little memory."),
        Cancelled("The run"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_arrives_as_it_was(error: RankStudioError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_a_path_with_control_characters_is_told_in_printable_ones() -> None:
    error = FileAccessError("a\x00b\x1b[2Jc", "file not found.")
    assert str(error) == "a\\x00b\\x1b[2Jc: file not found."
    assert (
        str(FormatError("a\nb", 3, 0, "x", "y"))
        == "a\\nb, line 3: found x, expected y."
    )
