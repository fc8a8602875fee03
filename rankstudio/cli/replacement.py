"""Protection of files: none is replaced without ``--force``, and never a file that the command reads."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.cli.streams import is_standard
from rankstudio.cli.terminal import tell
from rankstudio.engine.analysis.comparisons.batch import Comparison, folder_name
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.errors import OutputError
from rankstudio.engine.experiment.plan.given_files import GivenRanking
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.plan.preference_source import preferences_of

if TYPE_CHECKING:
    from rankstudio.engine.experiment.storage.study import Study
    from rankstudio.engine.export.figures.files import FigureFile

TABLES = ("comparison.csv", "comparison.md", "tests.csv")
# fields of a plan that the data decide if a comparison does not
_DATA_FIELDS = ("convention", "select_by")
_INPUT_OPTIONS = (
    *(
        "data",
        "study",
        "studies",
        "model",
        "models",
        "scores",
        "source",
        "plan",
        "resume",
    ),
    *("runs", "groups", "preferences", "costs", "judgments", "feature_set"),
)
"""Names that the parser has for the files and folders that commands read."""

_NAMED_OPTIONS = ("scores", "models", "runs")  # options with values NAME=PLACE
_FIGURE_FILES = ("criterion.png", "validation-*.png")


def add_force_option(parser: Any) -> None:
    """Add the option ``--force``, which allows files to be replaced."""
    parser.add_argument("--force", action="store_true", help="overwrite existing files")


def check_outputs(
    paths: Sequence[Path], args: Namespace, also: Iterable[Path] = ()
) -> None:
    """Refuse to replace a file that the command reads, and without ``--force`` any file.

    Parameters
    ----------
    paths : sequence of Path
        Files that the command will write.
    args : Namespace
        Arguments of the command; they name files that the command reads.
    also : iterable of Path
        Further files that the command reads.

    Raises
    ------
    OutputError
        If a file would be replaced; the text names the file.
    """
    _refuse_inputs(paths, (*_input_paths(args), *also))
    refuse_existing(paths, args.force)
    for path in paths:  # checked before the work, whose results could not be written
        _refuse_files_as_folders(path)


def _refuse_files_as_folders(path: Path) -> None:
    """Refuse a path of which a parent is a file instead of a folder."""
    ancestor = next((parent for parent in path.parents if parent.exists()), path.parent)
    if ancestor.exists() and not ancestor.is_dir():
        raise OutputError(f"{ancestor}: expected a folder, found a file.")


def write_new(
    files: Sequence[FigureFile],
    folder: Path,
    args: Namespace,
    also: Iterable[Path] = (),
) -> list[Path]:
    """Write figures and the files beside them, and return their paths.

    Raise an error if a file must not be replaced: an existing file is
    replaced only with ``--force``, and a file that the command reads
    never. ``also`` are further files that the command reads, and
    ``folder`` is named in the message.
    """
    from rankstudio.engine.export.figures.files import write_figure_files

    check_outputs([path for path, _ in files], args, also)
    written = write_figure_files(files)
    tell(f"Written: {len(written)} files in {folder}", file=sys.stderr)
    return written


def recorded_files(study: Study) -> list[Path]:
    """Return the data files that a study records."""
    paths = (
        source.path for run in study.runs() for source in study.data(run.key).files
    )
    return list(dict.fromkeys(paths))


def inputs_of_plan(plan: Plan) -> list[Path]:
    """Return the files and folders that a plan reads: data, scores of others, preferences, judgments."""
    files = DataColumns.of(plan.columns).files
    ranking = plan.extension(GivenRanking)
    scores = ranking.path if ranking is not None else ""
    names = (plan.data, scores, preferences_of(plan).get("path", ""), *files)
    return [Path(name) for name in names if name not in ("", SAMPLE)]


def _refuse_inputs(paths: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raise an error if one of the paths to write is an input."""
    from rankstudio.engine.data.fold_files import refuse_inputs

    refuse_inputs((path for path in paths if not is_standard(path)), inputs)


def _input_paths(args: Namespace) -> Iterator[Path]:
    """Yield the files and folders that the options of a command name as its input."""
    # An option is absent, has one value or several; some values are NAME=PLACE.
    for name in _INPUT_OPTIONS:
        value = getattr(args, name, None)
        for item in value if isinstance(value, list | tuple) else [value]:
            path = str(item).partition("=")[2] if name in _NAMED_OPTIONS else item
            if path:  # not None, nor ""
                yield Path(path)


def refuse_existing(
    paths: Iterable[Path], force: bool, description: str = "the file exists"
) -> None:
    """Raise an error for a file or a link that exists, unless ``force`` allows to replace it.

    A folder is not replaced, only written into.

    Raises
    ------
    OutputError
        The text names the first such file, why it is refused
        (``description``), and the option that allows to replace it.
    """
    for path in paths:
        if force or is_standard(path) or path.is_dir():
            continue

        # A link without a target does not "exist", but would be replaced.
        if path.is_symlink() or path.exists():
            raise OutputError(
                f"{path}: {description}. Choose another place, or use --force to overwrite it."
            )


def refuse_other_run(
    plan: Plan,
    out: Path,
    *,
    figures: bool,
    force: bool,
    refitted: bool = False,
    study: Path | None = None,
) -> None:
    """Refuse to replace the results of another run, or files that are read.

    The results of the same run may be replaced: the run is resumed.

    Parameters
    ----------
    plan : Plan
        Plan of the run whose results will be written.
    out : Path
        Folder of the results.
    figures, refitted : bool
        Whether figures, and the final model, will be written.
    force : bool
        Whether other results may be replaced, too.
    study : Path, optional
        The study that the run reads.

    Raises
    ------
    OutputError
        If a file of another run, or one that is read, would be replaced.
    """
    from rankstudio.engine.experiment.reports import (
        MODELS,
        REFITTED,
        RESULT_FILES,
        plan_of_results,
    )

    models = [
        *sorted(out.glob(f"{MODELS}/fold*.json")),
        *([out / REFITTED] if refitted else []),
    ]
    files = [*(out / name for name in RESULT_FILES), *models]
    _refuse_inputs(
        files, [*inputs_of_plan(plan), *([study] if study is not None else [])]
    )

    # The plan of the results in the folder; None without results.
    stored = plan_of_results(out)
    if stored is None or not stored.agrees(plan):
        drawn = (
            (path for pattern in _FIGURE_FILES for path in sorted(out.glob(pattern)))
            if figures
            else ()
        )
        refuse_existing([*files, *drawn], force, "the file belongs to another run")


def refuse_other_comparison(
    comparison: Comparison, data: Sequence[str], out: Path, force: bool
) -> None:
    """Raise an error if a comparison would replace what is not its own.

    The tables of another comparison and the results of other runs are
    not its own. ``data`` are the datasets of the comparison, and
    ``out`` is its folder, in which each run has a folder. With
    ``force``, everything may be replaced.

    Raises
    ------
    OutputError
        If a file would be replaced; the text names the first such file.
    """
    from rankstudio.engine.experiment.reports import plan_of_results

    # The runs of this comparison, and the plans of the results in the folder.
    _refuse_inputs((out / name for name in TABLES), map(Path, data))
    plans = [plan for name in data for plan in comparison.plans(name)]
    stored = {
        path: plan_of_results(path.parent)
        for path in sorted(out.glob("*/results.json"))
    }
    other_paths = [
        path for path, plan in stored.items() if not _is_one_of(plan, plans, comparison)
    ]
    if other_paths or not stored:
        refuse_existing(
            (out / name for name in TABLES),
            force,
            "the file belongs to another comparison",
        )

    # Folders of runs are called by the data and the plan.
    ends = tuple(f"-{folder_name(plan)}" for plan in plans)
    run_files = (path for path in other_paths if path.parent.name.endswith(ends))
    refuse_existing(run_files, force, "the file belongs to another run")


def _is_one_of(
    stored: Plan | None, plans: Sequence[Plan], comparison: Comparison
) -> bool:
    """Return whether a stored plan is one of the plans of a comparison.

    Fields of the plan that depend on the data do not count. Return
    False if ``stored`` is None, which stands for results without a
    plan.
    """
    if stored is None:
        return False

    # Fields that the comparison does not set were set by the data, so
    # those of the stored plan are used.
    data_fields = {
        name: getattr(stored, name)
        for name in _DATA_FIELDS
        if name not in comparison.protocol
    }
    return any(plan.changed(**data_fields) == stored for plan in plans)
