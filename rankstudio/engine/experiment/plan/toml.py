"""Plans as plain values and as TOML, and back."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.errors import ParameterError, PlanError, shown
from rankstudio.engine.experiment.plan.plan import SAMPLE, WORDS, Plan
from rankstudio.engine.experiment.plan.plan_extensions import KINDS, in_words
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog import Method, Parameter, find_method
from rankstudio.engine.metrics.measure_entry import MeasureEntry
from rankstudio.engine.metrics.measure_registry import MEASURES
from rankstudio.engine.plugins.origin import Origin, OriginKind
from rankstudio.engine.support.files import is_there, read_text, write_text

PACKAGES = "packages"
"""Table of a plan's file with the packages that it needs, and their versions.

These are the packages of methods and measures of plug-ins.
"""

# in the order of a plan's file
_FIRST_TABLES = ("scores", "preferences", "columns", "groups", "costs")
# A package with its version, such as "my-methods==1.2".
_REQUIREMENT = re.compile(
    r"([A-Za-z0-9][A-Za-z0-9._-]{0,99})==([A-Za-z0-9.+!_-]{1,50})"
)
_N_DIGITS = 12  # digits of a Python file's checksum in a plan
# A class of a Python file, with the beginning of the file's checksum.
_FILE_REQUIREMENT = re.compile(
    r"([^\x00-\x1f:/\\]{1,100}\.py):([A-Za-z_]\w{0,63})@([0-9a-f]{12})"
)
_ABSENT_MEASURE = MeasureEntry("absent", "absent", "")
_MAX_PLAN_BYTES = 4 << 20  # 4 MB, which take some seconds to parse


def plan_as_dict(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain lists, strings and numbers by field, for TOML and JSON.

    None does not occur. Tables such as "parameters" are dicts, after
    all other values. An empty table is left out.
    """
    # Extensions are the values of optional abilities, such as costs or
    # groups of features.
    extension_values = {
        word: as_lists(value) for word, value in in_words(plan.extensions)
    }
    # The settings that every plan has, by their names in the file.
    values = {word: as_lists(value) for word, value in plan.words.items()}
    values |= {
        word: value
        for word, value in extension_values.items()
        if not isinstance(value, dict)
    }

    # TOML requires the tables after the plain values, so each table is added last.
    for table, entry in (
        ("parameters", plan.entry),
        ("ranker_parameters", plan.ranker_entry),
    ):
        parameters = getattr(plan, table)
        del values[table]
        if entry:
            # TOML has no None. It is left out where it is the default;
            # elsewhere it has a name.
            written_parameters = [
                p
                for p in entry.parameters
                if parameters[p.name] is not None or p.default is not None
            ]
            values[table] = {
                p.name: _plain_value(p, parameters[p.name]) for p in written_parameters
            }
    if not values["ranker"]:
        del values["ranker"]
    tables = {"columns": values.pop("columns")}
    tables |= {
        word: value
        for word, value in extension_values.items()
        if isinstance(value, dict)
    }
    # The tables that are known here come first, in a fixed order.
    table_names = dict.fromkeys((*_FIRST_TABLES, *tables))
    return values | {name: tables[name] for name in table_names if tables.get(name)}


def _plain_value(parameter: Parameter, value: Any) -> Any:
    """Return the value of a parameter for TOML.

    Tuples become lists, and None becomes the parameter's name for None,
    such as "none".
    """
    name_of_none = {None: parameter.none_label} if parameter.none_label else {}
    if parameter.several(value):
        return as_lists(tuple(name_of_none.get(v, v) for v in value))
    return parameter.none_label if value is None else as_lists(value)


def as_lists(value: Any) -> Any:
    """Convert tuples to lists and mappings to dicts, recursively."""
    if isinstance(value, Mapping):
        return {name: as_lists(item) for name, item in value.items()}
    return [as_lists(item) for item in value] if isinstance(value, tuple) else value


def plan_from_dict(values: Mapping[str, Any]) -> Plan:
    """Create a plan from plain values by field.

    The values are those of `plan_as_dict`, or were written by a user.

    Raises
    ------
    PlanError, ParameterError
        For an unknown field or a value out of range.
    """
    # Fields of every plan, and words of extensions such as "costs".
    field_names = {*WORDS, *KINDS}
    # The table of packages only says what a plan needs here; the plan
    # itself has no such field.
    _refuse_absent(values.get(PACKAGES, {}))
    values = {name: value for name, value in values.items() if name != PACKAGES}
    for name in values:
        if name not in field_names:
            text = tr("A plan has no field {name}; the fields are {sorted}.")
            raise PlanError(
                text.format(name=shown(name), sorted=", ".join(sorted(field_names)))
            )
    if "data" not in values:
        raise PlanError(
            tr('The plan names no data: it needs a line such as data = "MQ2008".')
        )
    arguments: dict[str, Any] = {
        name: tuple(setting) if isinstance(setting, list) else setting
        for name, setting in values.items()
    }
    return Plan(**arguments)


def measure_keys(plan: Plan) -> list[str]:
    """Return keys for the code of a plan's measures that come from Python files.

    A key is ``measure:file.py:function@checksum``, and names code to be
    loaded before the plan is run; :func:`method_keys` finds the same
    keys in the plain values of a plan.
    """
    packages = _package_requirements(plan)
    return [
        f"measure:{source}"
        for source in packages.values()
        if _FILE_REQUIREMENT.fullmatch(source)
    ]


def _package_requirements(plan: Plan) -> dict[str, str]:
    """Return the packages and files that a plan's methods and measures come from, by key.

    A key is that of a method or measure. The value is ``name==version``
    for the package of a plug-in, and ``file.py:function@checksum`` for
    a measure of a Python file. RankStudio's own methods and measures
    are left out, and methods of Python files: their keys name the file.
    """
    entries: tuple[Method | MeasureEntry, ...] = (*plan.entries, *plan.foreign_measures)
    files = {
        # The key is the name of the function, a hyphen, and digits of
        # the checksum. The version of a file is its SHA-256.
        entry.key: f"{entry.origin.name}:{entry.key.rpartition('-')[0]}@{entry.origin.version_or_checksum[:_N_DIGITS]}"
        for entry in plan.foreign_measures
        if entry.origin is not None and entry.origin.kind is OriginKind.FILE
    }
    return files | {
        entry.key: f"{entry.origin.name}=={entry.origin.version_or_checksum}"
        for entry in entries
        if entry.origin is not None
        and entry.origin.kind is OriginKind.PACKAGE
        and entry.origin.version_or_checksum
    }


def _refuse_absent(packages: Any) -> None:
    """Raise a PlanError for the first method or measure of a plan that is not installed.

    `packages` is the table of the plan's file, of key to package with
    version, or to Python file with checksum; the message names that
    package or file.

    Nothing is imported: the keys are looked up among the entries of this installation.
    """
    text = tr(
        '{name}: expected lines such as mrmr = "rankstudio-selectors==1.0", got {value}.'
    )
    if not isinstance(packages, Mapping):
        raise PlanError(text.format(name=PACKAGES, value=shown(packages)))
    for key, requirement in packages.items():
        # A requirement is a package with its version, name==version, or
        # a file with its checksum, file.py:function@checksum.
        match = (
            _REQUIREMENT.fullmatch(requirement)
            if isinstance(requirement, str)
            else None
        )
        file = (
            _FILE_REQUIREMENT.fullmatch(requirement)
            if isinstance(requirement, str)
            else None
        )
        # A measure of a file that was not loaded.
        if file is not None:
            if MEASURES.find(key) is None:
                # The name of the file, and its checksum. `lacking` is a
                # sentence that says that it is absent.
                origin = Origin(OriginKind.FILE, file[1], file[3], present=False)
                raise PlanError(
                    replace(_ABSENT_MEASURE, key=key, origin=origin).lacking
                )
            continue
        if match is None:
            raise PlanError(text.format(name=PACKAGES, value=shown(requirement)))
        # A method or measure of a package that is not installed. The
        # version may be another one: only an absent package is refused.
        if find_method(key) is None and MEASURES.find(key) is None:
            # The name of the package, and its version.
            origin = Origin(OriginKind.PACKAGE, match[1], match[2], present=False)
            raise PlanError(f"{shown(key)} {origin.lacking}")


def plan_as_toml(plan: Plan) -> str:
    """Return the plan as the text of a file for :func:`load_plan`."""
    import tomli_w  # noqa: PLC0415 - only here, and the window starts without it

    packages = _package_requirements(plan)
    text: str = tomli_w.dumps(
        plan_as_dict(plan) | ({PACKAGES: packages} if packages else {})
    )
    return text


def save_plan(plan: Plan, path: str | Path) -> None:
    """Write the plan as TOML.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    write_text(path, plan_as_toml(plan))


def read_toml(path: Path) -> dict[str, Any]:
    """Return the plain values in the TOML file of a plan, or of a comparison, by key.

    Raises
    ------
    PlanError
        If the file cannot be read or is not TOML; the message names the file.
    """
    try:
        return tomllib.loads(read_text(path, _MAX_PLAN_BYTES))
    except OSError as error:
        raise PlanError(
            tr("{path}: the plan cannot be read: {strerror}.").format(
                path=path, strerror=error.strerror
            )
        ) from error
    except RecursionError as error:
        raise PlanError(
            tr("{path}: not a TOML plan: it is nested too deeply.").format(path=path)
        ) from error
    except ValueError as error:  # also of bytes that are not UTF-8, and of a number with too many digits
        raise PlanError(
            tr("{path}: not a TOML plan: {error}.").format(path=path, error=error)
        ) from error


def method_keys(values: Any) -> Iterator[str]:
    """Yield the keys of the code that a plan or a comparison needs.

    These are keys of methods, at any depth of the plain values, and
    "measure:file.py:function@checksum" for measures of Python files.
    """
    if isinstance(values, Mapping):
        # Measures of Python files are in the table of packages.
        packages = values.get(PACKAGES)
        sources = packages.values() if isinstance(packages, Mapping) else ()
        yield from (
            f"measure:{source}"
            for source in sources
            if isinstance(source, str) and _FILE_REQUIREMENT.fullmatch(source)
        )
        # Methods are in the plan, or in the runs of a comparison.
        for name, value in values.items():
            if name in ("method", "ranker"):
                keys = value if isinstance(value, list) else [value]
                yield from (key for key in keys if isinstance(key, str))
            yield from method_keys(value)
    elif isinstance(values, list):
        for item in values:
            yield from method_keys(item)


def load_plan(path: str | Path) -> Plan:
    """Read a plan from TOML.

    Raises
    ------
    PlanError
        If the file cannot be read or is not a plan; the message names the file.
    """
    path = Path(path)
    values = read_toml(path)
    try:
        return plan_from_dict(values)
    except (PlanError, ParameterError) as error:
        raise PlanError(f"{path}: {error}") from error


def with_data_beside(plan: Plan, path: str | Path) -> Plan:
    """Return a plan whose relative paths are resolved against the folder of its file.

    The paths are those of the data, of files of the data's columns, and
    of preferences. `path` is the file of the plan. A path that names no
    file in this folder remains as it is.
    """
    folder = Path(path).parent

    def path_beside(name: str) -> str:
        """Return the absolute path of a file in `folder`; without such a file, the name."""
        sibling = (folder / name).absolute()
        return str(sibling) if is_there(sibling) else name

    # Files of columns, then the file of preferences, then the data.
    if plan.columns:
        plan = plan.changed(
            columns=DataColumns.of(plan.columns).beside(path_beside).as_dict()
        )
    if preferences_of(plan):
        file = (folder / preferences_of(plan)["path"]).absolute()
        if is_there(file):
            plan = plan.changed(preferences={**preferences_of(plan), "path": str(file)})
    data_path = (folder / plan.data).absolute()
    return (
        plan.changed(data=str(data_path))
        if plan.data != SAMPLE and is_there(data_path)
        else plan
    )
