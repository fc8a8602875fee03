"""The formats in which a plan leaves the program, for the window and the terminal alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rankstudio.engine.experiment.plan.as_code import as_command, as_notebook, as_python
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import plan_as_toml

PlanWriter = Callable[[Plan, str, Mapping[str, str]], str]


@dataclass(frozen=True)
class PlanFormat:
    """One format.

    Attributes
    ----------
    key : str
        For the terminal: "notebook".
    label : str
        For people: "Jupyter notebook".
    suffix : str
        Of its files.
    help : str
        What it is, in a sentence.
    text : callable
        Returns a plan in it, given the folder that results are to be written to ("" for none) and the
        versions that give the same bits (empty where nobody knows).
    """

    key: str
    label: str
    suffix: str
    help: str
    text: PlanWriter


PLAN_FORMATS: tuple[PlanFormat, ...] = (
    PlanFormat(
        "toml",
        "Plan",
        ".toml",
        "All settings that determine the results of a run; repeat it with rankstudio run PLAN.",
        lambda plan, out, computed_with: plan_as_toml(plan),
    ),
    PlanFormat(
        "command",
        "Run as a command",
        ".sh",
        "The terminal command that repeats this run.",
        lambda plan, out, computed_with: as_command(plan, out) + "\n",
    ),
    PlanFormat(
        "python",
        "Run as Python",
        ".py",
        "A Python program that repeats this run with the library.",
        as_python,
    ),
    PlanFormat(
        "notebook",
        "Run as a notebook",
        ".ipynb",
        "A Jupyter notebook that repeats this run with the library and shows tables and curves.",
        as_notebook,
    ),
)
"""Every format; the first is what the program itself reads."""
