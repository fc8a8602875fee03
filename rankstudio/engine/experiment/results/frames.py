"""Results as frames of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankstudio.engine.experiment.plan.left_out_names import is_left_out

if TYPE_CHECKING:
    import pandas as pd

    from rankstudio.engine.experiment.results.results import FoldResult, PathResult, RunResult


def fold_frame(run: RunResult) -> pd.DataFrame:
    """Return a row for each fold of a run, see :meth:`RunResult.to_frame`."""
    import pandas as pd  # noqa: PLC0415 - only here, and the window starts without it

    rows = [_fold_row(run, fold) for fold in run.folds]
    index = pd.Index([fold.fold for fold in run.folds], name="fold")
    return pd.DataFrame(rows, index=index)


def step_frame(run: RunResult) -> pd.DataFrame:
    """Return a row for each step of every path of a run, see :meth:`RunResult.path_frame`."""
    import pandas as pd  # noqa: PLC0415 - as above

    frames = []
    for fold in run.folds:
        for path in fold.paths:
            frame = path_steps(path)
            names = {"fold": fold.fold, **_values(run, path)}
            for place, (name, value) in enumerate(names.items()):
                frame.insert(place, name, value)
            columns = [int(column) for column in frame.pop("column")]
            known = [column >= 0 for column in columns]
            ids = [int(run.feature_ids[c]) if k else 0 for c, k in zip(columns, known, strict=True)]
            labels = [run.feature_names[c] if k else "" for c, k in zip(columns, known, strict=True)]
            frame.insert(len(names) + 2, "feature", ids)
            frame.insert(len(names) + 3, "name", labels)
            frames.append(frame)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def path_steps(path: PathResult) -> pd.DataFrame:
    """Return a row for each step of a path; its newest feature by column, counted from 0, -1 for none."""
    import pandas as pd  # noqa: PLC0415 - as above

    return pd.DataFrame(
        {
            "step": [step.number for step in path.steps],
            "n_features": path.sizes,
            "column": [step.selected[-1] if step.selected else -1 for step in path.steps],
            "criterion": path.criterion,
            **{_title(name): values for name, values in path.validation.items()},
        }
    )


def _title(name: str) -> str:
    """Return the title of a measure of the steps of a path."""
    return name if is_left_out(name) else f"validation {name}"


def _fold_row(run: RunResult, fold: FoldResult) -> dict[str, Any]:
    values = dict(zip((axis.name for axis in run.plan.axes), fold.chosen.unit.values, strict=True))
    measured = {
        f"{part} {name}": value
        for part, found in (("validation", fold.validation), ("test", fold.test))
        for name, value in found.items()
    } | fold.left_out
    return {**values, "n_features": len(fold.selected), **measured}


def _values(run: RunResult, path: PathResult) -> dict[str, Any]:
    return dict(zip((axis.name for axis in run.plan.axes), path.unit.values, strict=True))
