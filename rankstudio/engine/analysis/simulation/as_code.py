"""A simulation as something to run again, to the same bits: a command for the terminal, or a program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rankstudio.engine.analysis.simulation.parameters import EACH, PARAMETERS, VARIED, option_of
from rankstudio.engine.analysis.simulation.simulation import Simulation
from rankstudio.engine.experiment.plan.as_code import (
    UNKNOWN,
    column_words,
    field_words,
    option_words,
    parameter_words,
    plan_code,
    program,
)
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.support.escaping import shell_command

_DATA = ("data", "missing", "normalize", "protocol", "seed", "columns")
"""What a plan says of how its data are opened."""


def simulation_as_command(simulation: Simulation, plan: Plan | None = None, *, test: bool = True) -> str:
    """Return the command that does a simulation in the terminal.

    Parameters
    ----------
    simulation : Simulation
    plan : Plan, optional
        That says which data are opened, and how, for a simulation on data.
    test : bool, default True
        Whether the test part of a single fold is among them.

    Returns
    -------
    str
        One line for a POSIX shell, without what has its default anyway.
    """
    kind, values = simulation.kind, simulation.counting
    words = ["rankstudio", "lab", kind, *(_data_words(plan, test) if plan is not None else ())]
    words += parameter_words([p for p in PARAMETERS[kind] if p.name in values], values)
    words += ["--convention", values["convention"]] if "convention" in values else []
    if simulation.quantity:
        listed = VARIED[kind][simulation.quantity]
        words += ["--vary", option_of(kind, simulation.quantity)]
        words += option_words(listed.option, listed.written(simulation.values))
        words += option_words(EACH[kind].option, str(simulation.each))
    return shell_command(words)


def _data_words(plan: Plan, test: bool) -> Iterator[str]:
    """Yield what opens the data of a plan."""
    yield "--sample" if plan.data == SAMPLE else plan.data
    yield from field_words(plan, ("missing", "normalize", "protocol"))
    if plan.protocol != Plan(plan.data).protocol:
        yield from ("--protocol-seed", str(plan.seed))
    yield from column_words(plan)
    if not test:
        yield "--no-test"


def simulation_as_python(
    simulation: Simulation,
    plan: Plan | None = None,
    *,
    test: bool = True,
    computed_with: Mapping[str, str] = UNKNOWN,
) -> str:
    """Return a short program that does a simulation with the library, and prints all it found as JSON.

    Parameters
    ----------
    simulation, plan, test
        As of :func:`simulation_as_command`.
    computed_with : Mapping of str to str
        Versions that give the same bits, where these are known.
    """
    names = "Simulation" if test else "Simulation, without_test"
    imports = ["import json", ""]
    imports += ["from rankstudio.engine import Plan"] if plan is not None else []
    imports += [f"from rankstudio.engine.analysis.simulation.simulation import {names}"]
    imports += ["from rankstudio.engine.experiment.runner import open_data"] if plan is not None else []
    lines = ["simulation = Simulation(", f"    {simulation.kind!r},", "    {"]
    lines += [f"        {name!r}: {value!r}," for name, value in simulation.counting.items()]
    lines += ["    },"]
    if simulation.quantity:
        asked = {"quantity": simulation.quantity, "values": simulation.values, "each": simulation.each}
        lines += [f"    {name}={value!r}," for name, value in asked.items()]
    lines += [")"]
    if plan is not None:
        opened = "open_data(plan)"
        lines += [plan_code(plan, _DATA), f"dataset = {opened if test else f'without_test({opened})'}"]
    given = "dataset" if plan is not None else ""
    lines += [f"*_, found = filter(None, simulation.steps({given}))"]
    lines += ["print(json.dumps(found.as_dict(), indent=1))"]
    return program(imports, lines, computed_with)
